/// \file
/// Steps of k-means. The features are standardised by the moments of their columns. A step is one reduction: each point
/// becomes clusters of which only the nearest one has something in it, and clusters are added up.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/map.cuh>
#include <gpuopt/reduce_columns.cuh>
#include <gpuopt/reduce_transform.cuh>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

constexpr int FEATURES = 3, CLUSTERS = 4;

struct Point {
  float x[FEATURES];
};

struct Centres {
  Point of[CLUSTERS];
};

// The points that are nearest to each centre: their sum and their number.
struct Sums {
  Point of[CLUSTERS];
  unsigned count[CLUSTERS];
};

// (x - mean) / deviation of its column.
struct Standardise {
  const gpuopt::MeanVariance<float>* columns;
  __device__ void operator()(float& x, std::size_t i) const {
    const gpuopt::MeanVariance<float> column = columns[static_cast<unsigned>(i) % FEATURES];
    x = (x - column.mean) * rsqrtf(column.variance);
  }
};

struct Nearest {
  Centres centres;
  __host__ __device__ int operator()(const Point& point) const {
    int nearest = 0;
    float least = INFINITY;
    for (int k = 0; k < CLUSTERS; ++k) {
      float square = 0;
      for (int f = 0; f < FEATURES; ++f) {
        const float distance = point.x[f] - centres.of[k].x[f];
        square += distance * distance;
      }
      if (square < least) nearest = k;
      least = fminf(square, least);
    }
    return nearest;
  }
};

struct ToSums {
  Nearest nearest;
  __host__ __device__ Sums operator()(const Point& point) const {
    const int mine = nearest(point);
    Sums sums;
    for (int k = 0; k < CLUSTERS; ++k) {
      sums.count[k] = k == mine ? 1 : 0;
      for (int f = 0; f < FEATURES; ++f) sums.of[k].x[f] = k == mine ? point.x[f] : 0;
    }
    return sums;
  }
};

struct Add {
  __host__ __device__ Sums operator()(Sums a, const Sums& b) const {
    for (int k = 0; k < CLUSTERS; ++k) {
      a.count[k] += b.count[k];
      for (int f = 0; f < FEATURES; ++f) a.of[k].x[f] += b.of[k].x[f];
    }
    return a;
  }
};

// The mean of each cluster; a cluster without points keeps its centre.
Centres meansOf(const Sums& sums, Centres centres) {
  for (int k = 0; k < CLUSTERS; ++k)
    for (int f = 0; f < FEATURES && sums.count[k] > 0; ++f)
      centres.of[k].x[f] = sums.of[k].x[f] / static_cast<float>(sums.count[k]);
  return centres;
}

// Points around CLUSTERS places, in features of different scales.
std::vector<float> measuredPoints(std::size_t n) {
  std::vector<float> values(n * FEATURES);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t cluster = i / FEATURES % CLUSTERS, feature = i % FEATURES;
    const float noise = static_cast<float>(i * 7919 % 1009) / 1009;
    values[i] = (static_cast<float>((cluster + 1) * (feature + 2) % 5 * 4) + noise) * std::pow(10.0f, float(feature));
  }
  return values;
}

// Whether each feature has the mean 0 and the variance 1.
bool areStandardised(const std::vector<Point>& points) {
  const double n = static_cast<double>(points.size());
  bool right = true;
  for (int f = 0; f < FEATURES; ++f) {
    double sum = 0, squares = 0;
    for (const Point& point : points) {
      sum += point.x[f];
      squares += static_cast<double>(point.x[f]) * point.x[f];
    }
    right = right && std::fabs(sum / n) < 1e-4 && std::fabs(squares / n - 1) < 1e-4;
  }
  std::printf("features: %s\n", right ? "ok" : "WRONG");
  return right;
}

bool run() {
  const std::size_t n = 20003;
  const DeviceArray<float> values(measuredPoints(n));
  const DeviceArray<gpuopt::MeanVariance<float>> columns(FEATURES);
  const DeviceArray<int> labels(n);
  gpuopt::meanVarianceColumns(values.data(), n, FEATURES, columns.data());
  gpuopt::forEach(values.data(), n * FEATURES, Standardise{columns.data()});

  const auto* points = reinterpret_cast<const Point*>(values.data());
  std::vector<Point> onHost(n);
  gpuopt::check(cudaMemcpy(onHost.data(), points, n * sizeof(Point), cudaMemcpyDeviceToHost), "cudaMemcpy");
  Centres centres{};
  for (int k = 0; k < CLUSTERS; ++k) centres.of[k] = onHost[static_cast<std::size_t>(k)];

  bool right = areStandardised(onHost);
  for (int step = 1; step <= 3; ++step) {
    const ToSums toSums{{centres}};
    const Sums sums = gpuopt::transformReduce(points, n, toSums, Add{});

    Sums expected{};
    for (const Point& point : onHost) expected = Add{}(expected, toSums(point));
    for (int k = 0; k < CLUSTERS; ++k) {
      right = right && sums.count[k] == expected.count[k];
      for (int f = 0; f < FEATURES; ++f) right = right && std::fabs(sums.of[k].x[f] - expected.of[k].x[f]) < 1;
    }
    centres = meansOf(sums, centres);
    std::printf("step %d: clusters of %u, %u, %u and %u points: %s\n", step, sums.count[0], sums.count[1],
                sums.count[2], sums.count[3], right ? "ok" : "WRONG");
  }

  gpuopt::transform(points, n, labels.data(), Nearest{centres});
  std::size_t wrong = 0;
  const std::vector<int> found = labels.toHost();
  for (std::size_t i = 0; i < n; ++i) wrong += found[i] == static_cast<int>(i % CLUSTERS) ? 0 : 1;
  std::printf("%zu of %zu points in the wrong cluster\n", wrong, n);
  return right && wrong == 0;
}

int main() { return exitStatusOf("kmeans_step", run); }
