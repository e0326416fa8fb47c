/// Reads by pattern, increments, offsets and strides: every kernel of the access experiment.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/access.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <gpuopt/access.cuh>

#include <vector>

namespace access_test {

using namespace experiments;
using gpuopt::test::DeviceArray;

TEST_CASE("the patterns are what their names say") {
  constexpr struct {
    Pattern pattern;
    unsigned lines, sectors, bytes;
  } expected[] = {{Pattern::inOrder, 1, 4, 128}, {Pattern::permuted, 1, 4, 128}, {Pattern::misaligned, 2, 5, 128},
                  {Pattern::oneLane, 1, 1, 4},   {Pattern::sameWord, 1, 1, 4},   {Pattern::scattered, 32, 32, 128}};
  for (const auto& [pattern, lines, sectors, bytes] : expected) {
    const auto access =
        gpuopt::globalAccess<float>([p = pattern](unsigned lane) { return wordOf(p, lane); },
                                    gpuopt::LaneMask::where([p = pattern](unsigned lane) { return reads(p, lane); }));
    CHECK(access.lines == lines);
    CHECK(access.sectors == sectors);
    CHECK(access.bytes == bytes);
  }
  CHECK(wordOf(Pattern::permuted, 1) != 1);
}

TEST_CASE("each warp reads the words of its pattern") {
  constexpr std::size_t WARPS = 13;  // not a whole number of blocks
  const auto values = gpuopt::test::smallIntegers<float>(WARPS * wordsPerWarp, 1);
  const DeviceArray<float> in(values);
  for (const Pattern pattern : {Pattern::inOrder, Pattern::permuted, Pattern::misaligned, Pattern::oneLane,
                                Pattern::sameWord, Pattern::scattered}) {
    DeviceArray<float> out(WARPS);
    launchPattern(in.data(), out.data(), WARPS, pattern);
    CHECK(out.toHost() == patternOnHost(values, pattern));
  }
}

TEMPLATE_TEST_CASE_SIG("increments arrive, contested ones too", "", ((Increment WHICH), WHICH), Increment::all,
                       Increment::threeOfFour, Increment::fourthOnFirst, Increment::fourthOnFirstOfBlock) {
  for (const std::size_t n : {1, 3, 255, 256, 1001}) {
    const auto values = gpuopt::test::smallIntegers<float>(n, 2);
    DeviceArray<float> a(values);
    launchIncrement<WHICH>(a.data(), n);
    CHECK(a.toHost() == incrementOnHost<WHICH>(values));
  }
}

TEST_CASE("copies at offsets and strides, direct and through a texture") {
  constexpr std::size_t N = 1000;
  const auto values = gpuopt::test::randomVector<float>(18 * N + 16, 3);
  DeviceArray<float> in(values, 64);  // aligned to 512 bytes
  const LinearTexture texture(in.data(), values.size());
  for (unsigned offset = 0; offset <= 16; ++offset)
    for (const unsigned stride : {1u, 2u, 7u, 18u}) {
      const auto expected = shiftedOnHost(values, N, offset, stride);
      DeviceArray<float> direct(N), fetched(N);
      launchShifted(DirectReader{in.data()}, direct.data(), N, offset, stride);
      launchShifted(texture.reader(), fetched.data(), N, offset, stride);
      CHECK(direct.toHost() == expected);
      CHECK(fetched.toHost() == expected);
    }
}

}  // namespace access_test
