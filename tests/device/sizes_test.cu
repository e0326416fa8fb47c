/// \file
/// Negative sizes: every call with sizes names its function, the parameter and the value as the caller wrote it, and
/// sizes beyond memory are refused, too.
// SPDX-License-Identifier: MIT
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/gpuopt.cuh>

#include <climits>
#include <cstddef>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::sizes_test {

__global__ void kernel(int*) {}

namespace {

struct Pair {
  float a, b;
};

// Element i is i; nothing of it is in memory.
struct Counting {
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using pointer = const int*;
  using reference = int;
  using iterator_category = std::random_access_iterator_tag;

  std::ptrdiff_t first = 0;
  __host__ __device__ int operator[](std::ptrdiff_t i) const { return static_cast<int>(first + i); }
  __host__ __device__ Counting operator+(std::ptrdiff_t i) const { return {first + i}; }
};

struct Halved {
  template <class T>
  __host__ __device__ float operator()(T x) const {
    return static_cast<float>(x) / 2;
  }
  template <class T, class U>
  __host__ __device__ float operator()(T x, U y) const {
    return static_cast<float>(x) * static_cast<float>(y);
  }
};
struct Sum {
  __host__ __device__ float operator()(const Pair& p) const { return p.a + p.b; }
};
struct Ignore {
  __host__ __device__ void operator()(Pair&) const {}
};

// A batch of matrices as an mdspan of signed extents.
template <class T>
struct Span {
  using element_type = T;
  using extents_type = int;
  using layout_type = int;
  using accessor_type = int;
  using data_handle_type = T*;
  using reference = T&;

  T* data;
  int extents[3];
  int strides[3];

  static constexpr std::size_t rank() { return 3; }
  static constexpr bool is_always_strided() { return true; }
  int extent(std::size_t i) const { return extents[i]; }
  int stride(std::size_t i) const { return strides[i]; }
  T* data_handle() const { return data; }
};

// An int as callers pass it: -5 becomes 2^64 - 5.
constexpr std::size_t converted(int size) { return static_cast<std::size_t>(size); }

template <class Call>
void refused(const std::string& expected, Call call) {
  INFO(expected);
  CHECK(messageOf<std::invalid_argument>(call) == "gpuopt::" + expected);
}

// `call` takes the parameter; `parameter` is the function's name, ": ", and that of the parameter.
template <class Call>
void refusesNegative(const std::string& parameter, Call call) {
  for (const int size : {-1, -5, INT_MIN})
    refused(parameter + " (" + std::to_string(size) + ") is negative", [&] { call(converted(size)); });
}

struct Arrays {
  DeviceArray<float> floats{4096};
  DeviceArray<Pair> structs{64};
  DeviceArray<int> integers{64};
  float* a = floats.data();
  float* b = a + 2048;
  Pair* p = structs.data();
  Pair* q = p + 32;
  int* i = integers.data();
};

TEST_CASE("Negative sizes: reductions of arrays that return a value", "[sizes]") {
  Arrays m;
  const auto use = [](const auto&) {};
  refusesNegative("reduce: n", [&](std::size_t n) { use(reduce(m.a, n)); });
  refusesNegative("reduce: n", [&](std::size_t n) { use(reduce(m.a, n, Plus{}, 1.0F)); });
  refusesNegative("reduce: n", [&](std::size_t n) { use(reduce(Counting{}, n)); });
  refusesNegative("reduce: n", [&](std::size_t n) { use(reduce<DefaultAccumulator, InOrder>(m.a, n)); });
  refusesNegative("reduce: n", [&](std::size_t n) { use(reduce<DefaultAccumulator, ByLength>(m.a, n)); });
  refusesNegative("transformReduce: n", [&](std::size_t n) { use(transformReduce(m.a, n, Halved{})); });
  refusesNegative("transformReduce: n", [&](std::size_t n) { use(transformReduce(m.a, m.b, n, Halved{})); });
  refusesNegative("transformReduce: n", [&](std::size_t n) { use(transformReduce(m.a, Counting{}, n, Halved{})); });
  refusesNegative("dot: n", [&](std::size_t n) { use(dot(m.a, m.b, n)); });
  refusesNegative("minMax: n", [&](std::size_t n) { use(minMax(m.a, n)); });
  refusesNegative("sumMinMax: n", [&](std::size_t n) { use(sumMinMax(m.a, n)); });
  refusesNegative("argMin: n", [&](std::size_t n) { use(argMin(m.a, n)); });
  refusesNegative("argMax: n", [&](std::size_t n) { use(argMax(Counting{}, n)); });
  refusesNegative("meanVariance: n", [&](std::size_t n) { use(meanVariance(m.a, n)); });
  refused("reduce: n (2305843009213693952) elements of 4 bytes are more than memory can hold",
          [&] { use(reduce(m.a, std::size_t{1} << 61)); });
}

TEST_CASE("Negative sizes: reductions of arrays into device memory", "[sizes]") {
  Arrays m;
  DeviceArray<MinMax<float>> extremes(1);
  DeviceArray<SumMinMax<float, float>> sumExtremes(1);
  DeviceArray<ArgResult<float>> extreme(1);
  DeviceArray<MeanVariance<float>> moments(1);
  refusesNegative("reduceInto: n", [&](std::size_t n) { reduceInto(m.a, n, m.b); });
  refusesNegative("reduceInto: n", [&](std::size_t n) { reduceInto(Counting{}, n, m.i, Plus{}, 2); });
  refusesNegative("transformReduceInto: n", [&](std::size_t n) { transformReduceInto(m.a, n, m.b, Halved{}); });
  refusesNegative("transformReduceInto: n", [&](std::size_t n) { transformReduceInto(m.a, m.b, n, m.b, Halved{}); });
  refusesNegative("dotInto: n", [&](std::size_t n) { dotInto(m.a, m.b, n, m.b); });
  refusesNegative("minMaxInto: n", [&](std::size_t n) { minMaxInto(m.a, n, extremes.data()); });
  refusesNegative("sumMinMaxInto: n", [&](std::size_t n) { sumMinMaxInto(m.a, n, sumExtremes.data()); });
  refusesNegative("argMinInto: n", [&](std::size_t n) { argMinInto(m.a, n, extreme.data()); });
  refusesNegative("argMaxInto: n", [&](std::size_t n) { argMaxInto(m.a, n, extreme.data()); });
  refusesNegative("meanVarianceInto: n", [&](std::size_t n) { meanVarianceInto(m.a, n, moments.data()); });
}

TEST_CASE("Negative sizes: rows, columns and segments", "[sizes]") {
  Arrays m;
  refusesNegative("reduceRows: rows", [&](std::size_t n) { reduceRows(m.a, n, 4, 4, m.b); });
  refusesNegative("reduceRows: rows", [&](std::size_t n) { reduceRows(Counting{}, n, 4, 4, m.i); });
  refusesNegative("reduceRows: cols", [&](std::size_t n) { reduceRows(m.a, 4, n, n, m.b); });
  refusesNegative("reduceRows: cols", [&](std::size_t n) { reduceRows(Counting{}, 4, n, 4, m.i, Plus{}, 2); });
  refusesNegative("reduceRows: ld", [&](std::size_t n) { reduceRows(m.a, 4, 4, n, m.b); });
  refusesNegative("reduceColumns: rows", [&](std::size_t n) { reduceColumns(m.a, n, 4, 4, m.b); });
  refusesNegative("reduceColumns: rows", [&](std::size_t n) { reduceColumns(Counting{}, n, 4, 4, m.i); });
  refusesNegative("reduceColumns: cols", [&](std::size_t n) { reduceColumns(m.a, 4, n, n, m.b); });
  refusesNegative("reduceColumns: cols", [&](std::size_t n) { reduceColumns(Counting{}, 4, n, 4, m.i, Plus{}, 2); });
  refusesNegative("reduceColumns: ld", [&](std::size_t n) { reduceColumns(m.a, 4, 4, n, m.b); });
  refusesNegative("reduceSegments: segments", [&](std::size_t n) { reduceSegments(m.a, m.i, n, m.b); });
  refusesNegative("reduceSegments: segments",
                  [&](std::size_t n) { reduceSegments(Counting{}, m.i, n, m.i, Plus{}, 1); });
  constexpr std::size_t LARGE = std::size_t{1} << 40;
  refused("reduceRows: in is too large: 1099511627776 x 1099511627776, ld 1099511627776, 4 bytes an element",
          [&] { reduceRows(m.a, LARGE, LARGE, LARGE, m.b); });
  refused("reduceColumns: in is too large: 4 x 4, ld 2305843009213693952, 4 bytes an element",
          [&] { reduceColumns(m.a, 4, 4, std::size_t{1} << 61, m.b); });
  refused("reduceSegments: segments (2305843009213693952) elements of 4 bytes are more than memory can hold",
          [&] { reduceSegments(m.a, m.i, std::size_t{1} << 61, m.b); });
}

TEST_CASE("Negative sizes: functions and statistics of rows, columns and segments", "[sizes]") {
  Arrays m;
  DeviceArray<MinMax<float>> extremes(4);
  DeviceArray<ArgResult<float>> extreme(4);
  DeviceArray<MeanVariance<float>> moments(4);
  const auto refusesMatrix = [](const std::string& function, auto call) {
    refusesNegative(function + ": rows", [&](std::size_t n) { call(n, std::size_t{4}, std::size_t{4}); });
    refusesNegative(function + ": cols", [&](std::size_t n) { call(std::size_t{4}, n, n); });
    refusesNegative(function + ": ld", [&](std::size_t n) { call(std::size_t{4}, std::size_t{4}, n); });
  };
  refusesMatrix("transformReduceRows",
                [&](auto r, auto c, auto l) { transformReduceRows(m.a, r, c, l, m.b, Halved{}); });
  refusesMatrix("minMaxRows", [&](auto r, auto c, auto l) { minMaxRows(m.a, r, c, l, extremes.data()); });
  refusesMatrix("argMinRows", [&](auto r, auto c, auto l) { argMinRows(m.a, r, c, l, extreme.data()); });
  refusesMatrix("argMaxRows", [&](auto r, auto c, auto l) { argMaxRows(m.a, r, c, l, extreme.data()); });
  refusesMatrix("meanVarianceRows", [&](auto r, auto c, auto l) { meanVarianceRows(m.a, r, c, l, moments.data()); });
  refusesMatrix("transformReduceColumns",
                [&](auto r, auto c, auto l) { transformReduceColumns(m.a, r, c, l, m.b, Halved{}); });
  refusesMatrix("minMaxColumns", [&](auto r, auto c, auto l) { minMaxColumns(m.a, r, c, l, extremes.data()); });
  refusesMatrix("argMinColumns", [&](auto r, auto c, auto l) { argMinColumns(m.a, r, c, l, extreme.data()); });
  refusesMatrix("argMaxColumns", [&](auto r, auto c, auto l) { argMaxColumns(m.a, r, c, l, extreme.data()); });
  refusesMatrix("meanVarianceColumns",
                [&](auto r, auto c, auto l) { meanVarianceColumns(m.a, r, c, l, moments.data()); });
  refusesNegative("transformReduceSegments: segments",
                  [&](std::size_t n) { transformReduceSegments(m.a, m.i, n, m.b, Halved{}); });
}

TEST_CASE("Negative sizes: reductions of views", "[sizes]") {
  using View = MatrixView<const float>;
  Arrays m;
  refusesNegative("reduceRows: in.rows", [&](std::size_t n) { reduceRows(View{m.a, n, 4}, m.b); });
  refusesNegative("reduceRows: in.cols", [&](std::size_t n) { reduceRows(View{m.a, 4, n}, m.b); });
  refusesNegative("reduceRows: in.ld", [&](std::size_t n) { reduceRows(View{m.a, 4, 4, n}, m.b); });
  refusesNegative("reduceRows: in.batch", [&](std::size_t n) { reduceRows(View{m.a, 4, 4, 4, n}, m.b); });
  refusesNegative("reduceColumns: in.rows", [&](std::size_t n) { reduceColumns(View{m.a, n, 4}, m.b); });
  refusesNegative("reduceColumns: in.cols", [&](std::size_t n) { reduceColumns(View{m.a, 4, n}, m.b); });
  refusesNegative("reduceColumns: in.ld", [&](std::size_t n) { reduceColumns(View{m.a, 4, 4, n}, m.b); });
}

TEST_CASE("Negative sizes: forEach and transform", "[sizes]") {
  Arrays m;
  refusesNegative("forEach: n", [&](std::size_t n) { forEach(m.p, n, Ignore{}); });
  refusesNegative("transform: n", [&](std::size_t n) { transform(m.p, n, m.a, Sum{}); });
  refusesNegative("transform: n", [&](std::size_t n) { transform(Counting{}, n, m.a, Halved{}); });
  refusesNegative("transform: n", [&](std::size_t n) { transform(m.a, m.a, n, m.b, Halved{}); });
}

TEST_CASE("Negative sizes: transpositions of pointers", "[sizes]") {
  Arrays m;
  refusesNegative("transpose: rows", [&](std::size_t n) { transpose(m.a, m.b, n, 4); });
  refusesNegative("transpose: cols", [&](std::size_t n) { transpose(m.a, m.b, 4, n); });
  refusesNegative("transpose: cols", [&](std::size_t n) { transpose(m.a, m.b, 0, n); });
  refusesNegative("transpose: rows", [&](std::size_t n) { transpose(m.a, m.b, n, 4, Halved{}); });
  refusesNegative("transpose: cols", [&](std::size_t n) { transpose(m.a, m.b, 4, n, Halved{}); });
  refusesNegative("transpose: rows", [&](std::size_t n) { static_cast<void>(explainTranspose(m.a, m.b, n, 4)); });
  refusesNegative("transpose: cols",
                  [&](std::size_t n) { static_cast<void>(explainTranspose(m.a, m.b, 4, n, Halved{})); });
  refusesNegative("transposeInPlace: rows", [&](std::size_t n) { transposeInPlace(m.a, n, 4); });
  refusesNegative("transposeInPlace: cols", [&](std::size_t n) { transposeInPlace(m.a, n == 0 ? 0 : 4, n); });
}

TEST_CASE("Negative sizes: transpositions of views", "[sizes]") {
  using View = MatrixView<float>;
  Arrays m;
  const View in{m.a, 4, 5}, out{m.b, 5, 4};
  refusesNegative("transpose: in.rows", [&](std::size_t n) { transpose(View{m.a, n, 5}, out); });
  refusesNegative("transpose: in.cols", [&](std::size_t n) { transpose(View{m.a, 4, n}, out); });
  refusesNegative("transpose: in.ld", [&](std::size_t n) { transpose(View{m.a, 4, 5, n}, out); });
  refusesNegative("transpose: in.batch", [&](std::size_t n) { transpose(View{m.a, 4, 5, 5, n}, out); });
  refusesNegative("transpose: in.batchStride", [&](std::size_t n) {
    transpose(View{m.a, 4, 5, 5, 2, n}, View{m.b, 5, 4, 4, 2}, Halved{});
  });
  refusesNegative("transpose: out.rows", [&](std::size_t n) { transpose(in, View{m.b, n, 4}); });
  refusesNegative("transpose: out.cols", [&](std::size_t n) { transpose(in, View{m.b, 5, n}); });
  refusesNegative("transpose: out.ld", [&](std::size_t n) { transpose(in, View{m.b, 5, 4, n}, Halved{}); });
  refusesNegative("transpose: out.batch", [&](std::size_t n) { transpose(in, View{m.b, 5, 4, 4, n}); });
  refusesNegative("transpose: out.batchStride", [&](std::size_t n) {
    transpose(View{m.a, 4, 5, 5, 2}, View{m.b, 5, 4, 4, 2, n});
  });
  refusesNegative("transposeInPlace: data.rows", [&](std::size_t n) { transposeInPlace(View{m.a, n, 4}); });
  refusesNegative("transposeInPlace: data.cols", [&](std::size_t n) { transposeInPlace(View{m.a, 4, n}); });
  refusesNegative("transposeInPlace: data.ld", [&](std::size_t n) { transposeInPlace(View{m.a, 4, 4, n}); });
  refusesNegative("transposeInPlace: data.batch", [&](std::size_t n) { transposeInPlace(View{m.a, 4, 4, 4, n}); });
  refusesNegative("transposeInPlace: data.batchStride", [&](std::size_t n) {
    transposeInPlace(View{m.a, 4, 4, 4, 2, n});
  });
  CHECK_NOTHROW(transpose(View{m.a, 4, 5, 5, 1, converted(-5)}, out));  // the stride of a single matrix
}

TEST_CASE("Negative sizes: mdspans", "[sizes]") {
  Arrays m;
  const Span<float> out{m.b, {2, 4, 4}, {16, 4, 1}};
  for (unsigned i = 0; i < 3; ++i) {
    Span<float> in{m.a, {2, 4, 4}, {16, 4, 1}};
    const std::string number = std::to_string(i);
    refusesNegative("transpose: in.extent(" + number + ")", [&](std::size_t n) {
      in.extents[i] = static_cast<int>(n);
      transpose(in, out);
    });
    in.extents[i] = i == 0 ? 2 : 4;
    refusesNegative("transposeInPlace: data.stride(" + number + ")", [&](std::size_t n) {
      in.strides[i] = static_cast<int>(n);
      transposeInPlace(in);
    });
  }
}

TEST_CASE("Negative sizes: structures and columns", "[sizes]") {
  Arrays m;
  refusesNegative("transform: n", [&](std::size_t n) { transformStructs(m.p, n, m.a, Sum{}); });
  refusesNegative("transform: n", [&](std::size_t n) { transformStructs(Counting{}, n, m.a, Halved{}); });
  refusesNegative("forEach: n", [&](std::size_t n) { forEachStruct(m.p, n, Ignore{}); });
  refusesNegative("forEach: n", [&](std::size_t n) { forEachStruct(static_cast<Pair*>(nullptr), n, Ignore{}); });
  refusesNegative("gatherStructs: n", [&](std::size_t n) { gatherStructs(m.p, m.i, n, m.q); });
  refusesNegative("scatterStructs: n", [&](std::size_t n) { scatterStructs(m.p, m.i, n, m.q); });
  using View = SoaView<Pair>;
  using Tiled = SoaView<Pair, SoaTiles<32>>;
  const View view(m.a, m.b, 10);
  refusesNegative("SoaView: n", [&](std::size_t n) { View(m.a, m.b, n); });
  refusesNegative("SoaView: n", [&](std::size_t n) { Tiled(m.a, n); });
  refusesNegative("SoaView::subview: first", [&](std::size_t n) { static_cast<void>(view.subview(n, 2)); });
  refusesNegative("SoaView::subview: count", [&](std::size_t n) { static_cast<void>(view.subview(2, n)); });
  refusesNegative("toSoa: n", [&](std::size_t n) { toSoa(m.p, n, view); });
  refusesNegative("toSoaHost: n", [&](std::size_t n) { toSoaHost(m.p, n, view); });
  refusesNegative("SoaVector: n", [](std::size_t n) { SoaVector<Pair> vector(n); });
  refusesNegative("SoaVector: n", [](std::size_t n) { SoaVector<Pair, SoaTiles<32>>().resize(n); });
  refusesNegative("SoaVector: n", [](std::size_t n) { SoaVector<Pair>().resizeForOverwrite(n); });
}

TEST_CASE("Negative sizes: occupancy", "[sizes]") {
  const auto use = [](const auto&) {};
  refusesNegative("occupancyConfig: items", [&](std::size_t n) { use(occupancyConfig(kernel, n, 256)); });
  refusesNegative("occupancyConfig: itemsPerThread", [&](std::size_t n) { use(occupancyConfig(kernel, 9, 256, n)); });
  refusesNegative("occupancyConfig: sharedBytes", [&](std::size_t n) { use(occupancyConfig(kernel, 9, 256, 1, n)); });
  refusesNegative("maxOccupancyConfig: items", [&](std::size_t n) { use(maxOccupancyConfig(kernel, n)); });
  refusesNegative("maxOccupancyConfig: itemsPerThread", [&](std::size_t n) { use(maxOccupancyConfig(kernel, 9, n)); });
  refusesNegative("maxOccupancyConfig: sharedBytes", [&](std::size_t n) { use(maxOccupancyConfig(kernel, 9, 1, n)); });
  refusesNegative("explainOccupancy: sharedBytes", [&](std::size_t n) { use(explainOccupancy(kernel, 256, n)); });
  for (const int block : {-1, -5, INT_MIN}) {
    const std::string problem = ": block (" + std::to_string(block) + ") is not between 1 and 1024, the device's limit";
    refused("occupancyConfig" + problem, [&] { use(occupancyConfig(kernel, 9, block)); });
    refused("explainOccupancy" + problem, [&] { use(explainOccupancy(kernel, block)); });
  }
}

TEST_CASE("Negative sizes: launches", "[sizes]") {
  for (const int size : {-1, -5, INT_MIN}) {
    const auto part = static_cast<unsigned>(size);
    const std::string text = std::to_string(size);
    const auto refusal = [](const LaunchConfig& config) {
      return messageOf<std::invalid_argument>([&] { launch(kernel, config, nullptr); });
    };
    LaunchConfig config;
    config.sharedBytes = converted(size);
    CHECK(contains(refusal(config), "gpuopt::launch: sharedBytes (" + text + ") is negative; kernel: "));
    config = {};
    config.grid = {part, 1, 1};
    CHECK(contains(refusal(config),
                   "gpuopt::launch: grid (" + text + "x1x1) has a negative size, or one above 2147483647; kernel: "));
    config.grid = {1, 2, part};
    CHECK(contains(refusal(config),
                   "gpuopt::launch: grid (1x2x" + text + ") has a negative size, or one above 2147483647; kernel: "));
    config = {};
    config.block = {part, part, part};
    CHECK(contains(refusal(config), "gpuopt::launch: block (" + text + "x" + text + "x" + text + ") has a negative"));
    config.block = {0, part, 1};
    CHECK(contains(refusal(config),
                   "gpuopt::launch: block (0x" + text + "x1) has a negative size, or one above 2147483647; kernel: "));
    config = {};
    config.cluster = part;
    CHECK(contains(refusal(config), "gpuopt::launch: cluster (" + text + ") does not divide the grid's x (1)"));
  }
}

}  // namespace
}  // namespace gpuopt::test::sizes_test
