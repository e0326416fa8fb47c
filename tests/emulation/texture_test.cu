/// Textures that are refused. What textures deliver is tested in tests/textures.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <vector>

namespace texture_test {

cudaResourceDesc linear(float* data, std::size_t n) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = n * sizeof(float);
  return resource;
}

TEST_CASE("textures that a GPU or the emulated device refuses") {
  Managed<float> data(64);
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaResourceDesc resource = linear(data.data() + 1, 8);
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaErrorInvalidValue);
  resource = linear(data.data(), 1000);
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaErrorInvalidValue);
  resource = linear(data.data(), (std::size_t{1} << 28) + 1);
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaErrorInvalidValue);
  CHECK(gpuopt::emulation::lastReport() == "a texture of linear memory has more than 268435456 elements");
  resource = linear(data.data(), 64);
  resource.resType = cudaResourceTypeMipmappedArray;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaErrorNotSupported);
  CHECK(gpuopt::emulation::lastReport() == "the emulated device has no mipmaps and no views of textures");
  resource = linear(data.data(), 64);
  resource.res.linear.desc = cudaCreateChannelDesc<int>();
  cudaTextureDesc filtered{};
  filtered.filterMode = cudaFilterModeLinear;
  CHECK(cudaCreateTextureObject(&texture, &resource, &filtered, nullptr) == cudaErrorInvalidFilterSetting);
  CHECK(gpuopt::emulation::lastReport() ==
        "a texture of integers is filtered: cudaReadModeNormalizedFloat reads those of 8 and 16 bits as floats");
  filtered.filterMode = cudaFilterModePoint;
  filtered.readMode = cudaReadModeNormalizedFloat;
  CHECK(cudaCreateTextureObject(&texture, &resource, &filtered, nullptr) == cudaErrorInvalidNormSetting);
  CHECK(gpuopt::emulation::lastReport() == "only integers of 8 and 16 bits are read as floats from 0 to 1");
  filtered.readMode = cudaReadModeElementType;
  filtered.sRGB = 1;
  CHECK(cudaCreateTextureObject(&texture, &resource, &filtered, nullptr) == cudaErrorNotSupported);
  CHECK(gpuopt::emulation::lastReport() == "the emulated device does not convert from sRGB");
  cudaGetLastError();
}

}  // namespace texture_test
