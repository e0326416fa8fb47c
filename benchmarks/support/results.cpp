/// \file
/// The files of one program's results: CSV by hand, JSON by nlohmann/json.
// SPDX-License-Identifier: MIT
#include "results.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <stdexcept>

namespace bench {

ResultFiles::ResultFiles(const Options& options, HeaderLines header) : header_(std::move(header)) {
  std::filesystem::create_directories(options.folder);
  const std::filesystem::path path = std::filesystem::path(options.folder) / options.program;
  csv_.open(path.string() + ".csv");
  json_.open(path.string() + ".json");
  if (!csv_ || !json_) throw std::runtime_error("cannot write to " + options.folder);
  writeCsvHeader(csv_, header_);
  for (const auto& [name, value] : header_) fmt::print("{}: {}\n", name, value);
}

int ResultFiles::finish(const ReportLines& summary, int wrong) {
  nlohmann::ordered_json file, figures = nlohmann::ordered_json::object();
  for (const auto& [name, value] : header_) file[name] = value;
  file["wrong"] = wrong;
  for (const auto& [name, value] : summary) {
    figures[name] = std::round(value * 1e4) / 1e4;
    fmt::print("{:<58} {:>10.3f}\n", name, value);
  }
  file["summary"] = figures;
  json_ << file.dump(2) << "\n";
  fmt::print("{} wrong results\n", wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace bench
