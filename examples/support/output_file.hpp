/// \file
/// Files that examples write. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

/// Opens a file for writing, and makes its folder; a closed one if the name is empty. Throws
/// std::runtime_error with one line that begins with the file's name where that fails.
inline std::ofstream openOutputFile(const std::string& name) {
  std::ofstream file;
  if (name.empty()) return file;
  const std::filesystem::path folder = std::filesystem::path(name).parent_path();
  std::error_code ignored;  // the file says whether all went well
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  file.open(name);
  if (!file) throw std::runtime_error(name + ": cannot be written");
  return file;
}
