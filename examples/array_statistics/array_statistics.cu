/// \file
/// Statistics of the numbers in a file: computed by gpuopt, checked against serial code on the CPU, timed on
/// a GPU.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"
#include "options.hpp"
#include "speed.cuh"
#include "statistics.cuh"
#include "timing.cuh"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace {

std::string text(double value) {
  if (std::isnan(value)) return "nan";  // whose sign means nothing
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.10g", value);
  return buffer;
}

template <class T>
std::string text(T value) {
  return std::to_string(value);
}

// Where number i of the input is: a pixel and its channel, or the index.
std::string position(const Input& input, std::size_t i) {
  if (input.width == 0) return " at index " + std::to_string(i);
  const std::size_t pixel = i / input.channels;
  const std::string channel = input.channels == 3 ? std::string(", ") + "RGB"[i % 3] : "";
  return " at (" + std::to_string(pixel % input.width) + ", " + std::to_string(pixel / input.width) + channel + ")";
}

template <class T>
std::string text(const Input& input, const gpuopt::ArgResult<T>& extreme) {
  if constexpr (std::is_floating_point_v<T>)
    return text(static_cast<double>(extreme.value)) + position(input, extreme.index);
  else
    return text(extreme.value) + position(input, extreme.index);
}

// Prints the lines of the table and counts those that are wrong.
class Verdicts {
 public:
  void line(const char* name, const std::string& value, const std::string& reference, bool right) {
    std::printf("  %-9s %-34s %-34s %s\n", name, value.c_str(), reference.c_str(), right ? "ok" : "WRONG");
    wrong_ += right ? 0 : 1;
  }

  int wrong() const { return wrong_; }

 private:
  int wrong_ = 0;
};

// With infinities among the numbers, whether a result is infinite or not a number depends on the formula.
bool isClose(double value, double reference, double scale) {
  if (!std::isfinite(reference)) return !std::isfinite(value);
  return std::fabs(value - reference) <= 1e-12 * scale;
}

template <class T>
bool isSame(const gpuopt::ArgResult<T>& a, const gpuopt::ArgResult<T>& b) {
  return a.index == b.index && (a.value == b.value || (a.value != a.value && b.value != b.value));
}

template <class T>
int compare(const Input& input, const Statistics<T>& device, const Statistics<T>& serial, double magnitude) {
  const double mean = magnitude / static_cast<double>(serial.count);
  bool sumIsRight = device.sum == serial.sum;
  if constexpr (std::is_floating_point_v<T>) sumIsRight = isClose(device.sum, serial.sum, magnitude);
  Verdicts verdicts;
  std::printf("\n  %-9s %-34s %-34s\n", "", "gpuopt", "serial, on the CPU");
  verdicts.line("count", text(device.count), text(serial.count), device.count == serial.count);
  verdicts.line("sum", text(device.sum), text(serial.sum), sumIsRight);
  verdicts.line("mean", text(device.mean), text(serial.mean), isClose(device.mean, serial.mean, mean));
  verdicts.line("variance", text(device.variance), text(serial.variance),
                isClose(device.variance, serial.variance, serial.variance + mean * mean));
  verdicts.line("minimum", text(input, device.least), text(input, serial.least), isSame(device.least, serial.least));
  verdicts.line("maximum", text(input, device.greatest), text(input, serial.greatest),
                isSame(device.greatest, serial.greatest));
  std::printf(verdicts.wrong() == 0 ? "  All results agree.\n" : "  %d results DISAGREE.\n", verdicts.wrong());
  return verdicts.wrong();
}

// Whether all results agree.
template <class T>
bool analyze(const Input& input, const std::vector<T>& values) {
  const DeviceArray<T> memory(values);
  const int wrong =
      compare(input, deviceStatistics(memory.data(), values.size()), serialStatistics(values), magnitudeOf(values));
  if constexpr (emulated)
    std::printf("\n  No times: the emulated device shows what a GPU computes, not how fast.\n");
  else
    printSpeeds<T>(memory.data(), values.size());
  return wrong == 0;
}

bool run(int count, char** words) {
  std::string name;
  const Input input = readInput(count, words, name);
  printDevice("array_statistics");
  std::printf("%s: %s\n", name.c_str(), input.description.c_str());
  return std::visit([&](const auto& values) { return analyze(input, values); }, input.values);
}

}  // namespace

int main(int count, char** words) {
  return exitStatusOf("array_statistics", [&] { return run(count, words); });
}
