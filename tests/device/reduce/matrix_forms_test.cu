/// The forms in which rows, columns and segments take matrices and outputs: every one gives the bits of the plain call.
// SPDX-License-Identifier: MIT
#include "support/any_bits.cuh"
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/matrix_data.cuh"

#include <gpuopt/reduce_columns.cuh>
#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/reduce_segments.cuh>

#include <cuda_fp16.h>
#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/array>
#include <cuda/std/mdspan>
#endif

#include <cmath>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::matrix_forms_test {
namespace {

constexpr std::size_t ROWS = 23, COLS = 37, LD = 40;

// A container of device memory.
template <class T>
struct Range {
  T* first;
  std::size_t count;

  T* data() const { return first; }
  std::size_t size() const { return count; }
};

template <class T>
Range<T> rangeOf(DeviceArray<T>& array) {
  return {array.data(), array.size()};
}

// Stores twice what it is given, in reverse.
struct Doubling {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = float;
  using difference_type = std::ptrdiff_t;
  using pointer = float*;

  struct reference {
    float* element;
    __host__ __device__ const reference& operator=(float value) const {
      *element = 2 * value;
      return *this;
    }
  };

  float* last;

  __host__ __device__ reference operator[](std::ptrdiff_t i) const { return {last - i}; }
  __host__ __device__ friend Doubling operator+(const Doubling& it, std::ptrdiff_t i) { return {it.last - i}; }
};

struct PlusHalf {
  __host__ __device__ double operator()(float x) const { return static_cast<double>(x) + 0.5; }
};

// The results of a call that writes `count` values of R at the pointer it is given.
template <class R, class Call>
std::vector<R> resultsOf(std::size_t count, Call call) {
  DeviceArray<R> out(count);
  call(out);
  return out.toHost();
}

struct Input {
  HostMatrix<float> dense = HostMatrix<float>::make(ROWS, COLS, COLS);
  HostMatrix<float> pitched = HostMatrix<float>::make(ROWS, COLS, LD);
  Input() {
    const auto values = randomVector<float>(ROWS * COLS, 1);
    for (std::size_t i = 0; i < ROWS * COLS; ++i)
      dense.values[i] = pitched.values[i / COLS * LD + i % COLS] = values[i];
  }
};

// Passes each form of the arguments of a matrix, dense or pitched, to call(matrix arguments...).
template <class Call>
void eachForm(const float* dense, const float* pitched, Call call) {
  const std::size_t denseSize = ROWS * COLS, pitchedSize = (ROWS - 1) * LD + COLS;
  call("pointer", dense, ROWS, COLS);
  call("pointer, ints", dense, static_cast<int>(ROWS), static_cast<int>(COLS), static_cast<int>(COLS));
  call("range", Range<const float>{dense, denseSize}, ROWS, COLS);
  call("range, ld", Range<const float>{dense, denseSize}, ROWS, COLS, COLS);
  call("view", MatrixView<const float>{dense, ROWS, COLS});
  call("pitched pointer", pitched, ROWS, COLS, LD);
  call("pitched range", Range<const float>{pitched, pitchedSize}, ROWS, COLS, LD);
  call("pitched view", MatrixView<const float>{pitched, ROWS, COLS, LD});
#if __has_include(<cuda/std/mdspan>)
  using Extents = cuda::std::dextents<int, 2>;
  call("mdspan", cuda::std::mdspan<const float, Extents>(dense, ROWS, COLS));
  using Strided = cuda::std::layout_stride::mapping<Extents>;
  const Strided strides(Extents(ROWS, COLS), cuda::std::array<int, 2>{static_cast<int>(LD), 1});
  call("strided mdspan", cuda::std::mdspan<const float, Extents, cuda::std::layout_stride>(pitched, strides));
#endif
}

// Checks that function(matrix..., out, rest...) gives the bits of the plain call, to a pointer, for every form of
// matrix with a range and a stream.
template <class R, class Function, class... Rest>
void checkForms(std::size_t results, Function function, Rest... rest) {
  const Input input;
  const DeviceArray<float> dense(input.dense.values), pitched(input.pitched.values);
  const auto plain = [&](const float* data, std::size_t ld) {
    return resultsOf<R>(results, [&](DeviceArray<R>& out) { function(data, ROWS, COLS, ld, out.data(), rest...); });
  };
  const auto expectedDense = plain(dense.data(), COLS), expectedPitched = plain(pitched.data(), LD);
  eachForm(dense.data(), pitched.data(), [&](const std::string& name, const auto&... matrix) {
    CAPTURE(name);
    const auto& expected = contains(name, "pitched") || contains(name, "strided") ? expectedPitched : expectedDense;
    const Stream stream;
    const auto found =
        resultsOf<R>(results, [&](DeviceArray<R>& out) { function(matrix..., rangeOf(out), rest..., stream); });
    const bool isRight = sameBytes(found, expected);
    CHECK(isRight);
  });
}

#define FUNCTION(name) [](auto&&... each) { name(each...); }

TEST_CASE("Forms of a matrix, rows", "[forms]") {
  checkForms<float>(ROWS, FUNCTION(reduceRows));
  checkForms<float>(ROWS, FUNCTION(reduceRows), Maximum{});
  checkForms<float>(ROWS, FUNCTION(reduceRows), Plus{}, 7.0F);
  checkForms<double>(ROWS, FUNCTION(transformReduceRows), PlusHalf{});
  checkForms<double>(ROWS, FUNCTION(transformReduceRows), PlusHalf{}, Minimum{}, -0.25);
  checkForms<MinMax<float>>(ROWS, FUNCTION(minMaxRows));
  checkForms<ArgResult<float>>(ROWS, FUNCTION(argMinRows));
  checkForms<ArgResult<float>>(ROWS, FUNCTION(argMaxRows));
  checkForms<MeanVariance<float>>(ROWS, FUNCTION(meanVarianceRows));
}

TEST_CASE("Forms of a matrix, columns", "[forms]") {
  checkForms<float>(COLS, FUNCTION(reduceColumns));
  checkForms<float>(COLS, FUNCTION(reduceColumns), Maximum{});
  checkForms<float>(COLS, FUNCTION(reduceColumns), Plus{}, 7.0F);
  checkForms<double>(COLS, FUNCTION(transformReduceColumns), PlusHalf{});
  checkForms<double>(COLS, FUNCTION(transformReduceColumns), PlusHalf{}, Minimum{}, -0.25);
  checkForms<MinMax<float>>(COLS, FUNCTION(minMaxColumns));
  checkForms<ArgResult<float>>(COLS, FUNCTION(argMinColumns));
  checkForms<ArgResult<float>>(COLS, FUNCTION(argMaxColumns));
  checkForms<MeanVariance<float>>(COLS, FUNCTION(meanVarianceColumns));
}

// A batch against its matrices one by one. Its matrices are rows of a longer matrix, have gaps between them, or between
// their rows, or are side by side.
TEST_CASE("Batches", "[forms]") {
  const std::size_t batch = 3;
  const auto values = randomVector<float>(10000, 2);
  const DeviceArray<float> in(values, 1);
  for (const std::size_t ld : {COLS, LD, 3 * COLS})
    for (const std::size_t stride : {ROWS * ld, ROWS * ld + 5, std::size_t{COLS}}) {
      CAPTURE(ld, stride);
      const MatrixView<const float> view{in.data(), ROWS, COLS, ld, batch, stride};
      DeviceArray<float> rowSums(batch * ROWS), columnSums(batch * COLS);
      DeviceArray<ArgResult<float>> largest(batch * ROWS), smallest(batch * COLS);
      reduceRows(view, rowSums.data());
      reduceColumns(view, rangeOf(columnSums));
      argMaxRows(view, largest.data());
      argMinColumns(view, rangeOf(smallest));
      for (std::size_t b = 0; b < batch; ++b) {
        const float* data = in.data() + b * stride;
        const auto rows = resultsOf<float>(ROWS, [&](auto& out) { reduceRows(data, ROWS, COLS, ld, out.data()); });
        const auto columns =
            resultsOf<float>(COLS, [&](auto& out) { reduceColumns(data, ROWS, COLS, ld, out.data()); });
        for (std::size_t r = 0; r < ROWS; ++r) {
          const float found = rowSums.toHost()[b * ROWS + r];
          REQUIRE(std::fabs(found - rows[r]) <= 1e-5F);  // the order of operations depends on the shape
          const auto best = largest.toHost()[b * ROWS + r];
          REQUIRE(best.index < COLS);
          for (std::size_t c = 0; c < COLS; ++c) REQUIRE(values[b * stride + r * ld + c] <= best.value);
          REQUIRE(values[b * stride + r * ld + best.index] == best.value);
        }
        for (std::size_t c = 0; c < COLS; ++c) {
          REQUIRE(std::fabs(columnSums.toHost()[b * COLS + c] - columns[c]) <= 1e-5F);
          const auto best = smallest.toHost()[b * COLS + c];
          REQUIRE(best.index < ROWS);
          REQUIRE(values[b * stride + best.index * ld + c] == best.value);
        }
      }
    }
}

TEST_CASE("Empty batches and matrices", "[forms]") {
  DeviceArray<float> out(6);
  reduceRows(MatrixView<const float>{nullptr, 2, 3, 3, 0}, out.data());
  reduceColumns(MatrixView<const float>{nullptr, 0, 3, 3, 2}, out.data());
  CHECK(out.toHost() == std::vector<float>(6, 0));
  DeviceArray<MeanVariance<float>> moments(2);
  meanVarianceRows(MatrixView<const float>{nullptr, 2, 0}, moments.data());
  CHECK((moments.toHost()[1].count == 0 && moments.toHost()[1].mean == 0 && moments.toHost()[1].variance == 0));
  DeviceArray<ArgResult<float>> found(3);
  argMinColumns(static_cast<const float*>(nullptr), 0, 3, found.data());
  CHECK(found.toHost()[2].index == ArgResult<float>::none);
  minMaxRows(static_cast<const float*>(nullptr), 0, 3, static_cast<MinMax<float>*>(nullptr));
}

TEST_CASE("Results of another type", "[forms]") {
  const Input input;
  const DeviceArray<float> in(input.dense.values);
  const auto sums = resultsOf<float>(ROWS, [&](auto& out) { reduceRows(in.data(), ROWS, COLS, out.data()); });
  const auto wide = resultsOf<double>(ROWS, [&](auto& out) { reduceRows<double>(in.data(), ROWS, COLS, out.data()); });
  const auto rounded =
      resultsOf<float>(ROWS, [&](auto& out) { reduceRows<double>(in.data(), ROWS, COLS, out.data()); });
  for (std::size_t r = 0; r < ROWS; ++r) CHECK(rounded[r] == static_cast<float>(wide[r]));
  const auto columns = resultsOf<float>(COLS, [&](auto& out) { reduceColumns(in.data(), ROWS, COLS, out.data()); });
  const auto reversed =
      resultsOf<float>(COLS, [&](auto& out) { reduceColumns(in.data(), ROWS, COLS, Doubling{out.data() + COLS - 1}); });
  for (std::size_t c = 0; c < COLS; ++c) CHECK(reversed[COLS - 1 - c] == 2 * columns[c]);

  const auto halves = HostMatrix<__half>::make(ROWS, COLS, COLS);
  const DeviceArray<__half> inHalves(halves.values, 1);
  const auto halfSums =
      resultsOf<__half>(ROWS, [&](auto& out) { reduceRows(inHalves.data(), ROWS, COLS, out.data()); });
  for (std::size_t r = 0; r < ROWS; ++r)
    CHECK(static_cast<float>(halfSums[r]) == foldSerially<float>(halves.values, r * COLS, (r + 1) * COLS, Plus{}));
  // A batch whose matrices have gaps between them moves the iterator on.
  DeviceArray<float> out(2 * 3);
  reduceRows(MatrixView<const float>{in.data(), 3, COLS, COLS, 2, 4 * COLS}, Doubling{out.data() + 5});
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::fabs(out.toHost()[5 - i] - 2 * sums[i < 3 ? i : i + 1]) <= 1e-5F);
}

struct Digits {
  template <class Element>
  __host__ __device__ int operator()(const Element& element) const {
    return static_cast<int>(element.words[0]) + 10 * static_cast<int>(element.words[1]) +
           100 * static_cast<int>(element.words[2]);
  }
};

TEMPLATE_TEST_CASE("A function applied to each element, of any size", "[forms]", Bytes3, Float3, Words25) {
  for (const std::size_t cols : {1, 5, 33, 200, 6000})
    for (const std::size_t gap : {0, 1, 16}) {
      const std::size_t rows = cols > 1000 ? 3 : 50, ld = cols + gap;
      const auto matrix = HostMatrix<TestType>::make(rows, cols, ld);
      const DeviceArray<TestType> in(matrix.values, 1);
      std::vector<int> ofRows(rows, 0), ofColumns(cols, 0);
      for (std::size_t i = 0; i < rows * cols; ++i) {
        const int value = Digits{}(matrix.values[i / cols * ld + i % cols]);
        ofRows[i / cols] += value;
        ofColumns[i % cols] += value;
      }
      CAPTURE(rows, cols, ld);
      CHECK(resultsOf<int>(rows, [&](auto& out) {
              transformReduceRows(in.data(), rows, cols, ld, out.data(), Digits{});
            }) == ofRows);
      CHECK(resultsOf<int>(cols, [&](auto& out) {
              transformReduceColumns(in.data(), rows, cols, ld, out.data(), Digits{});
            }) == ofColumns);
    }
}

TEST_CASE("Forms of segments", "[forms]") {
  const auto values = smallIntegers<float>(5000, 3);
  const std::vector<int> offsets = {0, 0, 3, 40, 1000, 1001, 4000, 4000, 5000};
  const std::size_t segments = offsets.size() - 1;
  std::vector<double> expected(segments, 100);
  for (std::size_t s = 0; s < segments; ++s)
    for (int i = offsets[s]; i < offsets[s + 1]; ++i)
      expected[s] += static_cast<double>(values[static_cast<std::size_t>(i)]) + 0.5;
  DeviceArray<float> in(values, 1);
  DeviceArray<int> bounds(offsets);
  const auto check = [&](auto call) { CHECK(resultsOf<double>(segments, call) == expected); };
  check([&](auto& out) {
    transformReduceSegments(in.data(), bounds.data(), segments, out.data(), PlusHalf{}, Plus{}, 100.0);
  });
  check(
      [&](auto& out) { transformReduceSegments(rangeOf(in), rangeOf(bounds), out.data(), PlusHalf{}, Plus{}, 100.0); });
  check(
      [&](auto& out) { transformReduceSegments(in.data(), rangeOf(bounds), rangeOf(out), PlusHalf{}, Plus{}, 100.0); });
  check([&](auto& out) {
    transformReduceSegments(rangeOf(in), bounds.data(), segments, rangeOf(out), PlusHalf{}, Plus{}, 100);
  });
  const auto sums =
      resultsOf<float>(segments, [&](auto& out) { reduceSegments(in.data(), bounds.data(), segments, out.data()); });
  const auto rounded =
      resultsOf<float>(segments, [&](auto& out) { reduceSegments<double>(in.data(), rangeOf(bounds), out.data()); });
  const auto reversed = resultsOf<float>(
      segments, [&](auto& out) { reduceSegments(rangeOf(in), rangeOf(bounds), Doubling{out.data() + segments - 1}); });
  for (std::size_t s = 0; s < segments; ++s) {
    CHECK(rounded[s] == sums[s]);  // small integers: exact
    CHECK(reversed[segments - 1 - s] == 2 * sums[s]);
  }
}

// Checks the messages of function(in..., out) for bad arguments; `results` of R, their number for 3 x 4.
template <class R, class Function>
void checkMessages(const std::string& name, std::size_t results, Function function) {
  DeviceArray<float> in(100);
  DeviceArray<R> out(20);
  const float* data = in.data();
  R* const to = out.data();
  const auto says = [&](const std::string& expected, const auto&... arguments) {
    CHECK(messageOf<std::invalid_argument>([&] { function(arguments...); }) == name + ": " + expected);
  };
  const std::string count = std::to_string(results), less = std::to_string(results - 1);
  const float* const nothing = nullptr;
  says("ld (3) is less than cols (4)", data, 3, 4, 3, to);
  says("in is null, but rows is 3 and cols is 4", nothing, 3, 4, to);
  says("out is null, but there are " + count + " results", data, 3, 4, 4, static_cast<R*>(nullptr));
  says("in has 11 elements, but 12 are needed", Range<const float>{data, 11}, 3, 4, to);
  says("in has 23 elements, but 24 are needed", Range<const float>{data, 23}, 3, 4, 10, to);
  says("out has " + less + " elements, but " + count + " are needed", data, 3, 4, Range<R>{to, results - 1});
  says("out has " + less + " elements, but " + count + " are needed", MatrixView<const float>{data, 3, 4},
       Range<R>{to, results - 1});
  says("out has 5 elements, but " + std::to_string(2 * results) + " are needed",
       MatrixView<const float>{data, 3, 4, 4, 2, 30}, Range<R>{to, 5});
}

TEST_CASE("Messages name the function and the parameter", "[forms]") {
  checkMessages<float>("gpuopt::reduceRows", 3, FUNCTION(reduceRows));
  checkMessages<MinMax<float>>("gpuopt::minMaxRows", 3, FUNCTION(minMaxRows));
  checkMessages<ArgResult<float>>("gpuopt::argMinRows", 3, FUNCTION(argMinRows));
  checkMessages<ArgResult<float>>("gpuopt::argMaxRows", 3, FUNCTION(argMaxRows));
  checkMessages<MeanVariance<float>>("gpuopt::meanVarianceRows", 3, FUNCTION(meanVarianceRows));
  checkMessages<float>("gpuopt::reduceColumns", 4, FUNCTION(reduceColumns));
  checkMessages<MinMax<float>>("gpuopt::minMaxColumns", 4, FUNCTION(minMaxColumns));
  checkMessages<ArgResult<float>>("gpuopt::argMinColumns", 4, FUNCTION(argMinColumns));
  checkMessages<ArgResult<float>>("gpuopt::argMaxColumns", 4, FUNCTION(argMaxColumns));
  checkMessages<MeanVariance<float>>("gpuopt::meanVarianceColumns", 4, FUNCTION(meanVarianceColumns));
}

TEST_CASE("Overlapping input and output", "[forms]") {
  const auto values = smallIntegers<float>(200, 1);
  DeviceArray<float> in(values);
  float* data = in.data();
  const auto says = [&](const std::string& expected, const auto& call) {
    CHECK(messageOf<std::invalid_argument>(call) == expected);
  };
  says("gpuopt::reduceRows: in and out overlap: out begins at byte 0 of the 48 of in",
       [=] { reduceRows(data, 3, 4, data); });
  says("gpuopt::reduceColumns: in and out overlap: out begins at byte 92 of the 96 of in",
       [=] { reduceColumns(data, 3, 4, 10, data + 23); });
  says("gpuopt::reduceRows: out and in overlap: in begins at byte 8 of the 12 of out",
       [=] { reduceRows(data + 2, 3, 4, data); });
  says("gpuopt::transformReduceRows: in and out overlap: out begins at byte 4 of the 48 of in",
       [=] { transformReduceRows(data, 3, 4, data + 1, Identity{}); });
  // The first matrix is apart from all results; nothing is written before the second one is looked at.
  const std::string ofBatch = ": in and out overlap: out begins at byte 128 of the 168 of in";
  says("gpuopt::reduceRows" + ofBatch, [=] { reduceRows(MatrixView<const float>{data, 3, 4, 4, 2, 30}, data + 32); });
  says("gpuopt::reduceColumns" + ofBatch, [=] {
    reduceColumns(MatrixView<const float>{data, 3, 4, 4, 2, 30}, data + 32);
  });
  CHECK(sameBytes(in.toHost(), values));
  reduceRows(data, 3, 4, data + 12);  // next to each other
  for (std::size_t r = 0; r < 3; ++r)
    CHECK(in.toHost()[12 + r] == foldSerially<float>(values, 4 * r, 4 * r + 4, Plus{}));
}

TEST_CASE("No elements, no identity, no init", "[forms]") {
  DeviceArray<int> out(4);
  const int* none = nullptr;
  CHECK(messageOf<std::invalid_argument>([&] { reduceRows(none, 4, 0, out.data(), UnknownPlus{}); }) ==
        "gpuopt::reduceRows: cols is 0 and the operation has no known identity: pass init");
  CHECK(messageOf<std::invalid_argument>([&] { reduceColumns(none, 0, 4, out.data(), UnknownPlus{}); }) ==
        "gpuopt::reduceColumns: rows is 0 and the operation has no known identity: pass init");
}

#undef FUNCTION

}  // namespace
}  // namespace gpuopt::test::matrix_forms_test
