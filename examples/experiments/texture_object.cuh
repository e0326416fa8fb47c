/// \file
/// Pictures and volumes as CUDA arrays, in pitched rows and in plain memory, and textures and surfaces of them.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cstddef>

namespace experiments {

/// In elements; the depth of a picture is 1.
struct ImageSize {
  int width, height, depth;

  __host__ __device__ constexpr std::size_t count() const {
    return std::size_t(width) * std::size_t(height) * std::size_t(depth);
  }
  __host__ __device__ constexpr bool holds(int x, int y, int z) const {
    return x >= 0 && x < width && y >= 0 && y < height && z >= 0 && z < depth;
  }
  __host__ __device__ constexpr std::size_t indexOf(int x, int y, int z) const {
    return (std::size_t(z) * std::size_t(height) + std::size_t(y)) * std::size_t(width) + std::size_t(x);
  }
};

/// A CUDA array of two or three dimensions, whose elements lie in memory as the hardware wants them.
class ImageArray {
 public:
  /// A copy of plain device memory.
  template <class T>
  ImageArray(const T* from, ImageSize size, unsigned flags = cudaArrayDefault) {
    const cudaChannelFormatDesc channels = cudaCreateChannelDesc<T>();
    const std::size_t width = std::size_t(size.width), height = std::size_t(size.height),
                      depth = std::size_t(size.depth);
    const cudaExtent extent = make_cudaExtent(width, height, depth > 1 ? depth : 0);
    gpuopt::check(cudaMalloc3DArray(&array_, &channels, extent, flags), "cudaMalloc3DArray");
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(const_cast<T*>(from), width * sizeof(T), width, height);
    copy.dstArray = array_;
    copy.extent = make_cudaExtent(width, height, depth);
    copy.kind = cudaMemcpyDeviceToDevice;
    gpuopt::check(cudaMemcpy3D(&copy), "cudaMemcpy3D");
  }
  ImageArray(const ImageArray&) = delete;
  ImageArray& operator=(const ImageArray&) = delete;
  ~ImageArray() { cudaFreeArray(array_); }

  cudaResourceDesc resource() const {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    return resource;
  }

  /// A picture's elements, to plain device memory.
  template <class T>
  void copyTo(T* to, ImageSize size) const {
    const std::size_t row = std::size_t(size.width) * sizeof(T);
    gpuopt::check(cudaMemcpy2DFromArray(to, row, array_, 0, 0, row, std::size_t(size.height), cudaMemcpyDeviceToDevice),
                  "cudaMemcpy2DFromArray");
  }

 private:
  cudaArray_t array_ = nullptr;
};

/// Rows of a picture at a pitch that textures accept.
template <class T>
class PitchedImage {
 public:
  /// A copy of plain device memory.
  PitchedImage(const T* from, ImageSize size) : size_(size) {
    const std::size_t row = std::size_t(size.width) * sizeof(T), rows = std::size_t(size.height);
    gpuopt::check(cudaMallocPitch(&data_, &pitch_, row, rows), "cudaMallocPitch");
    gpuopt::check(cudaMemcpy2D(data_, pitch_, from, row, row, rows, cudaMemcpyDeviceToDevice), "cudaMemcpy2D");
  }
  PitchedImage(const PitchedImage&) = delete;
  PitchedImage& operator=(const PitchedImage&) = delete;
  ~PitchedImage() { cudaFree(data_); }

  cudaResourceDesc resource() const {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypePitch2D;
    resource.res.pitch2D.devPtr = data_;
    resource.res.pitch2D.desc = cudaCreateChannelDesc<T>();
    resource.res.pitch2D.width = std::size_t(size_.width);
    resource.res.pitch2D.height = std::size_t(size_.height);
    resource.res.pitch2D.pitchInBytes = pitch_;
    return resource;
  }

 private:
  T* data_ = nullptr;
  std::size_t pitch_ = 0;
  ImageSize size_;
};

/// How a texture is read: the same addressing mode in all dimensions.
struct TextureReading {
  cudaTextureAddressMode mode = cudaAddressModeClamp;
  cudaTextureFilterMode filter = cudaFilterModePoint;
  bool isNormalized = false;  ///< coordinates from 0 to 1
  cudaTextureReadMode read = cudaReadModeElementType;
};

class TextureObject {
 public:
  TextureObject(const cudaResourceDesc& resource, TextureReading reading) {
    cudaTextureDesc description{};
    description.addressMode[0] = description.addressMode[1] = description.addressMode[2] = reading.mode;
    description.filterMode = reading.filter;
    description.readMode = reading.read;
    description.normalizedCoords = reading.isNormalized ? 1 : 0;
    gpuopt::check(cudaCreateTextureObject(&texture_, &resource, &description, nullptr), "cudaCreateTextureObject");
  }
  TextureObject(const TextureObject&) = delete;
  TextureObject& operator=(const TextureObject&) = delete;
  ~TextureObject() { cudaDestroyTextureObject(texture_); }

  cudaTextureObject_t get() const { return texture_; }

 private:
  cudaTextureObject_t texture_ = 0;
};

class SurfaceObject {
 public:
  explicit SurfaceObject(const cudaResourceDesc& resource) {
    gpuopt::check(cudaCreateSurfaceObject(&surface_, &resource), "cudaCreateSurfaceObject");
  }
  SurfaceObject(const SurfaceObject&) = delete;
  SurfaceObject& operator=(const SurfaceObject&) = delete;
  ~SurfaceObject() { cudaDestroySurfaceObject(surface_); }

  cudaSurfaceObject_t get() const { return surface_; }

 private:
  cudaSurfaceObject_t surface_ = 0;
};

}  // namespace experiments
