/// \file
/// Texts in files of results. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdio>
#include <ctime>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace bench {

/// What a file of results says about how it came about: names and values.
using HeaderLines = std::vector<std::pair<std::string, std::string>>;

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

/// The header as comments, with which a CSV file begins.
inline void writeCsvHeader(std::ostream& file, const HeaderLines& header) {
  for (const auto& [name, value] : header) file << "# " << name << ": " << value << "\n";
}

/// The members with which a JSON file begins; others follow.
inline void writeJsonHeader(std::ostream& file, const HeaderLines& header, int wrong) {
  file << "{\n";
  for (const auto& [name, value] : header)
    file << "  " << detail::quoted(name) << ": " << detail::quoted(value) << ",\n";
  file << "  \"wrong\": " << wrong << ",\n";
}

/// What `write` writes of each item, on lines of their own, with commas between them.
template <class Items, class Write>
void writeJsonList(std::ostream& file, const Items& items, int indent, const Write& write) {
  const char* comma = "";
  for (const auto& item : items) {
    file << comma << "\n" << std::string(static_cast<std::size_t>(indent), ' ');
    write(item);
    comma = ",";
  }
}

}  // namespace bench
