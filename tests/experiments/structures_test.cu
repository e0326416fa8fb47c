/// float3 direct, staged and by gpuopt; structures with and without alignment.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/structures.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <cstring>
#include <vector>

namespace structures_test {

using namespace experiments;
using gpuopt::test::DeviceArray;

static_assert(accessesOf<Plain<1>>() == 1 && accessesOf<Plain<2>>() == 2 && accessesOf<Plain<3>>() == 3 &&
              accessesOf<Plain<4>>() == 4);
static_assert(accessesOf<Aligned<2>>() == 1 && accessesOf<Aligned<3>>() == 1 && accessesOf<Aligned<4>>() == 1 &&
              accessesOf<Aligned<8>>() == 2);
static_assert(sizeof(Aligned<3>) == 16 && sizeof(Plain<3>) == 12);

TEST_CASE("a step is added to every float3") {
  for (const std::size_t n : {1, 255, 256, 257, 1000}) {
    const auto words = gpuopt::test::randomVector<float>(3 * n, 1);
    DeviceArray<float> in(words);
    std::vector<float> expected(words);
    for (float& word : expected) word += structStep;
    for (const auto launch : {launchDirect, launchStaged, launchTransform}) {
      DeviceArray<float> out(3 * n);
      launch(reinterpret_cast<const float3*>(in.data()), reinterpret_cast<float3*>(out.data()), n);
      CHECK(out.toHost() == expected);
    }
  }
}

TEMPLATE_TEST_CASE("structures are copied", "", Plain<1>, Plain<2>, Plain<3>, Plain<4>, Plain<8>, Aligned<2>,
                   Aligned<3>, Aligned<4>, Aligned<8>) {
  constexpr std::size_t N = 777, WORDS = sizeof(TestType) / 4;
  const auto words = gpuopt::test::randomVector<float>(N * WORDS, 2);
  const DeviceArray<float> in(words);
  DeviceArray<TestType> out(N);
  launchStructCopy(reinterpret_cast<const TestType*>(in.data()), out.data(), N);
  const auto copied = out.toHost();
  constexpr std::size_t MEMBERS = sizeof TestType::words / 4;
  bool same = true;
  for (std::size_t i = 0; i < N; ++i)
    same = same && std::memcmp(copied[i].words, words.data() + i * WORDS, 4 * MEMBERS) == 0;
  CHECK(same);
}

}  // namespace structures_test
