/// \file
/// How reduceBy combines a value with those of its bin: words that atomics combine, and what they are of values.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cmath>
#include <cstddef>
#include <limits>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// An update says how values of type A are combined:
//   Word                       what a bin has in shared and in global memory
//   neutral()                  the word of a bin without values
//   combine(address, word)     atomically
//   start(n)                   what a block has to know first
//   word(value, slot)          of a value of the bin `slot`
//   value(word, slot)          the result of the bin

// The integer that atomics take in place of an A of its size.
template <class A>
using AtomicUnsigned = std::conditional_t<sizeof(A) == 4, unsigned, unsigned long long>;
template <class A>
using AtomicSigned = std::conditional_t<sizeof(A) == 4, int, long long>;

// Sums of integers, modulo 2^32 or 2^64; sums of floating-point numbers in the order in which they come.
template <class A>
struct DirectSum {
  using Word = std::conditional_t<std::is_integral_v<A>, AtomicUnsigned<A>, A>;

  __host__ __device__ Word neutral() const { return 0; }
  __device__ void combine(Word* address, Word word) const { atomicAdd(address, word); }
  __device__ void start(std::size_t) {}
  __device__ Word word(A value, unsigned) const { return static_cast<Word>(value); }
  __device__ A value(Word word, unsigned) const { return static_cast<A>(word); }
};

// Minima and maxima of integers.
template <bool LARGER, class Word>
struct KeyedIntegerExtreme {
  __host__ __device__ Word neutral() const {
    constexpr Word result = LARGER ? least<Word> : greatest<Word>;
    return result;
  }
  __device__ void combine(Word* address, Word word) const {
    if constexpr (LARGER)
      atomicMax(address, word);
    else
      atomicMin(address, word);
  }
  __device__ void start(std::size_t) {}
};

template <bool LARGER, class A, bool IS_INTEGER = std::is_integral_v<A>>
struct KeyedExtreme
    : KeyedIntegerExtreme<LARGER, std::conditional_t<std::is_signed_v<A>, AtomicSigned<A>, AtomicUnsigned<A>>> {
  using Word = std::conditional_t<std::is_signed_v<A>, AtomicSigned<A>, AtomicUnsigned<A>>;
  __device__ Word word(A value, unsigned) const { return static_cast<Word>(value); }
  __device__ A value(Word word, unsigned) const { return static_cast<A>(word); }
};

// Floating-point numbers have the order of signed integers, if the bits of negative ones are inverted: -0 is below +0.
// NaN becomes the integer that is more extreme than all others, and whose bits are a NaN, too.
template <bool LARGER, class A>
struct KeyedExtreme<LARGER, A, false> : KeyedIntegerExtreme<LARGER, AtomicSigned<A>> {
  using Word = AtomicSigned<A>;
  static constexpr Word MOST = (std::numeric_limits<Word>::max)();

  __device__ Word neutral() const { return word(LARGER ? least<A> : greatest<A>, 0); }
  __device__ Word word(A value, unsigned) const {
    if (value != value) return LARGER ? MOST : -MOST - 1;
    Word bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    return bits < 0 ? bits ^ MOST : bits;
  }
  __device__ A value(Word word, unsigned) const {
    const Word bits = word < 0 ? word ^ MOST : word;
    A result;
    __builtin_memcpy(&result, &bits, sizeof(result));
    return result;
  }
};

// The bits of a magnitude, which have the order of unsigned integers. 0 for infinities and NaN.
template <class A>
__device__ inline AtomicUnsigned<A> magnitudeBits(A value) {
  AtomicUnsigned<A> bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  bits &= ~AtomicUnsigned<A>{0} >> 1;
  constexpr A infinity = greatest<A>;
  AtomicUnsigned<A> most;
  __builtin_memcpy(&most, &infinity, sizeof(most));
  return bits < most ? bits : 0;
}

// Sums of floating-point numbers that do not depend on the order: every value is rounded to a multiple of a power of
// two, by which the sum of n values as large as the largest one has 62 bits. Infinities and NaN are flags of their bin.
template <class A>
struct FixedPointSum {
  using Word = unsigned long long;
  static constexpr unsigned PLUS = 1, MINUS = 2, NONE = 4;
  static constexpr A infinity = greatest<A>;
  const AtomicUnsigned<A>* magnitude;  // bits of the largest one
  unsigned* flags;                     // of each bin
  int exponent;                        // values are multiplied by 2^exponent

  __host__ __device__ Word neutral() const { return 0; }
  __device__ void combine(Word* address, Word word) const { atomicAdd(address, word); }

  __device__ void start(std::size_t n) {
    A largest;
    const AtomicUnsigned<A> bits = *magnitude;
    __builtin_memcpy(&largest, &bits, sizeof(largest));
    int above = 0;  // the largest magnitude is below 2^above
    frexp(largest, &above);
    exponent = 62 - above;
    for (; n > 1; n = (n + 1) / 2) --exponent;
  }

  // In two steps, because the power may be no number of type A. An intermediate result that is too small is rounded to
  // 0 in the second one, too.
  __device__ Word word(A value, unsigned slot) const {
    if (!(fabs(value) < infinity)) {
      atomicOr(flags + slot, value > 0 ? PLUS : value < 0 ? MINUS : NONE);
      return 0;
    }
    const int half = exponent / 2;
    return static_cast<Word>(static_cast<long long>(rint(value * power(half) * power(exponent - half))));
  }

  __device__ A value(Word word, unsigned slot) const {
    const unsigned flag = flags[slot];
    if (flag == PLUS) return infinity;
    if (flag == MINUS) return -infinity;
    if (flag != 0) return infinity - infinity;
    const double sum = static_cast<double>(static_cast<long long>(word));
    return static_cast<A>(ldexp(sum, -exponent));
  }

 private:
  __device__ static A power(int exponent) { return ldexp(A(1), exponent); }
};

GPUOPT_DETAIL_END
