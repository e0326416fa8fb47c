/// \file
/// The calls of <gpuopt/reduce.cuh>, each checked against a loop on the CPU.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/reduce.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

struct Square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};

// Prints one line; returns whether the value is right.
bool show(const char* call, double value, double expected) {
  const bool right = std::fabs(value - expected) <= 1e-5 * std::fabs(expected);
  std::printf("%-34s %14.6f  %s\n", call, value, right ? "ok" : "WRONG");
  return right;
}

bool run() {
  const std::size_t n = 1000003;
  std::vector<float> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>((i * 7919 + 271828) % n) / 1000.0f - 300.0f;
  double sum = 0, squares = 0;
  for (const float value : x) {
    sum += value;
    squares += static_cast<double>(value) * value;
  }
  const auto least = std::min_element(x.begin(), x.end());
  const auto greatest = std::max_element(x.begin(), x.end());
  const double mean = sum / static_cast<double>(n);

  const DeviceArray<float> memory(x), out(1);
  const float* data = memory.data();

  // These wait for their value and return it.
  bool right = show("reduce", gpuopt::reduce(data, n), sum);
  right &= show("reduce<double>", gpuopt::reduce<double>(data, n), sum);
  right &= show("reduce, Maximum", gpuopt::reduce(data, n, gpuopt::Maximum{}), *greatest);
  right &= show("transformReduce, Square", gpuopt::transformReduce(data, n, Square{}), squares);
  right &= show("dot", gpuopt::dot(data, data, n), squares);
  right &= show("meanVariance", gpuopt::meanVariance(data, n).variance, squares / static_cast<double>(n) - mean * mean);
  const auto [value, index] = gpuopt::argMin(data, n);
  right &= show("argMin, value", value, *least);
  right &= show("argMin, index", static_cast<double>(index), static_cast<double>(least - x.begin()));

  // This one queues its work and returns at once; the result stays on the device.
  gpuopt::reduceInto(data, n, out.data(), gpuopt::Minimum{});
  right &= show("reduceInto, Minimum", out.toHost()[0], *least);
  return right;
}

int main() { return exitStatusOf("reduce_basics", run); }
