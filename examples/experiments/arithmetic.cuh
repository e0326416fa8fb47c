/// \file
/// Fast and precise functions, and division and modulo of integers.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cmath>
#include <cstddef>

namespace experiments {

inline constexpr unsigned arithmeticBlock = 256;

/// out[i]: the sum of f(in[i]), f(in[i] + step), ... over `rounds` values. Time is that of f; with one round
/// its results can be seen.
template <class F, class T>
__global__ void sumOfCalls(const T* in, T* out, std::size_t n, T step, unsigned rounds, F f) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  T x = in[i];
  T sum = f(x);
#pragma unroll 4
  for (unsigned round = 1; round < rounds; ++round) {
    x += step;
    sum += f(x);
  }
  out[i] = sum;
}

template <class F, class T>
void launchCalls(const T* in, T* out, std::size_t n, T step, unsigned rounds, F f) {
  gpuopt::launch(sumOfCalls<F, T>, gridFor(n, arithmeticBlock), in, out, n, step, rounds, f);
}

// --------------------------------------------------------------------------------- floating point

/// A function in three ways: precise, fast on the device, and exact for comparison.
#define EXPERIMENTS_FUNCTION(Name, precise, fast, wide)            \
  struct Precise##Name {                                           \
    __device__ float operator()(float x) const { return precise; } \
  };                                                               \
  struct Fast##Name {                                              \
    __device__ float operator()(float x) const { return fast; }    \
  };                                                               \
  struct Exact##Name {                                             \
    double operator()(double x) const { return wide; }             \
  };

EXPERIMENTS_FUNCTION(Sine, sinf(x), __sinf(x), std::sin(x))
EXPERIMENTS_FUNCTION(Cosine, cosf(x), __cosf(x), std::cos(x))
EXPERIMENTS_FUNCTION(Exponential, expf(x), __expf(x), std::exp(x))
EXPERIMENTS_FUNCTION(Logarithm, logf(x), __logf(x), std::log(x))
EXPERIMENTS_FUNCTION(Power, powf(x, 1.7F), __powf(x, 1.7F), std::pow(x, double{1.7F}))
EXPERIMENTS_FUNCTION(Quotient, 2.7F / x, __fdividef(2.7F, x), double{2.7F} / x)
#undef EXPERIMENTS_FUNCTION

/// A literal without the F makes the whole expression one of double precision.
struct FloatLiteral {
  __device__ float operator()(float x) const { return x * 1.1F + 0.3F; }
};
struct DoubleLiteral {
  __device__ float operator()(float x) const { return static_cast<float>(x * 1.1 + 0.3); }
};

// --------------------------------------------------------------------------------------- integers

/// x / d + x % d for a divisor that only the launch knows: some twenty instructions.
struct DivideByVariable {
  unsigned divisor;
  __host__ __device__ unsigned operator()(unsigned x) const { return x / divisor + x % divisor; }
};
/// The same for one that the compiler knows: a multiplication and a shift.
template <unsigned DIVISOR>
struct DivideByConstant {
  __host__ __device__ unsigned operator()(unsigned x) const { return x / DIVISOR + x % DIVISOR; }
};
/// For a power of two that only the launch knows, if the program says that it is one.
struct DivideByShift {
  unsigned shift;
  __host__ __device__ unsigned operator()(unsigned x) const { return (x >> shift) + (x & ((1u << shift) - 1)); }
};

}  // namespace experiments
