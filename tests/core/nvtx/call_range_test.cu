/// GPUOPT_NVTX: each call of a host function is one range, named as the function, and closed when it returns or throws.
// SPDX-License-Identifier: MIT
#define GPUOPT_NVTX 1

#include <nvtx3/nvToolsExt.h>

#include <string>
#include <vector>

namespace call_range_test {

// What a profiler would see.
std::vector<std::string> opened;
int isOpen = 0;

int push(nvtxDomainHandle_t, const nvtxEventAttributes_t* attributes) {
  opened.emplace_back(attributes->message.ascii);
  return isOpen++;
}
int pop(nvtxDomainHandle_t) { return --isOpen; }

}  // namespace call_range_test

#define nvtxDomainRangePushEx call_range_test::push
#define nvtxDomainRangePop call_range_test::pop

#include "support/catch.hpp"
#include "support/device_array.cuh"

#include <gpuopt/gpuopt.cuh>

#include <cstddef>
#include <stdexcept>

namespace call_range_test {

using gpuopt::test::DeviceArray;
using Names = std::vector<std::string>;

struct Twice {
  __host__ __device__ float operator()(float x) const { return 2 * x; }
};

struct Parity {
  __host__ __device__ int operator()(float x) const { return static_cast<int>(x) & 1; }
};

struct Point {
  float x, y, z;
};

// The ranges that a call opens. None stays open.
template <class F>
Names rangesOf(const F& call) {
  opened.clear();
  call();
  REQUIRE(isOpen == 0);
  return opened;
}

std::vector<float> ascending(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(i % 97);
  return values;
}

TEST_CASE("calls of arrays are ranges with their names") {
  const std::size_t n = 1000;
  DeviceArray<float> in(ascending(n)), out(n);
  DeviceArray<unsigned> counts(8);
  DeviceArray<float> sums(2);
  REQUIRE(rangesOf([&] { static_cast<void>(gpuopt::reduce(in.data(), n)); }) == Names{"gpuopt::reduce"});
  REQUIRE(rangesOf([&] { gpuopt::dotInto(in.data(), in.data(), n, out.data()); }) == Names{"gpuopt::dotInto"});
  REQUIRE(rangesOf([&] { gpuopt::transform(in.data(), n, out.data(), Twice{}); }) == Names{"gpuopt::transform"});
  REQUIRE(rangesOf([&] { gpuopt::histogram(in.data(), n, counts.data(), 8, 0.0f, 97.0f); }) ==
          Names{"gpuopt::histogram"});
  REQUIRE(rangesOf([&] { gpuopt::meanBy(in.data(), n, Parity{}, 2, sums.data()); }) == Names{"gpuopt::meanBy"});
}

TEST_CASE("calls of matrices are ranges with their names") {
  const std::size_t rows = 20, cols = 50;
  DeviceArray<float> in(ascending(rows * cols)), out(rows * cols);
  const gpuopt::MatrixView<const float> from{in.data(), rows, cols, cols};
  const gpuopt::MatrixView<float> to{out.data(), rows, cols, cols};
  REQUIRE(rangesOf([&] { gpuopt::reduceRows(from, out.data()); }) == Names{"gpuopt::reduceRows"});
  REQUIRE(rangesOf([&] { gpuopt::reduceColumns(from, out.data()); }) == Names{"gpuopt::reduceColumns"});
  REQUIRE(rangesOf([&] { gpuopt::transpose(in.data(), out.data(), rows, cols); }) == Names{"gpuopt::transpose"});
  REQUIRE(rangesOf([&] { gpuopt::transposeInPlace(out.data(), rows, cols); }) == Names{"gpuopt::transposeInPlace"});
  REQUIRE(rangesOf([&] {
            gpuopt::permute(in.data(), out.data(), {rows, 5, 10}, {2, 0, 1});
          }) == Names{"gpuopt::permute"});
  REQUIRE(rangesOf([&] { gpuopt::softmaxRows(from, to); }) == Names{"gpuopt::softmaxRows"});
  REQUIRE(rangesOf([&] { gpuopt::inclusiveScanRows(from, to); }) == Names{"gpuopt::inclusiveScanRows"});
}

TEST_CASE("transfers and structures are ranges with their names") {
  const std::size_t n = 300;
  std::vector<Point> points(n, Point{1, 2, 3});
  DeviceArray<Point> device(n);
  gpuopt::SoaVector<Point> columns(n);
  REQUIRE(rangesOf([&] { gpuopt::upload(points, device); }) == Names{"gpuopt::upload"});
  REQUIRE(rangesOf([&] { gpuopt::toSoa(device.data(), n, columns.view()); }) == Names{"gpuopt::toSoa"});
  REQUIRE(rangesOf([&] { gpuopt::download(device, points); }) == Names{"gpuopt::download"});
}

TEST_CASE("a range ends where the call throws") {
  REQUIRE(rangesOf([] {
            const float* null = nullptr;
            REQUIRE_THROWS_AS(gpuopt::reduce(null, 5), std::invalid_argument);
          }) == Names{"gpuopt::reduce"});
}

}  // namespace call_range_test
