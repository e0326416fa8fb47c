/// \file
/// The calls of <gpuopt/struct_io.cuh>: a function for each structure of an array, and structures by index.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/struct_io.cuh>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <vector>

struct Edge {  // 28 bytes: neither a word nor a vector
  float3 from, to;
  int weight;
};

struct Label {  // of an edge, at its middle
  float3 at;
  int weight;
};

// Functions run on the device; these are also the serial reference.
struct Reverse {
  __host__ __device__ void operator()(Edge& edge) const {
    const float3 from = edge.from;
    edge.from = edge.to;
    edge.to = from;
  }
};

struct ToLabel {
  __host__ __device__ Label operator()(const Edge& e) const {
    return {{(e.from.x + e.to.x) / 2, (e.from.y + e.to.y) / 2, (e.from.z + e.to.z) / 2}, e.weight};
  }
};

template <class T>
bool isSame(const char* call, const std::vector<T>& found, const std::vector<T>& expected) {
  const bool same = std::memcmp(found.data(), expected.data(), found.size() * sizeof(T)) == 0;
  std::printf("%-16s %s\n", call, same ? "ok" : "WRONG");
  return same;
}

bool run() {
  const std::size_t n = 3001, picked = 700;
  std::vector<Edge> edges(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto f = static_cast<float>(i);
    edges[i] = {{f, 500 - f, 1}, {1000 - f, f, -f}, static_cast<int>(i)};
  }
  std::vector<unsigned> indices(picked);
  for (std::size_t i = 0; i < picked; ++i) indices[i] = static_cast<unsigned>(i * 617 % n);  // all different
  const DeviceArray<Edge> data(edges), some(picked);
  const DeviceArray<Label> labels(n);
  const DeviceArray<unsigned> where(indices);

  gpuopt::forEach(data.data(), n, Reverse{});                             // changes each
  gpuopt::transform(data.data(), n, labels.data(), ToLabel{});            // makes something of each
  gpuopt::gatherStructs(data.data(), where.data(), picked, some.data());  // some[i] = data[indices[i]]
  gpuopt::forEach(some.data(), picked, Reverse{});
  gpuopt::scatterStructs(some.data(), where.data(), picked, data.data());  // data[indices[i]] = some[i]

  std::vector<Label> expectedLabels;
  for (Edge& edge : edges) {
    Reverse{}(edge);
    expectedLabels.push_back(ToLabel{}(edge));
  }
  std::vector<Edge> expectedSome;
  for (const unsigned i : indices) {
    Reverse{}(edges[i]);
    expectedSome.push_back(edges[i]);
  }
  bool right = isSame("transform", labels.toHost(), expectedLabels);
  right &= isSame("gatherStructs", some.toHost(), expectedSome);
  right &= isSame("scatterStructs", data.toHost(), edges);
  return right;
}

int main() { return exitStatusOf("struct_basics", run); }
