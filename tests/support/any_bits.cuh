/// Elements whose bits tell their place, and memory whose every element is known before and checked after.
// SPDX-License-Identifier: MIT
#pragma once

#include "catch.hpp"
#include "device_array.cuh"

#include <gpuopt/core/integers.cuh>
#include <gpuopt/host/launch.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gpuopt::test {

#ifdef GPUOPT_EMULATION
constexpr bool emulated = true;
#else
constexpr bool emulated = false;
#endif

/// A hash of i (Steele, Lea and Flood 2014): those of neighbours have nothing in common.
__host__ __device__ inline std::uint64_t hashOf(std::uint64_t i) {
  i += 0x9E3779B97F4A7C15u;
  i = (i ^ (i >> 30)) * 0xBF58476D1CE4E5B9u;
  i = (i ^ (i >> 27)) * 0x94D049BB133111EBu;
  return i ^ (i >> 31);
}

/// The element for a place: any bits.
struct AnyBits {
  template <class T>
  static __host__ __device__ T at(std::uint64_t place) {
    T value;
    auto* bytes = reinterpret_cast<unsigned char*>(&value);
    for (std::size_t first = 0; first < sizeof(T); first += 8) {
      const std::uint64_t hash = hashOf(64 * place + first / 8);
      for (std::size_t i = 0; i < 8 && first + i < sizeof(T); ++i)
        bytes[first + i] = static_cast<unsigned char>(hash >> (8 * i));
    }
    return value;
  }
};

/// Elements for n places, counted from `code` on.
template <class T>
std::vector<T> indexCoded(std::size_t n, std::uint64_t code = 0) {
  std::vector<T> values;
  values.reserve(n);
  for (std::size_t i = 0; i < n; ++i) values.push_back(AnyBits::at<T>(code + i));
  return values;
}

template <class T>
__host__ __device__ bool sameBits(const T& a, const T& b) {
  const auto* x = reinterpret_cast<const unsigned char*>(&a);
  const auto* y = reinterpret_cast<const unsigned char*>(&b);
  for (std::size_t i = 0; i < sizeof(T); ++i)
    if (x[i] != y[i]) return false;
  return true;
}

template <class T>
bool sameBytes(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(static_cast<const void*>(a.data()), static_cast<const void*>(b.data()),
                                   a.size() * sizeof(T)) == 0);
}

template <class Holds>
__global__ void firstFailureKernel(std::size_t n, Holds holds, unsigned long long* first) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    if (!holds(i)) atomicMin(first, static_cast<unsigned long long>(i));
}

/// Asks about device memory: by a kernel, or by a loop on the host where that can see it and is faster.
class Inspector {
 public:
  /// The smallest i below n for which holds(i) is false, or n, after all that the device has been given to
  /// do. holds is called for every i on a GPU, up to the result on the emulated device.
  template <class Holds>
  std::size_t firstFailure(std::size_t n, Holds holds) {
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if constexpr (emulated) {
      std::size_t i = 0;
      while (i < n && holds(i)) ++i;
      return i;
    } else {
      if (n == 0) return 0;
      unsigned long long first = n;
      checkCuda(cudaMemcpy(first_.data(), &first, sizeof first, cudaMemcpyHostToDevice), "cudaMemcpy");
      LaunchConfig config;
      config.grid = dim3(static_cast<unsigned>(detail::smallerOf(detail::ceilDivide(n, 256), std::size_t{4096})));
      config.block = dim3(256);
      launch(firstFailureKernel<Holds>, config, n, holds, first_.data());
      checkCuda(cudaMemcpy(&first, first_.data(), sizeof first, cudaMemcpyDeviceToHost), "cudaMemcpy");
      return static_cast<std::size_t>(first);
    }
  }

 private:
  DeviceArray<unsigned long long> first_{1};
};

/// Gives element i of an array the value for the place code + i. Holds always.
template <class Values, class T>
struct Paint {
  T* data;
  std::uint64_t code;

  __host__ __device__ bool operator()(std::size_t i) const {
    data[i] = Values::template at<T>(code + i);
    return true;
  }
};

template <class Values, class T>
struct IsPainted {
  const T* data;
  std::uint64_t code;

  __host__ __device__ bool operator()(std::size_t i) const {
    return sameBits(data[i], Values::template at<T>(code + i));
  }
};

/// False, with a warning, if the device has not so many bytes left.
inline bool hasRoom(std::size_t bytes) {
  if constexpr (emulated) return true;
  std::size_t free = 0, all = 0;
  checkCuda(cudaMemGetInfo(&free, &all), "cudaMemGetInfo");
  if (free > bytes + bytes / 8) return true;
  WARN("skipped: " << bytes << " bytes are needed, " << free << " are free");
  return false;
}

}  // namespace gpuopt::test
