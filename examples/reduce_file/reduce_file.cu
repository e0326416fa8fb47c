/// \file
/// The sum and the mean of a file of numbers, which may be longer than the memory of the GPU and of the host. Without a
/// file it makes a small one.
// SPDX-License-Identifier: MIT
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
#include <stdexcept>
#include <string>
#include <vector>

// The sum of the numbers of a file, and how many they are.
template <class T>
double sumOf(const std::string& file, std::size_t& numbers) {
  gpuopt::PipelineOptions options;
  options.progress = [&](std::size_t done, std::size_t all) {
    numbers = done;
    if (all > 0) showProgress(done, all, readableBytes(done * sizeof(T)));
    return true;
  };
  const double sum = gpuopt::streamReduce<double>(gpuopt::fromFile<T>(file), gpuopt::Plus{}, options);
  hideProgress();
  return sum;
}

double report(const std::string& file, const std::string& type) {
  std::size_t numbers = 0;
  double sum = 0;
  if (type == "float")
    sum = sumOf<float>(file, numbers);
  else if (type == "double")
    sum = sumOf<double>(file, numbers);
  else if (type == "int32")
    sum = sumOf<std::int32_t>(file, numbers);
  else if (type == "uint8")
    sum = sumOf<std::uint8_t>(file, numbers);
  else
    throw std::runtime_error("the type is float, double, int32 or uint8");
  std::printf("%s: %zu numbers, sum %.10g, mean %.10g\n", file.c_str(), numbers, sum,
              numbers > 0 ? sum / static_cast<double>(numbers) : 0);
  return sum;
}

// A file of a few megabytes: more than one chunk.
bool checkSmallFile() {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("gpuopt_reduce_file_" + std::to_string(getpid()))).string();
  std::vector<float> values(1000003);
  double expected = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i * 7919 % 10007) / 16;
    expected += values[i];
  }
  openOutputFile(file).write(reinterpret_cast<const char*>(values.data()),
                             static_cast<std::streamsize>(values.size() * sizeof(float)));
  const double sum = report(file, "float");
  std::filesystem::remove(file);
  const bool isRight = std::fabs(sum - expected) <= 1e-12 * expected;
  std::printf("as a loop on the host has it: %s\n", isRight ? "ok" : "WRONG");
  return isRight;
}

bool run(int count, char** words) {
  if (count > 3) throw std::runtime_error("usage: reduce_file [<raw binary file> [float|double|int32|uint8]]");
  printDevice("reduce_file");
  if (count == 1) return checkSmallFile();
  report(words[1], count == 3 ? words[2] : "float");
  return true;
}

int main(int count, char** words) {
  return exitStatusOf("reduce_file", [=] { return run(count, words); });
}
