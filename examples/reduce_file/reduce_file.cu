/// \file
/// The sum and the mean of a file of numbers, which may be longer than the memory of the GPU and of the host. Without a
/// file it makes a small one.
// SPDX-License-Identifier: MIT
#include "command_line.hpp"
#include "exit_status.hpp"
#include "output_file.hpp"
#include "progress.hpp"
#include "text.hpp"
#include "timing.cuh"

#include <gpuopt/transfer_pipeline.cuh>

#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

template <class T>
double sumOf(const std::string& file, std::size_t chunkBytes, std::size_t& numbers) {
  gpuopt::PipelineOptions options;
  options.chunkBytes = chunkBytes;
  options.progress = [&](std::size_t done, std::size_t all) {
    numbers = done;
    if (all > 0) showProgress(done, all, readableBytes(done * sizeof(T)));
    return true;
  };
  const double sum = gpuopt::streamReduce<double>(gpuopt::fromFile<T>(file), gpuopt::Plus{}, options);
  hideProgress();
  return sum;
}

double report(const std::string& file, const std::string& type, std::size_t chunkBytes) {
  std::size_t numbers = 0;
  const double sum = type == "double"  ? sumOf<double>(file, chunkBytes, numbers)
                     : type == "int32" ? sumOf<std::int32_t>(file, chunkBytes, numbers)
                     : type == "uint8" ? sumOf<std::uint8_t>(file, chunkBytes, numbers)
                                       : sumOf<float>(file, chunkBytes, numbers);
  std::printf("%s: %zu numbers, sum %.10g, mean %.10g\n", file.c_str(), numbers, sum,
              numbers > 0 ? sum / static_cast<double>(numbers) : 0);
  return sum;
}

// A file of a megabyte of floats, in chunks of 64 KiB.
bool checkSmallFile() {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("gpuopt_reduce_file_" + std::to_string(getpid()))).string();
  std::vector<float> values(262147);
  double expected = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i * 7919 % 10007) / 16;
    expected += values[i];
  }
  openOutputFile(file).write(reinterpret_cast<const char*>(values.data()),
                             static_cast<std::streamsize>(values.size() * sizeof(float)));
  const double sum = report(file, "float", 64 << 10);
  std::filesystem::remove(file);
  const bool isRight = std::fabs(sum - expected) <= 1e-12 * expected;
  std::printf("as a loop on the host has it: %s\n", isRight ? "ok" : "WRONG");
  return isRight;
}

bool run(int count, char** words) {
  std::string file, type = "float";
  std::size_t mebibytes = 0;
  CLI::App app("The sum of a file of numbers, of any length", "reduce_file");
  app.add_option("file", file, "raw binary, little-endian; without it, a small file is made and checked");
  app.add_option("--type", type, "of a number")->check(CLI::IsMember({"float", "double", "int32", "uint8"}));
  app.add_option("--chunk", mebibytes, "MiB of a chunk; chosen by the length unless given");
  parseCommandLine(app, count, words);
  printDevice("reduce_file");
  if (file.empty()) return checkSmallFile();
  report(file, type, mebibytes << 20);
  return true;
}

int main(int count, char** words) {
  return exitStatusOf("reduce_file", [=] { return run(count, words); });
}
