/// \file
/// Textures and buffers of OpenGL in the hands of CUDA.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/error.cuh>

#include <cuda_gl_interop.h>

#include <cstddef>
#include <stdexcept>

/// An object of OpenGL that CUDA knows. Registering is expensive: once, not for each frame.
class SharedResource {
 public:
  /// A texture of two dimensions; flags: cudaGraphicsRegisterFlagsReadOnly or
  /// cudaGraphicsRegisterFlagsSurfaceLoadStore.
  static SharedResource texture(GLuint texture, unsigned flags) {
    SharedResource shared;
    gpuopt::check(cudaGraphicsGLRegisterImage(&shared.resource_, texture, GL_TEXTURE_2D, flags),
                  "cudaGraphicsGLRegisterImage");
    return shared;
  }
  static SharedResource buffer(GLuint buffer, unsigned flags) {
    SharedResource shared;
    gpuopt::check(cudaGraphicsGLRegisterBuffer(&shared.resource_, buffer, flags), "cudaGraphicsGLRegisterBuffer");
    return shared;
  }
  SharedResource(SharedResource&& other) noexcept : resource_(other.resource_) { other.resource_ = nullptr; }
  SharedResource& operator=(SharedResource&&) = delete;
  ~SharedResource() {
    if (resource_ != nullptr) cudaGraphicsUnregisterResource(resource_);
  }

  cudaGraphicsResource_t get() const { return resource_; }

 private:
  SharedResource() = default;

  cudaGraphicsResource_t resource_ = nullptr;
};

/// Between its construction and its end the resource is CUDA's, before and after OpenGL's. Both wait for each other's
/// work: what OpenGL has drawn is there for kernels, and what kernels have written is there to be drawn.
class MappedResource {
 public:
  explicit MappedResource(const SharedResource& shared) : resource_(shared.get()) {
    gpuopt::check(cudaGraphicsMapResources(1, &resource_), "cudaGraphicsMapResources");
  }
  MappedResource(const MappedResource&) = delete;
  MappedResource& operator=(const MappedResource&) = delete;
  ~MappedResource() { cudaGraphicsUnmapResources(1, &resource_); }

  /// A texture's pixels, to make texture and surface objects of.
  cudaResourceDesc array() const {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    gpuopt::check(cudaGraphicsSubResourceGetMappedArray(&resource.res.array.array, resource_, 0, 0),
                  "cudaGraphicsSubResourceGetMappedArray");
    return resource;
  }

  /// A buffer's elements. Throws std::runtime_error if there are less than n.
  template <class T>
  T* elements(std::size_t n) const {
    void* data = nullptr;
    std::size_t bytes = 0;
    gpuopt::check(cudaGraphicsResourceGetMappedPointer(&data, &bytes, resource_),
                  "cudaGraphicsResourceGetMappedPointer");
    if (bytes < n * sizeof(T)) throw std::runtime_error("a mapped buffer is too short");
    return static_cast<T*>(data);
  }

 private:
  cudaGraphicsResource_t resource_;
};
