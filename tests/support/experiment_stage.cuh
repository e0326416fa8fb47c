/// \file
/// Candidates of experiments, and a clock that is told how long each of them takes.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/catch.hpp"
#include "support/tuning_folder.hpp"

#include <gpuopt/launch.cuh>
#include <gpuopt/tuning.cuh>

#include <cstddef>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test {

template <int BLOCK>
__global__ void tripleAll(const float* in, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * BLOCK + threadIdx.x;
  if (i < n) out[i] = 3 * in[i];
}

template <int BLOCK>
void launchTriple(float* out, std::size_t n, cudaStream_t stream, const float* in) {
  LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>((n + BLOCK - 1) / BLOCK));
  config.block = dim3(BLOCK);
  config.stream = stream;
  launch(tripleAll<BLOCK>, config, in, out, n);
}

// What candidates have been called, and a clock that knows their times.
struct Stage {
  std::map<std::string, double> times;
  std::map<std::string, int> calls;
  std::string last;
  std::vector<const void*> outputs;

  ExperimentOptions options(bool updates = false) {
    ExperimentOptions options;
    options.seconds = 0;  // few rounds
    options.updates = updates;
    options.clock = [this](cudaStream_t, const std::function<void()>& work) {
      const int before = count();
      work();
      return times.at(last) * (count() - before);
    };
    return options;
  }

  int count() const {
    int all = 0;
    for (const auto& each : calls) all += each.second;
    return all;
  }

  template <class F>
  auto candidate(const std::string& name, F f) {
    return [this, name, f](float* out, std::size_t n, cudaStream_t stream, const float* in) {
      ++calls[name];
      last = name;
      outputs.push_back(out);
      f(out, n, stream, in);
    };
  }
};

// Two candidates, of which the second is the faster one.
inline void addTriples(Experiment<float, const float*>& experiment, Stage& stage) {
  experiment.add("BLOCK 32", stage.candidate("BLOCK 32", launchTriple<32>))
      .add("BLOCK 64", stage.candidate("BLOCK 64", launchTriple<64>));
}

// A file that is not there yet.
inline void forgetTuning() {
  static const TuningFolder folder;
  static int number = 0;
  REQUIRE(loadTuning(folder.file(std::to_string(++number))));
}

inline std::vector<float> tripled(std::vector<float> values) {
  for (float& value : values) value *= 3;
  return values;
}

template <class F>
std::string experimentError(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

}  // namespace gpuopt::test
