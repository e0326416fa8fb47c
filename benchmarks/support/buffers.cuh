/// \file
/// Buffers of random data for benchmarks, and the check of what came out.
// SPDX-License-Identifier: MIT
#pragma once

#include "report.cuh"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// COUNT words: structures of any size.
template <class Word, int COUNT>
struct Structure {
  Word words[COUNT];
};

/// A type as an argument.
template <class T>
struct Type {
  using type = T;
};

namespace detail {

// Normal numbers below 2 when taken as a float, as two halves or as half of a double: arithmetic of a peer keeps every
// bit.
__device__ inline std::uint32_t wordAt(std::size_t i) {
  std::uint64_t h = i * 0x9E3779B97F4A7C15ull;
  h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9ull;
  h = (h ^ (h >> 32)) * 0x94D049BB133111EBull;
  return (static_cast<std::uint32_t>(h >> 32) & ~0x40004000u) | 0x20002000u;
}

__global__ void fillWords(std::uint32_t* words, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) words[i] = wordAt(i);
}

template <class T>
__device__ bool sameBytes(const T& a, const T& b) {
  const auto* x = reinterpret_cast<const unsigned char*>(&a);
  const auto* y = reinterpret_cast<const unsigned char*>(&b);
  for (std::size_t i = 0; i < sizeof(T); ++i)
    if (x[i] != y[i]) return false;
  return true;
}

template <class Holds>
__global__ void countFailures(std::size_t n, Holds holds, unsigned* failures) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    if (!holds(i)) atomicAdd(failures, 1u);
}

}  // namespace detail

/// A kernel of one thread for each of n elements.
template <class Kernel, class... Args>
void launchThreads(Kernel kernel, std::size_t n, cudaStream_t stream, Args... arguments) {
  kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(arguments...);
  check(cudaGetLastError(), "a thread for each element");
}

/// One buffer of random data, which stays as it is, and one for results.
class Buffers {
 public:
  Buffers(std::size_t bytes, cudaStream_t stream) : stream_(stream), in_(bytes), out_(bytes) {
    detail::fillWords<<<4096, 256, 0, stream>>>(in_.as<std::uint32_t>(), bytes / sizeof(std::uint32_t));
    check(cudaGetLastError(), "fillWords");
  }

  std::size_t bytes() const { return in_.bytes(); }

  template <class T>
  const T* in() const {
    return in_.as<T>();
  }

  template <class T>
  T* out() const {
    return out_.as<T>();
  }

  /// No 32-bit word of the data has all bits set.
  void poison(std::size_t bytes) const {
    check(cudaMemsetAsync(out_.as<void>(), 0xFF, bytes, stream_), "cudaMemsetAsync");
  }

  /// For what works in place.
  void copyInToOut(std::size_t bytes) const {
    check(cudaMemcpyAsync(out_.as<void>(), in_.as<void>(), bytes, cudaMemcpyDeviceToDevice, stream_),
          "cudaMemcpyAsync");
  }

  /// Whether holds(i), which is asked on the device, is true for every i below n.
  template <class Holds>
  bool areRight(std::size_t n, Holds holds) const {
    auto* failures = failures_.as<unsigned>();
    check(cudaMemsetAsync(failures, 0, sizeof *failures, stream_), "cudaMemsetAsync");
    detail::countFailures<<<8192, 256, 0, stream_>>>(n, holds, failures);
    check(cudaGetLastError(), "countFailures");
    unsigned count = 1;
    check(cudaMemcpyAsync(&count, failures, sizeof count, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return count == 0;
  }

  /// A candidate after whose call, on poisoned results, holds(i) is true for every i below n.
  template <class Call, class Holds>
  Candidate candidate(const char* name, bool isPeer, const Call& call, std::size_t n, Holds holds) const {
    const auto correct = [=] {
      poison(bytes());
      call();
      return areRight(n, holds);
    };
    return {name, call, correct, false, 0, isPeer};
  }

  /// The ways to copy as many bytes as a call moves in one direction.
  std::vector<Candidate> copies(std::size_t bytes) const {
    return bench::copies(in<void>(), out<void>(), bytes, stream_);
  }

 private:
  cudaStream_t stream_;
  DeviceMemory in_;
  DeviceMemory out_;
  DeviceMemory failures_{sizeof(unsigned)};
};

/// Bytes read and written a second by the fastest copy of what a buffer holds, up to 2 GiB.
inline double copyBandwidth(Timer& timer, const Buffers& buffers) {
  return copyBandwidth(timer, buffers.in<void>(), buffers.out<void>(), buffers.bytes());
}

}  // namespace bench
