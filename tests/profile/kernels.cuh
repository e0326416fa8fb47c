/// What the tests of the profile share: arrays, and a launch with its profile.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/catch.hpp"
#include "support/device_array.cuh"

#include <gpuopt/launch.cuh>

#include <gpuopt_emulation/profile.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace gpuopt::test {

/// The profile of one launch.
template <class... Parameters, class... Arguments>
Profile profileOf(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, Arguments... arguments) {
  LaunchConfig config;
  config.grid = dim3(blocks);
  config.block = dim3(threads);
  return profile([&] { launch(kernel, config, arguments...); });
}

/// A line of a test's source, as reports name it.
inline std::string place(const char* file, int line) { return file + (':' + std::to_string(line)); }

}  // namespace gpuopt::test
