/// \file
/// A transposition in numbers, without its types: what the plan is made from.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// out[b * outStride + c * outLd + r] = function(in[b * inStride + r * inLd + c]). None of rows, cols and batch is 0,
// distances count elements, and a single row or matrix has the leading dimension or stride of a dense one.
struct TransposeShape {
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
  bool onlyMoves;           // without a function; both sides have one type
  std::size_t sharedLimit;  // bytes of shared memory that a block can have
  int architecture;         // 90 for sm_90
};

constexpr unsigned sectorBytes = 32;

// The next multiple of a power of two, without a division.
template <class N>
constexpr N roundUpTo(N n, N power) {
  return (n + power - 1) & (0 - power);
}

// A shape with everything that several decisions ask about.
struct TransposeFacts : TransposeShape {
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

  explicit TransposeFacts(const TransposeShape& shape) : TransposeShape(shape) {
    area = rows * cols;
    smaller = smallerOf(inBytes, outBytes);
    larger = largerOf(inBytes, outBytes);
    inAligned = alignmentOf(in, inLd * inBytes, inStride * inBytes);
    outAligned = alignmentOf(out, outLd * outBytes, outStride * outBytes);
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

 private:
  unsigned alignmentOf(std::uintptr_t address, std::size_t pitch, std::size_t stride) const {
    return static_cast<unsigned>(powerOfTwoIn(sectorBytes | address | pitch | (batch > 1 ? stride : 0)));
  }
};

GPUOPT_DETAIL_END
