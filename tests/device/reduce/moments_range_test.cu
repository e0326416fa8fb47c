/// meanVariance of arrays, rows and columns where sums of the elements, or of their squares, would not do: elements
/// near the largest number, far from zero, all equal.
// SPDX-License-Identifier: MIT
#include "line_statistics.cuh"
#include "low_boundaries.cuh"
#include "low_lines.cuh"
#include "support/catch.hpp"

#include <gpuopt/reduce.cuh>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace gpuopt::test::moments_range_test {
namespace {

constexpr float huge = 3e38F;

// The moments of an array, as the array, and as each line of a matrix of such rows or columns.
struct Way {
  const char* name;
  std::size_t lines;
  std::size_t gap;
  std::size_t offset;
};

template <class Policy>
std::vector<MeanVariance<float>> arrayMoments(const std::vector<float>& values, std::size_t offset) {
  const DeviceArray<float> in(values, offset);
  return {meanVariance<DefaultAccumulator, Policy>(in.data(), values.size())};
}

template <class Lines>
std::vector<MeanVariance<float>> lineMoments(const std::vector<float>& values, const Way& way) {
  const std::size_t n = values.size(), rows = Lines::AreRows ? way.lines : n, cols = Lines::AreRows ? n : way.lines;
  const std::size_t ld = cols + way.gap;
  std::vector<float> elements((rows - 1) * ld + cols, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c) elements[r * ld + c] = values[Lines::AreRows ? c : r];
  const DeviceArray<float> in(elements, way.offset);
  DeviceArray<MeanVariance<float>> out(way.lines);
  Lines::meanVariance(in.data(), rows, cols, ld, out.data());
  return out.toHost();
}

// Passes the moments of the values, found in every way, to holds, which says whether they are right.
template <class Holds>
void checkEverywhere(const std::vector<float>& values, Holds holds) {
  const auto check = [&](const std::vector<MeanVariance<float>>& found, const char* where) {
    for (const MeanVariance<float>& each : found) {
      if (each.count == values.size() && holds(each)) continue;
      CAPTURE(where, values.size(), values[0], each.count, each.mean, each.variance);
      FAIL_CHECK("wrong moments");
      return;
    }
    SUCCEED();
  };
  check(arrayMoments<LowBoundaries>(values, 1), "array");
  check(arrayMoments<ReducePolicy>(values, 0), "array, policy of the library");
  for (const Way& way : {Way{"dense", 3, 0, 0}, {"shifted", 3, 1, 1}, {"gaps", 17, 4, 0}, {"wide gaps", 17, 1001, 2}}) {
    INFO(way.name);
    check(lineMoments<Rows<LowRows>>(values, way), "rows");
    check(lineMoments<Columns<LowColumns>>(values, way), "columns");
    check(lineMoments<Rows<detail::ReduceRowsPolicy>>(values, way), "rows, policy of the library");
    check(lineMoments<Columns<detail::ReduceColumnsPolicy>>(values, way), "columns, policy of the library");
  }
}

const std::vector<std::size_t> lengths = {1, 2, 3, 4, 5, 8, 16, 31, 32, 63, 64, 100, 127, 240, 500, 513, 1025, 3001};

TEST_CASE("Equal elements have themselves as mean, and no variance", "[moments][sweep]") {
  for (const float value : {3e38F, -3e38F, 1e6F, 0.1F, 0.0F})
    for (const std::size_t n : lengths)
      checkEverywhere(std::vector<float>(n, value), [=](const MeanVariance<float>& found) {
        return std::fabs(found.mean - value) <= 2e-7F * std::fabs(value) && found.variance == 0;
      });
}

TEST_CASE("The mean of elements near the largest number is finite", "[moments][sweep]") {
  for (const std::size_t n : lengths) {
    if (n == 1) continue;
    const auto signs = randomVector<int>(n, 9);
    for (const std::size_t kind : {0, 1, 2}) {  // the first one differs; half and half; at random
      std::vector<float> values(n);
      double mean = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const bool isNegative = kind == 0 ? i == 0 : kind == 1 ? i % 2 == 0 : i == 0 || signs[i] < 0;
        values[i] = isNegative ? -huge : huge;
        mean += static_cast<double>(values[i]) / static_cast<double>(n);
      }
      const bool isMixed = n > 1 && std::fabs(mean) < 0.999999 * static_cast<double>(huge);
      CAPTURE(kind);
      checkEverywhere(values, [=](const MeanVariance<float>& found) {
        return std::fabs(static_cast<double>(found.mean) - mean) <= 2e-6 * static_cast<double>(huge) &&
               (!isMixed || found.variance == std::numeric_limits<float>::infinity());
      });
    }
  }
}

TEST_CASE("Moments of numbers far from zero", "[moments][sweep]") {
  for (const std::size_t n : lengths) {
    std::vector<float> values = randomVector<float>(n, 2);
    for (float& value : values) value = 1e6F + 0.2F * value;
    checkEverywhere(values, [&](const MeanVariance<float>& found) { return areMoments(found, values, 128); });
  }
}

// Small numbers: what scales large ones must not lose them.
TEST_CASE("Moments of small numbers", "[moments][sweep]") {
  for (const std::size_t n : lengths) {
    std::vector<float> values = randomVector<float>(n, 3);
    for (float& value : values) value *= 1e-15F;
    checkEverywhere(values, [&](const MeanVariance<float>& found) { return areMoments(found, values, 128); });
  }
}

}  // namespace
}  // namespace gpuopt::test::moments_range_test
