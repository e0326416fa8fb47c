/// \file
/// Rows of packs, which are words or the elements that fill one: the shape, and which row an element belongs to.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// Elements that a thread takes at a time: the wider side fills 16 bytes. 1 if that is not possible.
constexpr unsigned widePack(std::size_t inBytes, std::size_t outBytes) {
  const std::size_t wider = largerOf(inBytes, outBytes);
  const bool areWords = powerOfTwoIn(inBytes) == inBytes && powerOfTwoIn(outBytes) == outBytes && wider <= 16;
  return areWords ? static_cast<unsigned>(16 / wider) : 1;
}

// The largest power of two, up to 16, that divides the addresses and the lengths of all rows.
inline std::size_t rowAlignment(std::uintptr_t data, std::size_t cols, std::size_t ld, std::size_t elementBytes) {
  return powerOfTwoIn(data | cols * elementBytes | ld * elementBytes | 16);
}

// Aligned vectors of 16 bytes that a row touches at most, wherever it begins.
constexpr std::size_t vectorsOfShiftedRow(std::size_t bytes) { return (bytes + 30) / 16; }

// N elements of T, as the word that they fill.
template <class T, unsigned N>
struct PackOf {
  using type = Word<N * sizeof(T)>;
};
template <class T>
struct PackOf<T, 1> {
  using type = T;
};
template <class T, unsigned N>
using Pack = typename PackOf<T, N>::type;

// Rows of elements, counted along the rows, as if there were no gaps.
struct RowShape {
  std::size_t rows;
  std::size_t cols;
  Divisor shortCols;  // if cols is less than 2^31

  RowShape(std::size_t rowCount, std::size_t length)
      : rows(rowCount), cols(length), shortCols(length < LIMIT ? Divisor(static_cast<unsigned>(length)) : Divisor()) {}

  // The row of any element, in most cases without a long division.
  __device__ std::size_t rowOf(std::size_t element) const {
    return element < LIMIT && cols < LIMIT ? shortCols.divide(static_cast<unsigned>(element)) : element / cols;
  }

  // The same of an element that is less than `tile` behind the end of a row or its own row's start, without one.
  __device__ std::size_t nearRowOf(std::size_t element, unsigned tile) const {
    if (cols >= tile) return element >= cols ? 1 : 0;
    return shortCols.divide(static_cast<unsigned>(element));
  }

 private:
  static constexpr std::size_t LIMIT = std::size_t{1} << 31;
};

GPUOPT_DETAIL_END
