/// Elements of every type from arrays, pitched rows and linear memory; integers read as floats; what is refused.
// SPDX-License-Identifier: MIT
#include "fixture.cuh"

#include <cuda_fp16.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace types_test {

using namespace texture_test;

// The centres of all elements.
std::vector<At> centres(int width, int height) {
  std::vector<At> at;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) at.push_back({static_cast<float>(x) + 0.5F, static_cast<float>(y) + 0.5F, 0});
  return at;
}

struct FetchLinear {
  cudaTextureObject_t texture;
  template <class T>
  __device__ T at(At a) const {
    return tex1Dfetch<T>(texture, static_cast<int>(a.x));
  }
};
struct FetchTo {
  cudaTextureObject_t texture;
  template <class T>
  __device__ T at(At a) const {
    T value;
    tex2D(&value, texture, a.x, a.y);
    return value;
  }
};

template <class T>
class PitchedRows {
 public:
  PitchedRows(const std::vector<T>& values, std::size_t width) : width_(width), height_(values.size() / width) {
    const std::size_t row = width * sizeof(T);
    checkCuda(cudaMallocPitch(reinterpret_cast<void**>(&data_), &pitch_, row, height_), "cudaMallocPitch");
    checkCuda(cudaMemcpy2D(data_, pitch_, values.data(), row, row, height_, cudaMemcpyHostToDevice), "cudaMemcpy2D");
  }
  PitchedRows(const PitchedRows&) = delete;
  PitchedRows& operator=(const PitchedRows&) = delete;
  ~PitchedRows() { cudaFree(data_); }

  cudaResourceDesc resource() const {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = data_;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<T>();
    resource.res.pitch2D.width = width_;
    resource.res.pitch2D.height = height_;
    resource.res.pitch2D.pitchInBytes = pitch_;
    return resource;
  }

 private:
  T* data_ = nullptr;
  std::size_t width_, height_, pitch_ = 0;
};

TEMPLATE_TEST_CASE("elements are delivered as they are", "", char4, uchar1, uchar2, short2, ushort1, ushort4, int1,
                   uint2, int4, float1, float2, float4) {
  constexpr int WIDTH = 9, HEIGHT = 5;
  const auto values = randomElements<TestType>(WIDTH * HEIGHT, 1);
  const cudaTextureDesc description = describe(cudaAddressModeClamp, cudaFilterModePoint);
  const std::vector<At> at = centres(WIDTH, HEIGHT);

  const Array<TestType> array(values, make_cudaExtent(WIDTH, HEIGHT, 0));
  const Texture ofArray(array.resource(), description);
  CHECK(areSame(fetched<TestType>(Fetch<2>{ofArray.get()}, at), values));
  CHECK(areSame(fetched<TestType>(FetchTo{ofArray.get()}, at), values));

  const PitchedRows<TestType> rows(values, WIDTH);
  const Texture ofRows(rows.resource(), description);
  CHECK(areSame(fetched<TestType>(Fetch<2>{ofRows.get()}, at), values));

  DeviceArray<TestType> memory(values, 256 / sizeof(TestType));
  const Texture linear(linearResource(memory.data(), values.size(), cudaCreateChannelDesc<TestType>()), description);
  std::vector<At> indices;
  for (std::size_t i = 0; i < values.size(); ++i) indices.push_back({static_cast<float>(i), 0, 0});
  CHECK(areSame(fetched<TestType>(FetchLinear{linear.get()}, indices), values));
}

TEST_CASE("beyond the ends of linear memory there are zeros") {
  DeviceArray<float> memory(std::vector<float>(67, 3.0F), 64);
  const Texture texture(linearResource(memory.data(), 60, cudaCreateChannelDesc<float>()), cudaTextureDesc{});
  CHECK(fetched<float>(FetchLinear{texture.get()}, {{-1, 0, 0}, {0, 0, 0}, {59, 0, 0}, {60, 0, 0}, {66, 0, 0}}) ==
        std::vector<float>{0, 3, 3, 0, 0});
}

// Every value of the type, in rows of 256.
template <class T>
void checkNormalized(double largest) {
  constexpr std::size_t COUNT = std::size_t{1} << 8 * sizeof(T);
  std::vector<T> values;
  for (std::size_t i = 0; i < COUNT; ++i) values.push_back(static_cast<T>(i));
  const Array<T> array(values, make_cudaExtent(256, COUNT / 256, 0));
  const Texture texture(array.resource(), describe(cudaAddressModeClamp, cudaFilterModePoint, Coordinates::inElements,
                                                   cudaReadModeNormalizedFloat));
  const auto found = fetched<float>(Fetch<2>{texture.get()}, centres(256, static_cast<int>(COUNT / 256)));
  for (std::size_t i = 0; i < COUNT; ++i) {
    CAPTURE(i);
    REQUIRE(std::fabs(found[i] - (std::max)(static_cast<double>(values[i]) / largest, -1.0)) < 1e-7);
  }
}

TEST_CASE("integers read as floats from 0 to 1, or from -1 to 1") {
  checkNormalized<std::uint8_t>(255);
  checkNormalized<std::int8_t>(127);
  checkNormalized<std::uint16_t>(65535);
  checkNormalized<std::int16_t>(32767);
}

TEST_CASE("integers that are read as floats are filtered") {
  const Array<uchar4> array({make_uchar4(0, 255, 51, 0), make_uchar4(255, 0, 102, 255)}, make_cudaExtent(2, 1, 0));
  const Texture texture(array.resource(), describe(cudaAddressModeClamp, cudaFilterModeLinear, Coordinates::inElements,
                                                   cudaReadModeNormalizedFloat));
  const float4 found = fetched<float4>(Fetch<2>{texture.get()}, {{0.75F, 0.5F, 0}})[0];
  // A quarter of the way.
  CHECK(std::fabs(found.x - 0.25F) < 1e-3F);
  CHECK(std::fabs(found.y - 0.75F) < 1e-3F);
  CHECK(std::fabs(found.z - 0.25F) < 1e-3F);
  CHECK(std::fabs(found.w - 0.25F) < 1e-3F);
}

TEST_CASE("floats of 16 bits are delivered as floats of 32, and filtered") {
  std::vector<std::uint16_t> bits;
  for (unsigned i = 0; i < 65536; ++i) bits.push_back(static_cast<std::uint16_t>((i & 0x7C00) == 0x7C00 ? 0x3C00 : i));
  const Array<std::uint16_t> array(bits, make_cudaExtent(256, 256, 0), cudaArrayDefault, cudaCreateChannelDescHalf());
  const Texture texture(array.resource(), describe(cudaAddressModeClamp, cudaFilterModePoint));
  const auto found = fetched<float>(Fetch<2>{texture.get()}, centres(256, 256));
  for (std::size_t i = 0; i < bits.size(); ++i) {
    __half half;
    std::memcpy(static_cast<void*>(&half), &bits[i], sizeof half);
    REQUIRE(found[i] == __half2float(half));
  }
  const Array<ushort2> pairs({make_ushort2(0x3C00, 0xC000), make_ushort2(0x4400, 0x0000)}, make_cudaExtent(2, 0, 0),
                             cudaArrayDefault, cudaCreateChannelDescHalf2());  // 1, -2 and 4, 0
  const Texture filtered(pairs.resource(), describe(cudaAddressModeClamp, cudaFilterModeLinear));
  const float2 middle = fetched<float2>(Fetch<1>{filtered.get()}, {{1, 0, 0}})[0];
  CHECK((middle.x == 2.5F && middle.y == -1));
  const Array<ushort4> fours({make_ushort4(0x3C00, 0xC000, 0x4400, 0x3800)}, make_cudaExtent(1, 0, 0), cudaArrayDefault,
                             cudaCreateChannelDescHalf4());
  const Texture ofFours(fours.resource(), describe(cudaAddressModeClamp, cudaFilterModePoint));
  const float4 each = fetched<float4>(Fetch<1>{ofFours.get()}, {{0.5F, 0, 0}})[0];
  CHECK((each.x == 1 && each.y == -2 && each.z == 4 && each.w == 0.5F));
}

cudaError_t created(const cudaResourceDesc& resource, const cudaTextureDesc& description) {
  cudaTextureObject_t texture = 0;
  const cudaError_t code = cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  if (code == cudaSuccess) cudaDestroyTextureObject(texture);
  return code;
}

template <class T>
cudaError_t createdOf(cudaTextureFilterMode filter, cudaTextureReadMode read,
                      const cudaChannelFormatDesc& channels = cudaCreateChannelDesc<T>()) {
  const Array<T> array(std::vector<T>(4), make_cudaExtent(2, 2, 0), cudaArrayDefault, channels);
  const cudaError_t code =
      created(array.resource(), describe(cudaAddressModeClamp, filter, Coordinates::inElements, read));
  cudaGetLastError();
  return code;
}

// The rules of the runtime's library, of CUDA 13.
TEST_CASE("integers are filtered as floats alone, and floats are not normalised") {
  constexpr auto POINT = cudaFilterModePoint, LINEAR = cudaFilterModeLinear;
  constexpr auto ELEMENT = cudaReadModeElementType, NORMALIZED = cudaReadModeNormalizedFloat;
  CHECK(createdOf<uchar4>(LINEAR, ELEMENT) == cudaErrorInvalidFilterSetting);
  CHECK(createdOf<short>(LINEAR, ELEMENT) == cudaErrorInvalidFilterSetting);
  CHECK(createdOf<int>(LINEAR, ELEMENT) == cudaErrorInvalidFilterSetting);
  CHECK(createdOf<unsigned>(LINEAR, NORMALIZED) == cudaErrorInvalidFilterSetting);
  CHECK(createdOf<unsigned>(POINT, NORMALIZED) == cudaErrorInvalidNormSetting);
  CHECK(createdOf<float>(POINT, NORMALIZED) == cudaErrorInvalidNormSetting);
  CHECK(createdOf<float>(LINEAR, NORMALIZED) == cudaErrorInvalidNormSetting);
  CHECK(createdOf<unsigned short>(POINT, NORMALIZED, cudaCreateChannelDescHalf()) == cudaErrorInvalidNormSetting);
  CHECK(createdOf<unsigned short>(LINEAR, ELEMENT, cudaCreateChannelDescHalf()) == cudaSuccess);
  CHECK(createdOf<short2>(LINEAR, NORMALIZED) == cudaSuccess);
  CHECK(createdOf<float>(LINEAR, ELEMENT) == cudaSuccess);
}

TEST_CASE("arrays that there are not") {
  const auto allocated = [](const cudaChannelFormatDesc& channels, cudaExtent extent, unsigned flags) {
    cudaArray_t array = nullptr;
    const cudaError_t code = cudaMalloc3DArray(&array, &channels, extent, flags);
    if (code == cudaSuccess) cudaFreeArray(array);
    cudaGetLastError();
    return code;
  };
  const cudaChannelFormatDesc floats = cudaCreateChannelDesc<float>();
  const cudaExtent flat = make_cudaExtent(4, 4, 0);
  constexpr auto UNSIGNED = cudaChannelFormatKindUnsigned;
  CHECK(allocated(cudaCreateChannelDesc(8, 8, 8, 0, UNSIGNED), flat, 0) == cudaErrorInvalidChannelDescriptor);
  CHECK(allocated(cudaCreateChannelDesc(8, 16, 0, 0, UNSIGNED), flat, 0) == cudaErrorInvalidChannelDescriptor);
  CHECK(allocated(cudaCreateChannelDesc(0, 8, 0, 0, UNSIGNED), flat, 0) == cudaErrorInvalidChannelDescriptor);
  CHECK(allocated(cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindFloat), flat, 0) ==
        cudaErrorInvalidChannelDescriptor);
  CHECK(allocated(floats, make_cudaExtent(0, 4, 0), 0) == cudaErrorInvalidValue);
  CHECK(allocated(floats, make_cudaExtent(4, 0, 4), 0) == cudaErrorInvalidValue);
  CHECK(allocated(floats, flat, cudaArrayLayered) == cudaErrorInvalidValue);
  CHECK(allocated(floats, make_cudaExtent(4, 0, 0), cudaArrayTextureGather) == cudaErrorInvalidValue);
  CHECK(allocated(floats, flat, cudaArrayTextureGather) == cudaSuccess);
  // The sizes are those of the programming guide.
  CHECK(allocated(floats, make_cudaExtent(131072, 0, 0), 0) == cudaSuccess);
  CHECK(allocated(floats, make_cudaExtent(131073, 0, 0), 0) == cudaErrorInvalidValue);
  CHECK(allocated(floats, make_cudaExtent(131073, 1, 0), 0) == cudaErrorInvalidValue);
  CHECK(allocated(floats, make_cudaExtent(1, 65536, 0), 0) == cudaSuccess);
  CHECK(allocated(floats, make_cudaExtent(1, 65537, 0), 0) == cudaErrorInvalidValue);
  CHECK(allocated(floats, make_cudaExtent(1, 1, 16384), 0) == cudaSuccess);
  CHECK(allocated(floats, make_cudaExtent(16385, 1, 1), 0) == cudaErrorInvalidValue);
  CHECK(allocated(floats, make_cudaExtent(1, 0, 2048), cudaArrayLayered) == cudaSuccess);
  CHECK(allocated(floats, make_cudaExtent(1, 0, 2049), cudaArrayLayered) == cudaErrorInvalidValue);
  CHECK(allocated(floats, make_cudaExtent(32769, 1, 0), cudaArrayTextureGather) == cudaErrorInvalidValue);
  CHECK(allocated(floats, make_cudaExtent(32769, 0, 0), cudaArraySurfaceLoadStore) == cudaErrorInvalidValue);
}

// Each function has a form that returns the value and one that stores it.
template <class T, class Gathered>
__global__ void fetchBothWays(cudaTextureObject_t linear, cudaTextureObject_t line, cudaTextureObject_t plane,
                              cudaTextureObject_t volume, cudaTextureObject_t lines, cudaTextureObject_t planes,
                              T* returned, T* stored, Gathered* gathered) {
  returned[0] = tex1Dfetch<T>(linear, 1);
  returned[1] = tex1D<T>(line, 1.5F);
  returned[2] = tex2D<T>(plane, 1.5F, 0.5F);
  returned[3] = tex3D<T>(volume, 1.5F, 0.5F, 1.5F);
  returned[4] = tex1DLayered<T>(lines, 1.5F, 1);
  returned[5] = tex2DLayered<T>(planes, 0.5F, 1.5F, 1);
  gathered[0] = tex2Dgather<Gathered>(plane, 1, 1);
  tex1Dfetch(stored, linear, 1);
  tex1D(stored + 1, line, 1.5F);
  tex2D(stored + 2, plane, 1.5F, 0.5F);
  tex3D(stored + 3, volume, 1.5F, 0.5F, 1.5F);
  tex1DLayered(stored + 4, lines, 1.5F, 1);
  tex2DLayered(stored + 5, planes, 0.5F, 1.5F, 1);
  tex2Dgather(gathered + 1, plane, 1.0F, 1.0F);
}

TEST_CASE("values are returned or stored") {
  const std::vector<int> values{10, 11, 12, 13, 14, 15, 16, 17};  // 2 x 2 x 2
  const std::vector<int> four(values.begin(), values.begin() + 4);
  const Array<int> line({10, 11}, make_cudaExtent(2, 0, 0)),
      plane(four, make_cudaExtent(2, 2, 0), cudaArrayTextureGather), volume(values, make_cudaExtent(2, 2, 2)),
      lines(four, make_cudaExtent(2, 0, 2), cudaArrayLayered),
      planes(values, make_cudaExtent(2, 2, 2), cudaArrayLayered);
  DeviceArray<int> memory(values, 64), returned(6), stored(6);
  DeviceArray<int4> gathered(2);
  const cudaTextureDesc description = describe(cudaAddressModeClamp, cudaFilterModePoint);
  const Texture ofMemory(linearResource(memory.data(), 8, cudaCreateChannelDesc<int>()), description),
      ofLine(line.resource(), description), ofPlane(plane.resource(), description),
      ofVolume(volume.resource(), description), ofLines(lines.resource(), description),
      ofPlanes(planes.resource(), description);
  gpuopt::launch(fetchBothWays<int, int4>, gpuopt::LaunchConfig{}, ofMemory.get(), ofLine.get(), ofPlane.get(),
                 ofVolume.get(), ofLines.get(), ofPlanes.get(), returned.data(), stored.data(), gathered.data());
  CHECK(returned.toHost() == std::vector<int>{11, 11, 11, 15, 13, 16});
  CHECK(stored.toHost() == std::vector<int>{11, 11, 11, 15, 13, 16});
  for (const int4 each : gathered.toHost()) CHECK((each.x == 12 && each.y == 13 && each.z == 11 && each.w == 10));
}

// Box (1, 2, 0) to (4, 4, 2) of 5 x 4 x 3 elements goes to (0, 1, 1) of 4 x 3 x 3 in an array, and from there to
// memory.
TEST_CASE("boxes are copied between arrays and memory") {
  const std::vector<short2> values = randomElements<short2>(5 * 4 * 3, 8);
  std::vector<short2> expected = randomElements<short2>(4 * 3 * 3, 9), read(3 * 2 * 2);
  const Array<short2> from(values, make_cudaExtent(5, 4, 3)), to(expected, make_cudaExtent(4, 3, 3));
  cudaMemcpy3DParms between{};
  between.srcArray = from.get();
  between.srcPos = make_cudaPos(1, 2, 0);
  between.dstArray = to.get();
  between.dstPos = make_cudaPos(0, 1, 1);
  between.extent = make_cudaExtent(3, 2, 2);
  between.kind = cudaMemcpyDeviceToDevice;
  REQUIRE(cudaMemcpy3D(&between) == cudaSuccess);
  cudaMemcpy3DParms out{};
  out.srcArray = to.get();
  out.srcPos = make_cudaPos(0, 1, 1);
  out.dstPtr = make_cudaPitchedPtr(read.data(), 3 * sizeof(short2), 3, 2);
  out.extent = make_cudaExtent(3, 2, 2);
  out.kind = cudaMemcpyDeviceToHost;
  REQUIRE(cudaMemcpy3D(&out) == cudaSuccess);
  std::vector<short2> part;
  for (std::size_t z = 0; z < 2; ++z)
    for (std::size_t y = 0; y < 2; ++y)
      for (std::size_t x = 0; x < 3; ++x) {
        const short2 value = values[(z * 4 + y + 2) * 5 + x + 1];
        expected[((z + 1) * 3 + y + 1) * 4 + x] = value;
        part.push_back(value);
      }
  CHECK(areSame(to.toHost(), expected));
  CHECK(areSame(read, part));
}

TEST_CASE("an array tells what it is, and is copied to another one") {
  const std::vector<int> values = gpuopt::test::randomVector<int>(35, 3);
  const Array<int> from(values, make_cudaExtent(7, 5, 0)),
      to(std::vector<int>(35, -1), make_cudaExtent(7, 5, 0), cudaArraySurfaceLoadStore);
  cudaChannelFormatDesc channels{};
  cudaExtent extent{};
  unsigned flags = 0;
  REQUIRE(cudaArrayGetInfo(&channels, &extent, &flags, to.get()) == cudaSuccess);
  CHECK((channels.x == 32 && channels.y == 0 && channels.f == cudaChannelFormatKindSigned));
  CHECK((extent.width == 7 && extent.height == 5 && extent.depth == 0 && flags == cudaArraySurfaceLoadStore));
  REQUIRE(cudaGetChannelDesc(&channels, from.get()) == cudaSuccess);
  CHECK((channels.x == 32 && channels.w == 0 && channels.f == cudaChannelFormatKindSigned));
  // Two rows of three elements, from column 2 of row 1 to column 4 of row 3.
  REQUIRE(cudaMemcpy2DArrayToArray(to.get(), 16, 3, from.get(), 8, 1, 12, 2) == cudaSuccess);
  std::vector<int> expected(35, -1);
  for (std::size_t y = 0; y < 2; ++y)
    for (std::size_t x = 0; x < 3; ++x) expected[(y + 3) * 7 + x + 4] = values[(y + 1) * 7 + x + 2];
  CHECK(to.toHost() == expected);
}

}  // namespace types_test
