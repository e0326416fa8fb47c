/// Addressing modes and filters in one, two and three dimensions, against the programming guide's formulas.
// SPDX-License-Identifier: MIT
#include "fixture.cuh"
#include "oracle.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace modes_test {

using namespace texture_test;

constexpr int WIDTH = 7, HEIGHT = 5, DEPTH = 3;
constexpr float BORDER = 5;

// From -20 to 43, and no two neighbours alike.
float valueAt(int x, int y, int z) { return static_cast<float>((x * 37 + y * 101 + z * 59) % 64) - 20; }

template <int DIMENSIONS>
cudaExtent extentOf() {
  return make_cudaExtent(WIDTH, DIMENSIONS > 1 ? HEIGHT : 0, DIMENSIONS > 2 ? DEPTH : 0);
}

template <int DIMENSIONS>
std::vector<float> valuesOf() {
  std::vector<float> values;
  for (int z = 0; z < (DIMENSIONS > 2 ? DEPTH : 1); ++z)
    for (int y = 0; y < (DIMENSIONS > 1 ? HEIGHT : 1); ++y)
      for (int x = 0; x < WIDTH; ++x) values.push_back(valueAt(x, y, z));
  return values;
}

template <int DIMENSIONS>
Oracle oracleOf(cudaTextureAddressMode mode, cudaTextureFilterMode filter) {
  return {{WIDTH, mode}, {HEIGHT, mode}, {DEPTH, mode}, filter, BORDER, valueAt};
}

// Coordinates in and around a texture, in steps that end neither on the edge of an element nor half-way between two
// weights of 1/256: how a device rounds there is its own affair.
template <int DIMENSIONS>
std::vector<At> around() {
  std::vector<At> all;
  const int depth = DIMENSIONS > 2 ? DEPTH : 0, height = DIMENSIONS > 1 ? HEIGHT : 0;
  for (int z = -2 * depth; z <= 3 * depth; z += 2)
    for (int y = -2 * height; y <= 3 * height; y += 3)
      for (int x = -20; x < 32; ++x)
        all.push_back({static_cast<float>(22 * x + 1) / 32, static_cast<float>(14 * y + 1) / 32,
                       static_cast<float>(10 * z + 1) / 16});
  return all;
}

cudaTextureDesc withBorder(cudaTextureDesc description) {
  description.borderColor[0] = BORDER;
  return description;
}

// A line is at y = 0, half-way to the border. Planes are at the centre of their z.
template <int DIMENSIONS>
double expectedAt(const Oracle& oracle, At at) {
  return oracle.at(at.x, DIMENSIONS > 1 ? at.y : 0, DIMENSIONS > 2 ? at.z : 0.5);
}

constexpr cudaTextureFilterMode FILTERS[] = {cudaFilterModePoint, cudaFilterModeLinear};
// A weight that is wrong by 1/256 moves a result by more.
constexpr double TOLERANCE = 1e-3;

TEMPLATE_TEST_CASE_SIG("coordinates in elements: clamp and border; the other modes are clamp", "", ((int N), N), 1, 2,
                       3) {
  const Array<float> array(valuesOf<N>(), extentOf<N>());
  const std::vector<At> at = around<N>();
  constexpr struct {
    cudaTextureAddressMode asked, used;
  } MODES[] = {{cudaAddressModeClamp, cudaAddressModeClamp},
               {cudaAddressModeBorder, cudaAddressModeBorder},
               {cudaAddressModeWrap, cudaAddressModeClamp},
               {cudaAddressModeMirror, cudaAddressModeClamp}};
  for (const auto& mode : MODES)
    for (const auto filter : FILTERS) {
      const Texture texture(array.resource(), withBorder(describe(mode.asked, filter)));
      const Oracle oracle = oracleOf<N>(mode.used, filter);
      const std::vector<float> found = fetched<float>(Fetch<N>{texture.get()}, at);
      for (std::size_t i = 0; i < at.size(); ++i) {
        CAPTURE(mode.asked, filter, at[i].x, at[i].y, at[i].z);
        REQUIRE(std::fabs(found[i] - expectedAt<N>(oracle, at[i])) < TOLERANCE);
      }
    }
}

// 8 x 4 x 2 elements, so that coordinates from 0 to 1 have no rounding.
TEMPLATE_TEST_CASE_SIG("normalised coordinates: wrap, clamp, mirror and border", "", ((int N), N), 1, 2, 3) {
  constexpr int X = 8, Y = N > 1 ? 4 : 1, Z = N > 2 ? 2 : 1;
  std::vector<float> values;
  for (int z = 0; z < Z; ++z)
    for (int y = 0; y < Y; ++y)
      for (int x = 0; x < X; ++x) values.push_back(valueAt(x, y, z));
  const Array<float> array(values, make_cudaExtent(X, N > 1 ? Y : 0, N > 2 ? Z : 0));
  const std::vector<At> at = around<N>();
  std::vector<At> normalized;
  for (const At& a : at) normalized.push_back({a.x / X, a.y / Y, a.z / Z});
  for (const auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder})
    for (const auto filter : FILTERS) {
      const Texture texture(array.resource(), withBorder(describe(mode, filter, Coordinates::normalized)));
      const Oracle oracle{{X, mode}, {Y, mode}, {Z, mode}, filter, BORDER, valueAt};
      const std::vector<float> found = fetched<float>(Fetch<N>{texture.get()}, normalized);
      for (std::size_t i = 0; i < at.size(); ++i) {
        CAPTURE(mode, filter, at[i].x, at[i].y, at[i].z);
        REQUIRE(std::fabs(found[i] - expectedAt<N>(oracle, at[i])) < TOLERANCE);
      }
    }
}

// Each corner alone is 1, so that a sample is its weight. A quarter of the products of two weights of 16ths ends
// half-way between two 256ths; a third of the coordinates is outside.
TEMPLATE_TEST_CASE_SIG("the weight of each corner, also where products end half-way", "", ((int N), N), 2, 3) {
  constexpr int CORNERS = 1 << N;
  const auto mode = GENERATE(cudaAddressModeClamp, cudaAddressModeBorder);
  const std::vector<unsigned short> random = gpuopt::test::randomVector<unsigned short>(3 * 600, 51);
  std::vector<At> at;
  for (std::size_t i = 0; i < random.size(); i += 3) {
    const int step = i % 2 == 0 ? 16 : 1;
    // From 0.25 to 1.75, of which 0.5 to 1.5 is inside.
    const auto near = [&](std::size_t k) { return static_cast<float>(random[i + k] % 384 / step * step + 64) / 256; };
    at.push_back({near(0), near(1), N > 2 ? near(2) : 0.5F});
  }
  for (int corner = 0; corner < CORNERS; ++corner) {
    std::vector<float> values(CORNERS);
    values[static_cast<std::size_t>(corner)] = 1;
    const Array<float> array(values, make_cudaExtent(2, 2, N > 2 ? 2 : 0));
    const Texture texture(array.resource(), describe(mode, cudaFilterModeLinear));
    const Side side{2, mode}, depth{N > 2 ? 2 : 1, mode};
    const Oracle oracle{
        side,  side,
        depth, cudaFilterModeLinear,
        0,     [&](int x, int y, int z) { return values[static_cast<std::size_t>(x + 2 * y + 4 * z)]; }};
    const std::vector<float> found = fetched<float>(Fetch<N>{texture.get()}, at);
    for (std::size_t i = 0; i < at.size(); ++i) {
      CAPTURE(mode, corner, at[i].x, at[i].y, at[i].z);
      REQUIRE(found[i] == oracle.at(at[i].x, at[i].y, at[i].z));
    }
  }
}

TEST_CASE("each dimension has its own addressing mode") {
  const Array<float> array(valuesOf<2>(), extentOf<2>());
  cudaTextureDesc description = describe(cudaAddressModeWrap, cudaFilterModePoint, Coordinates::normalized);
  description.addressMode[1] = cudaAddressModeMirror;
  const Texture texture(array.resource(), description);
  // Column 8 wraps to 1, row -2 is mirrored to 1.
  CHECK(fetched<float>(Fetch<2>{texture.get()}, {{8.5F / WIDTH, -1.5F / HEIGHT, 0}}) ==
        std::vector<float>{valueAt(1, 1, 0)});
}

TEST_CASE("a linear filter delivers the element at its centre, the mean half-way, and the edge outside") {
  const Array<float> array({3, 10, -4, 20}, make_cudaExtent(4, 0, 0));
  const Texture texture(array.resource(), describe(cudaAddressModeClamp, cudaFilterModeLinear));
  CHECK(fetched<float>(Fetch<1>{texture.get()}, {{0.5F, 0, 0},
                                                 {1.5F, 0, 0},
                                                 {2.5F, 0, 0},
                                                 {3.5F, 0, 0},
                                                 {1, 0, 0},
                                                 {2, 0, 0},
                                                 {3, 0, 0},
                                                 {0, 0, 0},
                                                 {-1e6F, 0, 0},
                                                 {4, 0, 0},
                                                 {1e6F, 0, 0}}) ==
        std::vector<float>{3, 10, -4, 20, 6.5F, 3, 8, 3, 3, 20, 20});
}

// (1 - b) ((1 - a) 0 + a 16) + b ((1 - a) 32 + a 48), by hand.
TEST_CASE("four elements, weighed by hand") {
  const Array<float> array({0, 16, 32, 48}, make_cudaExtent(2, 2, 0));
  const Texture texture(array.resource(), describe(cudaAddressModeClamp, cudaFilterModeLinear));
  CHECK(fetched<float>(Fetch<2>{texture.get()}, {{1.25F, 0.75F, 0}, {1, 1, 0}, {0.75F, 1.25F, 0}}) ==
        std::vector<float>{20, 24, 28});
}

TEST_CASE("a filter half outside takes half of the border's colour") {
  const Array<float4> array({make_float4(1, 2, 4, 8)}, make_cudaExtent(1, 1, 0));
  cudaTextureDesc description = describe(cudaAddressModeBorder, cudaFilterModeLinear);
  for (int i = 0; i < 4; ++i) description.borderColor[i] = static_cast<float>(16 << i);
  const Texture texture(array.resource(), description);
  const float4 half = fetched<float4>(Fetch<2>{texture.get()}, {{0, 0.5F, 0}})[0];
  const float4 outside = fetched<float4>(Fetch<2>{texture.get()}, {{-3, 0.5F, 0}})[0];
  CHECK((half.x == 8.5F && half.y == 17 && half.z == 34 && half.w == 68));
  CHECK((outside.x == 16 && outside.y == 32 && outside.z == 64 && outside.w == 128));
}

// "9-bit fixed point format with 8 bits of fractional value (so 1.0 is exactly represented)".
TEST_CASE("weights have steps of 1/256, to the nearest, and reach 1") {
  const Array<float> array({0, 256}, make_cudaExtent(2, 0, 0));
  const Texture texture(array.resource(), describe(cudaAddressModeClamp, cudaFilterModeLinear));
  std::vector<At> at;
  std::vector<float> expected;
  for (int k = 0; k <= 256; ++k)
    for (const int fourths : {-1, 0, 1}) {
      at.push_back({0.5F + static_cast<float>(4 * k + fourths) / 1024, 0, 0});
      expected.push_back(static_cast<float>(k));
    }
  CHECK(fetched<float>(Fetch<1>{texture.get()}, at) == expected);
}

TEST_CASE("a layered texture filters within a layer") {
  constexpr int LAYERS = 4;
  std::vector<float> values;
  for (int z = 0; z < LAYERS; ++z)
    for (int y = 0; y < HEIGHT; ++y)
      for (int x = 0; x < WIDTH; ++x) values.push_back(valueAt(x, y, z));
  std::vector<At> at = around<2>();
  for (std::size_t i = 0; i < at.size(); ++i) at[i].z = static_cast<float>(i % LAYERS);
  const Array<float> array(values, make_cudaExtent(WIDTH, HEIGHT, LAYERS), cudaArrayLayered);
  const Array<float> rows(std::vector<float>(values.begin(), values.begin() + WIDTH * LAYERS),
                          make_cudaExtent(WIDTH, 0, LAYERS), cudaArrayLayered);
  for (const auto filter : FILTERS) {
    const cudaTextureDesc description = withBorder(describe(cudaAddressModeBorder, filter));
    const Texture planes(array.resource(), description), lines(rows.resource(), description);
    const std::vector<float> flat = fetched<float>(FetchLayered2D{planes.get()}, at);
    const std::vector<float> line = fetched<float>(FetchLayered1D{lines.get()}, at);
    const Oracle oracle = oracleOf<2>(cudaAddressModeBorder, filter);
    for (std::size_t i = 0; i < at.size(); ++i) {
      const int layer = static_cast<int>(at[i].z);
      Oracle plane = oracle, row = oracle;
      plane.element = [layer](int x, int y, int) { return valueAt(x, y, layer); };
      row.element = [layer](int x, int, int) { return valueAt(x, layer, 0); };
      REQUIRE(std::fabs(flat[i] - plane.at(at[i].x, at[i].y, 0.5)) < TOLERANCE);
      REQUIRE(std::fabs(line[i] - row.at(at[i].x, 0.5, 0.5)) < TOLERANCE);
    }
  }
}

TEST_CASE("gather delivers a component of the four elements that a filter would take") {
  std::vector<float4> values;
  for (int y = 0; y < HEIGHT; ++y)
    for (int x = 0; x < WIDTH; ++x)
      values.push_back(make_float4(valueAt(x, y, 0), valueAt(x, y, 1), valueAt(x, y, 2), valueAt(x, y, 3)));
  const Array<float4> array(values, extentOf<2>(), cudaArrayTextureGather);
  const Texture texture(array.resource(), describe(cudaAddressModeClamp, cudaFilterModePoint));
  for (int component = 0; component < 4; ++component) {
    // Between columns 2 and 3, rows 1 and 2; and the guide's example: a fraction of 0.99805 is 1 in eight bits.
    for (const float x : {3.25F, 3.49805F - 1}) {
      const int left = 2, top = 1;
      const float4 found = fetched<float4>(Gather{texture.get()}, {{x, 1.75F, static_cast<float>(component)}})[0];
      CHECK(found.x == valueAt(left, top + 1, component));
      CHECK(found.y == valueAt(left + 1, top + 1, component));
      CHECK(found.z == valueAt(left + 1, top, component));
      CHECK(found.w == valueAt(left, top, component));
    }
  }
}

}  // namespace modes_test
