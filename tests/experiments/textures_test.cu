/// Ways through pictures and volumes, filters and edges by texture units and by hand, writes to surfaces.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/texture_filters.cuh"
#include "../../examples/experiments/textures.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <cmath>
#include <type_traits>
#include <vector>

namespace textures_test {

using namespace experiments;
using gpuopt::test::DeviceArray;
using gpuopt::test::smallIntegers;

constexpr ImageSize PICTURE{131, 71, 1}, VOLUME{37, 19, 11};

TEMPLATE_TEST_CASE("a walk comes to each element once", "", AlongRows, DownColumns, FlatPatches, AlongX, AlongY, AlongZ,
                   DeepPatches) {
  for (const ImageSize size : {PICTURE, VOLUME}) {
    std::vector<int> visits(size.count(), 0);
    const dim3 tiles = tilesOf<TestType>(size);
    for (unsigned i = 0; i < tiles.x * tiles.y * tiles.z * imageItems; ++i) {
      const unsigned tile = i / imageItems;
      const ImagePlace at = TestType::at(
          {int(tile % tiles.x), int(tile / tiles.x % tiles.y), int(tile / tiles.x / tiles.y)}, i % imageItems);
      if (size.holds(at.x, at.y, at.z)) ++visits[size.indexOf(at.x, at.y, at.z)];
    }
    CHECK(visits == std::vector<int>(size.count(), 1));
  }
}

TEST_CASE("the neighbours of a warp are what the walk says") {
  const ImagePlace patch = FlatPatches::at({1, 2, 0}, 32 + 8 + 3);  // row 1, column 3 of the second patch
  CHECK((patch.x == 32 + 8 + 3 && patch.y == 64 + 1 && patch.z == 0));
  const ImagePlace brick = DeepPatches::at({0, 1, 2}, 16 + 4 + 1);  // plane 1, row 1, column 1
  CHECK((brick.x == 1 && brick.y == 8 + 1 && brick.z == 16 + 1));
  const ImagePlace column = DownColumns::at({5, 1, 0}, 40);
  CHECK((column.x == 5 && column.y == 1024 + 40));
}

template <class Walk, class Reader, class Image>
std::vector<float> sumsThrough(const Image& image, ImageSize size) {
  DeviceArray<float> out(walkers<Walk>(size));
  const TextureObject texture(image.resource(), {});
  launchSums<Walk>(Reader{texture.get()}, out.data(), size);
  return out.toHost();
}

TEMPLATE_TEST_CASE("pictures are read from plain memory, pitched rows and arrays", "", AlongRows, DownColumns,
                   FlatPatches, InWindow) {
  const auto values = smallIntegers<float>(PICTURE.count(), 1);
  const DeviceArray<float> in(values);
  DeviceArray<float> out(walkers<TestType>(PICTURE));
  launchSums<TestType>(PlainImage{in.data(), PICTURE}, out.data(), PICTURE);
  const auto expected = sumsOnHost<TestType>(values, PICTURE);
  CHECK(out.toHost() == expected);
  CHECK(sumsThrough<TestType, FlatTexture>(ImageArray(in.data(), PICTURE), PICTURE) == expected);
  CHECK(sumsThrough<TestType, FlatTexture>(PitchedImage<float>(in.data(), PICTURE), PICTURE) == expected);
}

TEMPLATE_TEST_CASE("volumes are read from plain memory and arrays", "", AlongX, AlongZ, DeepPatches) {
  const auto values = smallIntegers<float>(VOLUME.count(), 2);
  const DeviceArray<float> in(values);
  DeviceArray<float> out(walkers<TestType>(VOLUME));
  launchSums<TestType>(PlainImage{in.data(), VOLUME}, out.data(), VOLUME);
  const auto expected = sumsOnHost<TestType>(values, VOLUME);
  CHECK(out.toHost() == expected);
  CHECK(sumsThrough<TestType, DeepTexture>(ImageArray(in.data(), VOLUME), VOLUME) == expected);
}

TEST_CASE("filters by hand are the formulas") {
  const std::vector<float> values{0, 16, 32, 48, 100, 116, 132, 148};
  const FilterByHand<Filtering::bilinear, float> bilinear{values.data(), {2, 2, 2}};
  const FilterByHand<Filtering::trilinear, float> trilinear{values.data(), {2, 2, 2}};
  const FilterByHand<Filtering::point, float> point{values.data(), {2, 2, 2}};
  CHECK(bilinear({1.25F, 0.75F, 0}) == 20);
  CHECK(trilinear({1.25F, 0.75F, 1}) == 70);
  CHECK(trilinear({-9, 9, 9}) == 132);
  CHECK(point({1.75F, 0.25F, 0}) == 16);
}

template <Filtering FILTERING, class T>
void checkFilter(const std::vector<T>& values, ImageSize from, ImageSize size, TextureReading reading) {
  using Result = decltype(asFloats(T{}));
  const DeviceArray<T> in(values);
  DeviceArray<float> byHand(size.count()), byTexture(size.count());
  launchSamples(FilterByHand<FILTERING, T>{in.data(), from}, byHand.data(), size);
  const ImageArray array(in.data(), from);
  const TextureObject texture(array.resource(), reading);
  launchSamples(FilteringTexture<FILTERING, Result>{texture.get()}, byTexture.data(), size);
  const auto expected = samplesOnHost<FILTERING>(values, from, size);
  const auto hand = byHand.toHost(), units = byTexture.toHost();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(std::fabs(hand[i] - expected[i]) < 0.01F);
    REQUIRE(std::fabs(units[i] - expected[i]) < (FILTERING == Filtering::trilinear ? 0.5F : 0.1F));
  }
}

TEST_CASE("texture units and hands find the same between elements") {
  constexpr ImageSize FLAT{40, 30, 1}, DEEP{20, 15, 9};
  const TextureReading point{}, linear{cudaAddressModeClamp, cudaFilterModeLinear, false, cudaReadModeElementType};
  const auto flat = smallIntegers<float>(FLAT.count(), 3), deep = smallIntegers<float>(DEEP.count(), 4);
  checkFilter<Filtering::point>(flat, FLAT, {61, 43, 1}, point);
  checkFilter<Filtering::bilinear>(flat, FLAT, {61, 43, 1}, linear);
  checkFilter<Filtering::trilinear>(deep, DEEP, {33, 25, 5}, linear);
  std::vector<uchar4> colours;
  for (unsigned i = 0; i < FLAT.count(); ++i)
    colours.push_back(make_uchar4(static_cast<unsigned char>(i * 7), static_cast<unsigned char>(i * 41),
                                  static_cast<unsigned char>(i * 101), static_cast<unsigned char>(255 - i)));
  checkFilter<Filtering::bilinear>(colours, FLAT, {61, 43, 1},
                                   {cudaAddressModeClamp, cudaFilterModeLinear, false, cudaReadModeNormalizedFloat});
}

template <Outside OUTSIDE, class MakeReader>
void checkEdges(bool isNormalized, const MakeReader& makeReader) {
  constexpr ImageSize SIZE{67, 21, 1};
  const auto values = smallIntegers<float>(SIZE.count(), 5);
  const DeviceArray<float> in(values);
  DeviceArray<float> byHand(SIZE.count()), byTexture(SIZE.count());
  launchNeighbours(EdgesByHand<OUTSIDE>{in.data(), SIZE}, byHand.data(), SIZE);
  const ImageArray array(in.data(), SIZE);
  const TextureObject texture(array.resource(),
                              {addressModeOf(OUTSIDE), cudaFilterModePoint, isNormalized, cudaReadModeElementType});
  launchNeighbours(makeReader(texture.get(), SIZE), byTexture.data(), SIZE);
  const auto expected = neighboursOnHost<OUTSIDE>(values, SIZE);
  CHECK(byHand.toHost() == expected);
  CHECK(byTexture.toHost() == expected);
}

TEST_CASE("indices outside are moved inside") {
  CHECK((indexInside<Outside::clamp>(-2, 5) == 0 && indexInside<Outside::clamp>(6, 5) == 4));
  CHECK((indexInside<Outside::border>(-1, 5) == -1 && indexInside<Outside::border>(5, 5) == -1));
  CHECK((indexInside<Outside::wrap>(-2, 5) == 3 && indexInside<Outside::wrap>(6, 5) == 1));
  CHECK((indexInside<Outside::mirror>(-2, 5) == 1 && indexInside<Outside::mirror>(6, 5) == 3));
  CHECK((indexInside<Outside::wrap>(4, 5) == 4 && indexInside<Outside::border>(0, 5) == 0));
}

TEST_CASE("texture units and hands find the same beyond the edges") {
  const auto inElements = [](cudaTextureObject_t texture, ImageSize) { return EdgesInElements{texture}; };
  const auto normalized = [](cudaTextureObject_t texture, ImageSize size) {
    return EdgesNormalized{texture, 1 / float(size.width), 1 / float(size.height)};
  };
  checkEdges<Outside::clamp>(false, inElements);
  checkEdges<Outside::border>(false, inElements);
  checkEdges<Outside::clamp>(true, normalized);
  checkEdges<Outside::wrap>(true, normalized);
  checkEdges<Outside::mirror>(true, normalized);
}

TEMPLATE_TEST_CASE("pictures are written to plain memory and surfaces", "", AlongRows, DownColumns, FlatPatches) {
  DeviceArray<float> plain(PICTURE.count()), read(PICTURE.count());
  launchWrites<TestType>(PlainTarget{plain.data(), PICTURE}, PICTURE);
  const auto expected = writtenOnHost(PICTURE);
  CHECK(plain.toHost() == expected);
  const ImageArray array(DeviceArray<float>(std::vector<float>(PICTURE.count(), -1)).data(), PICTURE,
                         cudaArraySurfaceLoadStore);
  const SurfaceObject surface(array.resource());
  launchWrites<TestType>(SurfaceTarget{surface.get()}, PICTURE);
  array.copyTo(read.data(), PICTURE);
  CHECK(read.toHost() == expected);
}

}  // namespace textures_test
