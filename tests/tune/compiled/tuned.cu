// Compiled with a tuning file.
// SPDX-License-Identifier: MIT
#include "constants.hpp"

#include <gpuopt/tuning.cuh>

#include <cstddef>
#include <string>

void tunedChoices(std::string& own, std::string& library, int& threads) {
  gpuopt::Experiment<float> experiment("a \"quoted\" \\ name; [1]");
  experiment.add("first", [](float*, std::size_t, cudaStream_t) {});
  experiment.add("$second; @third@ ${fourth}", [](float*, std::size_t, cudaStream_t) {});
  own = experiment.choice(100);
  library = gpuopt::detail::TuningStore::instance().find({"gpuopt.upload", "", 20}, "gpuopt emulated device");
  const auto value = gpuopt::detail::TuningStore::instance().findNearest({"gpuopt.upload", "", 21}, 75, 4);
  threads = value == "3 threads, 8192 bytes" ? 3 : 0;
}

std::string tunedConstants() { return constantsHere(); }
