/// Surfaces of one, two and three dimensions and of layers: elements of every size, and accesses outside.
// SPDX-License-Identifier: MIT
#include "fixture.cuh"

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace surface_test {

using namespace texture_test;
using gpuopt::test::randomVector;

struct Index {
  int x, y, z;
};

// A box of indices, some of which may be outside of the surface.
struct Box {
  int x, y, z, width, height, depth;

  __host__ __device__ constexpr std::size_t size() const { return static_cast<std::size_t>(width * height * depth); }

  __host__ __device__ Index at(std::size_t number) const {
    const int i = static_cast<int>(number);
    return {x + i % width, y + i / width % height, z + i / width / height};
  }
};

enum class Kind { line, plane, volume, lines, planes };

template <Kind KIND, cudaSurfaceBoundaryMode MODE, class T>
__device__ void read(T* to, cudaSurfaceObject_t surface, int x, int y, int z) {
  if constexpr (KIND == Kind::line) *to = surf1Dread<T>(surface, x, MODE);
  if constexpr (KIND == Kind::plane) surf2Dread(to, surface, x, y, MODE);
  if constexpr (KIND == Kind::volume) *to = surf3Dread<T>(surface, x, y, z, MODE);
  if constexpr (KIND == Kind::lines) *to = surf1DLayeredread<T>(surface, x, z, MODE);
  if constexpr (KIND == Kind::planes) *to = surf2DLayeredread<T>(surface, x, y, z, MODE);
}

template <Kind KIND, cudaSurfaceBoundaryMode MODE, class T>
__device__ void write(T value, cudaSurfaceObject_t surface, int x, int y, int z) {
  if constexpr (KIND == Kind::line) surf1Dwrite(value, surface, x, MODE);
  if constexpr (KIND == Kind::plane) surf2Dwrite(value, surface, x, y, MODE);
  if constexpr (KIND == Kind::volume) surf3Dwrite(value, surface, x, y, z, MODE);
  if constexpr (KIND == Kind::lines) surf1DLayeredwrite(value, surface, x, z, MODE);
  if constexpr (KIND == Kind::planes) surf2DLayeredwrite(value, surface, x, y, z, MODE);
}

// Reads each element of a box; or sets it, if the values are const.
template <Kind KIND, cudaSurfaceBoundaryMode MODE, class T>
__global__ void accessBox(cudaSurfaceObject_t surface, Box box, T* values) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= box.size()) return;
  const Index at = box.at(i);
  const int x = at.x * static_cast<int>(sizeof(T));
  if constexpr (std::is_const_v<T>)
    write<KIND, MODE>(values[i], surface, x, at.y, at.z);
  else
    read<KIND, MODE>(values + i, surface, x, at.y, at.z);
}

template <Kind KIND, cudaSurfaceBoundaryMode MODE, class T>
std::vector<T> readBox(cudaSurfaceObject_t surface, Box box) {
  DeviceArray<T> values(box.size());
  gpuopt::launch(accessBox<KIND, MODE, T>, configFor(values.size()), surface, box, values.data());
  return values.toHost();
}

template <Kind KIND, cudaSurfaceBoundaryMode MODE, class T>
void writeBox(cudaSurfaceObject_t surface, Box box, const std::vector<T>& values) {
  const DeviceArray<T> from(values);
  gpuopt::launch(accessBox<KIND, MODE, const T>, configFor(values.size()), surface, box, from.data());
  checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

TEMPLATE_TEST_CASE("elements of every size are read and written, and a texture delivers what was written", "", uchar1,
                   ushort1, uchar4, uint2, int4) {
  constexpr int WIDTH = 9, HEIGHT = 5;
  constexpr Box ALL{0, 0, 0, WIDTH, HEIGHT, 1}, PART{3, 2, 0, 4, 2, 1};
  auto values = randomElements<TestType>(ALL.size(), 1);
  const Array<TestType> array(values, make_cudaExtent(WIDTH, HEIGHT, 0), cudaArraySurfaceLoadStore);
  const Surface surface(array.resource());
  CHECK(areSame(readBox<Kind::plane, cudaBoundaryModeTrap, TestType>(surface.get(), ALL), values));

  const auto part = randomElements<TestType>(PART.size(), 2);
  writeBox<Kind::plane, cudaBoundaryModeTrap>(surface.get(), PART, part);
  for (std::size_t i = 0; i < PART.size(); ++i)
    values[static_cast<std::size_t>(PART.at(i).y * WIDTH + PART.at(i).x)] = part[i];
  CHECK(areSame(array.toHost(), values));

  const Texture texture(array.resource(), describe(cudaAddressModeClamp, cudaFilterModePoint));
  std::vector<At> at;
  for (std::size_t i = 0; i < ALL.size(); ++i)
    at.push_back({static_cast<float>(ALL.at(i).x) + 0.5F, static_cast<float>(ALL.at(i).y) + 0.5F, 0});
  CHECK(areSame(fetched<TestType>(Fetch<2>{texture.get()}, at), values));
}

// The element that an index has, or the nearest one; null where an index outside has none.
template <class T>
T* elementAt(std::vector<T>& values, Box size, Index at, bool isClamped) {
  const int column = std::clamp(at.x, 0, size.width - 1), row = std::clamp(at.y, 0, size.height - 1),
            plane = std::clamp(at.z, 0, size.depth - 1);
  const bool isInside = column == at.x && row == at.y && plane == at.z;
  if (!isInside && !isClamped) return nullptr;
  return &values[static_cast<std::size_t>((plane * size.height + row) * size.width + column)];
}

template <Kind KIND, cudaSurfaceBoundaryMode MODE>
void checkBoundary(Box size, cudaExtent extent) {
  // One or two elements beyond each end.
  const bool isTall = size.height > 1, isDeep = size.depth > 1;
  const Box box{-2,
                isTall ? -1 : 0,
                isDeep ? -1 : 0,
                size.width + 3,
                size.height + (isTall ? 3 : 0),
                size.depth + (isDeep ? 2 : 0)};
  auto values = randomVector<int>(size.size(), 3);
  const Array<int> array(values, extent, cudaArraySurfaceLoadStore);
  const Surface surface(array.resource());
  const auto found = readBox<KIND, MODE, int>(surface.get(), box);
  for (std::size_t i = 0; i < box.size(); ++i) {
    const Index at = box.at(i);
    const int* const element = elementAt(values, size, at, MODE == cudaBoundaryModeClamp);
    CAPTURE(KIND, MODE, at.x, at.y, at.z);
    REQUIRE(found[i] == (element != nullptr ? *element : 0));
  }
  if constexpr (MODE == cudaBoundaryModeClamp) return;  // several writes would go to one element
  const auto written = randomVector<int>(box.size(), 4);
  writeBox<KIND, MODE>(surface.get(), box, written);
  for (std::size_t i = 0; i < box.size(); ++i)
    if (int* const element = elementAt(values, size, box.at(i), false)) *element = written[i];
  CHECK(array.toHost() == values);
}

template <cudaSurfaceBoundaryMode MODE>
void checkBoundaries() {
  checkBoundary<Kind::line, MODE>({0, 0, 0, 6, 1, 1}, make_cudaExtent(6, 0, 0));
  checkBoundary<Kind::plane, MODE>({0, 0, 0, 6, 4, 1}, make_cudaExtent(6, 4, 0));
  checkBoundary<Kind::volume, MODE>({0, 0, 0, 6, 4, 3}, make_cudaExtent(6, 4, 3));
}

TEST_CASE("outside, reads are zero and writes are left out") { checkBoundaries<cudaBoundaryModeZero>(); }
TEST_CASE("outside, the nearest element is read") { checkBoundaries<cudaBoundaryModeClamp>(); }

TEMPLATE_TEST_CASE_SIG("layers are surfaces of their own", "", ((Kind KIND), KIND), Kind::lines, Kind::planes) {
  constexpr int HEIGHT = KIND == Kind::lines ? 1 : 3;
  constexpr Box ALL{0, 0, 0, 5, HEIGHT, 4};
  const auto before = randomVector<int>(ALL.size(), 5), after = randomVector<int>(ALL.size(), 6);
  const Array<int> array(before, make_cudaExtent(5, KIND == Kind::lines ? 0 : HEIGHT, 4),
                         cudaArrayLayered | cudaArraySurfaceLoadStore);
  const Surface surface(array.resource());
  CHECK(readBox<KIND, cudaBoundaryModeTrap, int>(surface.get(), ALL) == before);
  writeBox<KIND, cudaBoundaryModeTrap>(surface.get(), ALL, after);
  CHECK(array.toHost() == after);
}

TEST_CASE("a clamped write goes to the nearest element") {
  const Array<int> array({1, 2, 3}, make_cudaExtent(3, 0, 0), cudaArraySurfaceLoadStore);
  const Surface surface(array.resource());
  writeBox<Kind::line, cudaBoundaryModeClamp, int>(surface.get(), {7, 0, 0, 1, 1, 1}, {70});
  writeBox<Kind::line, cudaBoundaryModeClamp, int>(surface.get(), {-4, 0, 0, 1, 1, 1}, {40});
  CHECK(array.toHost() == std::vector<int>{40, 2, 70});
}

#if GPUOPT_EMULATION  // stricter than a GPU, whose writes nobody promises then
TEST_CASE("surfaces need an array that was allocated for them") {
  const Array<int> array(std::vector<int>(4), make_cudaExtent(2, 2, 0));
  const cudaResourceDesc resource = array.resource();
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource) != cudaSuccess);
  cudaGetLastError();
}
#endif

}  // namespace surface_test
