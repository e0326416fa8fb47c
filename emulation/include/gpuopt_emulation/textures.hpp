/// Texture objects over linear memory, pitched rows and arrays: fetches by index, and by coordinates with filtering and
/// addressing modes. Mipmaps, layers and cubes do not exist.
// SPDX-License-Identifier: MIT
#pragma once

#include "arrays.hpp"
#include "errors.hpp"
#include "memory.hpp"
#include "texture_sampling.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

using cudaTextureObject_t = unsigned long long;

enum cudaResourceType {
  cudaResourceTypeArray = 0,
  cudaResourceTypeMipmappedArray = 1,
  cudaResourceTypeLinear = 2,
  cudaResourceTypePitch2D = 3
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t width, height, pitchInBytes;
    } pitch2D;
  } res;
};

struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
};

namespace gpuopt::emulation::detail {

/// The elements of a resource; without data if there are none that a texture could have.
inline Texture textureOf(const cudaResourceDesc& resource) {
  Texture texture{};
  if (resource.resType == cudaResourceTypeArray && resource.res.array.array != nullptr) {
    const cudaArray& array = *resource.res.array.array;
    texture = {array.data, array.channels, {array.width, array.height, array.depth}, array.rowBytes(), {}};
  } else if (resource.resType == cudaResourceTypePitch2D) {
    const auto& rows = resource.res.pitch2D;
    texture = {rows.devPtr, rows.desc, {rows.width, rows.height, 1}, rows.pitchInBytes, {}};
  } else if (resource.resType == cudaResourceTypeLinear && elementBytes(resource.res.linear.desc) > 0) {
    const auto& linear = resource.res.linear;
    texture = {linear.devPtr, linear.desc, {linear.sizeInBytes / elementBytes(linear.desc), 1, 1}, 0, {}};
  }
  return texture;
}

inline Sampling samplingOf(const cudaTextureDesc& description) {
  Sampling sampling{};
  for (std::size_t i = 0; i < 3; ++i) sampling.address[i] = description.addressMode[i];
  for (std::size_t i = 0; i < 4; ++i) sampling.border[i] = description.borderColor[i];
  sampling.filter = description.filterMode;
  sampling.read = description.readMode;
  sampling.isNormalized = description.normalizedCoords != 0;
  return sampling;
}

inline const Texture& textureAt(cudaTextureObject_t texture) { return *reinterpret_cast<const Texture*>(texture); }

}  // namespace gpuopt::emulation::detail

inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                           const cudaTextureDesc* description, const void* view) {
  namespace emulated = gpuopt::emulation::detail;
  emulated::Texture made = emulated::textureOf(*resource);
  made.sampling = emulated::samplingOf(*description);
  if (resource->resType == cudaResourceTypeMipmappedArray || view != nullptr)
    return emulated::failure(cudaErrorNotSupported, "the emulated device has no mipmaps and no views of textures");
  if (made.data == nullptr || emulated::elementBytes(made.channels) == 0)
    return emulated::result(cudaErrorInvalidValue);
  if (reinterpret_cast<std::uintptr_t>(made.data) % gpuopt::emulation::TEXTURE_ALIGNMENT != 0)
    return emulated::failure(
        cudaErrorInvalidValue,
        "a texture's memory is not aligned to " + std::to_string(gpuopt::emulation::TEXTURE_ALIGNMENT) + " bytes");
  const std::size_t rowBytes = made.size[0] * emulated::elementBytes(made.channels);
  const std::size_t bytes =
      made.size[1] * made.size[2] == 1 ? rowBytes : (made.size[1] * made.size[2] - 1) * made.pitch + rowBytes;
  if (!emulated::isCopyable("cudaCreateTextureObject", made.data, bytes))
    return emulated::result(cudaErrorInvalidValue);
  const bool isReal =
      made.channels.f == cudaChannelFormatKindFloat || description->readMode == cudaReadModeNormalizedFloat;
  if (description->filterMode == cudaFilterModeLinear && !isReal)
    return emulated::failure(cudaErrorInvalidFilterSetting,
                             "a texture of integers is filtered: cudaReadModeNormalizedFloat reads them as floats");
  *texture = reinterpret_cast<std::uintptr_t>(new emulated::Texture(made));
  return cudaSuccess;
}

inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  delete reinterpret_cast<gpuopt::emulation::detail::Texture*>(texture);
  return cudaSuccess;
}

/// Element i of linear memory; zero outside the texture, or if it holds elements of another size.
template <class T>
T tex1Dfetch(cudaTextureObject_t texture, int i) {
  namespace emulated = gpuopt::emulation::detail;
  const emulated::Texture& linear = emulated::textureAt(texture);
  const bool isNormalized = linear.sampling.read == cudaReadModeNormalizedFloat;
  const bool isInside = i >= 0 && static_cast<std::size_t>(i) < linear.size[0] &&
                        (isNormalized || emulated::elementBytes(linear.channels) == sizeof(T));
  return isInside ? emulated::fromTexel<T>(linear.texel(static_cast<std::size_t>(i), 0, 0)) : T{};
}

template <class T>
T tex1D(cudaTextureObject_t texture, float x) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::fromTexel<T>(emulated::sample<1>(emulated::textureAt(texture), {x, 0, 0}));
}
template <class T>
T tex2D(cudaTextureObject_t texture, float x, float y) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::fromTexel<T>(emulated::sample<2>(emulated::textureAt(texture), {x, y, 0}));
}
template <class T>
T tex3D(cudaTextureObject_t texture, float x, float y, float z) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::fromTexel<T>(emulated::sample<3>(emulated::textureAt(texture), {x, y, z}));
}
