/// \file
/// The experiment on arithmetic.
// SPDX-License-Identifier: MIT
#include "arithmetic.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <cmath>
#include <vector>

namespace experiments {
namespace {

constexpr std::size_t timedN = 1 << 20;
constexpr unsigned timedRounds = 256;
constexpr float floatStep = 0x1p-9F;

/// n values from `first` to `last`.
std::vector<float> spread(std::size_t n, double first, double last) {
  std::vector<float> values(n);
  const double step = (last - first) / static_cast<double>(n - 1);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<float>(first + step * static_cast<double>(i));
  return values;
}

/// From 0.5 to 2.
std::vector<float> arguments() {
  std::vector<float> values(30001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5F + static_cast<float>(i) * 0.00005F;
  return values;
}

/// The greatest distance from the exact function, and the greatest in units in the last place of the exact result.
struct Errors {
  double distance = 0, ulp = 0;
};

template <class F, class Exact>
Errors errorsOf(F f, Exact exact, const std::vector<float>& values = arguments()) {
  const auto found = resultOf<float>(values, values.size(), [&](const float* from, float* to) {
    launchCalls(from, to, values.size(), floatStep, 1, f);
  });
  Errors errors;
  const auto greater = [](double most, double each) { return each <= most ? most : each; };  // a NaN is an error, too
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double result = exact(double{values[i]}), distance = std::fabs(found[i] - result);
    errors.distance = greater(errors.distance, distance);
    if (result != 0) errors.ulp = greater(errors.ulp, distance / std::ldexp(1.0, std::ilogb(result) - 23));
  }
  return errors;
}

template <class F, class In, class T>
double callsPerSecond(const In& in, const TimedArray<T>& out, T step, F f) {
  return billionsPerSecond(double{timedN} * timedRounds,
                           [&] { launchCalls(in.data(), out.data(), timedN, step, timedRounds, f); });
}

template <class Precise, class Fast, class Exact>
void functionRow(Report& report, const char* name, const char* then, const TimedArray<float>& in,
                 const TimedArray<float>& out) {
  const Errors precise = errorsOf(Precise{}, Exact{}), fast = errorsOf(Fast{}, Exact{});
  report.add({name,
              then,
              "",
              {callsPerSecond(in, out, floatStep, Precise{}), callsPerSecond(in, out, floatStep, Fast{}),
               1e7 * precise.distance, 1e7 * fast.distance, precise.ulp, fast.ulp},
              precise.distance < 1e-6 && fast.distance < 1e-5});
}

void functions(Report& report, const TimedArray<float>& in, const TimedArray<float>& out) {
  report.table({"Functions of arguments from 0.5 to 2: calls, and greatest errors",
                "function, its fast form",
                "bound of the fast one",
                "",
                {"precise, G/s", "fast, G/s", "error, 1e-7", "fast, 1e-7", "error, ulp", "fast, ulp"}});
  functionRow<PreciseSine, FastSine, ExactSine>(report, "sinf, __sinf", "2^-21.41 = 3.6e-7", in, out);
  functionRow<PreciseCosine, FastCosine, ExactCosine>(report, "cosf, __cosf", "2^-21.19 = 4.2e-7", in, out);
  functionRow<PreciseExponential, FastExponential, ExactExponential>(report, "expf, __expf", "2 + 1.17 |x| ulp", in,
                                                                     out);
  functionRow<PreciseLogarithm, FastLogarithm, ExactLogarithm>(report, "logf, __logf", "2^-21.41 = 3.6e-7", in, out);
  functionRow<PrecisePower, FastPower, ExactPower>(report, "powf, __powf", "as exp2 and log2", in, out);
  functionRow<PreciseQuotient, FastQuotient, ExactQuotient>(report, "2.7F / x, __fdividef", "2 ulp", in, out);
  report.note("Bounds: CUDA C++ Programming Guide. x has 2^-23 = 1.2e-7 for an ulp from 1 to 2.");
}

/// Sines of n arguments, of which every `each`-th is from the range and the others are small.
void sineRow(Report& report, const char* name, const char* then, double first, double last, std::size_t each,
             const TimedArray<float>& out) {
  const auto mixed = [=](std::size_t n) {
    std::vector<float> values = spread(n, 0.5, 2);
    const std::vector<float> large = spread(n, first, last);
    for (std::size_t i = 0; i < n; i += each) values[i] = large[i];
    return values;
  };
  const auto checked = mixed(30001);
  const Errors precise = errorsOf(PreciseSine{}, ExactSine{}, checked);
  const Errors fast = errorsOf(FastSine{}, ExactSine{}, checked);
  const DeviceArray<float> in(mixed(emulated ? 2 : timedN));
  report.add({name,
              then,
              "",
              {callsPerSecond(in, out, floatStep, PreciseSine{}), callsPerSecond(in, out, floatStep, FastSine{}),
               1e7 * precise.distance, 1e7 * fast.distance},
              precise.distance < 1e-6});
}

/// Arguments grow by a half while they are timed, and the largest not at all: that is less than their last bit.
void sines(Report& report, const TimedArray<float>& out) {
  report.table({"sinf and __sinf by the size of their arguments; large ones are reduced with more digits of pi",
                "arguments",
                "then",
                "",
                {"sinf, G/s", "__sinf, G/s", "error of sinf, 1e-7", "error of __sinf, 1e-7"}});
  sineRow(report, "0.5 to 2", "", 0.5, 2, 1, out);
  sineRow(report, "30000 to 48000", "", 30000, 48000, 1, out);
  sineRow(report, "48100 to 105000", "slow from 48039 on", 48100, 105000, 1, out);
  sineRow(report, "106000 to 1000000", "slow", 106000, 1e6, 1, out);
  sineRow(report, "one lane in 32 of these", "", 106000, 1e6, 32, out);
}

void literals(Report& report, const TimedArray<float>& in, const TimedArray<float>& out) {
  const auto line = [](double x) { return x * 1.1 + 0.3; };
  report.table({"Literals: without F the expression is one of doubles", "expression", "", "", {"G/s"}});
  report.add({"x * 1.1F + 0.3F",
              "",
              "",
              {callsPerSecond(in, out, floatStep, FloatLiteral{})},
              errorsOf(FloatLiteral{}, line).distance < 1e-6});
  report.add({"x * 1.1 + 0.3",
              "",
              "",
              {callsPerSecond(in, out, floatStep, DoubleLiteral{})},
              errorsOf(DoubleLiteral{}, line).distance < 1e-6});
}

template <class F>
void divisionRow(Report& report, const char* name, const char* predicted, const TimedArray<unsigned>& in,
                 const TimedArray<unsigned>& out, unsigned divisor, F f) {
  std::vector<unsigned> values(1001), expected(1001);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = ladders::elementAt<unsigned>(i);
    expected[i] = values[i] / divisor + values[i] % divisor;
  }
  const auto found = resultOf<unsigned>(values, values.size(), [&](const unsigned* from, unsigned* to) {
    launchCalls(from, to, values.size(), 1u, 1, f);
  });
  report.add({name, "", predicted, {callsPerSecond(in, out, 12345u, f)}, found == expected});
}

void divisions(Report& report) {
  const TimedArray<unsigned> in(timedN, Filling::bits), out(timedN);
  report.table({"x / d + x % d of unsigned numbers", "d", "", "takes", {"G/s"}});
  divisionRow(report, "7, known to the launch", "some 20 instructions", in, out, 7, DivideByVariable{7});
  divisionRow(report, "7, known to the compiler", "multiply, shift", in, out, 7, DivideByConstant<7>{});
  divisionRow(report, "32, known to the launch", "some 20 instructions", in, out, 32, DivideByVariable{32});
  divisionRow(report, "32 = 1 << s, the program shifts", "shift, and", in, out, 32, DivideByShift{5});
  divisionRow(report, "32, known to the compiler", "shift, and", in, out, 32, DivideByConstant<32>{});
}

void run(Report& report) {
  const TimedArray<float> in(timedN), out(timedN);
  functions(report, in, out);
  literals(report, in, out);
  divisions(report);
  sines(report, out);
}

}  // namespace

const Experiment arithmeticExperiment{
    "arithmetic",
    "Special function units give sines, logarithms and reciprocals in one instruction, not quite exactly; "
    "the\n"
    "precise functions repair that with many more. There is no instruction for integer division at all.",
    run};

}  // namespace experiments
