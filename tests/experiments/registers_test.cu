/// Work of a thread: values in registers, unrolled loops, several results, neighbours used again; and how numbers
/// round.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/coarsening.cuh"
#include "../../examples/experiments/numbers.cuh"
#include "../../examples/experiments/registers.cuh"
#include "../../examples/experiments/reuse_steps.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <cmath>
#include <limits>
#include <vector>

namespace registers_test {

using namespace experiments;
using gpuopt::test::DeviceArray;
using gpuopt::test::randomVector;
using gpuopt::test::smallIntegers;

TEST_CASE("values are mixed in as many registers as there are") {
  constexpr std::size_t N = 301;
  const auto values = smallIntegers<float>(N, 1);
  const DeviceArray<float> in(values);
  const auto expected = mixOnHost(values, 3);
  for (const MixKernel kernel : {mixValues<1>, mixValues<4>, mixValues<8>}) {
    DeviceArray<float> out(N);
    launchMix(kernel, in.data(), out.data(), N, 3);
    CHECK(out.toHost() == expected);
  }
  DeviceArray<float> out(N);
  launchMixIndexed(in.data(), out.data(), N, 3);
  CHECK(out.toHost() == expected);
}

TEMPLATE_TEST_CASE_SIG("unrolled loops, and threads with several results", "", ((int FACTOR), FACTOR), 1, 4, 16) {
  for (const std::size_t columns : {1, 131}) {
    const auto words = randomVector<unsigned>(columns * unrollColumn, 2);
    const DeviceArray<unsigned> in(words);
    DeviceArray<unsigned> out(columns);
    launchSumColumn<FACTOR>(in.data(), out.data(), columns);
    CHECK(out.toHost() == columnSumsOnHost(words, columns));
  }
  for (const std::size_t n : {1, 4096, 10007}) {
    const auto values = smallIntegers<float>(n, 3);
    const DeviceArray<float> in(values);
    DeviceArray<float> out(n);
    launchMapCoarsened<FACTOR>(in.data(), out.data(), n);
    CHECK(out.toHost() == mapOnHost(values));
  }
  for (const Field size : {Field{1, 1}, {256, 16}, {261, 37}}) {
    const auto values = smallIntegers<float>(std::size_t{size.width} * size.height, 4);
    const DeviceArray<float> in(values);
    DeviceArray<float> out(values.size());
    launchStencilCoarsened<FACTOR>(in.data(), out.data(), size);
    CHECK(out.toHost() == stencilOnHost(values, size));
  }
}

TEST_CASE("steps by a function, inlined and called") {
  const auto values = randomVector<unsigned>(301, 5);
  const DeviceArray<unsigned> in(values);
  DeviceArray<unsigned> inlined(301), called(301);
  launchSteps<false>(in.data(), inlined.data(), 301, 9);
  launchSteps<true>(in.data(), called.data(), 301, 9);
  CHECK(inlined.toHost() == stepsOnHost(values, 9));
  CHECK(called.toHost() == stepsOnHost(values, 9));
}

TEST_CASE("convolutions and stencils of every step") {
  Filter filter{};
  for (int j = 0; j < filterSide; ++j)
    for (int i = 0; i < filterSide; ++i) filter.weights[j][i] = static_cast<float>((7 * j + 2 * i) % 9 - 4);
  for (const Picture size : {Picture{1, 1}, {32, 16}, {259, 35}, {1028, 18}}) {
    const auto values = smallIntegers<float>(std::size_t(size.width) * size.height, 6);
    const DeviceArray<float> in(values);
    for (const ConvolutionStep& step : convolutionSteps) {
      INFO(step.name << ", " << size.width << " x " << size.height);
      DeviceArray<float> out(values.size());
      launchConvolution(step, in.data(), out.data(), size, filter);
      CHECK(out.toHost() == convolutionOnHost(values, size, filter));
    }
  }
  for (const Volume size : {Volume{1, 1, 1}, {32, 8, 16}, {37, 13, 19}, {132, 9, 17}}) {
    const auto values = smallIntegers<float>(std::size_t(size.width) * size.height * size.depth, 7);
    const DeviceArray<float> in(values);
    for (const StencilStep& step : stencilSteps) {
      INFO(step.name << ", " << size.width << " x " << size.height << " x " << size.depth);
      DeviceArray<float> out(values.size());
      launchStencil(step, in.data(), out.data(), size);
      CHECK(out.toHost() == volumeStencilOnHost(values, size));
    }
  }
}

TEST_CASE("sums in every order are the host's") {
  for (const std::size_t n : {1, 255, 256, 1000}) {
    auto values = randomVector<float>(n, 8);
    const DeviceArray<float> in(values);
    for (const SumOrder order :
         {SumOrder::inOrder, SumOrder::strided, SumOrder::pairwise, SumOrder::compensated, SumOrder::inDouble}) {
      DeviceArray<float> sum(1);
      launchSumAll(order, in.data(), sum.data(), n);
      CHECK(sum.toHost()[0] == sumBy(order, values.data(), n));
    }
  }
}

TEST_CASE("what rounding leaves out") {
  const DeviceArray<float> abc(std::vector<float>{1e30F, -1e30F, 1.0F}), x(std::vector<float>{1 + 0x1p-12F});
  DeviceArray<ThreeSums> sums(1);
  launchSumThree(abc.data(), sums.data());
  CHECK(sums.toHost()[0].left == 1.0F);
  CHECK(sums.toHost()[0].right == 0.0F);
  DeviceArray<Products> products(1);
  launchSubtractProduct(x.data(), products.data());
  CHECK(products.toHost()[0].separate == 0.0F);
  CHECK(products.toHost()[0].fused == 0x1p-24F);
}

TEMPLATE_TEST_CASE("a polynomial in two precisions", "", float, double) {
  std::vector<TestType> values(301);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = TestType(static_cast<int>(i)) / 512;
  const DeviceArray<TestType> in(values);
  DeviceArray<TestType> out(values.size());
  launchPolynomial(in.data(), out.data(), values.size(), 3);
  const auto found = out.toHost();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const long double exact = polynomialOnHost(values[i], 3);
    CHECK(std::fabs(found[i] - exact) <= 4 * std::numeric_limits<TestType>::epsilon() * exact);
  }
}

TEST_CASE("the last steps of convolution and stencil divide what they go through into any number of pieces") {
  Filter filter{};
  for (int j = 0; j < filterSide; ++j)
    for (int i = 0; i < filterSide; ++i) filter.weights[j][i] = static_cast<float>((5 * j + 3 * i) % 9 - 4);
  gpuopt::LaunchConfig config;
  config.block = dim3(filterBlockX, filterBlockY);
  for (const unsigned pieces : {1u, 2u, 5u}) {
    for (const Picture size : {Picture{132, 43}, {134, 31}}) {
      const auto values = smallIntegers<float>(std::size_t(size.width) * size.height, 8);
      const DeviceArray<float> in(values);
      DeviceArray<float> out(values.size());
      config.grid = dim3(1, pieces);
      gpuopt::launch(convolveAhead, config, in.data(), out.data(), size, filter);
      CHECK(out.toHost() == convolutionOnHost(values, size, filter));
    }
    for (const Volume size : {Volume{132, 17, 23}, {130, 16, 21}}) {
      const auto values = smallIntegers<float>(std::size_t(size.width) * size.height * size.depth, 9);
      const DeviceArray<float> in(values);
      DeviceArray<float> out(values.size());
      config.grid = dim3(2, 2, pieces);
      gpuopt::launch(stencilAhead, config, in.data(), out.data(), size);
      CHECK(out.toHost() == volumeStencilOnHost(values, size));
    }
  }
}

}  // namespace registers_test
