/// Functions fast and precise, integer division, and tables in different memory spaces.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/arithmetic.cuh"
#include "../../examples/experiments/memory_spaces.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <cmath>
#include <cstring>
#include <vector>

namespace arithmetic_test {

using namespace experiments;
using gpuopt::test::DeviceArray;

constexpr std::size_t N = 1001;

// Whether sums of 3 calls are right up to `tolerance` of the terms' magnitude, for arguments up to 2.75 * `scale`.
template <class F, class Exact>
bool isClose(F f, Exact exact, double tolerance, float scale = 1) {
  std::vector<float> values(N);
  for (std::size_t i = 0; i < N; ++i) values[i] = scale * (0.25F + static_cast<float>(i) * 0.0025F);
  const DeviceArray<float> in(values);
  DeviceArray<float> out(N);
  launchCalls(in.data(), out.data(), N, 0.0625F, 3, f);
  const auto sums = out.toHost();
  for (std::size_t i = 0; i < N; ++i) {
    double sum = 0, magnitude = 1;
    for (int round = 0; round < 3; ++round) {
      const double term = exact(double{values[i] + 0.0625F * static_cast<float>(round)});
      sum += term;
      magnitude += std::fabs(term);
    }
    if (!(std::fabs(sums[i] - sum) <= tolerance * magnitude)) return false;
  }
  return true;
}

template <class F>
bool dividesRightly(F f, unsigned divisor) {
  const auto values = gpuopt::test::randomVector<unsigned>(N, 1);
  const DeviceArray<unsigned> in(values);
  DeviceArray<unsigned> out(N);
  launchCalls(in.data(), out.data(), N, 12345u, 5, f);
  std::vector<unsigned> expected(N, 0);
  for (std::size_t i = 0; i < N; ++i)
    for (unsigned round = 0; round < 5; ++round) {
      const unsigned x = values[i] + 12345u * round;
      expected[i] += x / divisor + x % divisor;
    }
  return out.toHost() == expected;
}

TEST_CASE("functions are close to the exact ones, fast ones a little less") {
  CHECK((isClose(PreciseSine{}, ExactSine{}, 1e-6) && isClose(FastSine{}, ExactSine{}, 1e-5)));
  CHECK((isClose(PreciseCosine{}, ExactCosine{}, 1e-6) && isClose(FastCosine{}, ExactCosine{}, 1e-5)));
  CHECK((isClose(PreciseExponential{}, ExactExponential{}, 1e-6) &&
         isClose(FastExponential{}, ExactExponential{}, 1e-5)));
  CHECK((isClose(PreciseLogarithm{}, ExactLogarithm{}, 1e-6) && isClose(FastLogarithm{}, ExactLogarithm{}, 1e-5)));
  CHECK((isClose(PrecisePower{}, ExactPower{}, 1e-6) && isClose(FastPower{}, ExactPower{}, 1e-5)));
  CHECK((isClose(PreciseQuotient{}, ExactQuotient{}, 1e-6) && isClose(FastQuotient{}, ExactQuotient{}, 1e-5)));
  const auto line = [](double x) { return x * 1.1 + 0.3; };
  CHECK((isClose(FloatLiteral{}, line, 1e-6) && isClose(DoubleLiteral{}, line, 1e-6)));
}

TEST_CASE("sines of arguments on both sides of the slow path") {
  for (const float scale : {0x1p13F, 0x1p14F, 0x1p15F, 0x1p17F})
    CHECK(isClose(PreciseSine{}, ExactSine{}, 1e-6, scale));
}

TEST_CASE("quotients and remainders, by divisors known and unknown") {
  CHECK(dividesRightly(DivideByVariable{7}, 7));
  CHECK(dividesRightly(DivideByVariable{0x80000001u}, 0x80000001u));
  CHECK(dividesRightly(DivideByConstant<7>{}, 7));
  CHECK(dividesRightly(DivideByConstant<32>{}, 32));
  CHECK(dividesRightly(DivideByShift{5}, 32));
  CHECK(dividesRightly(DivideByShift{0}, 1));
}

TEST_CASE("a table in constant and in global memory") {
  constexpr unsigned ROUNDS = 7;
  const auto words = gpuopt::test::randomVector<unsigned>(spaceWords, 2);
  const DeviceArray<unsigned> table(words);
  setConstantTable(words.data());
  for (const unsigned laneStep : {0u, 1u, 33u}) {
    const auto expected = lookUpOnHost(words, N, ROUNDS, laneStep);
    DeviceArray<unsigned> constant(N), global(N), readOnly(N);
    launchLookUp(ConstantTable{}, constant.data(), N, ROUNDS, laneStep);
    launchLookUp(GlobalTable{table.data()}, global.data(), N, ROUNDS, laneStep);
    launchLookUp(ReadOnlyTable{table.data()}, readOnly.data(), N, ROUNDS, laneStep);
    CHECK(constant.toHost() == expected);
    CHECK(global.toHost() == expected);
    CHECK(readOnly.toHost() == expected);
  }
}

TEST_CASE("coefficients from wherever they are") {
  ParameterCoefficients values{};
  std::vector<unsigned> words(spaceWords, 0);
  for (unsigned k = 0; k < coefficients; ++k) {
    values.values[k] = 0.125F * static_cast<float>(k) - 1;
    std::memcpy(&words[k], &values.values[k], sizeof(float));
  }
  setConstantTable(words.data());
  const auto arguments = gpuopt::test::smallIntegers<float>(N, 3);
  const auto expected = evaluateOnHost(values, arguments, 1);
  const DeviceArray<float> in(arguments), global(std::vector<float>(values.values, values.values + coefficients));
  DeviceArray<float> parameter(N), constant(N), direct(N), staged(N);
  launchEvaluate<Staging::none>(values, in.data(), parameter.data(), N, 1);
  launchEvaluate<Staging::none>(ConstantCoefficients{}, in.data(), constant.data(), N, 1);
  launchEvaluate<Staging::none>(GlobalCoefficients{global.data()}, in.data(), direct.data(), N, 1);
  launchEvaluate<Staging::shared>(GlobalCoefficients{global.data()}, in.data(), staged.data(), N, 1);
  CHECK(parameter.toHost() == expected);
  CHECK(constant.toHost() == expected);
  CHECK(direct.toHost() == expected);
  CHECK(staged.toHost() == expected);
}

}  // namespace arithmetic_test
