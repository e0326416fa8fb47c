/// \file
/// How the examples end.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdio>
#include <exception>

/// The exit status of a program that does `run()`: 0 if that returns true; 1 if it returns false or throws,
/// and what was thrown is one line on stderr.
template <class Run>
int exitStatusOf(const char* program, const Run& run) {
  try {
    return run() ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 1;
  }
}
