/// Memory in rows of a pitch, and boxes of three dimensions: allocation, fills, copies.
// SPDX-License-Identifier: MIT
#pragma once

#include "copies.hpp"

#include <cstddef>
#include <cstring>

struct cudaPitchedPtr {
  void* ptr;
  std::size_t pitch, xsize, ysize;
};
struct cudaExtent {
  std::size_t width, height, depth;
};
struct cudaPos {
  std::size_t x, y, z;
};

inline cudaPitchedPtr make_cudaPitchedPtr(void* pointer, std::size_t pitch, std::size_t width, std::size_t height) {
  return {pointer, pitch, width, height};
}
inline cudaExtent make_cudaExtent(std::size_t width, std::size_t height, std::size_t depth) {
  return {width, height, depth};
}
inline cudaPos make_cudaPos(std::size_t x, std::size_t y, std::size_t z) { return {x, y, z}; }

namespace gpuopt::emulation::detail {

inline constexpr std::size_t PITCH_ALIGNMENT = 512;  // as on present-day GPUs

inline cudaError_t fillRowsAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                                 cudaStream_t stream) {
  const std::size_t bytes = height == 0 || width == 0 ? 0 : (height - 1) * pitch + width;
  if (width > pitch || !isCopyable("cudaMemset2D", pointer, bytes)) return result(cudaErrorInvalidValue);
  return submitAs(cudaGraphNodeTypeMemset, stream, [=] {
    noteTransfer({"a fill", true, reinterpret_cast<std::uintptr_t>(pointer), pitch, width, height});
    for (std::size_t row = 0; row < height && width > 0; ++row) {
      std::memset(static_cast<char*>(pointer) + row * pitch, value, width);
      noteWritten(static_cast<char*>(pointer) + row * pitch, width);
    }
    return cudaSuccess;
  });
}

}  // namespace gpuopt::emulation::detail

/// Rows of `width` bytes, each aligned to 512 bytes.
inline cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  constexpr std::size_t ALIGNMENT = gpuopt::emulation::detail::PITCH_ALIGNMENT;
  *pitch = (width + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  return cudaMalloc(pointer, *pitch * height);
}
template <class T>
cudaError_t cudaMallocPitch(T** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}

inline cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  pointer->xsize = extent.width;
  pointer->ysize = extent.height;
  return cudaMallocPitch(&pointer->ptr, &pointer->pitch, extent.width, extent.height * extent.depth);
}

inline cudaError_t cudaMemset2DAsync(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
                                     cudaStream_t stream = nullptr) {
  return gpuopt::emulation::detail::fillRowsAsync(pointer, pitch, value, width, height, stream);
}

inline cudaError_t cudaMemset2D(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  namespace emulated = gpuopt::emulation::detail;
  const cudaError_t code = cudaMemset2DAsync(pointer, pitch, value, width, height, cudaStreamLegacy);
  return code != cudaSuccess ? code : emulated::waitUnlessDevices(pointer);
}

inline cudaError_t cudaMemset3DAsync(cudaPitchedPtr to, int value, cudaExtent extent, cudaStream_t stream = nullptr) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    void* const slice = static_cast<char*>(to.ptr) + z * to.pitch * to.ysize;
    const cudaError_t code = cudaMemset2DAsync(slice, to.pitch, value, extent.width, extent.height, stream);
    if (code != cudaSuccess) return code;
  }
  return cudaSuccess;
}

inline cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  const cudaError_t code = cudaMemset3DAsync(to, value, extent, cudaStreamLegacy);
  return code != cudaSuccess ? code : gpuopt::emulation::detail::waitUnlessDevices(to.ptr);
}
