/// \file
/// A line on a terminal that says how far a program is. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>

/// Shows what is at work, after `done` of `all`, until hideProgress(). Nothing where stderr is no terminal.
inline void showProgress(std::size_t done, std::size_t all, const std::string& now) {
  if (!isatty(STDERR_FILENO)) return;
  std::fprintf(stderr, "  [%-20s] %s\r", std::string(20 * done / all, '=').c_str(), now.c_str());
}

inline void hideProgress() {
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r%60s\r", "");
}
