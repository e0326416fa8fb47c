/// \file
/// The calls of <gpuopt/histogram.cuh> and its siblings, whose bins are given, and of <gpuopt/histogram_automatic.cuh>,
/// where they follow from the elements; arrays are DeviceVectors.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/histogram.cuh>
#include <gpuopt/histogram_2d.cuh>
#include <gpuopt/histogram_automatic.cuh>
#include <gpuopt/histogram_channels.cuh>
#include <gpuopt/histogram_weighted.cuh>

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

// Energy by distance, and how many particles have each pair of both.
bool particles() {
  std::vector<float> hostDistance(30000), hostEnergy(hostDistance.size());
  for (std::size_t i = 0; i < hostDistance.size(); ++i) {
    hostDistance[i] = static_cast<float>(i % 100);
    hostEnergy[i] = static_cast<float>(i % 4);
  }
  const gpuopt::DeviceVector<float> distance(hostDistance), energy(hostEnergy);

  gpuopt::DeviceVector<float> sums(10);
  gpuopt::histogramWeighted(distance, energy, sums, 0.0f, 100.0f);
  gpuopt::DeviceVector<unsigned> pairs(10 * 4);
  gpuopt::histogram2d(distance, energy, pairs, {10, 0, 100}, {4, 0, 4});

  const std::vector<float> summed = sums.toHost();
  const std::vector<unsigned> counts = pairs.toHost();
  bool right = sumOf(counts) == hostDistance.size();
  for (std::size_t bin = 0; bin < summed.size(); ++bin) {
    float expected = 0;
    for (std::size_t e = 0; e < 4; ++e) expected += static_cast<float>(e * counts[bin * 4 + e]);
    right = right && summed[bin] == expected;
  }
  std::printf("energy by distance: %s\n", right ? "ok" : "WRONG");
  return right;
}

// Hue, saturation and value: 36 bins for the first, 8 for each of the others.
bool pixels() {
  std::vector<unsigned short> host(3 * 5000);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<unsigned short>(i * 7 % (i % 3 == 0 ? 360 : 256));
  const gpuopt::DeviceVector<unsigned short> hsv(host);
  gpuopt::DeviceVector<unsigned> counts(36 + 8 + 8);
  gpuopt::histogramChannels<3>(hsv, counts, {{36, 0, 360}, {8, 0, 256}, {8, 0, 256}});
  const bool right = sumOf(counts.toHost()) == host.size();
  std::printf("channels: %s\n", right ? "ok" : "WRONG");
  return right;
}

int main() {
  return exitStatusOf("histogram_basics", [] { return numbers() && samples() && particles() && pixels(); });
}
