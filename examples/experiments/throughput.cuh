/// \file
/// Instructions that are repeated on registers, to count how many of them a multiprocessor does in a cycle.
// SPDX-License-Identifier: MIT
#pragma once

#include "block_clock.cuh"

#include <cuda_fp16.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

namespace experiments {

inline constexpr unsigned throughputBlock = 1024, throughputChains = 4;

/// out[i], for each thread of one block: `rounds` steps from in[i], in[i] + 1, ..., the chains added up. `cycles` is
/// what the block took.
template <class Step, class T>
__global__ void __launch_bounds__(throughputBlock)
    repeatStep(const T* in, T* out, T other, unsigned rounds, long long* cycles) {
  T x[throughputChains];
  for (unsigned k = 0; k < throughputChains; ++k) x[k] = in[threadIdx.x] + static_cast<T>(static_cast<int>(k));
  const long long taken = blockCycles([&] {
#pragma unroll 16
    for (unsigned round = 0; round < rounds; ++round) {
#pragma unroll
      for (unsigned k = 0; k < throughputChains; ++k) x[k] = Step{}(x[k], other);
    }
  });
  T sum = x[0];
  for (unsigned k = 1; k < throughputChains; ++k) sum = sum + x[k];
  out[threadIdx.x] = sum;
  if (threadIdx.x == 0) *cycles = taken;
}

template <class Step, class T>
void launchRepeatedStep(const T* in, T* out, T other, unsigned rounds, long long* cycles) {
  gpuopt::launch(repeatStep<Step, T>, gridFor(throughputBlock, throughputBlock), in, out, other, rounds, cycles);
}

/// A step: instructions in PTX for a GPU, and the same in C++ for the host and the emulated device. x becomes the
/// result of x and y.
#ifdef __CUDA_ARCH__
#define EXPERIMENTS_STEP(Name, Type, letter, ptx, expression)   \
  struct Name {                                                 \
    __host__ __device__ Type operator()(Type x, Type y) const { \
      asm volatile(ptx : "+" letter(x) : letter(y));            \
      return x;                                                 \
    }                                                           \
  };
#else
#define EXPERIMENTS_STEP(Name, Type, letter, ptx, expression)                                         \
  struct Name {                                                                                       \
    __host__ __device__ Type operator()(Type x, [[maybe_unused]] Type y) const { return expression; } \
  };
#endif

/// Halves as the bits of a word.
inline unsigned multiplyAddHalves(unsigned x, unsigned y) {
  unsigned result = 0;
  for (unsigned shift = 0; shift < 32; shift += 16) {
    const auto half = [=](unsigned bits) {
      const auto part = static_cast<unsigned short>(bits >> shift);
      __half value;
      std::memcpy(static_cast<void*>(&value), &part, sizeof part);
      return __half2float(value);
    };
    const __half sum = __float2half(std::fma(half(x), half(y), half(y)));
    unsigned short part = 0;
    std::memcpy(&part, static_cast<const void*>(&sum), sizeof part);
    result |= unsigned{part} << shift;
  }
  return result;
}

/// c plus the products of the four bytes of a and b.
inline unsigned dotOfBytes(unsigned a, unsigned b, unsigned c) {
  for (unsigned shift = 0; shift < 32; shift += 8) c += (a >> shift & 0xFFu) * (b >> shift & 0xFFu);
  return c;
}

EXPERIMENTS_STEP(AddFloat, float, "f", "add.f32 %0, %0, %1;", x + y)
EXPERIMENTS_STEP(MultiplyFloat, float, "f", "mul.f32 %0, %0, %1;", x* y)
EXPERIMENTS_STEP(MultiplyAddFloat, float, "f", "fma.rn.f32 %0, %0, %1, %1;", std::fma(x, y, y))
EXPERIMENTS_STEP(MultiplyAddDouble, double, "d", "fma.rn.f64 %0, %0, %1, %1;", std::fma(x, y, y))
EXPERIMENTS_STEP(MultiplyAddHalf2, unsigned, "r", "fma.rn.f16x2 %0, %0, %1, %1;", multiplyAddHalves(x, y))
EXPERIMENTS_STEP(AddInteger, unsigned, "r", "{ add.u32 %0, %0, %1; xor.b32 %0, %0, %1; }", (x + y) ^ y)
EXPERIMENTS_STEP(MultiplyInteger, unsigned, "r", "mul.lo.u32 %0, %0, %1;", x* y)
EXPERIMENTS_STEP(MultiplyAddInteger, unsigned, "r", "mad.lo.u32 %0, %0, %1, %1;", x* y + y)
EXPERIMENTS_STEP(Multiply24, unsigned, "r", "mul24.lo.u32 %0, %0, %1;", (x & 0xFFFFFFu) * (y & 0xFFFFFFu))
EXPERIMENTS_STEP(Shift, unsigned, "r", "shf.l.wrap.b32 %0, %0, %0, %1;", (x << y | x >> (32 - y)))
EXPERIMENTS_STEP(Logic, unsigned, "r", "lop3.b32 %0, %0, %1, %1, 0xC3;", ~(x ^ y))
EXPERIMENTS_STEP(Minimum, unsigned, "r", "{ min.u32 %0, %0, %1; xor.b32 %0, %0, %1; }", (x < y ? x : y) ^ y)
EXPERIMENTS_STEP(CountOnes, unsigned, "r", "popc.b32 %0, %0;", static_cast<unsigned>(__builtin_popcount(x)))
EXPERIMENTS_STEP(DotOfBytes, unsigned, "r", "dp4a.u32.u32 %0, %0, %1, %1;", dotOfBytes(x, y, y))
EXPERIMENTS_STEP(Reciprocal, float, "f", "{ rcp.approx.ftz.f32 %0, %0; add.f32 %0, %0, %1; }", 1 / x + y)
EXPERIMENTS_STEP(ReciprocalRoot, float, "f", "rsqrt.approx.ftz.f32 %0, %0;", 1 / std::sqrt(x))
EXPERIMENTS_STEP(PowerOf2, float, "f", "ex2.approx.ftz.f32 %0, %0;", std::exp2(x))
EXPERIMENTS_STEP(Logarithm2, float, "f", "lg2.approx.ftz.f32 %0, %0;", std::log2(x))
EXPERIMENTS_STEP(Sine, float, "f", "sin.approx.ftz.f32 %0, %0;", std::sin(x))
EXPERIMENTS_STEP(ByteToFloat, float, "f", "{ .reg .u32 t; cvt.rzi.u32.f32 t, %0; cvt.rn.f32.u8 %0, t; }",
                 static_cast<float>(static_cast<unsigned>(x) & 0xFFu))
EXPERIMENTS_STEP(IntegerToFloat, float, "f", "{ .reg .s32 t; cvt.rzi.s32.f32 t, %0; cvt.rn.f32.s32 %0, t; }",
                 static_cast<float>(static_cast<int>(x)))
EXPERIMENTS_STEP(LongToFloat, float, "f", "{ .reg .s64 t; cvt.rzi.s64.f32 t, %0; cvt.rn.f32.s64 %0, t; }",
                 static_cast<float>(static_cast<long long>(x)))
EXPERIMENTS_STEP(DoubleToFloat, double, "d", "{ .reg .f32 t; cvt.rn.f32.f64 t, %0; cvt.f64.f32 %0, t; }",
                 static_cast<double>(static_cast<float>(x)))
#undef EXPERIMENTS_STEP

}  // namespace experiments
