/// \file
/// What floating-point results depend on: the order of sums, fused multiply-adds, and how many bits there are.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cstddef>
#include <vector>

namespace experiments {

/// How n numbers are added up.
enum class SumOrder {
  inOrder,      ///< one after the other, as a loop of the host does
  strided,      ///< 256 sums of every 256th number, and these one after the other
  pairwise,     ///< as a tree
  compensated,  ///< one after the other, with what each addition rounds away (Kahan 1965)
  inDouble      ///< one after the other, in double
};

/// (a + b) + c and a + (b + c).
struct ThreeSums {
  float left, right;
};

__host__ __device__ inline float sumInOrder(const float* values, std::size_t n, std::size_t stride) {
  float sum = 0;
  for (std::size_t i = 0; i < n; i += stride) sum += values[i];
  return sum;
}

__host__ __device__ inline float sumStrided(const float* values, std::size_t n) {
  float sum = 0;
  for (std::size_t first = 0; first < 256 && first < n; ++first) sum += sumInOrder(values + first, n - first, 256);
  return sum;
}

/// The additions of a tree in the order of a counter's carries: partial[level] holds 2^level numbers.
__host__ __device__ inline float sumPairwise(const float* values, std::size_t n) {
  float partial[40] = {};
  for (std::size_t i = 0; i < n; ++i) {
    float sum = values[i];
    int level = 0;
    for (; (i >> level & 1) != 0; ++level) sum += partial[level];
    partial[level] = sum;
  }
  float total = 0;
  for (int level = 0; level < 40; ++level)
    if ((n >> level & 1) != 0) total += partial[level];
  return total;
}

__host__ __device__ inline float sumCompensated(const float* values, std::size_t n) {
  float sum = 0, lost = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const float next = values[i] - lost, larger = sum + next;
    lost = (larger - sum) - next;
    sum = larger;
  }
  return sum;
}

__host__ __device__ inline float sumInDouble(const float* values, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += static_cast<double>(values[i]);
  return static_cast<float>(sum);
}

__host__ __device__ inline float sumBy(SumOrder order, const float* values, std::size_t n) {
  switch (order) {
    case SumOrder::strided:
      return sumStrided(values, n);
    case SumOrder::pairwise:
      return sumPairwise(values, n);
    case SumOrder::compensated:
      return sumCompensated(values, n);
    case SumOrder::inDouble:
      return sumInDouble(values, n);
    default:
      return sumInOrder(values, n, 1);
  }
}

/// One thread, so that the order is the one that stands above.
__global__ void sumAll(SumOrder order, const float* values, float* sum, std::size_t n) {
  *sum = sumBy(order, values, n);
}

inline void launchSumAll(SumOrder order, const float* values, float* sum, std::size_t n) {
  gpuopt::launch(sumAll, gridFor(1, 1), order, values, sum, n);
}

__global__ void sumThree(const float* abc, ThreeSums* sums) {
  *sums = {__fadd_rn(__fadd_rn(abc[0], abc[1]), abc[2]), __fadd_rn(abc[0], __fadd_rn(abc[1], abc[2]))};
}

inline void launchSumThree(const float* abc, ThreeSums* sums) { gpuopt::launch(sumThree, gridFor(1, 1), abc, sums); }

/// x * x - y, where y is x * x, rounded: 0 with two roundings, and what the rounding left out with one.
struct Products {
  float separate, fused;
};

__global__ void subtractProduct(const float* x, Products* products) {
  const float square = __fmul_rn(*x, *x);
  *products = {__fsub_rn(__fmul_rn(*x, *x), square), __fmaf_rn(*x, *x, -square)};
}

inline void launchSubtractProduct(const float* x, Products* products) {
  gpuopt::launch(subtractProduct, gridFor(1, 1), x, products);
}

inline constexpr unsigned numberBlock = 256;

/// out[i]: the value of a polynomial with the Taylor coefficients of e^x at in[i], `rounds` times over, in T.
template <class T>
__global__ void polynomial(const T* in, T* out, std::size_t n, unsigned rounds) {
  const std::size_t i = globalThread();
  if (i >= n) return;
  T x = in[i], sum = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    T value = T(1) / 5040;
    value = value * x + T(1) / 720;
    value = value * x + T(1) / 120;
    value = value * x + T(1) / 24;
    value = value * x + T(1) / 6;
    value = value * x + T(1) / 2;
    value = value * x + T(1);
    value = value * x + T(1);
    sum += value;
    x += T(0.0009765625);
  }
  out[i] = sum;
}

template <class T>
void launchPolynomial(const T* in, T* out, std::size_t n, unsigned rounds) {
  gpuopt::launch(polynomial<T>, gridFor(n, numberBlock), in, out, n, rounds);
}

/// In long double.
inline long double polynomialOnHost(long double x, unsigned rounds) {
  constexpr long double COEFFICIENTS[] = {1 / 5040.0L, 1 / 720.0L, 1 / 120.0L, 1 / 24.0L, 1 / 6.0L, 0.5L, 1, 1};
  long double sum = 0;
  for (unsigned round = 0; round < rounds; ++round, x += 0.0009765625L) {
    long double value = 0;
    for (const long double coefficient : COEFFICIENTS) value = value * x + coefficient;
    sum += value;
  }
  return sum;
}

}  // namespace experiments
