/// \file
/// Division by a number known at run time, as a multiplication and a shift.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

#include <cstdint>

GPUOPT_DETAIL_BEGIN

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

GPUOPT_DETAIL_END
