// Compiled without a tuning file, and linked with a source that has one.
// SPDX-License-Identifier: MIT
#include "constants.hpp"

#include <gpuopt/tuning.cuh>

#include <cstdio>
#include <string>

void tunedChoices(std::string& own, std::string& library, int& threads);
std::string tunedConstants();

int main() {
  std::string own, library;
  int threads = 0;
  tunedChoices(own, library, threads);
  const std::string without =
      gpuopt::detail::TuningStore::instance().find({"gpuopt.upload", "", 20}, "gpuopt emulated device");
  std::printf("%s|%s|%d|%s\n", own.c_str(), library.c_str(), threads, without.c_str());
  std::printf("%s\n%s\n", tunedConstants().c_str(), constantsHere().c_str());
}
