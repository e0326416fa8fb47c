/// Reads by pattern and by lines, increments, offsets and strides, elements of every width: every kernel of the access
/// experiment.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/access.cuh"
#include "../../examples/experiments/occupancy.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <gpuopt/access.cuh>

#include <algorithm>
#include <set>
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

TEST_CASE("lines far apart: every one is touched by one request, and that by 32 lanes") {
  constexpr std::size_t LINES = 2048;
  const auto values = gpuopt::test::smallIntegers<float>(LINES * 32, 4);
  const DeviceArray<float> in(values);
  for (const unsigned touched : {1u, 2u, 4u, 8u, 16u, 32u}) {
    std::set<std::size_t> lines;
    for (std::size_t request = 0; request < LINES / touched; ++request) {
      std::set<std::size_t> ofRequest;
      for (unsigned lane = 0; lane < 32; ++lane) {
        const std::size_t word = wordFarApart(request, lane, touched, LINES);
        CHECK(word % 32 == lane);
        ofRequest.insert(word / 32);
      }
      CHECK(ofRequest.size() == touched);
      lines.insert(ofRequest.begin(), ofRequest.end());
    }
    CHECK(lines.size() == LINES);
    CHECK(*lines.rbegin() == LINES - 1);
    DeviceArray<float> out(LINES / touched / requestsPerWarp);
    launchFarApart(in.data(), out.data(), LINES, touched);
    CHECK(out.toHost() == farApartOnHost(values, touched));
  }
}

TEMPLATE_TEST_CASE("elements of every width are copied, one and four a thread", "", unsigned char, unsigned short,
                   unsigned, uint2, uint4, Words8) {
  for (const std::size_t n : {1, 255, 256, 1003, 1025}) {
    const auto bytes = gpuopt::test::randomVector<unsigned char>(n * sizeof(TestType), 5);
    const DeviceArray<unsigned char> in(bytes, 64);
    DeviceArray<unsigned char> one(bytes.size(), 64), four(bytes.size(), 64);
    const auto* const from = reinterpret_cast<const TestType*>(in.data());
    launchCopyItems<1>(from, reinterpret_cast<TestType*>(one.data()), n, copyBlock, 0);
    launchCopyItems<4>(from, reinterpret_cast<TestType*>(four.data()), n, copyBlock, 0);
    CHECK(one.toHost() == bytes);
    CHECK(four.toHost() == bytes);
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

TEST_CASE("copies whose writes are off as well leave the words before them alone") {
  constexpr std::size_t N = 1000;
  const auto values = gpuopt::test::randomVector<float>(N + 16, 6);
  const DeviceArray<float> in(values);
  for (std::size_t offset = 0; offset <= 16; ++offset) {
    std::vector<float> expected(N + 16, -1);
    std::copy(values.begin() + offset, values.begin() + offset + N, expected.begin() + offset);
    DeviceArray<float> out(std::vector<float>(N + 16, -1));
    launchShifted(DirectReader{in.data()}, out.data() + offset, N, static_cast<unsigned>(offset), 1);
    CHECK(out.toHost() == expected);
  }
}

}  // namespace access_test
