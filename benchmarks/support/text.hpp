/// \file
/// Texts in files of results. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdio>
#include <ctime>
#include <string>

namespace bench {

namespace detail {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

inline std::string today() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

// Only quotes and backslashes occur in what this program writes.
inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
  return result + "\"";
}

}  // namespace detail

/// "64 KiB"
inline std::string readableBytes(std::size_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  return detail::format("%.4g %s", value, units[unit]);
}

}  // namespace bench
