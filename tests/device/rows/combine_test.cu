/// combineRows: the bits of a loop in order, for every number of rows around those in flight, types, gaps, padding,
/// means, ragged lists, wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/portion.hpp"
#include "support/random.hpp"

#include <gpuopt/rows_combine.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::rows_combine_test {
namespace {

constexpr std::size_t TABLE_ROWS = 23;

struct Shape {
  std::size_t rows;
  std::size_t cols;
  std::size_t inGap = 0;
  std::size_t outGap = 0;
  std::size_t offset = 0;  // elements off alignment, of `in`
};

// Lists of indices, with -1 for some if padded, and weights.
template <class Index>
struct Lists {
  std::vector<std::size_t> offsets{0};
  std::vector<Index> indices;
  std::vector<float> weights;

  void add(std::size_t count, bool isPadded) {
    for (std::size_t j = 0; j < count; ++j) {
      const std::size_t i = indices.size();
      indices.push_back(isPadded && i % 4 == 1 ? static_cast<Index>(-1) : static_cast<Index>(i * 7 % TABLE_ROWS));
    }
    weights = randomVector<float>(indices.size(), 5);
    offsets.push_back(indices.size());
  }
};

template <class Sum, class In, class Index>
Sum combined(const Lists<Index>& lists, bool isWeighted, RowCombination combination, std::size_t row,
             const std::vector<In>& in, std::size_t ld, std::size_t col) {
  Sum sum = 0;
  std::size_t count = 0;
  for (std::size_t j = lists.offsets[row]; j < lists.offsets[row + 1]; ++j) {
    if (static_cast<std::int64_t>(lists.indices[j]) < 0) continue;
    const Sum weight = isWeighted ? static_cast<Sum>(lists.weights[j]) : Sum{1};
    sum = std::fma(weight, static_cast<Sum>(in[static_cast<std::size_t>(lists.indices[j]) * ld + col]), sum);
    ++count;
  }
  if (combination == RowCombination::sum) return sum;
  return count == 0 ? Sum{0} : sum / static_cast<Sum>(count);
}

// All forms of a call over the same lists; k is 0 if they are ragged.
template <class In, class Out, RowCombination COMBINATION, RowIndices INDICES, class Index>
void checkLists(const Shape& s, const Lists<Index>& lists, std::size_t k) {
  static Series cases;
  if (!cases.runsNext()) return;
  INFO(s.rows << " rows of " << s.cols << ", k = " << k << ", gaps " << s.inGap << " and " << s.outGap);
  const std::size_t inLd = s.cols + s.inGap, outLd = s.cols + s.outGap;
  const std::vector<In> values = randomVector<In>((TABLE_ROWS - 1) * inLd + s.cols, 9);
  const DeviceArray<In> in(values, s.offset);
  const DeviceArray<Index> indices(lists.indices);
  const DeviceArray<float> weights(lists.weights);
  const DeviceArray<std::size_t> offsets(lists.offsets);
  for (const bool isWeighted : {false, true}) {
    DeviceArray<Out> out(s.rows == 0 ? 0 : (s.rows - 1) * outLd + s.cols);
    const MatrixView<const In> table{in.data(), TABLE_ROWS, s.cols, inLd};
    const MatrixView<Out> result{out.data(), s.rows, s.cols, outLd};
    std::vector<Out> expected = out.toHost();
    for (std::size_t r = 0; r < s.rows; ++r)
      for (std::size_t c = 0; c < s.cols; ++c)
        expected[r * outLd + c] =
            static_cast<Out>(combined<detail::RowSum<In, Out>>(lists, isWeighted, COMBINATION, r, values, inLd, c));
    if (isWeighted && k > 0)
      combineRows<COMBINATION, INDICES>(table, indices.data(), weights.data(), k, result);
    else if (k > 0)
      combineRows<COMBINATION, INDICES>(table, indices.data(), k, result);
    else if (isWeighted)
      combineRows<COMBINATION, INDICES>(table, indices.data(), weights.data(), offsets.data(), result);
    else
      combineRows<COMBINATION, INDICES>(table, indices.data(), offsets.data(), result);
    const std::vector<Out> found = out.toHost();
    CHECK((found.empty() || std::memcmp(found.data(), expected.data(), found.size() * sizeof(Out)) == 0));
  }
}

template <class In, class Out = In, class Index = int>
void checkAll(const Shape& s, std::size_t k) {
  Lists<Index> plain, padded;
  for (std::size_t r = 0; r < s.rows; ++r) plain.add(k, false), padded.add(k, true);
  checkLists<In, Out, RowCombination::sum, RowIndices::trusted>(s, plain, k);
  checkLists<In, Out, RowCombination::mean, RowIndices::padded>(s, padded, k);
}

TEST_CASE("Rows combined, around the number in flight", "[rows][combine]") {
  for (const std::size_t k : {1, 2, 7, 8, 9, 16, 17, 40}) checkAll<float>({5, 12}, k);
}

TEST_CASE("Rows combined, of any length, gaps and alignment", "[rows][combine]") {
  for (const std::size_t cols : {1, 3, 4, 8, 127, 128, 129, 520}) checkAll<float>({7, cols}, 3);
  checkAll<float>({7, 12, 4, 8}, 3);
  checkAll<float>({7, 12, 1, 0}, 3);
  checkAll<float>({7, 12, 0, 0, 1}, 3);
  checkAll<float>({300, 4}, 2);
  checkAll<float>({0, 4}, 2);
}

TEST_CASE("Rows combined, of any types", "[rows][combine]") {
  for (const std::size_t cols : {16, 17}) {
    checkAll<__nv_bfloat16>({9, cols}, 8);
    checkAll<__half, float>({9, cols}, 8);
    checkAll<float, __nv_bfloat16, std::int64_t>({9, cols}, 8);
    checkAll<double>({9, cols}, 8);
    checkAll<float, double>({9, cols}, 8);
    checkAll<signed char, float>({9, cols}, 8);
  }
}

TEST_CASE("Ragged rows combined", "[rows][combine]") {
  Lists<std::int64_t> plain, padded;
  for (const std::size_t count : {0, 1, 9, 3, 0, 0, 25, 8}) plain.add(count, false), padded.add(count, true);
  checkLists<float, float, RowCombination::sum, RowIndices::trusted>({8, 20}, plain, 0);
  checkLists<float, float, RowCombination::mean, RowIndices::trusted>({8, 20}, plain, 0);
  checkLists<__half, float, RowCombination::mean, RowIndices::padded>({8, 21}, padded, 0);
}

TEST_CASE("No rows combined give zeros", "[rows][combine]") {
  const DeviceArray<float> in(10);
  const DeviceArray<int> indices(1);
  DeviceArray<float> out(20);
  const Stream stream;
  combineRows(MatrixView<const float>{in.data(), 1, 10}, indices.data(), 0, MatrixView<float>{out.data(), 2, 10},
              stream);
  stream.wait();
  CHECK(out.toHost() == std::vector<float>(20));
}

TEST_CASE("Bad arguments of combined rows", "[rows][combine]") {
  DeviceArray<float> memory(300);
  float* const m = memory.data();
  const DeviceArray<int> indices({0, 3, 2, -1});
  const int* const where = indices.data();
  const MatrixView<const float> in{m, 5, 10};
  const MatrixView<float> out{m + 100, 2, 10};
  const float* const none = nullptr;
  const int* const nowhere = nullptr;
  const auto refused = [](const std::string& expected, auto call) {
    CHECK(messageOf<std::invalid_argument>(call) == expected);
  };
  refused("gpuopt::combineRows: indices is null, but n is 4", [&] { combineRows(in, nowhere, 2, out); });
  // WRITTEN rows: `combineRows(in, indices, weights, k, out)`, where `weights` is null
  // DO: `combineRows(in, indices, k, out)`
  refused("gpuopt::combineRows: weights is null: leave it out for sums", [&] { combineRows(in, where, none, 2, out); });
  refused("gpuopt::combineRows: offsets is null, but n is 3", [&] { combineRows(in, where, nowhere, out); });
  refused("gpuopt::combineRows: k (-2) is negative",
          [&] { combineRows(in, where, static_cast<std::size_t>(-2), out); });
  refused("gpuopt::combineRows: in.cols (10) is not out.cols (9)", [&] {
    combineRows(in, where, 2, MatrixView<float>{m + 100, 2, 9});
  });
  refused("gpuopt::combineRows: in and out overlap: out begins at byte 160 of the 200 that in spans", [&] {
    combineRows(in, where, 2, MatrixView<float>{m + 40, 2, 10});
  });
  refused("gpuopt::combineRows: weights and out overlap: out begins at byte 4 of the 16 of weights",
          [&] { combineRows(in, where, m + 99, 2, out); });
#if GPUOPT_CHECK_POINTERS
  refused("gpuopt::combineRows: indices[3] is -1, but there are 5 rows", [&] { combineRows(in, where, 2, out); });
#endif
}

TEST_CASE("A plan of combined rows in words", "[rows][combine]") {
  DeviceArray<float> memory(64);
  const MatrixView<const float> in{memory.data(), 4, 8};
  CHECK(explainCombineRows(in, MatrixView<float>{memory.data() + 32, 4, 8}) ==
        "4 columns a thread, 8 rows at a time, 1 block of 128 threads: words of 16 bytes divide addresses, rows and "
        "leading dimensions");
  CHECK(explainCombineRows(in, MatrixView<float>{memory.data() + 33, 3, 8})
            .find("1 column a thread, 8 rows at a time, 1 block of 128 threads: words of 16 bytes do not divide ") ==
        0);
  CHECK(explainCombineRows(in, MatrixView<float>{nullptr, 0, 8}) == "nothing to launch: no elements");
}

}  // namespace
}  // namespace gpuopt::test::rows_combine_test
