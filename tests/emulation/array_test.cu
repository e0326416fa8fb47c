/// Arrays of one to three dimensions, and textures that read them: addressing, filtering, conversion.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace array_test {

constexpr int WIDTH = 7, HEIGHT = 5, DEPTH = 3;

float valueAt(int x, int y, int z = 0) { return static_cast<float>((x * 37 + y * 101 + z * 59) % 64) - 20; }

// An array of WIDTH x HEIGHT floats, or of one row, and a texture of it.
class FloatTexture {
 public:
  explicit FloatTexture(const cudaTextureDesc& description, int height = HEIGHT) {
    std::vector<float> values;
    for (int y = 0; y < (std::max)(height, 1); ++y)
      for (int x = 0; x < WIDTH; ++x) values.push_back(valueAt(x, y));
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
    REQUIRE(cudaMallocArray(&array_, &channels, WIDTH, static_cast<std::size_t>(height)) == cudaSuccess);
    const std::size_t row = WIDTH * sizeof(float);
    REQUIRE(cudaMemcpy2DToArray(array_, 0, 0, values.data(), row, row, values.size() / WIDTH, cudaMemcpyHostToDevice) ==
            cudaSuccess);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    REQUIRE(cudaCreateTextureObject(&texture_, &resource, &description, nullptr) == cudaSuccess);
  }
  FloatTexture(const FloatTexture&) = delete;
  FloatTexture& operator=(const FloatTexture&) = delete;
  ~FloatTexture() {
    cudaDestroyTextureObject(texture_);
    cudaFreeArray(array_);
  }
  cudaTextureObject_t get() const { return texture_; }

 private:
  cudaArray_t array_ = nullptr;
  cudaTextureObject_t texture_ = 0;
};

__global__ void fetch2D(cudaTextureObject_t texture, const float2* at, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}

__global__ void fetch1D(cudaTextureObject_t texture, const float2* at, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = tex1D<float>(texture, at[i].x);
}

// Coordinates in and around a texture, which a GPU's fraction of eight bits has.
std::vector<float2> coordinates() {
  std::vector<float2> all;
  for (int y = -40; y < 16 * HEIGHT + 40; y += 5)
    for (int x = -80; x < 16 * WIDTH + 80; x += 3)
      all.push_back({static_cast<float>(x) / 16, static_cast<float>(y) / 16});
  return all;
}

std::vector<float> fetchAll(cudaTextureObject_t texture, const std::vector<float2>& at, bool is1D = false) {
  Managed<float2> coordinates(at.size());
  Managed<float> out(at.size());
  std::copy(at.begin(), at.end(), coordinates.data());
  const int n = static_cast<int>(at.size());
  (is1D ? fetch1D : fetch2D)<<<(n + 127) / 128, 128>>>(texture, coordinates.data(), out.data(), n);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  return out.values();
}

cudaTextureDesc describe(cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool isNormalized = false) {
  cudaTextureDesc description{};
  description.addressMode[0] = description.addressMode[1] = description.addressMode[2] = mode;
  description.filterMode = filter;
  description.normalizedCoords = isNormalized ? 1 : 0;
  description.borderColor[0] = 5;
  return description;
}

// The definition, step by step: an index is moved until it is inside.
float elementAt(int x, int y, int height, cudaTextureAddressMode mode) {
  const auto inside = [mode](int i, int n) {
    if (mode == cudaAddressModeClamp) return std::clamp(i, 0, n - 1);
    while (i < 0 || i >= n) {
      if (mode == cudaAddressModeBorder) return -1;
      if (mode == cudaAddressModeWrap)
        i += i < 0 ? n : -n;
      else
        i = i < 0 ? -1 - i : 2 * n - 1 - i;
    }
    return i;
  };
  const int column = inside(x, WIDTH), row = inside(y, height);
  return column < 0 || row < 0 ? 5.0f : valueAt(column, row);
}

float nearest(float2 at, cudaTextureAddressMode mode) {
  return elementAt(static_cast<int>(std::floor(at.x)), static_cast<int>(std::floor(at.y)), HEIGHT, mode);
}

float filtered(float2 at, int height, cudaTextureAddressMode mode) {
  const float left = std::floor(at.x - 0.5f), top = std::floor(at.y - 0.5f);
  const float x = at.x - 0.5f - left, y = at.y - 0.5f - top;
  const int column = static_cast<int>(left), row = static_cast<int>(top);
  const auto element = [=](int dx, int dy) { return elementAt(column + dx, row + dy, height, mode); };
  return (1 - y) * ((1 - x) * element(0, 0) + x * element(1, 0)) + y * ((1 - x) * element(0, 1) + x * element(1, 1));
}

TEST_CASE("coordinates in elements: the nearest element, or four of them filtered") {
  const std::vector<float2> at = coordinates();
  for (const auto mode : {cudaAddressModeClamp, cudaAddressModeBorder}) {
    const FloatTexture point(describe(mode, cudaFilterModePoint)), linear(describe(mode, cudaFilterModeLinear));
    const std::vector<float> points = fetchAll(point.get(), at), lines = fetchAll(linear.get(), at);
    for (std::size_t i = 0; i < at.size(); ++i) {
      REQUIRE(points[i] == nearest(at[i], mode));
      REQUIRE(std::fabs(lines[i] - filtered(at[i], HEIGHT, mode)) < 1e-4f);
    }
  }
}

TEST_CASE("normalised coordinates wrap, mirror, and end at the edge or the border") {
  const std::vector<float2> at = coordinates();
  std::vector<float2> normalized;
  // The middle of a sixteenth, so that rounding does not choose between two elements.
  for (const float2 a : at) normalized.push_back({(a.x + 1.0f / 64) / WIDTH, (a.y + 1.0f / 64) / HEIGHT});
  for (const auto mode : {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder}) {
    const FloatTexture point(describe(mode, cudaFilterModePoint, true)),
        linear(describe(mode, cudaFilterModeLinear, true));
    const std::vector<float> points = fetchAll(point.get(), normalized), lines = fetchAll(linear.get(), normalized);
    for (std::size_t i = 0; i < at.size(); ++i) {
      REQUIRE(points[i] == nearest(at[i], mode));
      const float2 moved{at[i].x + 1.0f / 64, at[i].y + 1.0f / 64};
      REQUIRE(std::fabs(lines[i] - filtered(moved, HEIGHT, mode)) < 0.6f);  // 1/256 of the fraction, of up to 64
    }
  }
}

TEST_CASE("coordinates in elements do not wrap") {
  const FloatTexture texture(describe(cudaAddressModeWrap, cudaFilterModePoint));
  CHECK(fetchAll(texture.get(), {{-1, 0}, {WIDTH + 1, HEIGHT + 3}, {1e30f, -1e30f}}) ==
        std::vector<float>{valueAt(0, 0), valueAt(WIDTH - 1, HEIGHT - 1), valueAt(WIDTH - 1, 0)});
}

TEST_CASE("an array of one dimension") {
  const FloatTexture texture(describe(cudaAddressModeClamp, cudaFilterModeLinear), 0);
  std::vector<float2> at;
  for (int x = -32; x < 16 * WIDTH + 32; ++x) at.push_back({static_cast<float>(x) / 16, 0.5f});
  const std::vector<float> lines = fetchAll(texture.get(), at, true);
  for (std::size_t i = 0; i < at.size(); ++i)
    REQUIRE(std::fabs(lines[i] - filtered(at[i], 1, cudaAddressModeClamp)) < 1e-4f);
}

__global__ void fetchColour(cudaTextureObject_t whole, cudaTextureObject_t real, uchar4* integers, float4* reals) {
  const float x = static_cast<float>(threadIdx.x) + 0.5f, y = static_cast<float>(threadIdx.y) + 0.5f;
  const unsigned i = threadIdx.y * blockDim.x + threadIdx.x;
  integers[i] = tex2D<uchar4>(whole, x, y);
  reals[i] = tex2D<float4>(real, x, y);
}

TEST_CASE("pitched rows of colours, as they are and as floats from 0 to 1") {
  uchar4* data = nullptr;
  std::size_t pitch = 0;
  std::vector<uchar4> colours;
  for (unsigned i = 0; i < WIDTH * HEIGHT; ++i)
    colours.push_back(make_uchar4(static_cast<unsigned char>(i), static_cast<unsigned char>(255 - i),
                                  static_cast<unsigned char>(i * 3), 255));
  REQUIRE(cudaMallocPitch(&data, &pitch, WIDTH * sizeof(uchar4), HEIGHT) == cudaSuccess);
  const std::size_t row = WIDTH * sizeof(uchar4);
  REQUIRE(cudaMemcpy2D(data, pitch, colours.data(), row, row, HEIGHT, cudaMemcpyHostToDevice) == cudaSuccess);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D = {data, cudaCreateChannelDesc<uchar4>(), WIDTH, HEIGHT, pitch};
  cudaTextureDesc description{};
  cudaTextureObject_t whole = 0, real = 0;
  REQUIRE(cudaCreateTextureObject(&whole, &resource, &description, nullptr) == cudaSuccess);
  description.readMode = cudaReadModeNormalizedFloat;
  REQUIRE(cudaCreateTextureObject(&real, &resource, &description, nullptr) == cudaSuccess);
  Managed<uchar4> integers(WIDTH * HEIGHT);
  Managed<float4> reals(WIDTH * HEIGHT);
  fetchColour<<<1, dim3(WIDTH, HEIGHT)>>>(whole, real, integers.data(), reals.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  for (std::size_t i = 0; i < WIDTH * HEIGHT; ++i) {
    REQUIRE((integers[i].x == colours[i].x && integers[i].y == colours[i].y && integers[i].z == colours[i].z));
    REQUIRE(integers[i].w == 255);
    REQUIRE(std::fabs(reals[i].z - static_cast<float>(colours[i].z) / 255) < 1e-6f);
    REQUIRE(reals[i].w == 1.0f);
  }
  REQUIRE(cudaDestroyTextureObject(whole) == cudaSuccess);
  REQUIRE(cudaDestroyTextureObject(real) == cudaSuccess);
  REQUIRE(cudaFree(data) == cudaSuccess);
}

__global__ void fetch3D(cudaTextureObject_t texture, float* out) {
  const unsigned i = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[i] = tex3D<float>(texture, static_cast<float>(threadIdx.x) + 0.5f, static_cast<float>(threadIdx.y) + 0.5f,
                        static_cast<float>(blockIdx.x) + 1);
}

TEST_CASE("an array of three dimensions, filled by a copy of a box and filtered between its planes") {
  std::vector<float> values;
  for (int z = 0; z < DEPTH; ++z)
    for (int y = 0; y < HEIGHT; ++y)
      for (int x = 0; x < WIDTH; ++x) values.push_back(valueAt(x, y, z));
  const cudaExtent extent = make_cudaExtent(WIDTH, HEIGHT, DEPTH);
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  REQUIRE(cudaMalloc3DArray(&array, &channels, extent) == cudaSuccess);
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(values.data(), WIDTH * sizeof(float), WIDTH, HEIGHT);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  REQUIRE(cudaMemcpy3D(&copy) == cudaSuccess);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureDesc description = describe(cudaAddressModeClamp, cudaFilterModeLinear);
  cudaTextureObject_t texture = 0;
  REQUIRE(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaSuccess);
  Managed<float> out(WIDTH * HEIGHT * DEPTH);
  fetch3D<<<DEPTH, dim3(WIDTH, HEIGHT)>>>(texture, out.data());
  REQUIRE(cudaGetLastError() == cudaSuccess);
  for (int z = 0; z < DEPTH; ++z)
    for (int y = 0; y < HEIGHT; ++y)
      for (int x = 0; x < WIDTH; ++x)
        REQUIRE(out[static_cast<std::size_t>((z * HEIGHT + y) * WIDTH + x)] ==
                (valueAt(x, y, z) + valueAt(x, y, (std::min)(z + 1, DEPTH - 1))) / 2);
  REQUIRE(cudaDestroyTextureObject(texture) == cudaSuccess);
  REQUIRE(cudaFreeArray(array) == cudaSuccess);
}

TEST_CASE("copies to and from parts of an array") {
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  REQUIRE(cudaMallocArray(&array, &channels, WIDTH, HEIGHT) == cudaSuccess);
  std::vector<int> values(WIDTH * HEIGHT, 0), part{1, 2, 3, 4, 5, 6}, read(4);
  const std::size_t row = WIDTH * sizeof(int);
  REQUIRE(cudaMemcpy2DToArray(array, 0, 0, values.data(), row, row, HEIGHT, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpy2DToArrayAsync(array, 8, 1, part.data(), 12, 12, 2, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpy2DFromArray(read.data(), 8, array, 12, 1, 8, 2, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(read == std::vector<int>{2, 3, 5, 6});
  REQUIRE(cudaMemcpy2DFromArray(values.data(), row, array, 0, 0, row, HEIGHT, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK((values[8] == 0 && values[9] == 1 && values[11] == 3 && values[12] == 0 && values[18] == 6));
  REQUIRE(cudaMemcpyToArray(array, 20, 2, part.data(), 24, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpyFromArray(read.data(), array, 24, 2, 16, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(read == std::vector<int>{2, 3, 4, 5});
  CHECK(cudaMemcpyToArray(array, 24, 4, part.data(), 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy2DToArray(array, 20, 0, part.data(), 12, 12, 2, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(gpuopt::emulation::lastReport() == "a copy reaches beyond an array of 5 rows of 28 bytes");
  CHECK(cudaMemcpy2DToArray(array, 0, 4, part.data(), 12, 12, 2, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  cudaGetLastError();
  REQUIRE(cudaFreeArray(array) == cudaSuccess);
}

}  // namespace array_test
