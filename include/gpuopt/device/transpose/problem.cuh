/// \file
/// A transposition as the kernels see it, and its numbers for the plan.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/shape.cuh>
#include <gpuopt/host/device.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

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

// The threads of a full multiprocessor. Launch bounds ask for as many, because blocks hide each other's latency.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr unsigned RESIDENT_THREADS = 1024;
#elif defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
constexpr unsigned RESIDENT_THREADS = 1536;
#else
constexpr unsigned RESIDENT_THREADS = 2048;
#endif

// The most shared memory of a block.
inline std::size_t sharedLimit() {
  return static_cast<std::size_t>(deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, currentDevice()));
}

// Whether every row of every matrix of a batch begins at a multiple of `bytes`.
template <class T>
bool rowsAlignedTo(const T* data, std::size_t ld, std::size_t batch, std::size_t stride, std::size_t bytes) {
  return alignedTo(data, bytes) && ld * sizeof(T) % bytes == 0 && (batch == 1 || stride * sizeof(T) % bytes == 0);
}

// The largest power of two, up to `most`, that divides the address of every row of the destination.
template <class Problem>
std::size_t outAlignment(const Problem& problem, std::size_t most) {
  std::size_t all = most | reinterpret_cast<std::uintptr_t>(problem.out) | problem.outLd * sizeof(*problem.out);
  if (problem.batch > 1) all |= problem.outStride * sizeof(*problem.out);
  return powerOfTwoIn(all);
}

// The numbers of a problem on the current device.
template <class In, class Out, class Function>
TransposeShape shapeOf(const TransposeProblem<In, Out, Function>& problem) {
  const bool isEmpty = problem.rows == 0 || problem.cols == 0 || problem.batch == 0;  // needs no device
  return {problem.rows,
          problem.cols,
          problem.inLd,
          problem.outLd,
          problem.batch,
          problem.inStride,
          problem.outStride,
          reinterpret_cast<std::uintptr_t>(problem.in),
          reinterpret_cast<std::uintptr_t>(problem.out),
          sizeof(In),
          sizeof(Out),
          alignof(In),
          alignof(Out),
          std::is_same_v<In, Out> && std::is_same_v<Function, Identity>,
          isEmpty ? 0 : sharedLimit(),
          isEmpty ? 0 : computeCapability(currentDevice())};
}

GPUOPT_DETAIL_END
