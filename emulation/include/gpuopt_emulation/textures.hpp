/// Texture objects over linear memory: fetches by index. What has an array, filters or wraps does not exist.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "memory.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

using cudaTextureObject_t = unsigned long long;

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
};
struct cudaChannelFormatDesc {
  int x, y, z, w;  ///< bits of each component
  cudaChannelFormatKind f;
};

/// For the scalar types; vectors of them are for whoever needs them first.
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  static_assert(std::is_arithmetic_v<T>, "the emulated device has textures of numbers, not of vectors");
  return {8 * static_cast<int>(sizeof(T)), 0, 0, 0,
          std::is_floating_point_v<T> ? cudaChannelFormatKindFloat
          : std::is_signed_v<T>       ? cudaChannelFormatKindSigned
                                      : cudaChannelFormatKindUnsigned};
}

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
      void* devPtr;
      cudaChannelFormatDesc desc;
      std::size_t sizeInBytes;
    } linear;
  } res;
};

enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
struct cudaTextureDesc {
  cudaTextureReadMode readMode;
};

namespace gpuopt::emulation::detail {

struct LinearTexture {
  const void* data;
  std::size_t bytes;
  int elementBits;
};

}  // namespace gpuopt::emulation::detail

inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t* texture, const cudaResourceDesc* resource,
                                           const cudaTextureDesc* description, const void* view) {
  namespace emulated = gpuopt::emulation::detail;
  if (resource->resType != cudaResourceTypeLinear || view != nullptr ||
      description->readMode != cudaReadModeElementType)
    return emulated::failure(cudaErrorNotSupported,
                             "the emulated device has textures of linear memory, read as they are");
  const auto& linear = resource->res.linear;
  if (reinterpret_cast<std::uintptr_t>(linear.devPtr) % gpuopt::emulation::TEXTURE_ALIGNMENT != 0)
    return emulated::failure(
        cudaErrorInvalidValue,
        "a texture's memory is not aligned to " + std::to_string(gpuopt::emulation::TEXTURE_ALIGNMENT) + " bytes");
  if (!emulated::isCopyable("cudaCreateTextureObject", linear.devPtr, linear.sizeInBytes))
    return emulated::result(cudaErrorInvalidValue);
  *texture =
      reinterpret_cast<std::uintptr_t>(new emulated::LinearTexture{linear.devPtr, linear.sizeInBytes, linear.desc.x});
  return cudaSuccess;
}

inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  delete reinterpret_cast<gpuopt::emulation::detail::LinearTexture*>(texture);
  return cudaSuccess;
}

/// Element i; zero outside the texture, or if it holds elements of another size.
template <class T>
T tex1Dfetch(cudaTextureObject_t texture, int i) {
  const auto& linear = *reinterpret_cast<const gpuopt::emulation::detail::LinearTexture*>(texture);
  const bool inside = i >= 0 && static_cast<std::size_t>(i) < linear.bytes / sizeof(T) &&
                      linear.elementBits == 8 * static_cast<int>(sizeof(T));
  return inside ? static_cast<const T*>(linear.data)[i] : T{};
}
