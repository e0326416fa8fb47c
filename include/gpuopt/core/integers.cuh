/// \file
/// Integer arithmetic for the host and for constant expressions. Without `<algorithm>` and `<numeric>`, which would add
/// a tenth to a user's compile time.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

template <auto VALUE>
inline constexpr bool isPowerOfTwo = VALUE > 0 && (VALUE & (VALUE - 1)) == 0;

template <class T>
constexpr T smallerOf(T a, T b) {
  return b < a ? b : a;
}

template <class T>
constexpr T largerOf(T a, T b) {
  return a < b ? b : a;
}

template <class T>
constexpr T clampTo(T value, T lowest, T highest) {
  return value < lowest ? lowest : smallerOf(value, highest);
}

inline constexpr std::size_t SIZE_LIMIT = static_cast<std::size_t>(-1);

// Sums and products that saturate at SIZE_LIMIT.
constexpr std::size_t cappedSum(std::size_t a, std::size_t b) { return a > SIZE_LIMIT - b ? SIZE_LIMIT : a + b; }

constexpr std::size_t cappedProduct(std::size_t a, std::size_t b) {
  return b != 0 && a > SIZE_LIMIT / b ? SIZE_LIMIT : a * b;
}

constexpr std::size_t greatestCommonDivisor(std::size_t a, std::size_t b) {
  return b == 0 ? a : greatestCommonDivisor(b, a % b);
}

constexpr std::size_t leastCommonMultiple(std::size_t a, std::size_t b) { return a / greatestCommonDivisor(a, b) * b; }

// The largest power of two that divides n; 0 for n = 0.
constexpr std::size_t powerOfTwoIn(std::size_t n) { return n & (0 - n); }

constexpr std::size_t ceilDivide(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

// In 32 bits, where a division takes half the time.
constexpr unsigned ceilDivide32(unsigned a, unsigned b) { return (a + b - 1) / b; }

constexpr std::size_t roundUp(std::size_t size, std::size_t multiple) { return ceilDivide(size, multiple) * multiple; }

// The next multiple of a power of two, without a division.
template <class N>
constexpr N roundUpTo(N n, N power) {
  return (n + power - 1) & (0 - power);
}

// x / divisor for any x and divisor below 2^15 (Granlund and Montgomery 1994).
struct ShortDivisor {
  static constexpr unsigned BITS = 15;
  unsigned multiplier = 1;
  unsigned shift = 0;

  ShortDivisor() = default;
  explicit ShortDivisor(unsigned divisor) : shift(BITS) {
    while ((1u << (shift - BITS)) < divisor) ++shift;
    multiplier = static_cast<unsigned>(((std::uint64_t{1} << shift) + divisor - 1) / divisor);
  }

  __host__ __device__ unsigned divide(unsigned x) const { return x * multiplier >> shift; }
};

// The same with a shift known at compile time. Divisors are at most 2^15; x * divisor is less than 2^SHIFT, and x less
// than 2^(32 - SHIFT).
template <unsigned SHIFT>
struct FixedShiftDivisor {
  unsigned multiplier = 1U << SHIFT;

  FixedShiftDivisor() = default;
  explicit FixedShiftDivisor(unsigned divisor) : multiplier(((1U << SHIFT) + divisor - 1) / divisor) {}

  __host__ __device__ unsigned divide(unsigned x) const { return x * multiplier >> SHIFT; }
};

// x / divisor for any x and divisor below 2^31, by the upper half of a product.
struct Divisor {
  unsigned multiplier = 0;
  unsigned shift = 0;
  unsigned divisor = 1;

  Divisor() = default;
  explicit Divisor(unsigned d) : divisor(d) {
    if (d == 1) return;
    while ((2U << shift) < d) ++shift;
    multiplier = static_cast<unsigned>(((std::uint64_t{1} << (32 + shift)) + d - 1) / d);
  }

  __host__ __device__ unsigned divide(unsigned x) const {
    return divisor == 1 ? x : static_cast<unsigned>(std::uint64_t{x} * multiplier >> 32) >> shift;
  }

  friend bool operator==(const Divisor& a, const Divisor& b) { return a.divisor == b.divisor; }
};

GPUOPT_DETAIL_END
