/// \file
/// Races of kernels, found on the emulated device: accesses of two threads to one byte that nothing orders.
///
///     #include <gpuopt_emulation/check.hpp>
///
///     const auto findings = gpuopt::findRaces([&] { gpuopt::launch(kernel, config, in, out); });
///     REQUIRE(findings.empty());
///
/// The program is compiled with `gpuopt_emulate(program CHECK)` in CMake. With the environment variable
/// `GPUOPT_EMULATION_CHECK=races` every such program reports what all its kernels do wrong, and exits with the status
/// 66 if there was anything.
///
/// docs/emulation.md says what orders accesses.
// SPDX-License-Identifier: MIT
#pragma once

#ifndef GPUOPT_EMULATION_CHECK
#error "gpuopt: the check for races needs a program that is compiled for it: call gpuopt_emulate(<target> CHECK)"
#include <see_the_error_above>
#endif

#include "source_line.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gpuopt {

/// What a kernel does wrong.
enum class FindingKind {
  race,           ///< two threads, copies or the host access a byte, at least one writes, and nothing orders them
  equalValues,    ///< the same, but both write the same value: found only where GPUOPT_EMULATION_CHECK asks for it
  uninitialised,  ///< device memory is read that nothing has written
  outOfBounds,    ///< an access just before or behind an allocation, or behind the dynamic shared memory
};

/// A mistake, at one pair of lines.
struct Finding {
  FindingKind kind{};       ///< what is wrong
  std::string kernel;       ///< whose access comes second; "a copy", "a fill", "the host"
  SourceLine line;          ///< of the access that came second, outside of libraries if it was inlined there
  SourceLine earlier;       ///< of the access that came first; of races alone
  std::uint64_t count = 0;  ///< how often it was found
  std::string text;         ///< the report of the first time: threads, lines, address, what would help
};

/// What the kernels do wrong that `work` launches, until it returns. Waits for the device before and after it. Those
/// that GPUOPT_EMULATION_CHECK_IGNORE names are left out.
std::vector<Finding> findRaces(const std::function<void()>& work);

}  // namespace gpuopt
