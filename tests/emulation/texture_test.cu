/// Textures of linear memory, and what is refused.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <vector>

namespace texture_test {

__global__ void fetch(cudaTextureObject_t texture, int first, float* out) {
  out[threadIdx.x] = tex1Dfetch<float>(texture, first + static_cast<int>(threadIdx.x));
}

cudaResourceDesc linear(float* data, std::size_t n) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = n * sizeof(float);
  return resource;
}

TEST_CASE("elements of a texture, and zeros on both sides of it") {
  Managed<float> data(70), out(32);
  for (std::size_t i = 0; i < 70; ++i) data[i] = static_cast<float>(100 + i);
  const cudaResourceDesc resource = linear(data.data(), 67);
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  REQUIRE(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaSuccess);
  for (const int first : {0, 7, -5, 50}) {
    REQUIRE(launch(fetch, dim3(1), dim3(32), texture, first, out.data()) == cudaSuccess);
    for (int i = 0; i < 32; ++i) {
      const int place = first + i;
      CHECK(out[static_cast<std::size_t>(i)] == (place < 0 || place >= 67 ? 0.0f : static_cast<float>(100 + place)));
    }
  }
  REQUIRE(cudaDestroyTextureObject(texture) == cudaSuccess);
}

TEST_CASE("textures that a GPU or the emulated device refuses") {
  Managed<float> data(64);
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaResourceDesc resource = linear(data.data() + 1, 8);
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaErrorInvalidValue);
  resource = linear(data.data(), 1000);
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaErrorInvalidValue);
  resource = linear(data.data(), 64);
  resource.resType = cudaResourceTypeMipmappedArray;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaErrorNotSupported);
  CHECK(gpuopt::emulation::lastReport() == "the emulated device has no mipmaps and no views of textures");
  resource = linear(data.data(), 64);
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  cudaTextureDesc filtered{};
  filtered.filterMode = cudaFilterModeLinear;
  CHECK(cudaCreateTextureObject(&texture, &resource, &filtered, nullptr) == cudaErrorInvalidFilterSetting);
  cudaGetLastError();
}

}  // namespace texture_test
