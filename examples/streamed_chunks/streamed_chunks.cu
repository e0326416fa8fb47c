/// \file
/// Statistics of data that does not fit into the memory of the GPU: it comes in chunks, on two streams, so that one
/// chunk is copied while the other is reduced. The results of the chunks are combined to that of all data.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/reduce.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

constexpr std::size_t N = 1000003, CHUNK = 131072, CHUNKS = (N + CHUNK - 1) / CHUNK;

// Of one chunk, in device memory.
struct Results {
  gpuopt::MeanVariance<double> moments;
  gpuopt::MinMax<float> extremes;
  gpuopt::ArgResult<float> largest;
};

// Memory that copies reach without a detour: only from there do they run beside kernels.
struct PinnedArray {
  float* data = nullptr;
  explicit PinnedArray(std::size_t n) { gpuopt::check(cudaMallocHost(&data, n * sizeof(float)), "cudaMallocHost"); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  ~PinnedArray() { cudaFreeHost(data); }
};

// A stream, the chunk that is on the device, and the sum of all chunks of the stream.
struct Pipeline {
  cudaStream_t stream = nullptr;
  DeviceArray<float> chunk{CHUNK};
  DeviceArray<double> sum{std::vector<double>(1, 0.0)};
  Pipeline() { gpuopt::check(cudaStreamCreate(&stream), "cudaStreamCreate"); }
  ~Pipeline() { cudaStreamDestroy(stream); }

  // Queues everything and returns. The stream's next chunk overwrites this one when its reductions have run.
  void reduce(const float* from, std::size_t n, Results* results) const {
    gpuopt::check(cudaMemcpyAsync(chunk.data(), from, n * sizeof(float), cudaMemcpyHostToDevice, stream),
                  "cudaMemcpyAsync");
    gpuopt::meanVarianceInto<double>(chunk.data(), n, &results->moments, stream);
    gpuopt::minMaxInto(chunk.data(), n, &results->extremes, stream);
    gpuopt::argMaxInto(chunk.data(), n, &results->largest, stream);
    gpuopt::reduceInto<double>(chunk.data(), n, sum.data(), gpuopt::Plus{}, gpuopt::deviceValue(sum.data()), stream);
  }
};

Results combined(const std::vector<Results>& chunks) {
  Results all = chunks[0];
  for (std::size_t i = 1; i < chunks.size(); ++i) {
    all.moments = gpuopt::combine(all.moments, chunks[i].moments);
    all.extremes = gpuopt::combine(all.extremes, chunks[i].extremes);
    all.largest = gpuopt::combine(all.largest, chunks[i].largest.shifted(i * CHUNK), gpuopt::Maximum{});
  }
  return all;
}

bool isClose(double found, double expected) { return std::fabs(found - expected) <= 1e-9 * std::fabs(expected); }

// Compares with loops over all data.
bool report(const float* begin, const Results& all, double sum) {
  const float* const end = begin + N;
  double exact = 0, squares = 0;
  for (const float* x = begin; x != end; ++x) exact += *x;
  const double mean = exact / N;
  for (const float* x = begin; x != end; ++x) squares += (*x - mean) * (*x - mean);
  const float* const largest = std::max_element(begin, end);

  const bool moments =
      all.moments.count == N && isClose(all.moments.mean, mean) && isClose(all.moments.variance, squares / N);
  const bool extremes = all.extremes.minimum == *std::min_element(begin, end) && all.extremes.maximum == *largest;
  const bool place = all.largest.value == *largest && begin + all.largest.index == largest;
  std::printf("%zu numbers in %zu chunks\n", N, CHUNKS);
  std::printf("mean %g, variance %g: %s\n", all.moments.mean, all.moments.variance, moments ? "ok" : "WRONG");
  std::printf("%g to %g: %s\n", all.extremes.minimum, all.extremes.maximum, extremes ? "ok" : "WRONG");
  std::printf("%g at %zu: %s\n", all.largest.value, all.largest.index, place ? "ok" : "WRONG");
  std::printf("sum %g: %s\n", sum, isClose(sum, exact) ? "ok" : "WRONG");
  return moments && extremes && place && isClose(sum, exact);
}

bool run() {
  const PinnedArray data(N);
  for (std::size_t i = 0; i < N; ++i) data.data[i] = static_cast<float>((i * 7919 + 123457) % 999983) / 1000 - 100;
  const DeviceArray<Results> results(CHUNKS);
  double sum = 0;
  {
    const Pipeline pipelines[2];
    for (std::size_t i = 0; i < CHUNKS; ++i) {
      const std::size_t first = i * CHUNK;
      pipelines[i % 2].reduce(data.data + first, (std::min)(CHUNK, N - first), results.data() + i);
    }
    for (const Pipeline& pipeline : pipelines) {
      gpuopt::check(cudaStreamSynchronize(pipeline.stream), "cudaStreamSynchronize");
      sum += pipeline.sum.toHost()[0];
    }
  }
  return report(data.data, combined(results.toHost()), sum);
}

int main() { return exitStatusOf("streamed_chunks", run); }
