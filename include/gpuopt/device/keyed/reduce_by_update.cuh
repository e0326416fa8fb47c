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
//   DECODES                    whether a word has other bits than the result that it stands for
//   neutral()                  the word of a bin without values
//   combined(word, word)         two words in one
//   combine(address, word)     the same atomically
//   start(n)                   what a thread reads first; whether there is anything to do
//   word(value, slot)          of a value of the bin `slot`
//   end()                      what a thread reports at the end
//   value(word, slot)          the result of the bin

// The integer that atomics take in place of an A of its size.
template <class A>
using AtomicUnsigned = std::conditional_t<sizeof(A) == 4, unsigned, unsigned long long>;
template <class A>
using AtomicSigned = std::conditional_t<sizeof(A) == 4, int, long long>;

// The same bits as another type.
template <class To, class From>
__host__ __device__ inline To bitsAs(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  __builtin_memcpy(&to, &from, sizeof(to));
  return to;
}

// For threads that read nothing first and report nothing.
struct PlainUpdate {
  static constexpr bool DECODES = false;
  __device__ bool start(std::size_t) const { return true; }
  __device__ void end() const {}
};

// Sums of integers, modulo 2^32 or 2^64; sums of floating-point numbers in the order in which they come.
template <class A>
struct DirectSum : PlainUpdate {
  using Word = std::conditional_t<std::is_integral_v<A>, AtomicUnsigned<A>, A>;

  __host__ __device__ Word neutral() const { return 0; }
  __device__ Word combined(Word a, Word b) const { return a + b; }
  __device__ void combine(Word* address, Word word) const { atomicAdd(address, word); }
  __device__ Word word(A value, unsigned) const { return static_cast<Word>(value); }
  __device__ A value(Word word, unsigned) const { return static_cast<A>(word); }
};

// Minima and maxima of integers.
template <bool LARGER, class Integer>
struct KeyedIntegerExtreme : PlainUpdate {
  using Word = Integer;

  __host__ __device__ Word neutral() const {
    constexpr Word result = LARGER ? least<Word> : greatest<Word>;
    return result;
  }
  __device__ Word combined(Word a, Word b) const { return (LARGER ? b > a : b < a) ? b : a; }
  __device__ void combine(Word* address, Word word) const {
    if constexpr (LARGER)
      atomicMax(address, word);
    else
      atomicMin(address, word);
  }
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
  static constexpr bool DECODES = true;
  using Word = AtomicSigned<A>;
  static constexpr Word MAX_WORD = (std::numeric_limits<Word>::max)();

  __host__ __device__ Word neutral() const { return word(LARGER ? least<A> : greatest<A>, 0); }
  __host__ __device__ Word word(A value, unsigned) const {
    if (value != value) return LARGER ? MAX_WORD : -MAX_WORD - 1;
    const auto bits = bitsAs<Word>(value);
    return bits < 0 ? bits ^ MAX_WORD : bits;
  }
  __device__ A value(Word word, unsigned) const { return bitsAs<A>(word < 0 ? word ^ MAX_WORD : word); }
};

// Operations for which there is an instruction.
template <class Op>
inline constexpr bool isBitOperation = isOneOf<Op, BitAnd, BitOr, BitXor>;

// Any other operation, by comparing and exchanging. The neutral element comes from the host, as words do.
template <class Op, class A>
struct OperationUpdate : PlainUpdate {
  using Word = AtomicUnsigned<A>;
  Op op;
  Word none;

  explicit OperationUpdate(const Op& operation) : op(operation) {
    const A neutralElement = NeutralElement<Op, A>::value();
    __builtin_memcpy(&none, &neutralElement, sizeof none);
  }

  __host__ __device__ Word neutral() const { return none; }
  __device__ Word combined(Word a, Word b) const {
    return bitsAs<Word>(static_cast<A>(op(bitsAs<A>(a), bitsAs<A>(b))));
  }
  __device__ void combine(Word* address, Word word) const {
    if constexpr (std::is_same_v<Op, BitAnd>) {
      atomicAnd(address, word);
    } else if constexpr (std::is_same_v<Op, BitOr>) {
      atomicOr(address, word);
    } else if constexpr (std::is_same_v<Op, BitXor>) {
      atomicXor(address, word);
    } else if (word != none) {
      Word before = *static_cast<volatile Word*>(address), expected;
      do {
        expected = before;
        before = atomicCAS(address, expected, combined(expected, word));
      } while (before != expected);
    }
  }
  __device__ Word word(A value, unsigned) const { return bitsAs<Word>(value); }
  __device__ A value(Word word, unsigned) const { return bitsAs<A>(word); }
};

// The bits of a magnitude, which have the order of unsigned integers.
template <class A>
__device__ inline AtomicUnsigned<A> magnitudeBits(A value) {
  return bitsAs<AtomicUnsigned<A>>(value) & ~AtomicUnsigned<A>{0} >> 1;
}

template <class A>
__device__ inline bool isFinite(AtomicUnsigned<A> magnitude) {
  return magnitude < bitsAs<AtomicUnsigned<A>>(A(greatest<A>));
}

// The largest finite magnitudes in bins, as bits; 0 before.
template <class A>
struct Magnitudes {
  AtomicUnsigned<A> sampled;  // of a sample of the values, or of all
  AtomicUnsigned<A> beyond;   // of values at or above the power of two that bounds the sample; 0 if there are none
};

// Sums of floating-point numbers that do not depend on the order: every value is rounded to a multiple of a power of
// two, by which the sum of n values as large as the largest one has 62 bits. Infinities and NaN are flags of their bin.
// `again`: in a second reading, which there is if the sample has missed the power of two.
template <class A>
class FixedPointSum {
 public:
  using Word = unsigned long long;
  using Bits = AtomicUnsigned<A>;
  static constexpr bool DECODES = true;

  __host__ __device__ FixedPointSum(Magnitudes<A>* magnitudes, unsigned* flags, unsigned bins, bool again)
      : magnitudes_(magnitudes), flags_(flags), bins_(bins), again_(again) {}

  __host__ __device__ Word neutral() const { return 0; }
  __device__ Word combined(Word a, Word b) const { return a + b; }
  __device__ void combine(Word* address, Word word) const { atomicAdd(address, word); }

  __device__ bool start(std::size_t n) {
    // Other blocks update the former in the first reading.
    const Bits bits = again_ ? magnitudes_->beyond : magnitudes_->sampled;
    if (again_ && bits == 0) return false;
    startFor(n, binadeOf(bits));
    return true;
  }

  // The number of the power of two at or below a finite magnitude, from 1 on; 0 of 0.
  __device__ static unsigned binadeOf(Bits bits) {
    const auto exponent = static_cast<unsigned>(bits >> MANTISSA);
    return exponent > 0 ? exponent + MANTISSA : 64 - static_cast<unsigned>(__clzll(static_cast<long long>(bits)));
  }

  // The same as start(n), where a thread knows the binade of the largest magnitude.
  __device__ void startFor(std::size_t n, unsigned binade) {
    const auto number = static_cast<int>(binade);
    const int above = number > 0 ? number + Limits::min_exponent - Limits::digits : 0;  // below 2^above
    const int doublings = n > 1 ? 64 - __clzll(static_cast<long long>(n - 1)) : 0;      // n is at most 2^doublings
    limit_ = number > MANTISSA ? static_cast<Bits>(number + 1 - MANTISSA) << MANTISSA : Bits{1} << number;
    exponent_ = 62 - above - doublings;
    power1_ = power<A>(exponent_ / 2);
    power2_ = power<A>(exponent_ - exponent_ / 2);
  }

  // In two steps, because the power may be no number of type A. An intermediate result that is too small is rounded to
  // 0 in the second one, too.
  __device__ Word word(A value, unsigned slot) {
    if (magnitudeBits(value) >= limit_) return wordBeyond(value, slot);
    return static_cast<Word>(llrint(value * power1_ * power2_));
  }

  __device__ void end() const {
    if (beyond_ != 0) atomicMax(&magnitudes_->beyond, beyond_);
  }

  __device__ A value(Word word, unsigned slot) const {
    const unsigned flag = flags_[slot];
    if (flag == PLUS) return INFINITE;
    if (flag == MINUS) return -INFINITE;
    if (flag != 0) return INFINITE - INFINITE;
    const double sum = static_cast<double>(static_cast<long long>(word));
    const int top = Limits::max_exponent + exponent_;  // 2^top stands for the power of two above the greatest number,
    const bool isRoundedUp = top < Limits::digits;     // which is rounded to it if it is no multiple of the unit
    if (isRoundedUp && fabs(sum) == ldexp(1.0, top)) return sum < 0 ? -MAX_VALUE : MAX_VALUE;
    if constexpr (sizeof(A) == 4) return static_cast<A>(sum * power<double>(-exponent_));
    return static_cast<A>(ldexp(sum, -exponent_));
  }

 private:
  using Limits = std::numeric_limits<A>;
  static constexpr int MANTISSA = Limits::digits - 1;  // bits
  static constexpr unsigned PLUS = 1, MINUS = 2, NONE = 4;
  static constexpr A INFINITE = greatest<A>, MAX_VALUE = (Limits::max)();

  // 2^exponent, if it is a normal number.
  template <class N>
  __device__ static N power(int exponent) {
    using Number = std::numeric_limits<N>;
    const auto biased = static_cast<AtomicUnsigned<N>>(exponent + 2 - Number::min_exponent);
    return bitsAs<N>(biased << (Number::digits - 1));
  }

  __device__ Word wordBeyond(A value, unsigned slot) {
    if (slot >= bins_) return 0;
    const Bits bits = magnitudeBits(value);
    if (isFinite<A>(bits))
      beyond_ = bits > beyond_ ? bits : beyond_;
    else
      atomicOr(flags_ + slot, value > 0 ? PLUS : value < 0 ? MINUS : NONE);
    return 0;
  }

  Magnitudes<A>* magnitudes_;
  unsigned* flags_;  // of each bin
  unsigned bins_;
  bool again_;
  int exponent_ = 0;  // values are multiplied by 2^exponent
  A power1_ = 0, power2_ = 0;
  Bits limit_ = 0;  // larger magnitudes are not expected
  Bits beyond_ = 0;
};

GPUOPT_DETAIL_END
