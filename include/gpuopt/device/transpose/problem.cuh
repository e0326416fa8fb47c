/// \file
/// A transposition: in numbers, which the plan is made from, and as the kernels see it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/grid/resident_threads.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/tuning/tunable.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// out[b * outStride + c * outLd + r] = function(in[b * inStride + r * inLd + c]). None of rows, cols and batch is 0,
// distances count elements, and a single row or matrix has the leading dimension or stride of a dense one.
struct TransposeRequest {
  std::size_t rows;
  std::size_t cols;
  std::size_t inLd;
  std::size_t outLd;
  std::size_t batch;
  std::size_t inStride;
  std::size_t outStride;
  std::uintptr_t in;  // addresses; only their alignment matters
  std::uintptr_t out;
  unsigned inBytes;  // of an element
  unsigned outBytes;
  unsigned inAlign;  // of its type
  unsigned outAlign;
  bool onlyMoves;                 // without a function; both sides have one type
  std::size_t sharedLimit;        // bytes of shared memory that a block can have
  int architecture;               // 90 for sm_90
  int multiprocessors = 0;        // of a device that nobody has measured; else 0
  std::size_t l2Bytes = 0;        // the same
  std::size_t registerBytes = 0;  // of the tuning file: the largest matrices in registers; 0 if it says nothing
};
template <>
inline constexpr bool isPlan<TransposeRequest> = true;

constexpr unsigned sectorBytes = 32;

// The largest power of two, up to a sector, that divides the address of every row of every matrix. Pitch and stride
// count bytes.
inline unsigned rowAlignment(std::uintptr_t address, std::size_t pitch, std::size_t batch, std::size_t stride) {
  return static_cast<unsigned>(powerOfTwoIn(sectorBytes | address | pitch | (batch > 1 ? stride : 0)));
}

// A request with everything that several decisions ask about.
struct TransposeFacts : TransposeRequest {
  std::size_t area;    // of a matrix
  unsigned smaller;    // bytes of the smaller element
  unsigned larger;     // and of the larger one
  unsigned inAligned;  // largest power of two, up to a sector, that divides the address of every row
  unsigned outAligned;
  unsigned aligned;      // the same for both sides
  unsigned sourceBytes;  // of an atom: what moves undivided
  unsigned resultBytes;
  unsigned atoms;        // of an element
  unsigned wordResults;  // atoms that a run packs into a 4-byte word; 1 if it need not

  explicit TransposeFacts(const TransposeRequest& request) : TransposeRequest(request) {
    area = rows * cols;
    smaller = smallerOf(inBytes, outBytes);
    larger = largerOf(inBytes, outBytes);
    inAligned = rowAlignment(in, inLd * inBytes, batch, inStride * inBytes);
    outAligned = rowAlignment(out, outLd * outBytes, batch, outStride * outBytes);
    aligned = smallerOf(inAligned, outAligned);
    // Structures are often better aligned than their type says.
    const auto widest = static_cast<unsigned>(powerOfTwoIn(inBytes | 16));
    if (onlyMoves) inAlign = outAlign = aligned >= widest ? widest : smallerOf(inAlign, widest);
    sourceBytes = onlyMoves ? inAlign : inBytes;
    resultBytes = onlyMoves ? outAlign : outBytes;
    atoms = partsOf(inBytes, sourceBytes);
    wordResults = !resultIsWord() || resultBytes > 2 ? 1 : resultBytes == 2 ? 2 : 4;
  }

  bool isDense() const {
    return inLd == cols && outLd == rows && (batch == 1 || (inStride == area && outStride == area));
  }
  bool sourceIsWord() const { return sourceBytes <= 16 && inAlign == sourceBytes; }
  bool resultIsWord() const { return resultBytes <= 16 && outAlign == resultBytes; }

  // Most elements are one part: this is quicker than the division.
  static unsigned partsOf(unsigned bytes, unsigned part) { return bytes == part ? 1 : bytes / part; }
};

// out[b * outStride + c * outLd + r] = function(in[b * inStride + r * inLd + c]) for r < rows, c < cols, b < batch.
// Distances count elements.
template <class In, class Out, class Function>
struct TransposeProblem {
  using Input = In;
  using Output = Out;

  const In* in;
  Out* out;
  std::size_t rows;
  std::size_t cols;
  std::size_t inLd;
  std::size_t outLd;
  std::size_t batch;
  std::size_t inStride;
  std::size_t outStride;
  Function function;
};

template <class W, std::size_t COUNT>
struct Words {
  W word[COUNT];
};

// SIZE bytes of any meaning, aligned to ALIGN bytes.
template <std::size_t SIZE, std::size_t ALIGN>
using RawElement = std::conditional_t<SIZE == ALIGN, Word<ALIGN>, Words<Word<ALIGN>, SIZE / ALIGN>>;

// What a kernel moves undivided: elements, or the words of an element that only moves.
template <class In, class Out, class Function>
struct TransposeAtom {
  using Source = In;
  using Result = Out;
  static constexpr unsigned COUNT = 1;  // of an element
};

template <class W, std::size_t WORDS>
struct TransposeAtom<Words<W, WORDS>, Words<W, WORDS>, Identity> {
  using Source = W;
  using Result = W;
  static constexpr unsigned COUNT = WORDS;
};

// The most shared memory of a block.
inline std::size_t sharedLimit(int device) {
  return static_cast<std::size_t>(deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
}
inline std::size_t sharedLimit() { return sharedLimit(currentDevice()); }

// The end of the input's memory.
template <class Problem>
std::uintptr_t inEndOf(const Problem& problem) {
  return reinterpret_cast<std::uintptr_t>(problem.in + (problem.batch - 1) * problem.inStride +
                                          (problem.rows - 1) * problem.inLd + problem.cols);
}

// What the tuning file says of matrices in registers; 0 if nothing. Small ones take other tiles, whatever it says.
inline std::size_t tunedRegisterBytes(std::size_t elements, std::size_t elementBytes) {
  constexpr std::size_t MIN_ELEMENTS = std::size_t{256} << 10;
  if (elements < MIN_ELEMENTS) return 0;
  const std::optional<TunedValue> tuned = tunedValue(Tunable::registers, elementBytes);
  return tuned ? tuned->bytes : 0;
}

// The numbers of a problem on the current device.
template <class In, class Out, class Function>
TransposeRequest transposeRequest(const TransposeProblem<In, Out, Function>& problem) {
  const bool isEmpty = problem.rows == 0 || problem.cols == 0 || problem.batch == 0;  // needs no device
  constexpr bool onlyMoves = std::is_same_v<In, Out> && std::is_same_v<Function, Identity>;
  const int device = isEmpty ? 0 : currentDevice();
  const std::size_t shared = isEmpty ? 0 : sharedLimit(device);
  const int architecture = isEmpty ? 0 : computeCapability(device);
  const bool isModelled = !isEmpty && architecture != transposeArchitecture;
  const int multiprocessors = isModelled ? multiprocessorCount(device) : 0;
  const int l2Bytes = isModelled ? deviceAttribute(cudaDevAttrL2CacheSize, device) : 0;
  const std::size_t registerBytes =
      tunedRegisterBytes(problem.rows * problem.cols * problem.batch, smallerOf(sizeof(In), sizeof(Out)));
  const auto in = reinterpret_cast<std::uintptr_t>(problem.in);
  const auto out = reinterpret_cast<std::uintptr_t>(problem.out);
  return {
      problem.rows,      problem.cols, problem.inLd, problem.outLd, problem.batch,   problem.inStride,
      problem.outStride, in,           out,          sizeof(In),    sizeof(Out),     alignof(In),
      alignof(Out),      onlyMoves,    shared,       architecture,  multiprocessors, static_cast<std::size_t>(l2Bytes),
      registerBytes};
}

GPUOPT_DETAIL_END
