/// \file
/// The calls of <gpuopt/histogram.cuh>, whose bins are given, and of <gpuopt/histogram_automatic.cuh>, where they
/// follow from the elements; arrays are DeviceVectors.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/histogram.cuh>
#include <gpuopt/histogram_automatic.cuh>

#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>

std::size_t sumOf(const std::vector<unsigned>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

// How often each number occurs, and the sum of the weights that go with it.
bool numbers() {
  std::vector<int> host(100003);
  std::vector<float> hostWeights(host.size(), 0.5f);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i * i % 37);
  const gpuopt::DeviceVector<int> ids(host);
  const gpuopt::DeviceVector<float> weights(hostWeights);

  gpuopt::DeviceVector<unsigned> counts(gpuopt::binsNeeded(ids));
  gpuopt::bincount(ids, counts);
  gpuopt::DeviceVector<float> sums(counts.size());
  gpuopt::reduceBy(weights, ids, sums);

  const std::vector<unsigned> counted = counts.toHost();
  const std::vector<float> summed = sums.toHost();
  bool right = sumOf(counted) == host.size();
  for (std::size_t id = 0; id < counted.size(); ++id)
    right = right && summed[id] == 0.5f * static_cast<float>(counted[id]);
  std::printf("numbers below %zu: %s\n", counted.size(), right ? "ok" : "WRONG");
  return right;
}

// Bins of equal width: between given limits, and from the least sample to the greatest.
bool samples() {
  std::vector<float> host(50001);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i % 1001) / 1000;
  const gpuopt::DeviceVector<float> in(host);

  gpuopt::DeviceVector<unsigned> given(10), automatic(10);
  gpuopt::histogram(in, given, 0.0f, 1.0f);  // without 1, which is the limit
  const auto [lower, upper] = gpuopt::histogramMinMax(in, automatic);

  const std::size_t ones = host.size() / 1001;
  const bool right = sumOf(given.toHost()) == host.size() - ones && sumOf(automatic.toHost()) == host.size() &&
                     lower == 0 && upper == 1;
  std::printf("samples from %g to %g: %s\n", lower, upper, right ? "ok" : "WRONG");
  return right;
}

int main() {
  return exitStatusOf("histogram_basics", [] { return numbers() && samples(); });
}
