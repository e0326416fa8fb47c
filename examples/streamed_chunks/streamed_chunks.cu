/// \file
/// Statistics of data that does not fit into the memory of the GPU: it comes in chunks, and while one is copied, the
/// one before is reduced. The results of the chunks are combined to that of all data.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/transfer_pipeline.cuh>

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

// Queues the reductions of a chunk and returns.
void reduceChunk(const gpuopt::PipelineChunk<float>& chunk, Results* results) {
  gpuopt::meanVarianceInto<double>(chunk.in, chunk.count, &results->moments, chunk.stream);
  gpuopt::minMaxInto(chunk.in, chunk.count, &results->extremes, chunk.stream);
  gpuopt::argMaxInto(chunk.in, chunk.count, &results->largest, chunk.stream);
}

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
  std::vector<float> data(N);
  for (std::size_t i = 0; i < N; ++i) data[i] = static_cast<float>((i * 7919 + 123457) % 999983) / 1000 - 100;
  gpuopt::PipelineOptions options;
  options.chunkBytes = CHUNK * sizeof(float);  // small: this data would fit, too

  const DeviceArray<Results> results(CHUNKS);
  gpuopt::Pipeline pipeline(options);
  pipeline.run(gpuopt::fromHost(data),
               [&](const gpuopt::PipelineChunk<float>& chunk) { reduceChunk(chunk, results.data() + chunk.index); });
  const double sum = gpuopt::streamReduce<double>(data, gpuopt::Plus{}, options);  // one value needs no more than this
  return report(data.data(), combined(results.toHost()), sum);
}

int main() { return exitStatusOf("streamed_chunks", run); }
