/// What the tests of the check for races share: a launch, and what it does wrong.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/catch.hpp"
#include "support/device_array.cuh"

#include <gpuopt/launch.cuh>

#include <gpuopt_emulation/check.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace gpuopt::test {

/// What one launch does wrong.
template <class... Parameters, class... Arguments>
std::vector<Finding> findingsOf(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                                Arguments... arguments) {
  LaunchConfig config;
  config.grid = dim3(blocks);
  config.block = dim3(threads);
  return findRaces([&] { launch(kernel, config, arguments...); });
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Whether one finding is of the lines whose distances from `line` are `first` and `second`, in any order.
inline bool isRaceAt(const std::vector<Finding>& findings, int line, int first, int second) {
  return std::any_of(findings.begin(), findings.end(), [=](const Finding& finding) {
    const std::pair<int, int> lines = std::minmax(finding.line.line - line, finding.earlier.line - line);
    return finding.kind == FindingKind::race && lines == std::pair<int, int>(std::minmax(first, second));
  });
}

}  // namespace gpuopt::test
