/// \file
/// Lists of the rows that are summed to one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Which indices are those of a list, and the row of the output that it goes to: k each, or from one offset to the next.
template <class Number>
struct RowList {
  Number begin;
  Number end;
  std::size_t row;
};
struct FixedBounds {
  std::size_t k;
  __device__ RowList<std::size_t> list(std::size_t row) const { return {row * k, row * k + k, row}; }
};
template <class Offset>
struct OffsetBounds {
  const Offset* offsets;
  __device__ RowList<std::size_t> list(std::size_t row) const {
    return {static_cast<std::size_t>(offsets[row]), static_cast<std::size_t>(offsets[row + 1]), row};
  }
};

// The positions of one row of the output: `begin` to before `end` among the sorted ones.
struct alignas(16) AddedList {
  unsigned begin;
  unsigned end;
  unsigned row;
  unsigned unused;
};

// Lists of rows to add to rows of the output, of which only the device knows how many there are.
struct AddedLists {
  const AddedList* lists;
  const unsigned* count;
  unsigned tooLong;  // for one thread a pack: the fewest positions of a list that a block sums
  __device__ RowList<unsigned> list(std::size_t number) const {
    const AddedList list = lists[number];
    return {list.begin, list.end, list.row};
  }
};

GPUOPT_DETAIL_END
