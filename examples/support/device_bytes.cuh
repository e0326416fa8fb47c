/// \file
/// Device memory that frees itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/error.cuh>

#include <cstddef>

/// So many bytes of device memory.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::size_t bytes) { gpuopt::check(cudaMalloc(&data_, bytes), "cudaMalloc"); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { cudaFree(data_); }

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
};
