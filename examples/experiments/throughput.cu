/// \file
/// The experiment on the throughput of instructions.
// SPDX-License-Identifier: MIT
#include "throughput.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace experiments {
namespace {

/// What is known of a step.
struct Known {
  const char* name;
  const char* then;
  const char* predicted;
  int instructions = 1;  ///< of the kind, in a step
};

template <class T>
std::vector<T> inputs(T first, T gap) {
  std::vector<T> values(throughputBlock);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = first + gap * static_cast<T>(static_cast<int>(i % 8));
  return values;
}

template <class Step, class T>
std::vector<T> onHost(std::vector<T> values, T other, unsigned rounds) {
  for (T& value : values) {
    T sum{};
    for (unsigned k = 0; k < throughputChains; ++k) {
      T x = value + static_cast<T>(static_cast<int>(k));
      for (unsigned round = 0; round < rounds; ++round) x = Step{}(x, other);
      sum = k == 0 ? x : sum + x;
    }
    value = sum;
  }
  return values;
}

/// Special functions are a little off, integers are not.
template <class T>
bool isClose(const std::vector<T>& found, const std::vector<T>& expected) {
  constexpr double TOLERANCE = std::is_integral_v<T> ? 0 : 1e-5;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto f = static_cast<double>(found[i]), e = static_cast<double>(expected[i]);
    if (!(std::fabs(f - e) <= TOLERANCE * (1 + std::fabs(e)))) return false;
  }
  return true;
}

/// Counted is how much longer many rounds take than few, each the fastest of three launches: the first one also fetches
/// the instructions.
template <class Step, class T>
void stepRow(Report& report, const Known& known, T first, T gap, T other) {
  constexpr unsigned SHORT = 3, LONG = emulated ? 3 : 1024 + 3;
  const auto values = inputs(first, gap);
  const DeviceArray<long long> cycles(1);
  const auto run = [&](unsigned rounds) {
    return resultOf<T>(values, values.size(),
                       [&](const T* from, T* to) { launchRepeatedStep<Step>(from, to, other, rounds, cycles.data()); });
  };
  const auto cyclesOf = [&](unsigned rounds) {
    long long least = (std::numeric_limits<long long>::max)();
    for (int launch = 0; launch < (emulated ? 1 : 3); ++launch) {
      run(rounds);
      least = (std::min)(least, cycles.toHost()[0]);
    }
    return static_cast<double>(least);
  };
  const bool isRight = isClose(run(SHORT), onHost<Step>(values, other, SHORT));
  const double steps = 1.0 * (LONG - SHORT) * throughputChains * throughputBlock;
  const double taken = cyclesOf(LONG) - cyclesOf(SHORT);
  report.add({known.name, known.then, known.predicted, {emulated ? 0 : known.instructions * steps / taken}, isRight});
}

void run(Report& report) {
  report.table(
      {"Instructions of a multiprocessor in a cycle", "instruction", "then, GTX 280", "documented, 9.0", {"a cycle"}});
  stepRow<AddFloat>(report, {"float, add", "8", "128"}, 1.0F, 1.0F, 0.5F);
  stepRow<MultiplyFloat>(report, {"float, multiply", "8", "128"}, 1.0F, 1.0F, 0.5F);
  stepRow<MultiplyAddFloat>(report, {"float, multiply-add", "8", "128"}, 1.0F, 1.0F, 0.5F);
  stepRow<MultiplyAddDouble>(report, {"double, multiply-add", "1", "64"}, 1.0, 1.0, 0.5);
  stepRow<MultiplyAddHalf2>(report, {"half2, multiply-add of two", "", "128 (256 halves)"}, 0x3C003C00u, 0u,
                            0x38003800u);
  stepRow<AddInteger>(report, {"integer, add and xor", "8", "64", 2}, 1u, 3u, 12345u);
  stepRow<MultiplyInteger>(report, {"integer, multiply", "2", "64"}, 1u, 3u, 12345u);
  stepRow<MultiplyAddInteger>(report, {"integer, multiply-add", "2", "64"}, 1u, 3u, 12345u);
  stepRow<Multiply24>(report, {"integer, multiply 24 bits", "8", "several instructions"}, 1u, 3u, 12345u);
  stepRow<Shift>(report, {"integer, shift", "8", "64"}, 1u, 3u, 5u);
  stepRow<Logic>(report, {"integer, logic", "8", "64"}, 1u, 3u, 12345u);
  stepRow<Minimum>(report, {"integer, minimum and xor", "8", "64", 2}, 1u, 3u, 12345u);
  stepRow<CountOnes>(report, {"integer, count ones", "", "16"}, 12345u, 777u, 0u);
  stepRow<DotOfBytes>(report, {"integer, dot of 4 bytes", "", "64"}, 1u, 3u, 0x01020304u);
  stepRow<Reciprocal>(report, {"float, 1 / x, and an add", "2", "16"}, 1.0F, 1.0F, 1.0F);
  stepRow<ReciprocalRoot>(report, {"float, 1 / root of x", "2", "16"}, 1.0F, 1.0F, 0.0F);
  stepRow<Logarithm2>(report, {"float, logarithm", "2", "16"}, 1e9F, 1e9F, 0.0F);
  stepRow<PowerOf2>(report, {"float, power of 2", "1", "16"}, -3.0F, -1.0F, 0.0F);
  stepRow<Sine>(report, {"float, sine", "1", "16"}, 0.25F, 0.125F, 0.0F);
  stepRow<ByteToFloat>(report, {"byte to float and back", "8", "", 2}, 1.0F, 20.0F, 0.0F);
  stepRow<IntegerToFloat>(report, {"integer to float and back", "8", "", 2}, 1.5F, 20.0F, 0.0F);
  stepRow<LongToFloat>(report, {"64-bit integer to float and back", "", "", 2}, 1.5F, 20.0F, 0.0F);
  stepRow<DoubleToFloat>(report, {"double to float and back", "", "", 2}, 1.1, 20.0, 0.0);
}

}  // namespace

const Experiment throughputExperiment{
    "throughput",
    "A multiprocessor has more units for some instructions than for others. The table counts instructions of one\n"
    "multiprocessor in a cycle, of 32 warps that do nothing else.",
    run};

}  // namespace experiments
