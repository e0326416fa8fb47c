/// \file
/// The element types of the benchmarks: random data of each, and sums in double precision to check results
/// with.
// SPDX-License-Identifier: MIT
#pragma once

#include "timing.cuh"

#include <gpuopt/thread/operators.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace bench {

/// COUNT floats that are added member by member.
template <int COUNT>
struct Floats {
  float members[COUNT];

  friend __host__ __device__ Floats operator+(Floats a, const Floats& b) {
    for (int i = 0; i < COUNT; ++i) a.members[i] += b.members[i];
    return a;
  }
};

using Float3 = Floats<3>;  // as CUDA's float3: 12 bytes
using Float5 = Floats<5>;  // 20 bytes

/// The members of a type, and the accumulator of its sums.
template <class T, class Accumulator = T, class S = T, int MEMBERS = 1>
struct SumOf {
  using A = Accumulator;
  using Scalar = S;
  static constexpr int COUNT = MEMBERS;
};

template <class T>
struct Element;
template <>
struct Element<float> : SumOf<float> {
  static constexpr const char* name = "float";
};
template <>
struct Element<double> : SumOf<double> {
  static constexpr const char* name = "double";
};
template <>
struct Element<__half> : SumOf<__half, float> {
  static constexpr const char* name = "half";
};
template <>
struct Element<__nv_bfloat16> : SumOf<__nv_bfloat16, float> {
  static constexpr const char* name = "bfloat16";
};
template <>
struct Element<std::int8_t> : SumOf<std::int8_t, int> {
  static constexpr const char* name = "int8";
};
template <>
struct Element<Float3> : SumOf<Float3, Float3, float, 3> {
  static constexpr const char* name = "float3";
};
template <>
struct Element<Float5> : SumOf<Float5, Float5, float, 5> {
  static constexpr const char* name = "struct20";
};

template <class T>
using AccumulatorOf = typename Element<T>::A;

namespace detail {

__device__ inline std::uint32_t hash(std::uint64_t i) {
  i *= 0x9E3779B97F4A7C15ull;
  i = (i ^ (i >> 29)) * 0xBF58476D1CE4E5B9ull;
  i = (i ^ (i >> 32)) * 0x94D049BB133111EBull;
  return static_cast<std::uint32_t>(i >> 32);
}

// Any byte for integers; for floating point [-0.75, 1.25), all bits of the mantissa in use, with a sum away
// from 0.
template <class S>
__device__ inline S randomScalar(std::uint64_t i) {
  const std::uint32_t h = hash(i + 77);
  if constexpr (std::is_integral_v<S>)
    return static_cast<S>(h >> 24);
  else if constexpr (std::is_same_v<S, double>)
    return (static_cast<double>(h) + hash(~i) * 0x1p-32) * 0x1p-31 - 0.75;
  else
    return static_cast<S>(static_cast<float>(h >> 8) * 0x1p-23f - 0.75f);
}

template <class S>
__global__ void fillRandom(S* data, std::size_t n) {
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    data[i] = randomScalar<S>(i);
}

template <class S>
__device__ inline double toDouble(S value) {
  if constexpr (gpuopt::detail::isHalf<S>)
    return static_cast<float>(value);
  else
    return static_cast<double>(value);
}

// sums[m] of member m, and sums[COUNT + m] of its absolute values.
template <class S, int COUNT>
__global__ void sumInDouble(const S* data, std::size_t n, double* sums) {
  double sum[2 * COUNT] = {};
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride)
    for (int m = 0; m < COUNT; ++m) {
      const double value = toDouble(data[i * COUNT + m]);
      sum[m] += value;
      sum[COUNT + m] += fabs(value);
    }
  for (int m = 0; m < 2 * COUNT; ++m) atomicAdd(sums + m, sum[m]);
}

}  // namespace detail

/// Fills n elements with random data, never zeros: power, and with it the clock, depends on the bits.
template <class T>
void fillRandom(T* data, std::size_t n, cudaStream_t stream) {
  using S = typename Element<T>::Scalar;
  detail::fillRandom<S><<<1024, 256, 0, stream>>>(reinterpret_cast<S*>(data), n * Element<T>::COUNT);
  check(cudaGetLastError(), "fillRandom");
}

/// Sums in double precision, by a kernel that shares no code with what is measured.
template <class T>
class Reference {
 public:
  Reference(const T* data, std::size_t n, cudaStream_t stream) {
    using S = typename Element<T>::Scalar;
    const DeviceMemory sums(sizeof sums_);
    check(cudaMemsetAsync(sums.as<void>(), 0, sizeof sums_, stream), "cudaMemsetAsync");
    const auto blocks = static_cast<unsigned>((std::min)((n + 255) / 256, std::size_t{1024}));
    detail::sumInDouble<S, COUNT>
        <<<blocks, 256, 0, stream>>>(reinterpret_cast<const S*>(data), n, sums.template as<double>());
    check(cudaMemcpyAsync(sums_, sums.as<void>(), sizeof sums_, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  /// Whether `sum` is right up to rounding; integers modulo 2^32.
  bool matches(const AccumulatorOf<T>& sum) const {
    if constexpr (std::is_integral_v<AccumulatorOf<T>>) {
      return sum == static_cast<int>(static_cast<std::int64_t>(sums_[0]));
    } else {
      using S = std::conditional_t<std::is_same_v<T, double>, double, float>;
      S members[COUNT];
      std::memcpy(members, &sum, sizeof members);
      constexpr double tolerance = sizeof(S) == 8 ? 1e-13 : 4e-6;
      for (int m = 0; m < COUNT; ++m)
        if (!(std::fabs(double(members[m]) - sums_[m]) <= tolerance * sums_[COUNT + m])) return false;
      return true;
    }
  }

 private:
  static constexpr int COUNT = Element<T>::COUNT;
  double sums_[2 * COUNT];
};

/// Room for one result of any type, in device memory and in pinned host memory, and for checks of what
/// arrives there.
class Output {
 public:
  Output() : device_(BYTES) { check(cudaMallocHost(&host_, BYTES), "cudaMallocHost"); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { cudaFreeHost(host_); }

  template <class R>
  R* device() const {
    return device_.as<R>();
  }

  template <class R>
  R* host() const {
    return static_cast<R*>(host_);
  }

  /// Poisons `out`, calls, and applies `right` to what is there then.
  template <class R, class Call, class Right>
  static bool correct(R* out, const Call& call, const Right& right) {
    R result;
    std::memset(static_cast<void*>(&result), 0xA5, sizeof result);
    check(cudaMemcpy(out, &result, sizeof result, cudaMemcpyDefault), "cudaMemcpy");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    call();
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    check(cudaMemcpy(&result, out, sizeof result, cudaMemcpyDefault), "cudaMemcpy");
    return right(result);
  }

 private:
  static constexpr std::size_t BYTES = 256;
  DeviceMemory device_;
  void* host_ = nullptr;
};

/// A candidate whose result appears at `out`, in device or pinned memory.
template <class R, class Call, class Right>
Candidate candidate(std::string name, R* out, Call call, Right right, bool waits = false) {
  return {std::move(name), call, [=] { return Output::correct(out, call, right); }, waits, 0};
}

}  // namespace bench

/// Lets gpuopt start sums of the structs from zeros, as documented for users' types.
template <int COUNT>
struct gpuopt::NeutralElement<gpuopt::Plus, bench::Floats<COUNT>> {
  static constexpr bool exists = true;
  __host__ __device__ static bench::Floats<COUNT> value() { return {}; }
};
