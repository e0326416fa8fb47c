/// The check for races of the emulated device. gpuopt_emulate(<target> CHECK) adds this file to a program, as its
/// first: what it shares with the program's other files is then taken from here, where nothing is instrumented.
// SPDX-License-Identifier: MIT
#ifndef GPUOPT_EMULATION_CHECK
#define GPUOPT_EMULATION_CHECK
#endif

#include <cuda_runtime.h>

#include "gpuopt_emulation/check.hpp"

#include "checker.hpp"
#include "hooks.hpp"

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace gpuopt {

namespace {

using emulation::detail::Checker;
using emulation::detail::FOUND_STATUS;

std::vector<std::string> listOf(const char* variable) {
  const char* const value = std::getenv(variable);
  std::istringstream in(value != nullptr ? value : "");
  std::vector<std::string> parts;
  for (std::string part; std::getline(in, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

/// Checks the whole program if GPUOPT_EMULATION_CHECK says so.
struct ProgramCheck {
  ProgramCheck() {
    Checker& checker = Checker::instance();
    emulation::detail::memoryObserver = &checker;
    emulation::detail::streamObserver = &checker;
    for (const auto& [address, bytes] : emulation::detail::memory().ranges())  // managed variables
      checker.adopted(reinterpret_cast<const void*>(address), bytes, true);
    checker.settings.ignored = listOf("GPUOPT_EMULATION_CHECK_IGNORE");
    // Reads aligned words and shifts out the bytes that other threads may write.
    checker.settings.ignored.emplace_back("gpuopt::detail::loadWord");
    // Loads vectors at the ends of rows, which other threads may write but for the row's own elements.
    checker.settings.ignored.emplace_back("gpuopt::detail::loadOverwritten");
    if (const char* const without = std::getenv("GPUOPT_EMULATION_CHECK_WITHOUT")) checker.settings.without = without;
    checker.settings.endsAtFirst = checker.settings.without.find(':') != std::string::npos;
    bool isOn = false;
    for (const std::string& what : listOf("GPUOPT_EMULATION_CHECK")) {
      if (what != "races" && what != "equal" && what != "strict") {
        std::fprintf(stderr, "gpuopt emulation: GPUOPT_EMULATION_CHECK: %s is none of races, equal and strict\n",
                     what.c_str());
        std::abort();
      }
      checker.settings.reportsEqualValues |= what == "equal";
      checker.settings.isStrict |= what == "strict";
      isOn = true;
    }
    if (!isOn) return;
    emulation::detail::launchObserver = &checker;
    on_exit([](int status, void*) { finish(status); }, nullptr);
  }

  static void finish(int status) {
    for (const std::string& line : Checker::instance().synchronisation)
      std::fprintf(stderr, "gpuopt emulation: synchronises at %s\n", line.c_str());
    const std::vector<Finding> findings = Checker::instance().findings();
    if (findings.empty()) return;
    std::fflush(nullptr);
    std::fprintf(stderr, "gpuopt emulation: GPUOPT_EMULATION_CHECK: %zu mistakes\n", findings.size());
    if (status == 0) std::_Exit(FOUND_STATUS);
  }
} const programCheck;

}  // namespace

std::vector<Finding> findRaces(const std::function<void()>& work) {
  cudaDeviceSynchronize();
  Checker& checker = Checker::instance();
  auto before = checker.exchangeFindings({});
  auto* const observer = emulation::detail::launchObserver.exchange(&checker);
  work();
  cudaDeviceSynchronize();
  emulation::detail::launchObserver = observer;
  std::vector<Finding> found = checker.findings();
  checker.exchangeFindings(std::move(before));
  return found;
}

}  // namespace gpuopt
