/// \file
/// Arrays in device memory that free themselves.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/error.cuh>

#include <cstddef>
#include <vector>

/// n elements of T in device memory.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t n) : n_(n) { gpuopt::check(cudaMalloc(&data_, n * sizeof(T)), "cudaMalloc"); }

  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    gpuopt::check(cudaMemcpy(data_, values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }

  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }
  std::size_t bytes() const { return n_ * sizeof(T); }

  /// Overwrites every byte, so that a missing result shows.
  void poison() const { gpuopt::check(cudaMemset(data_, 0xA5, bytes()), "cudaMemset"); }

  /// Waits for the default stream, as every cudaMemcpy does.
  std::vector<T> toHost() const {
    std::vector<T> values(n_);
    gpuopt::check(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }

 private:
  std::size_t n_;
  T* data_ = nullptr;
};
