/// Device memory of a test: poisoned before use, and between guard bytes that are checked when it is read.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::test {

/// Throws std::runtime_error if a call that the test itself makes has failed.
inline void checkCuda(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(code));
}

/// n elements of T on the device, all bytes 0xA5 until written, `offset` elements off 256-byte alignment.
template <class T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>, "device memory is copied bytewise");

 public:
  explicit DeviceArray(std::size_t n, std::size_t offset = 0) : size_(n), headBytes_(GUARD_BYTES + offset * sizeof(T)) {
    checkCuda(cudaMalloc(reinterpret_cast<void**>(&base_), allBytes()), "cudaMalloc");
    checkCuda(cudaMemset(base_, GUARD, allBytes()), "cudaMemset");
    if (n > 0) checkCuda(cudaMemset(data(), POISON, n * sizeof(T)), "cudaMemset");
    checkCuda(cudaDeviceSynchronize(),
              "cudaDeviceSynchronize");  // the test may go on in a non-blocking stream
  }

  explicit DeviceArray(const std::vector<T>& values, std::size_t offset = 0) : DeviceArray(values.size(), offset) {
    fill(values);
  }

  DeviceArray(DeviceArray&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), size_(other.size_), headBytes_(other.headBytes_) {}
  DeviceArray& operator=(DeviceArray&&) = delete;
  ~DeviceArray() { cudaFree(base_); }

  T* data() { return reinterpret_cast<T*>(base_ + headBytes_); }
  const T* data() const { return reinterpret_cast<const T*>(base_ + headBytes_); }
  std::size_t size() const { return size_; }

  void fill(const std::vector<T>& values) {
    if (values.size() != size_) throw std::invalid_argument("DeviceArray::fill: sizes differ");
    if (size_ == 0) return;
    checkCuda(cudaMemcpy(data(), values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  /// Waits for the device; throws if an earlier kernel failed or wrote to a guard byte.
  std::vector<T> toHost() const {
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::vector<unsigned char> bytes(allBytes());
    checkCuda(cudaMemcpy(bytes.data(), base_, bytes.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool guard = i < headBytes_ || i >= headBytes_ + size_ * sizeof(T);
      if (guard && bytes[i] != GUARD) throw std::runtime_error("DeviceArray: overwritten guard, byte " + describe(i));
    }
    std::vector<T> values(size_);
    if (size_ > 0) std::memcpy(static_cast<void*>(values.data()), bytes.data() + headBytes_, size_ * sizeof(T));
    return values;
  }

 private:
  static constexpr std::size_t GUARD_BYTES = 256;
  static constexpr unsigned char GUARD = 0x5C;
  static constexpr unsigned char POISON = 0xA5;

  std::size_t allBytes() const { return headBytes_ + size_ * sizeof(T) + GUARD_BYTES; }

  std::string describe(std::size_t byte) const {
    return byte < headBytes_ ? std::to_string(headBytes_ - byte) + " before the first element"
                             : std::to_string(byte - headBytes_ - size_ * sizeof(T)) + " after the last element";
  }

  unsigned char* base_ = nullptr;
  std::size_t size_;
  std::size_t headBytes_;
};

}  // namespace gpuopt::test
