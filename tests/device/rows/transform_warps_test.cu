/// The kernel of clusters, of two blocks where the device has clusters, of one elsewhere: what its warps make of their
/// parts of a row, joined.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"

#include <gpuopt/rows_transform.cuh>

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

namespace gpuopt::test::transform_warps_test {
namespace {

constexpr double EPS = 1e-3;

template <class T>
std::vector<T> numbers(std::size_t n, double shift) {
  std::vector<T> values;
  for (std::size_t i = 0; i < n; ++i)
    values.push_back(static_cast<T>(static_cast<double>(i * 7919 % 1000) / 100 + shift));
  return values;
}

// Rows of a matrix transformed by clusters of 128 threads with VECTORS vectors each.
template <unsigned VECTORS, class T, class Statistic, class Map>
std::vector<T> transformed(const std::vector<T>& values, std::size_t rows, std::size_t offset,
                           const Statistic& statistic, const Map& map) {
  const DeviceArray<T> in(values, offset);
  DeviceArray<T> out(std::vector<T>(values.size()), offset);
  const MatrixView<const T> from{in.data(), rows, values.size() / rows};
  const MatrixView<T> to{out.data(), rows, values.size() / rows};
  detail::TransformCall call = detail::transformCall(detail::named(from, "in"), detail::named(to, "out"), true,
                                                     detail::loadsColumns<Map>, 1 << 30, "test");
  const unsigned cluster = call.plan.request.hasClusters ? 2 : 1;
  call.plan.algorithm = detail::TransformAlgorithm::cluster;
  call.plan.cluster = cluster;
  LaunchConfig config = detail::gridConfig(static_cast<int>(128 / cluster), rows * cluster, nullptr, "test");
  config.cluster = cluster;
  detail::launchBlocks<VECTORS>(
      call.plan, detail::RowTransform<T, T, Statistic, Map>{{call.shape}, from.data, to.data, statistic, map}, config);
  return out.toHost();
}

template <class T>
struct Facts {
  double largest = -std::numeric_limits<double>::infinity(), powers = 0, mean = 0, variance = 0, square = 0;

  Facts(const T* row, std::size_t cols) {
    const auto share = 1 / static_cast<double>(cols);
    for (std::size_t c = 0; c < cols; ++c) {
      largest = row[c] > largest ? static_cast<double>(row[c]) : largest;
      mean += static_cast<double>(row[c]) * share;
      square += static_cast<double>(row[c]) * static_cast<double>(row[c]) * share;
    }
    for (std::size_t c = 0; c < cols; ++c) {
      const double difference = static_cast<double>(row[c]) - mean;
      powers += std::exp(static_cast<double>(row[c]) - largest);
      variance += difference * difference * share;
    }
  }
};

// Whether all elements are as expected(facts of the row, x, column) says.
template <class T, class Expected>
bool areRight(const std::vector<T>& in, const std::vector<T>& out, std::size_t rows, const Expected& expected) {
  constexpr double TOLERANCE = std::is_same_v<T, double> ? 1e-12 : 5e-5;
  const std::size_t cols = in.size() / rows;
  bool right = true;
  for (std::size_t r = 0; r < rows; ++r) {
    const Facts<T> facts(in.data() + r * cols, cols);
    for (std::size_t c = 0; c < cols; ++c) {
      const double wanted = expected(facts, static_cast<double>(in[r * cols + c]), c);
      right =
          right && std::fabs(static_cast<double>(out[r * cols + c]) - wanted) <= TOLERANCE * (std::fabs(wanted) + 1);
    }
  }
  return right;
}

template <unsigned VECTORS, class T>
void expectJoined(std::size_t cols, std::size_t offset) {
  INFO(cols << " columns of " << sizeof(T) << " bytes, offset " << offset << ", " << VECTORS << " vectors a thread");
  constexpr std::size_t ROWS = 3;
  const std::vector<T> values = numbers<T>(ROWS * cols, 30), gammas = numbers<T>(cols, 0.5),
                       betas = numbers<T>(cols, -2);
  const MatrixView<const T> view{nullptr, ROWS, cols};
  const DeviceArray<T> gamma(gammas), beta(betas);
  const int count = static_cast<int>(cols);

  const auto softmax = transformed<VECTORS>(values, ROWS, offset, detail::softmaxStatistic(view), detail::SoftmaxMap{});
  CHECK(areRight(values, softmax, ROWS,
                 [](const Facts<T>& row, double x, std::size_t) { return std::exp(x - row.largest) / row.powers; }));
  const detail::NormMap<T, T, T, true, false> layerMap{{gamma.data(), count}, {beta.data(), count}};
  const auto layer = transformed<VECTORS>(values, ROWS, offset, detail::layerStatistic(view, EPS), layerMap);
  CHECK(areRight(values, layer, ROWS, [&](const Facts<T>& row, double x, std::size_t c) {
    return (x - row.mean) / std::sqrt(row.variance + EPS) * static_cast<double>(gammas[c]) +
           static_cast<double>(betas[c]);
  }));
  const detail::NormMap<T, T, T, false, false> rootMap{{gamma.data(), count}, {nullptr, count}};
  const auto root = transformed<VECTORS>(values, ROWS, offset, detail::meanSquareStatistic(view, EPS), rootMap);
  CHECK(areRight(values, root, ROWS, [&](const Facts<T>& row, double x, std::size_t c) {
    return x / std::sqrt(row.square + EPS) * static_cast<double>(gammas[c]);
  }));
}

TEST_CASE("Warps of a cluster join what they know of a row", "[rows]") {
  for (const std::size_t cols : {1u, 31u, 128u, 130u, 300u, 512u}) {
    expectJoined<1, float>(cols, 0);
    expectJoined<2, float>(cols, 1);
    expectJoined<4, float>(cols, 3);
    if (cols > 256) continue;  // of the registers of a block
    expectJoined<1, double>(cols, 0);
    expectJoined<2, double>(cols, 1);
  }
}

// Some warps have negative infinities alone.
TEST_CASE("Infinities and NaN in softmax of joined warps", "[rows]") {
  constexpr float INF = std::numeric_limits<float>::infinity();
  const auto softmax = [](std::vector<float> row) {
    const MatrixView<const float> view{nullptr, 1, row.size()};
    return transformed<1>(row, 1, 0, detail::softmaxStatistic(view), detail::SoftmaxMap{});
  };
  std::vector<float> row(512, -INF);
  for (const float x : softmax(row)) CHECK(std::isnan(x));
  row[200] = row[511] = 7;
  std::vector<float> expected(512);
  expected[200] = expected[511] = 0.5f;
  CHECK(softmax(row) == expected);
  for (const float special : {INF, std::numeric_limits<float>::quiet_NaN()}) {
    row[3] = special;
    for (const float x : softmax(row)) CHECK(std::isnan(x));
  }
}

}  // namespace
}  // namespace gpuopt::test::transform_warps_test
