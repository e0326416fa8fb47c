/// Ready-made transforms of rows beside a reference in double: softmax, norms, quantisation.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "transform_parts.cuh"

#include <gpuopt/rows_transform.cuh>

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace gpuopt::test::transform_ready_test {
namespace {

constexpr float INF = std::numeric_limits<float>::infinity();
constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();

template <class T>
std::vector<T> numbers(std::size_t n, double shift = -5) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<T>(static_cast<float>(static_cast<double>(i * 7919 % 1000) / 100 + shift));
  return values;
}

template <class T>
double toDouble(T value) {
  if constexpr (std::is_same_v<T, double>)
    return value;
  else
    return static_cast<double>(static_cast<float>(value));
}

// The relative error of what `call` makes, above `least`, beside expected(row, out): a row of doubles to be changed.
template <class In, class Out, class Call, class Expected>
double errorOf(std::size_t rows, std::size_t cols, const std::vector<In>& values, double least, Call call,
               Expected expected) {
  const DeviceArray<In> in(values);
  DeviceArray<Out> out(rows * cols);
  call(in.data(), out.data());
  const std::vector<Out> results = out.toHost();
  double worst = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<double> row(cols);
    for (std::size_t c = 0; c < cols; ++c) row[c] = toDouble(values[r * cols + c]);
    expected(row);
    for (std::size_t c = 0; c < cols; ++c) {
      const double error = std::fabs(toDouble(results[r * cols + c]) - row[c]) / (std::fabs(row[c]) + least);
      if (!(error <= worst)) worst = error;  // also NaN
    }
  }
  return worst;
}

template <class Out>
constexpr double tolerance = sizeof(Out) == 8   ? 1e-13
                             : sizeof(Out) == 4 ? 2e-6
                                                : 4e-3;

double sumOf(const std::vector<double>& row) {
  double sum = 0;
  for (const double x : row) sum += x;
  return sum;
}

double squaresOf(const std::vector<double>& row) {
  double sum = 0;
  for (const double x : row) sum += x * x;
  return sum;
}

void softmax(std::vector<double>& row) {
  const double most = *std::max_element(row.begin(), row.end());
  for (double& x : row) x = std::exp(x - most);
  const double sum = sumOf(row);
  for (double& x : row) x /= sum;
}

// Of floats the public functions transform rows of all lengths, of doubles three kernels short rows: how threads
// combine what they know of a row does not depend on its type, and is tested of clusters in transform_warps_test.cu.
constexpr std::size_t COLS[] = {1, 100, 128, 1001, 5000, 34000};

// What transform(from, to) makes of matrices of 5 rows, beside expected(row).
template <class T, class Transform, class Expected>
void expectTransform(const std::vector<T>& values, double least, Transform transform, Expected expected,
                     double errors = 1) {
  const std::size_t cols = values.size() / 5;
  INFO(cols << " columns of " << sizeof(T) << " bytes");
  const auto call = [=](const T* in, T* out) { transform(MatrixView{in, 5, cols}, MatrixView{out, 5, cols}); };
  CHECK(errorOf<T, T>(5, cols, values, least, call, expected) <= errors * tolerance<T>);
}

TEST_CASE("softmaxRows", "[rows]") {
  const auto call = [](const auto& from, const auto& to) { softmaxRows(from, to); };
  for (const std::size_t cols : COLS) {
    expectTransform(numbers<float>(5 * cols), 0, call, softmax);
    expectTransform(numbers<__nv_bfloat16>(5 * cols), 0, call, softmax);
  }
  const auto ofDoubles = [](const auto& from, const auto& to) {
    transformShortRows(from, to, detail::softmaxStatistic(from), detail::SoftmaxMap{});
  };
  for (const std::size_t cols : shortColumns<double>) expectTransform(numbers<double>(5 * cols), 0, ofDoubles, softmax);
}

TEST_CASE("softmaxRows of NaN and infinities is that of PyTorch", "[rows]") {
  const std::vector<float> values{1,      NOT_A_NUMBER,
                                  2,      3,  //
                                  1,      INF,
                                  2,      3,  //
                                  -INF,   -INF,
                                  -INF,   -INF,  //
                                  -INF,   2,
                                  2,      -INF,  //
                                  3e38f,  3e38f,
                                  -3e38f, 0};
  const DeviceArray<float> in(values);
  DeviceArray<float> out(values.size());
  softmaxRows(in.data(), out.data(), 5, 4);
  const std::vector<float> results = out.toHost();
  for (std::size_t i = 0; i < 12; ++i) CHECK(std::isnan(results[i]));
  CHECK(std::vector<float>(results.begin() + 12, results.end()) ==
        std::vector<float>{0, 0.5f, 0.5f, 0, 0.5f, 0.5f, 0, 0});
}

// layerNorm(from, to, gamma, beta, eps) is the call.
template <class T, class LayerNorm>
void expectLayerNorm(std::size_t cols, LayerNorm layerNorm) {
  const std::vector<T> gammas = numbers<T>(cols, 0.5), betas = numbers<T>(cols, -2);
  const DeviceArray<T> gamma(gammas), beta(betas, 1);
  const auto expected = [&](std::vector<double>& row) {
    const double mean = sumOf(row) / static_cast<double>(cols);
    for (double& x : row) x -= mean;
    const double factor = 1 / std::sqrt(squaresOf(row) / static_cast<double>(cols) + 1e-3);
    for (std::size_t c = 0; c < cols; ++c) row[c] = row[c] * factor * toDouble(gammas[c]) + toDouble(betas[c]);
  };
  const T *const scale = gamma.data(), *const shift = beta.data();
  const auto call = [=](const auto& from, const auto& to) { layerNorm(from, to, scale, shift, 1e-3); };
  expectTransform(numbers<T>(5 * cols, 40), 1, call, expected, 4);  // far from 0
}

void expectRmsNorm(std::size_t cols) {
  const std::vector<float> gammas = numbers<float>(cols, 0.5);
  const DeviceArray<float> gamma(gammas);
  const auto expected = [&](std::vector<double>& row) {
    const double factor = 1 / std::sqrt(squaresOf(row) / static_cast<double>(cols) + 1e-3);
    for (std::size_t c = 0; c < cols; ++c) row[c] *= factor * toDouble(gammas[c]);
  };
  const float* const scale = gamma.data();
  const auto call = [=](const auto& from, const auto& to) { rmsNormRows(from, to, scale, 1e-3); };
  expectTransform(numbers<float>(5 * cols, 40), 0, call, expected);
}

void l2Norm(std::vector<double>& row) {
  const double norm = std::sqrt(squaresOf(row));
  for (double& x : row) x /= norm;
}

// How rows and numbers of columns are read is the same for all statistics and maps, and is tested of each type with
// one: see "Gamma and beta begin anywhere", and transform_test.cu.
TEST_CASE("layerNormRows, rmsNormRows and l2NormRows", "[rows]") {
  for (const std::size_t cols : COLS) {
    expectLayerNorm<float>(cols, [](const auto& from, const auto& to, auto gamma, auto beta, double eps) {
      layerNormRows(from, to, gamma, beta, eps);
    });
    expectRmsNorm(cols);
    const auto l2NormOf = [](const auto& from, const auto& to) { l2NormRows(from, to); };
    expectTransform(numbers<float>(5 * cols, 40), 0, l2NormOf, l2Norm);
  }
  for (const std::size_t cols : shortColumns<double>) {
    expectLayerNorm<double>(cols, [](const auto& from, const auto& to, auto gamma, auto beta, double eps) {
      layerNormShortRows(from, to, gamma, beta, eps);
    });
    const auto l2NormOf = [](const auto& from, const auto& to) {
      transformShortRows(from, to, detail::normStatistic(from, 0), detail::ScaleMap{});
    };
    expectTransform(numbers<double>(5 * cols, 40), 0, l2NormOf, l2Norm);
  }
}

// Where an array of numbers of columns begins, in elements from 256 bytes; absent: nullptr.
struct Numbers {
  std::size_t offset;
  bool isAbsent = false;
};

// Rows begin at every distance from 16 bytes if cols is odd. A vector of a row has numbers of less than 16 bytes, of
// 16, 32 or 64. layerNorm(from, to, gamma, beta, eps) is the call.
template <class In, class Parameter, class LayerNorm>
void expectColumnNumbers(std::size_t cols, const Numbers& gammaAt, const Numbers& betaAt, LayerNorm layerNorm) {
  INFO(cols << " columns, gamma at " << gammaAt.offset << ", beta at " << betaAt.offset);
  const std::vector<Parameter> gammas = numbers<Parameter>(cols, 0.5), betas = numbers<Parameter>(cols, -2);
  const DeviceArray<Parameter> gamma(gammas, gammaAt.offset), beta(betas, betaAt.offset);
  const Parameter* const scale = gammaAt.isAbsent ? nullptr : gamma.data();
  const Parameter* const shift = betaAt.isAbsent ? nullptr : beta.data();
  const auto expected = [&](std::vector<double>& row) {
    const double mean = sumOf(row) / static_cast<double>(cols);
    for (double& x : row) x -= mean;
    const double factor = 1 / std::sqrt(squaresOf(row) / static_cast<double>(cols) + 1e-3);
    for (std::size_t c = 0; c < cols; ++c)
      row[c] =
          row[c] * factor * (gammaAt.isAbsent ? 1 : toDouble(gammas[c])) + (betaAt.isAbsent ? 0 : toDouble(betas[c]));
  };
  const auto call = [=](const In* in, float* out) {
    layerNorm(MatrixView{in, 17, cols}, MatrixView{out, 17, cols}, scale, shift, 1e-3);
  };
  CHECK(errorOf<In, float>(17, cols, numbers<In>(17 * cols), 1, call, expected) <= 4e-6);
}

// By three kernels, one for each way to load the numbers of a vector's columns.
template <class In, class Parameter>
void expectShortColumnNumbers(const Numbers& gammaAt, const Numbers& betaAt) {
  constexpr std::size_t COUNT = rowVector<In>;
  const auto layerNorm = [](const auto& from, const auto& to, auto gamma, auto beta, double eps) {
    layerNormShortRows(from, to, gamma, beta, eps);
  };
  for (const std::size_t cols : {std::size_t{3}, COUNT, 2 * COUNT - 1, 2 * COUNT, 2 * COUNT + 1, 3 * COUNT - 1,
                                 4 * COUNT + 1, 15 * COUNT, 17 * COUNT + 1, 18 * COUNT + 3})
    expectColumnNumbers<In, Parameter>(cols, gammaAt, betaAt, layerNorm);
}

TEST_CASE("Gamma and beta begin anywhere", "[rows]") {
  const Numbers absent{0, true};
  const auto layerNorm = [](const auto& from, const auto& to, auto gamma, auto beta, double eps) {
    layerNormRows(from, to, gamma, beta, eps);
  };
  for (const std::size_t cols : {3u, 8u, 15u, 16u, 17u, 23u, 31u, 33u, 255u, 1001u, 1004u, 1005u, 2500u}) {
    expectColumnNumbers<float, float>(cols, {0}, {4}, layerNorm);
    expectColumnNumbers<float, float>(cols, {1}, {3}, layerNorm);
    expectColumnNumbers<float, float>(cols, {5}, absent, layerNorm);
    expectColumnNumbers<float, float>(cols, absent, {0}, layerNorm);
  }
  expectShortColumnNumbers<__nv_bfloat16, __nv_bfloat16>({0}, {0});
  expectShortColumnNumbers<__nv_bfloat16, __nv_bfloat16>({1}, {1});
  expectShortColumnNumbers<__nv_bfloat16, __nv_bfloat16>({8}, {3});
  expectShortColumnNumbers<__nv_bfloat16, __nv_bfloat16>({5}, absent);
  expectShortColumnNumbers<__nv_bfloat16, __nv_bfloat16>(absent, {0});
  expectShortColumnNumbers<__nv_bfloat16, double>({2}, {1});
  expectShortColumnNumbers<__nv_bfloat16, double>({2}, {4});
  expectShortColumnNumbers<float, __nv_bfloat16>({4}, {0});
  expectShortColumnNumbers<float, __nv_bfloat16>({1}, {6});
  expectShortColumnNumbers<std::int8_t, __nv_bfloat16>({0}, {8});
  expectShortColumnNumbers<std::int8_t, __nv_bfloat16>({7}, {6});
}

// Rows staged in shared memory: warps take up to three spans, of which the last has fewer rows.
void expectStagedNumbers(std::size_t cols, std::size_t offset) {
  INFO(cols << " columns, " << offset << " elements from alignment");
  detail::TransformTuning tuning;
  tuning.fewVectors = 0;
  tuning.warpSpans = 3;
  tuning.stagedWarps = 0;
  const std::size_t rows = 1021;
  const std::vector<__nv_bfloat16> values = numbers<__nv_bfloat16>(rows * cols);
  const std::vector<__nv_bfloat16> gammas = numbers<__nv_bfloat16>(cols, 0.5), betas = numbers<__nv_bfloat16>(cols, -2);
  const DeviceArray<__nv_bfloat16> gamma(gammas), beta(betas, 1), in(values, offset);
  DeviceArray<__nv_bfloat16> out(values, offset);
  const MatrixView<const __nv_bfloat16> from{in.data(), rows, cols};
  const MatrixView<__nv_bfloat16> to{out.data(), rows, cols};
  const detail::NormMap<float, __nv_bfloat16, __nv_bfloat16, true, false> map{{gamma.data(), static_cast<int>(cols)},
                                                                              {beta.data(), static_cast<int>(cols)}};
  const auto normalise = [&](const MatrixView<const __nv_bfloat16>& rowsOf) {
    transformStagedRows(rowsOf, to, detail::layerStatistic(from, 1e-3), map, tuning);
    return out.toHost();
  };

  const std::vector<__nv_bfloat16> inPlace = normalise({out.data(), rows, cols}), results = normalise(from);
  double worst = 0, worstInPlace = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<double> row(cols);
    for (std::size_t c = 0; c < cols; ++c) row[c] = toDouble(values[r * cols + c]);
    const double mean = sumOf(row) / static_cast<double>(cols);
    for (double& x : row) x -= mean;
    const double factor = 1 / std::sqrt(squaresOf(row) / static_cast<double>(cols) + 1e-3);
    for (std::size_t c = 0; c < cols; ++c) {
      const double wanted = row[c] * factor * toDouble(gammas[c]) + toDouble(betas[c]);
      const auto errorIn = [&](const std::vector<__nv_bfloat16>& all) {
        return std::fabs(toDouble(all[r * cols + c]) - wanted) / (std::fabs(wanted) + 1);
      };
      worst = std::fmax(worst, errorIn(results));
      worstInPlace = std::fmax(worstInPlace, errorIn(inPlace));
    }
  }
  CHECK(worst <= tolerance<__nv_bfloat16>);
  CHECK(worstInPlace <= tolerance<__nv_bfloat16>);
}

TEST_CASE("Lanes keep the numbers of columns for several spans of staged rows", "[rows]") {
  std::size_t offset = 0;
  for (const std::size_t cols : {41u, 68u, 71u, 133u, 137u, 201u, 300u, 333u, 351u})
    expectStagedNumbers(cols, offset++);
}

bool isNear(float a, float b) { return std::fabs(a - b) <= 1e-5f; }

TEST_CASE("Norms without gamma and beta, and of zeros", "[rows]") {
  const DeviceArray<float> in(std::vector<float>{1, 3, 1, 3, 0, 0, 0, 0});
  DeviceArray<float> out(8);
  layerNormRows(in.data(), out.data(), 2, 4, nullptr, nullptr, 0.25);
  const float unit = 1 / std::sqrt(1.25f);
  CHECK(isNear(out.toHost()[0], -unit));
  CHECK(isNear(out.toHost()[3], unit));
  CHECK(out.toHost()[4] == 0);
  rmsNormRows(in.data(), out.data(), 2, 4, nullptr);
  CHECK(isNear(out.toHost()[1], 3 / std::sqrt(5.0f)));
  CHECK(out.toHost()[7] == 0);
  l2NormRows(in.data(), out.data(), 2, 4);
  CHECK(isNear(out.toHost()[0], 1 / std::sqrt(20.0f)));
  CHECK(out.toHost()[5] == 0);
}

template <class Out>
constexpr float largest = std::is_same_v<Out, std::int8_t>     ? 127
                          : std::is_same_v<Out, __nv_fp8_e4m3> ? 448
                                                               : 57344;

// quantizeRows of short rows, by three kernels.
template <class In, class Out, class Scale>
void quantizeShortRows(const MatrixView<const In>& in, const MatrixView<Out>& out, Scale* scales) {
  using Value = detail::RowValueOf<In>;
  transformShortRows(in, out, detail::QuantiseScale<Value, Out, Scale>{},
                     detail::QuantiseMap<Value, Out, Scale>{scales});
}

// quantize(from, to, scales) is the call: each element within half a step of its number, and each scale exact.
template <class In, class Out, class Quantize>
void expectQuantised(std::size_t rows, std::size_t cols, std::size_t ld, std::size_t block, Quantize quantize) {
  INFO(rows << " x " << cols << ", ld " << ld << ", blocks of " << block);
  const std::size_t blocks = (cols + block - 1) / block;
  const std::vector<In> values = numbers<In>(rows * ld);
  const DeviceArray<In> in(values);
  DeviceArray<Out> out(rows * cols);
  DeviceArray<float> scales(rows * blocks);
  const MatrixView<const In> from{in.data(), rows, cols, ld};
  const MatrixView<Out> to{out.data(), rows, cols};
  quantize(from, to, scales.data());
  const std::vector<Out> results = out.toHost();
  const std::vector<float> factors = scales.toHost();
  int wrong = 0;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t b = 0; b < blocks; ++b) {
      float most = 0;
      const std::size_t end = (std::min)(cols, (b + 1) * block);
      for (std::size_t c = b * block; c < end; ++c)
        most = (std::max)(most, std::fabs(static_cast<float>(values[r * ld + c])));
      const float scale = factors[r * blocks + b];
      wrong += scale != most / largest<Out>;
      for (std::size_t c = b * block; c < end; ++c) {
        const float result = static_cast<float>(results[r * cols + c]) * scale;
        const float value = static_cast<float>(values[r * ld + c]);
        const float step = std::is_same_v<Out, std::int8_t> ? scale : std::fabs(value) / 8 + scale / 256;
        wrong += !(std::fabs(result - value) <= 0.501f * step * (std::is_same_v<Out, __nv_fp8_e5m2> ? 2 : 1));
      }
    }
  CHECK(wrong == 0);
}

TEST_CASE("quantizeRows and quantizeRowBlocks", "[rows]") {
  const auto ofRows = [](const auto& from, const auto& to, auto* scales) { quantizeRows(from, to, scales); };
  const auto ofBlocks = [](const auto& from, const auto& to, auto* scales) { quantizeRowBlocks(from, to, scales); };
  const auto ofShortRows = [](const auto& from, const auto& to, auto* scales) { quantizeShortRows(from, to, scales); };
  for (const std::size_t cols : {64u, 129u, 1000u, 1024u, 5000u}) {
    expectQuantised<__nv_bfloat16, __nv_fp8_e4m3>(7, cols, cols, cols, ofRows);
    expectQuantised<float, std::int8_t>(7, cols, cols + 8, cols, ofRows);
    expectQuantised<__nv_bfloat16, __nv_fp8_e4m3>(7, cols, cols, 128, ofBlocks);
    expectQuantised<float, std::int8_t>(7, cols, cols + 3, 128, ofBlocks);
  }
  for (const std::size_t cols : shortColumns<float>)
    expectQuantised<float, __nv_fp8_e5m2>(7, cols, cols + 1, cols, ofShortRows);
}

TEST_CASE("A row of zeros has the scale 1", "[rows]") {
  const DeviceArray<float> in(std::vector<float>(8, 0.0f));
  DeviceArray<std::int8_t> out(8);
  DeviceArray<float> scales(2);
  quantizeRows(in.data(), out.data(), 2, 4, scales.data());
  CHECK(scales.toHost() == std::vector<float>{1, 1});
  CHECK(out.toHost() == std::vector<std::int8_t>(8, 0));
}

// 2^-126 times the largest number of the type is the least magnitude that counts.
template <class Out>
void expectTinyRows() {
  constexpr float NORMAL = std::numeric_limits<float>::min(), TOP = largest<Out>;
  const float below = std::nextafter(NORMAL * TOP, 0.0f), tiniest = std::numeric_limits<float>::denorm_min();
  const DeviceArray<float> in(std::vector<float>{NORMAL * TOP, -NORMAL, 0, below, -NORMAL, 0, tiniest, -tiniest, 0});
  DeviceArray<Out> out(9);
  DeviceArray<float> scales(3);
  quantizeShortRows(MatrixView{in.data(), 3, 3}, MatrixView{out.data(), 3, 3}, scales.data());
  CHECK(scales.toHost() == std::vector<float>{NORMAL, 1, 1});
  const std::vector<Out> results = out.toHost();
  for (std::size_t i = 0; i < 9; ++i) CHECK(static_cast<float>(results[i]) == (i == 0 ? TOP : i == 1 ? -1.0f : 0.0f));
}

TEST_CASE("A row whose scale would have no finite reciprocal has the scale 1", "[rows]") {
  expectTinyRows<std::int8_t>();
  expectTinyRows<__nv_fp8_e4m3>();
  expectTinyRows<__nv_fp8_e5m2>();
}

TEST_CASE("A row of doubles has a scale that float can hold", "[rows]") {
  const DeviceArray<double> in(std::vector<double>{1e-40, -1e-41, 1e-300, 0});
  DeviceArray<std::int8_t> out(4);
  DeviceArray<float> scales(2);
  const MatrixView from{in.data(), 2, 2};
  const MatrixView to{out.data(), 2, 2};
  quantizeShortRows(from, to, scales.data());
  CHECK(scales.toHost() == std::vector<float>{1, 1});
  CHECK(out.toHost() == std::vector<std::int8_t>(4, 0));
  DeviceArray<double> wide(2);
  quantizeShortRows(from, to, wide.data());
  CHECK(wide.toHost()[1] == 1e-300 / 127);
  CHECK(out.toHost() == std::vector<std::int8_t>{127, -13, 127, 0});
}

TEST_CASE("Infinities and NaN in a row that is quantised", "[rows]") {
  const DeviceArray<float> in(std::vector<float>{INF, 1, NOT_A_NUMBER, NOT_A_NUMBER, 2, -1});
  DeviceArray<float> scales(2);
  DeviceArray<std::int8_t> bytes(6);
  quantizeRows(in.data(), bytes.data(), 2, 3, scales.data());
  CHECK(scales.toHost() == std::vector<float>{INF, 2.0f / 127});
  CHECK(bytes.toHost() == std::vector<std::int8_t>{0, 0, 0, 0, 127, -64});
  DeviceArray<__nv_fp8_e4m3> numbers(6);
  quantizeShortRows(MatrixView{in.data(), 2, 3}, MatrixView{numbers.data(), 2, 3}, scales.data());
  const std::vector<__nv_fp8_e4m3> results = numbers.toHost();
  for (std::size_t i = 0; i < 6; ++i) {
    INFO(i);
    CHECK(std::isnan(static_cast<float>(results[i])) == (i == 0 || i == 2 || i == 3));
  }
  CHECK(static_cast<float>(results[1]) == 0);
  CHECK(static_cast<float>(results[4]) == 448);
}

}  // namespace
}  // namespace gpuopt::test::transform_ready_test
