/// What the tests of textures and surfaces share: arrays, texture and surface objects that free themselves, and kernels
/// that fetch at a list of coordinates. The tests prove the emulated device: they also run on GPUs.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <gpuopt/launch.cuh>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace texture_test {

using gpuopt::test::checkCuda;
using gpuopt::test::DeviceArray;

/// Vectors of one, two or four random numbers.
template <class T>
std::vector<T> randomElements(std::size_t n, unsigned seed) {
  using Number = decltype(T::x);
  const auto numbers = gpuopt::test::randomVector<Number>(n * (sizeof(T) / sizeof(Number)), seed);
  std::vector<T> elements(n);
  std::memcpy(static_cast<void*>(elements.data()), numbers.data(), n * sizeof(T));
  return elements;
}

template <class T>
bool areSame(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

/// A CUDA array, filled with values in the order of its rows and planes.
template <class T>
class Array {
 public:
  Array(const std::vector<T>& values, cudaExtent extent, unsigned flags = cudaArrayDefault,
        const cudaChannelFormatDesc& channels = cudaCreateChannelDesc<T>())
      : extent_(extent) {
    checkCuda(cudaMalloc3DArray(&array_, &channels, extent, flags), "cudaMalloc3DArray");
    fill(values);
  }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { cudaFreeArray(array_); }

  cudaArray_t get() const { return array_; }

  cudaResourceDesc resource() const {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array_;
    return resource;
  }

  std::vector<T> toHost() const {
    std::vector<T> values(extent_.width * rows() * planes());
    if (extent_.depth == 0) {
      checkCuda(
          cudaMemcpy2DFromArray(values.data(), rowBytes(), array_, 0, 0, rowBytes(), rows(), cudaMemcpyDeviceToHost),
          "cudaMemcpy2DFromArray");
      return values;
    }
    cudaMemcpy3DParms copy{};
    copy.srcArray = array_;
    copy.dstPtr = pitched(values.data());
    copyAll(copy, cudaMemcpyDeviceToHost);
    return values;
  }

 private:
  std::size_t rowBytes() const { return extent_.width * sizeof(T); }
  std::size_t rows() const { return (std::max)(extent_.height, std::size_t{1}); }
  std::size_t planes() const { return (std::max)(extent_.depth, std::size_t{1}); }

  cudaPitchedPtr pitched(const T* values) const {
    return make_cudaPitchedPtr(const_cast<T*>(values), rowBytes(), extent_.width, rows());
  }

  void fill(const std::vector<T>& values) {
    REQUIRE(values.size() == extent_.width * rows() * planes());
    if (extent_.depth == 0) {
      checkCuda(
          cudaMemcpy2DToArray(array_, 0, 0, values.data(), rowBytes(), rowBytes(), rows(), cudaMemcpyHostToDevice),
          "cudaMemcpy2DToArray");
      return;
    }
    cudaMemcpy3DParms copy{};
    copy.srcPtr = pitched(values.data());
    copy.dstArray = array_;
    copyAll(copy, cudaMemcpyHostToDevice);
  }

  void copyAll(cudaMemcpy3DParms& copy, cudaMemcpyKind kind) const {
    copy.extent = make_cudaExtent(extent_.width, rows(), planes());
    copy.kind = kind;
    checkCuda(cudaMemcpy3D(&copy), "cudaMemcpy3D");
  }

  cudaArray_t array_ = nullptr;
  cudaExtent extent_;
};

class Texture {
 public:
  Texture(const cudaResourceDesc& resource, const cudaTextureDesc& description) {
    checkCuda(cudaCreateTextureObject(&texture_, &resource, &description, nullptr), "cudaCreateTextureObject");
  }
  Texture(const Texture&) = delete;
  Texture& operator=(const Texture&) = delete;
  ~Texture() { cudaDestroyTextureObject(texture_); }

  cudaTextureObject_t get() const { return texture_; }

 private:
  cudaTextureObject_t texture_ = 0;
};

class Surface {
 public:
  explicit Surface(const cudaResourceDesc& resource) {
    checkCuda(cudaCreateSurfaceObject(&surface_, &resource), "cudaCreateSurfaceObject");
  }
  Surface(const Surface&) = delete;
  Surface& operator=(const Surface&) = delete;
  ~Surface() { cudaDestroySurfaceObject(surface_); }

  cudaSurfaceObject_t get() const { return surface_; }

 private:
  cudaSurfaceObject_t surface_ = 0;
};

enum class Coordinates { inElements, normalized };

/// One addressing mode for all dimensions.
inline cudaTextureDesc describe(cudaTextureAddressMode mode, cudaTextureFilterMode filter,
                                Coordinates coordinates = Coordinates::inElements,
                                cudaTextureReadMode read = cudaReadModeElementType) {
  cudaTextureDesc description{};
  description.addressMode[0] = description.addressMode[1] = description.addressMode[2] = mode;
  description.filterMode = filter;
  description.readMode = read;
  description.normalizedCoords = coordinates == Coordinates::normalized ? 1 : 0;
  return description;
}

template <class T>
cudaResourceDesc linearResource(T* data, std::size_t n, const cudaChannelFormatDesc& channels) {
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = channels;
  resource.res.linear.sizeInBytes = n * sizeof(T);
  return resource;
}

/// Where to fetch; a coordinate that a texture does not have is ignored.
struct At {
  float x, y, z;
};

template <int DIMENSIONS>
struct Fetch {
  cudaTextureObject_t texture;

  template <class T>
  __device__ T at(At a) const {
    if constexpr (DIMENSIONS == 1) return tex1D<T>(texture, a.x);
    if constexpr (DIMENSIONS == 2) return tex2D<T>(texture, a.x, a.y);
    if constexpr (DIMENSIONS == 3) return tex3D<T>(texture, a.x, a.y, a.z);
  }
};
/// z is the layer.
struct FetchLayered1D {
  cudaTextureObject_t texture;
  template <class T>
  __device__ T at(At a) const {
    return tex1DLayered<T>(texture, a.x, static_cast<int>(a.z));
  }
};
struct FetchLayered2D {
  cudaTextureObject_t texture;
  template <class T>
  __device__ T at(At a) const {
    return tex2DLayered<T>(texture, a.x, a.y, static_cast<int>(a.z));
  }
};
/// z is the component.
struct Gather {
  cudaTextureObject_t texture;
  template <class T>
  __device__ T at(At a) const {
    return tex2Dgather<T>(texture, a.x, a.y, static_cast<int>(a.z));
  }
};

template <class T, class How>
__global__ void fetchEach(How how, const At* at, T* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = how.template at<T>(at[i]);
}

/// One thread for each of n pieces of work, in blocks of 128.
inline gpuopt::LaunchConfig configFor(std::size_t n) {
  gpuopt::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>((n + 127) / 128));
  config.block = dim3(128);
  return config;
}

/// What is fetched at each of the coordinates.
template <class T, class How>
std::vector<T> fetched(How how, const std::vector<At>& at) {
  const DeviceArray<At> where(at);
  DeviceArray<T> out(at.size());
  gpuopt::launch(fetchEach<T, How>, configFor(at.size()), how, where.data(), out.data(), static_cast<int>(at.size()));
  return out.toHost();
}

}  // namespace texture_test
