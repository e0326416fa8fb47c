/// Shared by the tests of structures: structures of any size and alignment, and arrays of them at any address
/// that their alignment allows.
// SPDX-License-Identifier: MIT
#pragma once

#include "any_bits.cuh"
#include "device_array.cuh"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace gpuopt::test {

/// SIZE bytes at an alignment.
template <std::size_t SIZE, std::size_t ALIGN = 1>
struct alignas(ALIGN) Blob {
  unsigned char bytes[SIZE];
};

/// n structures on the device, `offset` bytes off 256-byte alignment, poisoned and between guard bytes.
template <class T>
class StructArray {
 public:
  explicit StructArray(std::size_t n, std::size_t offset = 0) : bytes_(n * sizeof(T), offset) {}

  explicit StructArray(const std::vector<T>& values, std::size_t offset = 0) : StructArray(values.size(), offset) {
    if (values.empty()) return;
    checkCuda(cudaMemcpy(data(), values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // as in DeviceArray
  }

  T* data() { return reinterpret_cast<T*>(bytes_.data()); }
  const T* data() const { return reinterpret_cast<const T*>(bytes_.data()); }
  std::size_t size() const { return bytes_.size() / sizeof(T); }

  /// Waits for the device; throws if a kernel failed or wrote to a guard byte.
  std::vector<T> toHost() const {
    const std::vector<unsigned char> bytes = bytes_.toHost();
    std::vector<T> values(size());
    if (!bytes.empty()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
    return values;
  }

 private:
  DeviceArray<unsigned char> bytes_;
};

/// The contents of a StructArray before it is written to.
template <class T>
std::vector<T> poisonedStructs(std::size_t n) {
  return StructArray<T>(n).toHost();
}

}  // namespace gpuopt::test
