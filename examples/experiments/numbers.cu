/// \file
/// The experiment on numbers.
// SPDX-License-Identifier: MIT
#include "numbers.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <cmath>
#include <limits>
#include <vector>

namespace experiments {
namespace {

constexpr double ulp = std::numeric_limits<float>::epsilon();

/// The one T that launch(to) writes.
template <class T, class In, class Launch>
T oneResult(const std::vector<In>& in, const Launch& launch) {
  return resultOf<T>(in, 1, launch)[0];
}

void threeSums(Report& report) {
  const std::vector<float> abc{1e30F, -1e30F, 1.0F};
  const auto sums = oneResult<ThreeSums>(abc, launchSumThree);
  report.table({"Addition is not associative: a = 1e30, b = -1e30, c = 1", "sum", "then", "computed", {}});
  report.add({"(a + b) + c", "1", format("%g", double{sums.left}), {}, sums.left == 1.0F});
  report.add({"a + (b + c)", "0", format("%g", double{sums.right}), {}, sums.right == 0.0F});
}

void orders(Report& report) {
  constexpr struct {
    const char* name;
    SumOrder order;
    double bound;  ///< of the error, in units in the last place of the sum
  } rows[] = {{"one after the other", SumOrder::inOrder, 1 << 16},
              {"256 sums, strided", SumOrder::strided, 512},
              {"as a tree", SumOrder::pairwise, 17},
              {"one after the other, compensated", SumOrder::compensated, 2},
              {"one after the other, in double", SumOrder::inDouble, 1}};
  constexpr std::size_t N = 1 << 16;
  std::vector<float> values(N);
  double exact = 0;
  for (std::size_t i = 0; i < N; ++i) {
    values[i] = ladders::elementAt<float>(i);
    exact += double{values[i]};
  }
  report.table({"Sums of 65536 floats from 1 to 2, by order; computed by the device and by the host",
                "order",
                "bound of the error, ulp",
                "error, ulp; as the host?",
                {}});
  for (const auto& row : rows) {
    const auto sum =
        oneResult<float>(values, [&](const float* from, float* to) { launchSumAll(row.order, from, to, N); });
    const double error = std::fabs(sum - exact) / (exact * ulp);
    const bool isSame = sum == sumBy(row.order, values.data(), N);
    report.add({row.name,
                format("%g", row.bound),
                format("%.3g; %s", error, isSame ? "the same" : "different"),
                {},
                error <= row.bound && isSame});
  }
}

void fused(Report& report) {
  const std::vector<float> x{1.0F + 0x1p-12F};
  const auto products = oneResult<Products>(x, launchSubtractProduct);
  report.table({"x * x - round(x * x), for x = 1 + 2^-12", "instructions", "exact", "computed", {}});
  report.add({"multiply, subtract", "2^-24", format("%g", double{products.separate}), {}, products.separate == 0.0F});
  report.add({"fused multiply-add",
              "2^-24 = 5.96046e-08",
              format("%g", double{products.fused}),
              {},
              products.fused == 0x1p-24F});
}

template <class T>
void precisionRow(Report& report, const char* name, const char* then) {
  constexpr std::size_t N = 1 << 20, CHECKED = 1001;
  constexpr unsigned ROUNDS = 256;
  std::vector<T> values(CHECKED);
  for (std::size_t i = 0; i < CHECKED; ++i) values[i] = T(static_cast<int>(i)) / 1024;
  const auto found = resultOf<T>(values, CHECKED, [](const T* from, T* to) { launchPolynomial(from, to, CHECKED, 1); });
  double error = 0;
  for (std::size_t i = 0; i < CHECKED; ++i) {
    const long double exact = polynomialOnHost(values[i], 1);
    error = std::fmax(error, static_cast<double>(std::fabs(found[i] - exact) / exact));
  }
  const TimedArray<T> in(N), out(N);
  report.add({name,
              then,
              format("%.2g", error),
              {billionsPerSecond(1.0 * N * ROUNDS, [&] { launchPolynomial(in.data(), out.data(), N, ROUNDS); })},
              error < 2 * double{std::numeric_limits<T>::epsilon()}});
}

void precisions(Report& report) {
  report.table({"A polynomial of degree 7", "type", "then: speed", "relative error", {"G/s"}});
  precisionRow<float>(report, "float", "1");
  precisionRow<double>(report, "double", "1/8");
}

void run(Report& report) {
  threeSums(report);
  orders(report);
  fused(report);
  precisions(report);
}

}  // namespace

const Experiment numbersExperiment{
    "numbers",
    "Floating-point addition rounds, so the order counts; a fused multiply-add rounds once instead of twice. The\n"
    "same additions in the same order give the same bits on the host and on the device.",
    run};

}  // namespace experiments
