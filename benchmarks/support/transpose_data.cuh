/// \file
/// Shapes, element types and buffers of the benchmarks of transpositions, and the check of what came out.
// SPDX-License-Identifier: MIT
#pragma once

#include "report.cuh"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

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

/// A batch of matrices of rows x cols, whose transposes are cols x rows. The leading dimensions count
/// elements; the matrices of a batch follow each other.
struct Shape {
  std::size_t rows;
  std::size_t cols;
  std::size_t inLd;
  std::size_t outLd;
  std::size_t batch;

  __host__ __device__ std::size_t inStride() const { return rows * inLd; }
  __host__ __device__ std::size_t outStride() const { return cols * outLd; }
  __host__ __device__ std::size_t elements() const { return rows * cols * batch; }
  bool isDense() const { return inLd == cols && outLd == rows; }

  /// What one of the buffers must hold.
  std::size_t extent() const { return batch * (std::max)(inStride(), outStride()); }

  std::string text() const {
    std::string text = std::to_string(rows) + " x " + std::to_string(cols);
    if (!isDense()) text += ", ld " + std::to_string(inLd) + " and " + std::to_string(outLd);
    if (batch > 1) text += ", batch " + std::to_string(batch);
    return text;
  }
};

inline Shape dense(std::size_t rows, std::size_t cols, std::size_t batch = 1) {
  return {rows, cols, cols, rows, batch};
}

namespace detail {

// A normal number below 2 when taken as float or as half of a double: arithmetic of a peer keeps every bit.
__device__ inline std::uint32_t wordAt(std::size_t i) {
  std::uint64_t h = i * 0x9E3779B97F4A7C15ull;
  h = (h ^ (h >> 29)) * 0xBF58476D1CE4E5B9ull;
  h = (h ^ (h >> 32)) * 0x94D049BB133111EBull;
  return (static_cast<std::uint32_t>(h >> 32) & ~0x40000000u) | 0x20000000u;
}

__global__ void fillWords(std::uint32_t* words, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    words[i] = wordAt(i);
}

template <class T>
__device__ bool sameBytes(const T& a, const T& b) {
  const auto* x = reinterpret_cast<const unsigned char*>(&a);
  const auto* y = reinterpret_cast<const unsigned char*>(&b);
  for (std::size_t i = 0; i < sizeof(T); ++i)
    if (x[i] != y[i]) return false;
  return true;
}

template <class In, class Out, class Function>
__global__ void countWrong(const In* in, const Out* out, Shape shape, Function function, unsigned* wrong) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < shape.elements();
       i += stride) {
    const std::size_t row = i % shape.rows;
    const std::size_t col = i / shape.rows % shape.cols;
    const std::size_t matrix = i / shape.rows / shape.cols;
    const Out expected = function(in[matrix * shape.inStride() + row * shape.inLd + col]);
    if (!sameBytes(out[matrix * shape.outStride() + col * shape.outLd + row], expected)) atomicAdd(wrong, 1u);
  }
}

}  // namespace detail

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

  /// Whether the results are the transposes of the data, each element changed by the function.
  template <class In, class Out, class Function>
  bool holdTranspose(const Shape& shape, Function function) const {
    auto* wrong = wrong_.as<unsigned>();
    check(cudaMemsetAsync(wrong, 0, sizeof *wrong, stream_), "cudaMemsetAsync");
    detail::countWrong<<<8192, 256, 0, stream_>>>(in<In>(), out<Out>(), shape, function, wrong);
    check(cudaGetLastError(), "countWrong");
    unsigned count = 1;
    check(cudaMemcpyAsync(&count, wrong, sizeof count, cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return count == 0;
  }

  /// The ways to copy as many bytes as a call moves in one direction.
  std::vector<Candidate> copies(std::size_t bytes) const {
    auto* from = in_.as<uint4>();
    auto* to = out_.as<uint4>();
    const cudaStream_t stream = stream_;
    const auto runtime = [=] {
      check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
    };
    const auto vectors = [=] {
      detail::copyVectors<<<static_cast<unsigned>(bytes / 4096), 256, 0, stream>>>(from, to);
      check(cudaGetLastError(), "copyVectors");
    };
    return {{"cudaMemcpyAsync", runtime, nullptr}, {"vector copy", vectors, nullptr}};
  }

 private:
  cudaStream_t stream_;
  DeviceMemory in_;
  DeviceMemory out_;
  DeviceMemory wrong_{sizeof(unsigned)};
};

}  // namespace bench
