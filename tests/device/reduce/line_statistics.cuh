/// What the tests of rows and columns share: statistics of lines of a matrix, which are its rows or its columns,
/// against serial code.
// SPDX-License-Identifier: MIT
#pragma once

#include "moments_oracle.cuh"
#include "support/any_bits.cuh"
#include "support/catch.hpp"
#include "support/matrix_data.cuh"
#include "support/portion.hpp"

#include <gpuopt/reduce_columns.cuh>
#include <gpuopt/reduce_rows.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt::test {

template <class Policy>
struct Rows {
  static constexpr bool AreRows = true;
  template <class... Args>
  static void minMax(Args... args) {
    minMaxRows<DefaultAccumulator, Policy>(args...);
  }
  template <class... Args>
  static void argMin(Args... args) {
    argMinRows<DefaultAccumulator, Policy>(args...);
  }
  template <class... Args>
  static void argMax(Args... args) {
    argMaxRows<DefaultAccumulator, Policy>(args...);
  }
  template <class... Args>
  static void meanVariance(Args... args) {
    meanVarianceRows<DefaultAccumulator, Policy>(args...);
  }
};

template <class Policy>
struct Columns {
  static constexpr bool AreRows = false;
  template <class... Args>
  static void minMax(Args... args) {
    minMaxColumns<DefaultAccumulator, Policy>(args...);
  }
  template <class... Args>
  static void argMin(Args... args) {
    argMinColumns<DefaultAccumulator, Policy>(args...);
  }
  template <class... Args>
  static void argMax(Args... args) {
    argMaxColumns<DefaultAccumulator, Policy>(args...);
  }
  template <class... Args>
  static void meanVariance(Args... args) {
    meanVarianceColumns<DefaultAccumulator, Policy>(args...);
  }
};

/// What the elements of a matrix are: small integers with many ties; any numbers; numbers with NaNs of various bits,
/// infinities, zeros of both signs, a few of each in each line.
enum class Data { ties, numbers, special };

/// The special value number i, of a floating-point type.
template <class T>
T specialValue(std::uint64_t i) {
  const float values[] = {
      0.0F, -0.0F, 0.0F, -0.0F, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()};
  if (i % 8 < 6) return static_cast<T>(values[i % 8]);
  T nan = static_cast<T>(std::numeric_limits<float>::quiet_NaN());
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &nan, sizeof(T));
  bytes[0] = static_cast<unsigned char>(i >> 8);                                                    // the payload
  if (i % 8 == 6) bytes[sizeof(T) - 1] = static_cast<unsigned char>(bytes[sizeof(T) - 1] ^ 0x80u);  // the sign
  std::memcpy(&nan, bytes, sizeof(T));
  return nan;
}

template <class T>
HostMatrix<T> makeMatrix(Data data, std::size_t rows, std::size_t cols, std::size_t ld) {
  auto matrix = HostMatrix<T>::make(rows, cols, ld);
  if (data == Data::ties) return matrix;
  const auto values = randomVector<T>(rows * cols, static_cast<unsigned>(rows + 7 * cols));
  for (std::size_t i = 0; i < rows * cols; ++i) {
    T& element = matrix.values[i / cols * ld + i % cols];
    element = values[i];
    const std::uint64_t hash = hashOf(i + 1000 * rows + cols);
    if constexpr (!std::is_integral_v<T>)
      if (data == Data::special && hash % (3 + hashOf(i / cols) % cols) == 0) element = specialValue<T>(hash >> 20);
  }
  return matrix;
}

/// Row or column i of a matrix.
template <class Lines, class T>
std::vector<T> lineOf(const HostMatrix<T>& matrix, std::size_t i) {
  std::vector<T> line;
  const std::size_t length = Lines::AreRows ? matrix.cols : matrix.rows;
  for (std::size_t k = 0; k < length; ++k)
    line.push_back(matrix.values[Lines::AreRows ? i * matrix.ld + k : k * matrix.ld + i]);
  return line;
}

template <class T>
bool isNan(const T& value) {
  return value != value;
}

/// Whether a is before b in the order of Minimum: NaN, then numbers, of which -0 is less than +0 if zeros have signs.
template <class A>
bool isBelow(A a, A b, bool zerosHaveSigns) {
  if (isNan(a) || isNan(b)) return isNan(a) && !isNan(b);
  if constexpr (std::is_floating_point_v<A>)
    if (a == b) return zerosHaveSigns && std::signbit(a) && !std::signbit(b);
  return a < b;
}

/// The index of the first smallest or largest element; a NaN is both.
template <bool LARGEST, class A>
std::size_t extremeOf(const std::vector<A>& line, bool zerosHaveSigns) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < line.size(); ++i) {
    const bool nans = isNan(line[i]) || isNan(line[best]);
    const bool better =
        LARGEST && !nans ? isBelow(line[best], line[i], zerosHaveSigns) : isBelow(line[i], line[best], zerosHaveSigns);
    if (better) best = i;
  }
  return best;
}

/// The same bits, or both NaN.
template <class A>
bool isSame(A a, A b) {
  return isNan(a) ? isNan(b) : sameBits(a, b);
}

/// "" if the results of a line are right, else what is not. `largest` may be null.
template <class A, class M, class T>
std::string wrongIn(const MinMax<A>& extremes, const ArgResult<A>& smallest, const ArgResult<A>* largest,
                    const MeanVariance<M>& moments, const std::vector<T>& line, double serial) {
  std::vector<A> values;
  bool isFinite = true, hasNan = false;
  for (const T& value : line) {
    values.push_back(static_cast<A>(value));
    hasNan = hasNan || isNan(values.back());
    isFinite = isFinite && std::isfinite(static_cast<double>(values.back()));
  }
  if (!isSame(extremes.minimum, values[extremeOf<false>(values, true)])) return "minimum";
  if (!isSame(extremes.maximum, values[extremeOf<true>(values, true)])) return "maximum";
  const std::size_t first = extremeOf<false>(values, false), last = extremeOf<true>(values, false);
  if (smallest.index != first || !sameBits(smallest.value, values[first])) return "argMin";
  if (largest != nullptr && (largest->index != last || !sameBits(largest->value, values[last]))) return "argMax";
  if (isFinite) return areMoments(moments, line, serial) ? "" : "moments";
  const bool areSpecial = (hasNan ? isNan(moments.mean) : !std::isfinite(moments.mean)) && isNan(moments.variance);
  return moments.count == line.size() && areSpecial ? "" : "moments of NaN or infinities";
}

/// Every statistic of every line of a matrix that the device reads through `in`. argMax is checked with floats alone,
/// since it differs from argMin only in the comparison.
template <class Lines, class It, class T>
void checkStatisticsOf(It in, const HostMatrix<T>& matrix, std::size_t offset = 0) {
  using A = detail::Extreme<DefaultAccumulator, const T*>;
  using M = detail::Moment<DefaultAccumulator, const T*>;
  const std::size_t rows = matrix.rows, cols = matrix.cols, ld = matrix.ld;
  const std::size_t lines = Lines::AreRows ? rows : cols;
  DeviceArray<MinMax<A>> extremes(lines);
  DeviceArray<ArgResult<A>> smallest(lines), largest(lines);
  DeviceArray<MeanVariance<M>> moments(lines);
  Lines::minMax(in, rows, cols, ld, extremes.data());
  Lines::argMin(in, rows, cols, ld, smallest.data());
  if constexpr (std::is_same_v<T, float>) Lines::argMax(in, rows, cols, ld, largest.data());
  Lines::meanVariance(in, rows, cols, ld, moments.data());
  const auto e = extremes.toHost();
  const auto s = smallest.toHost(), l = largest.toHost();
  const auto m = moments.toHost();
  std::string wrong;
  std::size_t i = 0;
  while (i < lines && wrong.empty()) {
    wrong = wrongIn(e[i], s[i], std::is_same_v<T, float> ? &l[i] : nullptr, m[i], lineOf<Lines>(matrix, i), 128);
    if (wrong.empty()) ++i;
  }
  CAPTURE(rows, cols, ld, offset, sizeof(T), i);
  CHECK(wrong == "");
}

template <class Lines, class T>
void checkStatistics(Data data, std::size_t rows, std::size_t cols, std::size_t ld, std::size_t offset) {
  static Series cases;
  if (!cases.runsNext()) return;
  const auto matrix = makeMatrix<T>(data, rows, cols, ld);
  const DeviceArray<T> in(matrix.values, offset);
  checkStatisticsOf<Lines>(in.data(), matrix, offset);
}

/// The iterator whose element i is a small integer: many ties, and nothing lies in memory.
struct SmallNumbers {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = float;
  using difference_type = std::ptrdiff_t;
  using pointer = const float*;
  using reference = float;

  std::ptrdiff_t first = 0;

  __host__ __device__ float operator[](std::ptrdiff_t i) const {
    return static_cast<float>(hashOf(static_cast<std::uint64_t>(first + i)) % 19);
  }
  __host__ __device__ float operator*() const { return (*this)[0]; }
  __host__ __device__ friend SmallNumbers operator+(const SmallNumbers& it, std::ptrdiff_t i) { return {it.first + i}; }
};

template <class Lines>
void checkIterator(std::size_t rows, std::size_t cols, std::size_t ld) {
  HostMatrix<float> matrix{rows, cols, ld, std::vector<float>(rows * ld)};
  for (std::size_t i = 0; i < rows * ld; ++i) matrix.values[i] = SmallNumbers{}[static_cast<std::ptrdiff_t>(i)];
  checkStatisticsOf<Lines>(SmallNumbers{}, matrix);
}

}  // namespace gpuopt::test
