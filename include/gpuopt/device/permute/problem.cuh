/// \file
/// A permutation of axes in its canonical form: as few axes as possible, in the order of the output.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

constexpr unsigned permuteRank = 32;      // axes that no merging removes
constexpr unsigned permuteTileRank = 16;  // axes of which a tile takes more than one element
constexpr unsigned tensorRank = 32;       // axes of a view

// One axis of both tensors. Strides count elements.
struct PermuteAxis {
  std::size_t extent;
  std::ptrdiff_t in;
  std::ptrdiff_t out;
};

// What a plan asks of the device.
struct PermuteDevice {
  std::size_t sharedLimit;  // bytes of shared memory that a block can have
  unsigned multiprocessors;
};

// out[offset + sum of i[k] * axis[k].out] = function(in[offset + sum of i[k] * axis[k].in]) for all indices i, in
// numbers.
struct PermuteRequest {
  PermuteAxis axis[tensorRank + 1];  // one for the words of an element
  unsigned rank;
  std::uintptr_t in;  // addresses of the first elements
  std::uintptr_t out;
  unsigned inBytes;  // of an element
  unsigned outBytes;
  unsigned outAlign;  // of its type
  bool onlyMoves;     // without a function; both sides have one type

  std::size_t elements() const {
    std::size_t product = 1;
    for (unsigned k = 0; k < rank; ++k) product *= axis[k].extent;
    return product;
  }
};
template <>
inline constexpr bool isPlan<PermuteRequest> = true;

inline std::ptrdiff_t magnitude(std::ptrdiff_t stride) { return stride < 0 ? -stride : stride; }

// Makes a request canonical.
class PermuteCanonicalizer {
 public:
  explicit PermuteCanonicalizer(PermuteRequest& request) : r_(request) {}

  // As few axes as possible, in ascending order of the output's strides, which are positive.
  void mergeAxes() {
    dropSingles();
    flipNegative();
    sort();
    merge();
  }

  // Then elements that only move are split into words, or joined to wider ones.
  void makeWords() {
    if (!r_.onlyMoves) return;
    splitElements();
    widen();
  }

 private:
  // Structures are often better aligned than their type says.
  void splitElements() {
    std::uintptr_t all = r_.in | r_.out | 16;
    for (unsigned k = 0; k < r_.rank; ++k)
      all |= static_cast<std::uintptr_t>(r_.axis[k].in | r_.axis[k].out) * r_.inBytes;
    const auto word = static_cast<unsigned>(powerOfTwoIn(all | r_.inBytes));
    const unsigned words = r_.inBytes / word;
    setWord(word);
    if (words == 1) return;
    for (unsigned k = 0; k < r_.rank; ++k) r_.axis[k].in *= words, r_.axis[k].out *= words;
    for (unsigned k = r_.rank++; k > 0; --k) r_.axis[k] = r_.axis[k - 1];
    r_.axis[0] = {words, 1, 1};
    merge();
  }

  void setWord(unsigned bytes) { r_.inBytes = r_.outBytes = r_.outAlign = bytes; }

  void dropSingles() {
    unsigned kept = 0;
    for (unsigned k = 0; k < r_.rank; ++k)
      if (r_.axis[k].extent != 1) r_.axis[kept++] = r_.axis[k];
    r_.rank = kept;
  }

  void flipNegative() {
    for (unsigned k = 0; k < r_.rank; ++k) {
      PermuteAxis& axis = r_.axis[k];
      if (axis.out >= 0) continue;
      const auto last = static_cast<std::ptrdiff_t>(axis.extent - 1);
      r_.in += static_cast<std::uintptr_t>(last * axis.in * static_cast<std::ptrdiff_t>(r_.inBytes));
      r_.out += static_cast<std::uintptr_t>(last * axis.out * static_cast<std::ptrdiff_t>(r_.outBytes));
      axis.in = -axis.in;
      axis.out = -axis.out;
    }
  }

  void sort() {
    for (unsigned k = 1; k < r_.rank; ++k) {
      const PermuteAxis axis = r_.axis[k];
      unsigned i = k;
      for (; i > 0 && r_.axis[i - 1].out > axis.out; --i) r_.axis[i] = r_.axis[i - 1];
      r_.axis[i] = axis;
    }
  }

  void merge() {
    if (r_.rank == 0) return;
    unsigned last = 0;
    for (unsigned k = 1; k < r_.rank; ++k) {
      PermuteAxis& axis = r_.axis[last];
      const auto extent = static_cast<std::ptrdiff_t>(axis.extent);
      if (r_.axis[k].out == axis.out * extent && r_.axis[k].in == axis.in * extent)
        axis.extent *= r_.axis[k].extent;
      else
        r_.axis[++last] = r_.axis[k];
    }
    r_.rank = last + 1;
  }

  // Runs that both tensors keep move as wider words.
  void widen() {
    if (r_.rank == 0 || r_.axis[0].in != 1 || r_.axis[0].out != 1) return;
    std::uintptr_t all = r_.in | r_.out | 16 | r_.axis[0].extent * r_.inBytes;
    for (unsigned k = 1; k < r_.rank; ++k)
      all |= static_cast<std::uintptr_t>(r_.axis[k].in | r_.axis[k].out) * r_.inBytes;
    const auto word = static_cast<unsigned>(powerOfTwoIn(all));
    const std::size_t factor = word / r_.inBytes;
    if (factor <= 1) return;
    r_.axis[0].extent /= factor;
    for (unsigned k = 1; k < r_.rank; ++k) {
      r_.axis[k].in /= static_cast<std::ptrdiff_t>(factor);
      r_.axis[k].out /= static_cast<std::ptrdiff_t>(factor);
    }
    setWord(word);
    dropSingles();
    merge();
  }

  PermuteRequest& r_;
};

GPUOPT_DETAIL_END
