/// \file
/// gpuopt beside Thrust, in both directions: Thrust's vectors and iterators as inputs of gpuopt, columns of a
/// structure of arrays in algorithms of Thrust.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"

#include <gpuopt/reduce.cuh>
#include <gpuopt/reduce_transform.cuh>
#include <gpuopt/soa.cuh>

#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/sort.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

struct Reading {
  int sensor;
  float value;
};

struct IsHigh {
  __host__ __device__ bool operator()(const Reading& reading) const { return reading.value > 1000; }
};

struct Square {
  __host__ __device__ long long operator()(long long x) const { return x * x; }
};

bool show(const char* what, bool right) {
  std::printf("%-56s %s\n", what, right ? "ok" : "WRONG");
  return right;
}

bool run() {
  const std::size_t n = 10007;
  std::vector<Reading> readings(n);
  std::vector<int> sensors(n);
  std::vector<float> values(n);
  float sum = 0;
  long long squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sensors[i] = readings[i].sensor = static_cast<int>(i * 7919 % 101);
    values[i] = readings[i].value = static_cast<float>(i * i % 1013);  // whole numbers: exact in any order
    sum += values[i];
    squares += static_cast<long long>(i * i);
  }
  thrust::device_vector<int> deviceSensors(sensors.begin(), sensors.end());
  thrust::device_vector<float> deviceValues(values.begin(), values.end());

  // Iterators of a device_vector are as good as pointers; others are read element by element.
  bool right = show("reduce of a device_vector", gpuopt::reduce(deviceValues.begin(), n) == sum);
  const thrust::counting_iterator<long long> numbers(0);
  right &= show("transformReduce of a counting_iterator", gpuopt::transformReduce(numbers, n, Square{}) == squares);

  // A view of columns that Thrust owns. Thrust is told where the data is, as with pointers.
  const gpuopt::SoaView<Reading> view{deviceSensors, deviceValues};
  const auto high = thrust::count_if(thrust::device, view.begin(), view.end(), IsHigh{});
  right &= show("thrust::count_if of the structs", high == std::count_if(readings.begin(), readings.end(), IsHigh{}));

  // One stream: gpuopt's call begins when Thrust's has ended, without a wait in between.
  const cudaStream_t stream = cudaStreamPerThread;
  int* keys = view.column<&Reading::sensor>();
  thrust::stable_sort_by_key(thrust::cuda::par_nosync.on(stream), keys, keys + n, view.column<&Reading::value>());
  const auto greatest = gpuopt::argMax(view.column<&Reading::value>(), n, stream);

  const auto less = [](const Reading& a, const Reading& b) { return a.sensor < b.sensor; };
  std::stable_sort(readings.begin(), readings.end(), less);
  const auto lessValue = [](const Reading& a, const Reading& b) { return a.value < b.value; };
  const auto expected = std::max_element(readings.begin(), readings.end(), lessValue) - readings.begin();
  right &= show("argMax of what thrust::stable_sort_by_key has sorted",
                greatest.index == static_cast<std::size_t>(expected));
  return right;
}

int main() { return exitStatusOf("interop_thrust", run); }
