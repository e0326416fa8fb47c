/// Texture objects over linear memory, pitched rows and arrays: fetches by index, and by coordinates with filtering and
/// addressing modes. Mipmaps and cubes do not exist.
// SPDX-License-Identifier: MIT
#pragma once

#include "arrays.hpp"
#include "errors.hpp"
#include "memory.hpp"
#include "texture_sampling.hpp"

#include <algorithm>
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

/// Whether the elements can be delivered as the description says, by the rules of the runtime.
inline cudaError_t readProblem(const cudaChannelFormatDesc& channels, const cudaTextureDesc& description) {
  const bool isFloat = channels.f == cudaChannelFormatKindFloat;
  const bool isNormalized = description.readMode == cudaReadModeNormalizedFloat;
  const bool becomesFloat = isFloat || (isNormalized && channels.x < 32);
  if (description.filterMode == cudaFilterModeLinear && !becomesFloat)
    return failure(cudaErrorInvalidFilterSetting,
                   "a texture of integers is filtered: cudaReadModeNormalizedFloat reads those of 8 and 16 bits as "
                   "floats");
  if (isNormalized && (isFloat || channels.x == 32))
    return failure(cudaErrorInvalidNormSetting, "only integers of 8 and 16 bits are read as floats from 0 to 1");
  if (description.sRGB != 0) return failure(cudaErrorNotSupported, "the emulated device does not convert from sRGB");
  return cudaSuccess;
}

inline const Texture& textureAt(cudaTextureObject_t texture) { return *reinterpret_cast<const Texture*>(texture); }

/// Layers beyond the ends are the first and the last one.
inline std::int64_t layerOf(const Texture& texture, int layer) {
  return std::clamp<std::int64_t>(layer, 0, static_cast<std::int64_t>(texture.size[2]) - 1);
}

}  // namespace gpuopt::emulation::detail

inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                           const cudaTextureDesc* description, const void* view) {
  namespace emulated = gpuopt::emulation::detail;
  emulated::Texture made = emulated::textureOf(*resource);
  made.sampling = emulated::samplingOf(*description);
  if (resource->resType == cudaResourceTypeMipmappedArray || view != nullptr)
    return emulated::failure(cudaErrorNotSupported, "the emulated device has no mipmaps and no views of textures");
  if (made.data == nullptr) return emulated::result(cudaErrorInvalidValue);
  if (!emulated::isElement(made.channels)) return emulated::result(cudaErrorInvalidChannelDescriptor);
  constexpr int LONGEST = gpuopt::emulation::MAX_TEXTURE_LINEAR;
  if (resource->resType == cudaResourceTypeLinear && made.size[0] > static_cast<std::size_t>(LONGEST))
    return emulated::failure(cudaErrorInvalidValue,
                             "a texture of linear memory has more than " + std::to_string(LONGEST) + " elements");
  if (reinterpret_cast<std::uintptr_t>(made.data) % gpuopt::emulation::TEXTURE_ALIGNMENT != 0)
    return emulated::failure(
        cudaErrorInvalidValue,
        "a texture's memory is not aligned to " + std::to_string(gpuopt::emulation::TEXTURE_ALIGNMENT) + " bytes");
  const std::size_t rowBytes = made.size[0] * emulated::elementBytes(made.channels);
  const std::size_t bytes =
      made.size[1] * made.size[2] == 1 ? rowBytes : (made.size[1] * made.size[2] - 1) * made.pitch + rowBytes;
  if (!emulated::isCopyable("cudaCreateTextureObject", made.data, bytes))
    return emulated::result(cudaErrorInvalidValue);
  const cudaError_t code = emulated::readProblem(made.channels, *description);
  if (code != cudaSuccess) return code;
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
template <class T>
T tex1DLayered(cudaTextureObject_t texture, float x, int layer) {
  namespace emulated = gpuopt::emulation::detail;
  const emulated::Texture& layers = emulated::textureAt(texture);
  return emulated::fromTexel<T>(emulated::sample<1, 1>(layers, {x, 0, 0}, emulated::layerOf(layers, layer)));
}
template <class T>
T tex2DLayered(cudaTextureObject_t texture, float x, float y, int layer) {
  namespace emulated = gpuopt::emulation::detail;
  const emulated::Texture& layers = emulated::textureAt(texture);
  return emulated::fromTexel<T>(emulated::sample<2>(layers, {x, y, 0}, emulated::layerOf(layers, layer)));
}

/// Four elements' numbers of one component, for an array that was allocated with cudaArrayTextureGather.
template <class T>
T tex2Dgather(cudaTextureObject_t texture, float x, float y, int component = 0) {
  namespace emulated = gpuopt::emulation::detail;
  static_assert(emulated::componentCount<T> == 4, "tex2Dgather delivers four numbers");
  const auto which = static_cast<std::size_t>(component) % 4;
  return emulated::fromTexel<T>(emulated::gather(emulated::textureAt(texture), x, y, which));
}

// The same, to a variable of the caller.
#define GPUOPT_EMULATION_FETCH(name, parameters, arguments) \
  template <class T>                                        \
  void name parameters {                                    \
    *to = name<T> arguments;                                \
  }
GPUOPT_EMULATION_FETCH(tex1Dfetch, (T * to, cudaTextureObject_t texture, int i), (texture, i))
GPUOPT_EMULATION_FETCH(tex1D, (T * to, cudaTextureObject_t texture, float x), (texture, x))
GPUOPT_EMULATION_FETCH(tex2D, (T * to, cudaTextureObject_t texture, float x, float y), (texture, x, y))
GPUOPT_EMULATION_FETCH(tex3D, (T * to, cudaTextureObject_t texture, float x, float y, float z), (texture, x, y, z))
GPUOPT_EMULATION_FETCH(tex1DLayered, (T * to, cudaTextureObject_t texture, float x, int layer), (texture, x, layer))
GPUOPT_EMULATION_FETCH(tex2DLayered, (T * to, cudaTextureObject_t texture, float x, float y, int layer),
                       (texture, x, y, layer))
GPUOPT_EMULATION_FETCH(tex2Dgather, (T * to, cudaTextureObject_t texture, float x, float y, int component = 0),
                       (texture, x, y, component))
#undef GPUOPT_EMULATION_FETCH
