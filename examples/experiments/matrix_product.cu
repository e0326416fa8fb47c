/// \file
/// The experiment on the matrix product.
// SPDX-License-Identifier: MIT
#include "matrix_product.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <gpuopt/access.cuh>

namespace experiments {
namespace {

/// What is known of each of productSteps, in their order.
constexpr struct {
  const char* then;
  double loads;  ///< from global memory for one multiplication
} known[] = {{"8.8 / 0.62", 2},
             {"14.3 / 7.34", 1 + 1.0 / 32},
             {"29.7 / 15.5", 2.0 / 32},
             {"", (1 + 1.0 / coarseFactor) / 32},
             {"", 2.0 / 32},
             {"", 2.0 / 32},
             {"", 2.0 / largeTile},
             {"", 2.0 / largeTile},
             {"", 2.0 / largeTile},
             {"", 2.0 / largeTile},
             {"", 2.0 / largeTile}};
static_assert(sizeof known / sizeof *known == sizeof productSteps / sizeof *productSteps);

/// Sectors of a warp's load of B.
unsigned sectorsOfB(const ProductStep& step, unsigned k) {
  const bool isUncoalesced = step.kernel == productTiles<LoadOfB::columnMajorUncoalesced>;
  return gpuopt::globalAccess<float>([=](unsigned lane) { return isUncoalesced ? lane * k : lane; }).sectors;
}

bool isRight(const ProductStep& step, ProductSize size) {
  const auto a = wholeNumbers<float>(size.m * size.k), b = wholeNumbers<float>(size.k * size.n);
  const auto c = resultOf<float>(a, size.m * size.n, [&](const float* deviceA, float* deviceC) {
    const auto& stored = step.columnMajor ? columnMajor(b, size) : b;
    const DeviceArray<float> deviceB(stored);
    launchProduct(step, deviceA, deviceB.data(), deviceC, size);
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // before B is freed
  });
  return c == productOnHost(a, b, size);
}

void steps(Report& report, const TimedArray<float>& a, const TimedArray<float>& b, const TimedArray<float>& c) {
  constexpr ProductSize flat{4096, 4096, 32}, cube{2048, 2048, 2048}, large{4096, 4096, 4096};
  constexpr double flatBytes = 4.0 * (4096.0 * 32 * 2 + 4096.0 * 4096);
  constexpr double cubeOperations = 2.0 * 2048 * 2048 * 2048, largeOperations = 8 * cubeOperations;
  report.table({"C = A B: 4096 x 32 by 32 x 4096 as published, and squares of 2048 and of 4096",
                "step",
                "then, GB/s",
                "loads; sectors of B",
                {"flat, GB/s", "2048, GFLOP/s", "4096, GFLOP/s"}});
  std::size_t number = 0;
  for (const ProductStep& step : productSteps) {
    const auto& [then, loads] = known[number++];
    const auto timed = [&](const ProductSize& size) {
      return [&] { launchProduct(step, a.data(), b.data(), c.data(), size); };
    };
    report.add({step.name,
                then,
                format("%.4g; %u", loads, sectorsOfB(step, 32)),
                {billionsPerSecond(flatBytes, timed(flat)), billionsPerSecond(cubeOperations, timed(cube)),
                 billionsPerSecond(largeOperations, timed(large))},
                isRight(step, {37, 130, 45}) && isRight(step, {128, 128, 32})});
  }
  report.note("then: GTX 280 / FX 5600. Loads: elements from global memory for one multiplication.");
}

template <unsigned FACTOR>
void productRow(Report& report, const TimedArray<float>& a, const TimedArray<float>& b, const TimedArray<float>& c) {
  const ProductStep step{"coarsened", productCoarsened<FACTOR>, productTile * FACTOR};
  const auto rate = [&](unsigned side) {
    return billionsPerSecond(2.0 * side * side * side, [&] {
      launchProduct(step, a.data(), b.data(), c.data(), {side, side, side});
    });
  };
  report.add({std::to_string(FACTOR),
              "",
              format("%u", productTile * 4 * (productTile + FACTOR * (productTile + 1)) / 1024),
              {rate(2048), rate(512)},
              isRight(step, {37, 130, 45})});
}

void coarsenings(Report& report, const TimedArray<float>& a, const TimedArray<float>& b, const TimedArray<float>& c) {
  report.table({"Matrix products of side 2048 and 512, by results of each thread; tiles in shared memory",
                "results",
                "",
                "KiB a block",
                {"2048, GFLOP/s", "512, GFLOP/s"}});
  productRow<1>(report, a, b, c);
  productRow<2>(report, a, b, c);
  productRow<4>(report, a, b, c);
  productRow<8>(report, a, b, c);
}

void run(Report& report) {
  const TimedArray<float> a(4096 * 4096), b(4096 * 4096), c(4096 * 4096);
  steps(report, a, b, c);
  coarsenings(report, a, b, c);
}

}  // namespace

const Experiment matrixProductExperiment{
    "matrix_product",
    "Each element of A is needed for a whole row of C, each of B for a whole column. Who loads it once and\n"
    "shares it moves less memory; who cannot load along the memory turns the corner in shared memory.",
    run};

}  // namespace experiments
