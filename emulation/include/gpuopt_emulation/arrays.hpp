/// Arrays of one to three dimensions, which textures read and surfaces write, and copies to and from them.
// SPDX-License-Identifier: MIT
#pragma once

#include "channels.hpp"
#include "copies.hpp"
#include "limits.hpp"
#include "pitched.hpp"
#include "streams.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

/// Rows of elements one after the other; a dimension that an array does not have is 1. Layers are planes.
struct cudaArray {
  cudaChannelFormatDesc channels;
  std::size_t width, height, depth;
  cudaExtent asked;  ///< as it was allocated, with zeros
  unsigned flags;
  unsigned char* data;

  std::size_t rowBytes() const { return width * gpuopt::emulation::detail::elementBytes(channels); }
};
using cudaArray_t = cudaArray*;
using cudaArray_const_t = const cudaArray*;

inline constexpr unsigned cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2,
                          cudaArrayCubemap = 4, cudaArrayTextureGather = 8, cudaArraySparse = 64,
                          cudaArrayDeferredMapping = 128;

struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};

namespace gpuopt::emulation::detail {

/// Whether a device can have an array of this size.
inline bool isSmallEnough(cudaExtent extent, unsigned flags) {
  const auto isWithin = [extent](std::size_t width, std::size_t height, std::size_t depth) {
    return extent.width <= width && extent.height <= height && extent.depth <= depth;
  };
  const bool isSurface = (flags & cudaArraySurfaceLoadStore) != 0;
  if ((flags & cudaArrayLayered) != 0) return isWithin(MAX_TEXTURE_LAYER, MAX_TEXTURE_LAYER, MAX_TEXTURE_LAYERS);
  if ((flags & cudaArrayTextureGather) != 0) return isWithin(MAX_TEXTURE_GATHER, MAX_TEXTURE_GATHER, 0);
  if (extent.depth > 0) return isWithin(MAX_TEXTURE_3D, MAX_TEXTURE_3D, MAX_TEXTURE_3D);
  if (extent.height > 0) return isWithin(MAX_TEXTURE_2D_WIDTH, MAX_TEXTURE_2D_HEIGHT, 0);
  return isWithin(isSurface ? MAX_SURFACE_1D : MAX_TEXTURE_1D, 0, 0);
}

/// Why there is no such array; cudaSuccess if there can be one.
inline cudaError_t arrayProblem(const cudaChannelFormatDesc& channels, cudaExtent extent, unsigned flags) {
  constexpr unsigned EMULATED = cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather;
  if (!isElement(channels)) return result(cudaErrorInvalidChannelDescriptor);
  if ((flags & ~EMULATED) != 0)
    return failure(cudaErrorNotSupported, "the emulated device has no cube maps and no sparse arrays");
  const bool isLayered = (flags & cudaArrayLayered) != 0;
  const bool isFlat = extent.height > 0 && extent.depth == 0;
  const bool hasGap = extent.height == 0 && extent.depth > 0 && !isLayered;
  const bool isValid = extent.width > 0 && !hasGap && (!isLayered || extent.depth > 0) &&
                       ((flags & cudaArrayTextureGather) == 0 || isFlat);
  return resultIf(isValid && isSmallEnough(extent, flags));
}

}  // namespace gpuopt::emulation::detail

/// With cudaArrayLayered, the depth is the number of layers, and layers without a height are rows.
inline cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* channels, cudaExtent extent,
                                     unsigned flags = cudaArrayDefault) {
  namespace emulated = gpuopt::emulation::detail;
  *array = nullptr;
  if (const cudaError_t code = emulated::arrayProblem(*channels, extent, flags); code != cudaSuccess) return code;
  const std::size_t height = (std::max)(extent.height, std::size_t{1}),
                    depth = (std::max)(extent.depth, std::size_t{1});
  const std::size_t bytes = extent.width * height * depth * emulated::elementBytes(*channels);
  void* const data = emulated::memory().allocate(bytes, cudaMemoryTypeDevice);
  if (data == nullptr) return emulated::result(cudaErrorMemoryAllocation);
  *array = new cudaArray{*channels, extent.width, height, depth, extent, flags, static_cast<unsigned char*>(data)};
  return cudaSuccess;
}

/// Of two dimensions, or of one if the height is 0.
inline cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* channels, std::size_t width,
                                   std::size_t height = 0, unsigned flags = cudaArrayDefault) {
  return cudaMalloc3DArray(array, channels, {width, height, 0}, flags);
}

inline cudaError_t cudaFreeArray(cudaArray_t array) {
  if (array == nullptr) return cudaSuccess;
  const cudaError_t code = cudaFree(array->data);
  delete array;
  return code;
}

inline cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels, cudaArray_const_t array) {
  *channels = array->channels;
  return cudaSuccess;
}

/// What the array was allocated with; pointers may be null.
inline cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels, cudaExtent* extent, unsigned* flags,
                                    cudaArray_t array) {
  if (channels != nullptr) *channels = array->channels;
  if (extent != nullptr) *extent = array->asked;
  if (flags != nullptr) *flags = array->flags;
  return cudaSuccess;
}

namespace gpuopt::emulation::detail {

/// Where `height` rows of `width` bytes begin in a plane of an array; null if the array does not have them.
inline unsigned char* rowsOf(cudaArray_const_t array, std::size_t x, std::size_t y, std::size_t z, std::size_t width,
                             std::size_t height) {
  const std::size_t rowBytes = array->rowBytes();
  const bool isWithin =
      x <= rowBytes && width <= rowBytes - x && y <= array->height && height <= array->height - y && z < array->depth;
  if (isWithin) return array->data + (z * array->height + y) * rowBytes + x;
  report("a copy reaches beyond an array of " + std::to_string(array->height) + " rows of " + std::to_string(rowBytes) +
         " bytes");
  return nullptr;
}

/// Rows of a plane of a copy in three dimensions.
struct Rows {
  unsigned char* data;
  std::size_t pitch;
};

inline Rows rowsOf(cudaArray_const_t array, const cudaPitchedPtr& pointer, cudaPos at, std::size_t z, std::size_t width,
                   std::size_t height) {
  if (array != nullptr)
    return {rowsOf(array, at.x * elementBytes(array->channels), at.y, at.z + z, width, height), array->rowBytes()};
  auto* const data = static_cast<unsigned char*>(pointer.ptr);
  return {data + ((at.z + z) * pointer.ysize + at.y) * pointer.pitch + at.x, pointer.pitch};
}

}  // namespace gpuopt::emulation::detail

// ------------------------------------------------------------------------------------------ copies

/// `x` and `width` are in bytes.
inline cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                            std::size_t pitch, std::size_t width, std::size_t height,
                                            cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  unsigned char* const rows = gpuopt::emulation::detail::rowsOf(to, x, y, 0, width, height);
  if (rows == nullptr) return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  return cudaMemcpy2DAsync(rows, to->rowBytes(), from, pitch, width, height, kind, stream);
}

inline cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from,
                                       std::size_t pitch, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  unsigned char* const rows = gpuopt::emulation::detail::rowsOf(to, x, y, 0, width, height);
  if (rows == nullptr) return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  return cudaMemcpy2D(rows, to->rowBytes(), from, pitch, width, height, kind);
}

inline cudaError_t cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                              std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind,
                                              cudaStream_t stream = nullptr) {
  const unsigned char* const rows = gpuopt::emulation::detail::rowsOf(from, x, y, 0, width, height);
  if (rows == nullptr) return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  return cudaMemcpy2DAsync(to, pitch, rows, from->rowBytes(), width, height, kind, stream);
}

inline cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x,
                                         std::size_t y, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  const unsigned char* const rows = gpuopt::emulation::detail::rowsOf(from, x, y, 0, width, height);
  if (rows == nullptr) return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  return cudaMemcpy2D(to, pitch, rows, from->rowBytes(), width, height, kind);
}

inline cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t toX, std::size_t toY, cudaArray_const_t from,
                                            std::size_t fromX, std::size_t fromY, std::size_t width, std::size_t height,
                                            cudaMemcpyKind kind = cudaMemcpyDeviceToDevice) {
  const unsigned char* const rows = gpuopt::emulation::detail::rowsOf(from, fromX, fromY, 0, width, height);
  if (rows == nullptr) return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  return cudaMemcpy2DToArray(to, toX, toY, rows, from->rowBytes(), width, height, kind);
}

/// The older form: bytes in the order of the array, from byte `x` of row `y` on.
inline cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t bytes,
                                     cudaMemcpyKind kind) {
  namespace emulated = gpuopt::emulation::detail;
  const std::size_t begin = y * to->rowBytes() + x, all = to->height * to->rowBytes();
  if (begin > all || bytes > all - begin) return emulated::result(cudaErrorInvalidValue);
  return cudaMemcpy(to->data + begin, from, bytes, kind);
}
inline cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, std::size_t x, std::size_t y,
                                       std::size_t bytes, cudaMemcpyKind kind) {
  namespace emulated = gpuopt::emulation::detail;
  const std::size_t begin = y * from->rowBytes() + x, all = from->height * from->rowBytes();
  if (begin > all || bytes > all - begin) return emulated::result(cudaErrorInvalidValue);
  return cudaMemcpy(to, from->data + begin, bytes, kind);
}

/// Positions and the extent's width are in elements of an array if there is one, and otherwise in bytes.
inline cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* p, cudaStream_t stream = nullptr) {
  namespace emulated = gpuopt::emulation::detail;
  const cudaArray_const_t array = p->srcArray != nullptr ? p->srcArray : p->dstArray;
  const std::size_t width = p->extent.width * (array == nullptr ? 1 : emulated::elementBytes(array->channels));
  for (std::size_t z = 0; z < p->extent.depth; ++z) {
    const emulated::Rows from = emulated::rowsOf(p->srcArray, p->srcPtr, p->srcPos, z, width, p->extent.height);
    const emulated::Rows to = emulated::rowsOf(p->dstArray, p->dstPtr, p->dstPos, z, width, p->extent.height);
    if (from.data == nullptr || to.data == nullptr) return emulated::result(cudaErrorInvalidValue);
    const cudaError_t code =
        cudaMemcpy2DAsync(to.data, to.pitch, from.data, from.pitch, width, p->extent.height, p->kind, stream);
    if (code != cudaSuccess) return code;
  }
  return cudaSuccess;
}

inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* p) {
  const cudaError_t code = cudaMemcpy3DAsync(p, cudaStreamLegacy);
  return code != cudaSuccess ? code : cudaStreamSynchronize(cudaStreamLegacy);
}
