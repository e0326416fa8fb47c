/// \file
/// The structures of struct_bench, the kernels that gpuopt's are compared with, and the checks of results.
// SPDX-License-Identifier: MIT
#pragma once

#include "buffers.cuh"

#include <gpuopt/struct_io.cuh>

#include <cstddef>
#include <cstdint>

namespace bench {

/// SIZE bytes at an alignment, made of the widest words that it allows.
template <std::size_t SIZE, std::size_t ALIGN>
struct alignas(ALIGN) Record {
  using Word = gpuopt::detail::Word<(ALIGN < 4 ? ALIGN : 4)>;
  static constexpr unsigned WORDS = SIZE / sizeof(Word);
  Word words[WORDS];
};

// Every word goes elsewhere and is changed.
struct Mirror {
  template <std::size_t SIZE, std::size_t ALIGN>
  __host__ __device__ Record<SIZE, ALIGN> operator()(const Record<SIZE, ALIGN>& in) const {
    using R = Record<SIZE, ALIGN>;
    R out;
    for (unsigned i = 0; i < R::WORDS; ++i)
      out.words[i] = static_cast<typename R::Word>(in.words[R::WORDS - 1 - i] ^ 0x5A);
    return out;
  }
};

struct MirrorInPlace {
  template <class R>
  __host__ __device__ void operator()(R& value) const {
    value = Mirror{}(value);
  }
};

// A record made of its index.
template <class R>
struct Generate {
  __host__ __device__ R operator()(std::uint32_t i) const {
    R out;
    for (unsigned k = 0; k < R::WORDS; ++k) out.words[k] = static_cast<typename R::Word>(131 * i + k);
    return out;
  }
};

// A word that depends on every word of a record.
template <class R>
__device__ std::uint32_t fold(const R& value) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < R::WORDS; ++i) result = (result << 5 | result >> 27) ^ value.words[i];
  return result;
}

// ------------------------------------------------------------------------------------------- peers

template <class R>
__global__ void directTransform(const R* in, std::size_t n, R* out) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = Mirror{}(in[i]);
}

template <class R>
__global__ void directGenerate(std::size_t n, R* out) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = Generate<R>{}(static_cast<std::uint32_t>(i));
}

// Stores the fold only if it is one value in 2^32, or with `all`: the compiler must not remove the loads.
template <class R>
__global__ void directFold(const R* in, std::size_t n, std::uint32_t* out, bool all) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const std::uint32_t value = fold(in[i]);
  if (all || value == 0x12345677u) out[i] = value;
}

// A block that only reads wants 6 KB to be worth its launch.
template <class R>
constexpr unsigned foldBlock = sizeof(R) < 48 ? 256 : 128;

template <class R>
__global__ void __launch_bounds__(foldBlock<R>) stagedFold(const R* in, std::size_t n, std::uint32_t* out, bool all) {
  using Staged = gpuopt::StagedStructs<R, foldBlock<R>>;
  __shared__ typename Staged::Storage storage;
  const auto tile = Staged(storage).tile(blockIdx.x, n);
  const std::uint32_t value = fold(tile.load(in));
  if (tile.has() && (all || value == 0x12345677u)) out[tile.index()] = value;
}

template <class R>
__global__ void directGather(const R* in, const std::uint32_t* indices, std::size_t n, R* out) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[indices[i]];
}

template <class R>
__global__ void directScatter(const R* in, const std::uint32_t* indices, std::size_t n, R* out) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[indices[i]] = in[i];
}

// A permutation of the numbers below n, a power of two.
__global__ void permute(std::uint32_t* indices, std::uint32_t n) {
  const std::uint32_t stride = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    std::uint32_t x = i;
    for (int round = 0; round < 3; ++round) {
      x = (x * 0x9E3779B1u + 0x7F4A7C15u) & (n - 1);
      x ^= x >> 11;
    }
    indices[i] = x;
  }
}

__global__ void readVectors(const uint4* in, std::uint32_t* never) {
  const std::size_t first = std::size_t{blockIdx.x} * 1024 + threadIdx.x;
  std::uint32_t all = 0;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const uint4 v = in[first + 256 * k];
    all += v.x ^ v.y ^ v.z ^ v.w;
  }
  if (all == 0x12345677u) never[threadIdx.x] = all;
}

__global__ void writeVectors(uint4* out) {
  const std::size_t i = std::size_t{blockIdx.x} * 256 + threadIdx.x;
  const auto x = static_cast<std::uint32_t>(i) * 131u;
  out[i] = make_uint4(x, x + 7, x + 14, x + 21);
}

// ------------------------------------------------------------------------------------------ checks

template <class R>
struct IsMirrored {
  const R* in;
  const R* out;
  __device__ bool operator()(std::size_t i) const { return detail::sameBytes(out[i], Mirror{}(in[i])); }
};

template <class R>
struct IsGenerated {
  const R* out;
  __device__ bool operator()(std::size_t i) const {
    return detail::sameBytes(out[i], Generate<R>{}(static_cast<std::uint32_t>(i)));
  }
};

template <class R>
struct IsFolded {
  const R* in;
  const std::uint32_t* out;
  __device__ bool operator()(std::size_t i) const { return out[i] == fold(in[i]); }
};

template <class R>
struct IsMoved {
  const R* in;
  const std::uint32_t* indices;
  const R* out;
  bool scattered;
  __device__ bool operator()(std::size_t i) const {
    return detail::sameBytes(out[scattered ? indices[i] : i], in[scattered ? i : indices[i]]);
  }
};

}  // namespace bench
