/// \file
/// Arrays in device memory that free themselves, for examples that are about something else.
// SPDX-License-Identifier: MIT
#pragma once

#include "device_bytes.cuh"

#include <cstddef>
#include <vector>

/// n elements of T in device memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n) : n_(n), memory_(n * sizeof(T)) {}

  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    gpuopt::check(cudaMemcpy(data(), values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }

  T* data() const { return memory_.as<T>(); }

  /// Waits for the default stream, as every cudaMemcpy does.
  std::vector<T> toHost() const {
    std::vector<T> values(n_);
    gpuopt::check(cudaMemcpy(values.data(), data(), n_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

 private:
  std::size_t n_;
  DeviceBytes memory_;
};
