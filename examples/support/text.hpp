/// \file
/// Texts in tables and in JSON files. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include "run_header.hpp"

#include <cstddef>
#include <cstdio>
#include <ostream>
#include <string>

/// What std::printf would print.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

/// A string of JSON or CSV. Of what has to be escaped, only quotes and backslashes occur in the examples.
inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) result += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
  return result + "\"";
}

/// "64 KiB"
inline std::string readableBytes(std::size_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  return format("%.4g %s", value, units[unit]);
}

/// Calls `write` for each item, on a line of its own, with commas between them.
template <class Items, class Write>
void writeJsonList(std::ostream& file, const Items& items, int indent, const Write& write) {
  const char* comma = "";
  for (const auto& item : items) {
    file << comma << "\n" << std::string(static_cast<std::size_t>(indent), ' ');
    write(item);
    comma = ",";
  }
}

/// A whole JSON file: the header, the number of wrong results, and the tables, by `write`.
template <class Tables, class Write>
void writeJsonTables(std::ostream& file, const HeaderLines& header, int wrong, const Tables& tables,
                     const Write& write) {
  file << "{\n";
  for (const auto& [name, value] : header) file << "  " << quoted(name) << ": " << quoted(value) << ",\n";
  file << "  \"wrong\": " << wrong << ",\n  \"tables\": [";
  writeJsonList(file, tables, 4, write);
  file << "\n  ]\n}\n";
}
