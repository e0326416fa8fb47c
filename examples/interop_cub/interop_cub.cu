/// \file
/// gpuopt beside CUB on one stream: CUB scans the lengths of segments, gpuopt reduces the segments. Lengths
/// and sums are columns of a structure of arrays, and nothing waits until the end.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/reduce.cuh>
#include <gpuopt/soa.cuh>

#include <cub/device/device_scan.cuh>

#include <cstddef>
#include <cstdio>
#include <vector>

struct Sensor {
  int count;    // of its readings
  float total;  // the sum of them
};

// offsets[i + 1] = counts[0] + ... + counts[i]. CUB says how much scratch memory it needs, then works. That
// memory is given back in the order of the stream: it stays as long as the scan needs it.
void scan(const int* counts, int* offsets, int n, cudaStream_t stream) {
  std::size_t bytes = 0;
  void* scratch = nullptr;
  gpuopt::check(cub::DeviceScan::InclusiveSum(nullptr, bytes, counts, offsets + 1, n, stream), "InclusiveSum");
  gpuopt::check(cudaMallocAsync(&scratch, bytes, stream), "cudaMallocAsync");
  gpuopt::check(cudaMemsetAsync(offsets, 0, sizeof(int), stream), "cudaMemsetAsync");
  gpuopt::check(cub::DeviceScan::InclusiveSum(scratch, bytes, counts, offsets + 1, n, stream), "InclusiveSum");
  gpuopt::check(cudaFreeAsync(scratch, stream), "cudaFreeAsync");
}

bool run() {
  const std::size_t n = 1000;
  std::vector<int> counts(n);
  std::vector<float> readings, expected(n);
  for (std::size_t i = 0; i < n; ++i) {
    counts[i] = static_cast<int>(i * 7919 % 37);
    for (int k = 0; k < counts[i]; ++k) {
      readings.push_back(static_cast<float>(readings.size() % 1013));
      expected[i] += readings.back();  // whole numbers: exact in any order
    }
  }

  const cudaStream_t stream = cudaStreamPerThread;
  const DeviceArray<float> data(readings);
  const DeviceArray<int> offsets(n + 1);
  gpuopt::SoaVector<Sensor> sensors(n, stream);  // memory in the order of the stream
  int* count = sensors.view().column<&Sensor::count>();
  float* total = sensors.view().column<&Sensor::total>();
  gpuopt::check(cudaMemcpyAsync(count, counts.data(), n * sizeof(int), cudaMemcpyHostToDevice, stream),
                "cudaMemcpyAsync");

  scan(count, offsets.data(), static_cast<int>(n), stream);
  gpuopt::reduceSegments(data.data(), offsets.data(), n, total, gpuopt::Plus{}, stream);

  std::vector<float> found(n);
  gpuopt::check(cudaMemcpyAsync(found.data(), total, n * sizeof(float), cudaMemcpyDeviceToHost, stream),
                "cudaMemcpyAsync");
  gpuopt::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  std::printf("%zu readings of %zu sensors: %s\n", readings.size(), n, found == expected ? "ok" : "WRONG");
  return found == expected;
}

int main() { return exitStatusOf("interop_cub", run); }
