/// \file
/// From an element to its slot. Slots are the bins and, after them, those for elements in no bin: number `bins` for
/// those below the first bin, bins + 1 for those above the last one and for NaN; unless OUTSIDE, `bins` for both.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

inline constexpr std::size_t mostBins = 0x7ffffffd;  // slots are numbered by an int

// The type in which elements are compared with the limits of bins: floating-point types their own, halves as float.
template <class T>
using BinNumber = std::conditional_t<isHalf<T>, float, T>;

// The type of such limits. Wider than small integers, so that 256 is an upper limit of bytes.
template <class T>
using BinLimit =
    std::conditional_t<!std::is_integral_v<T>, BinNumber<T>,
                       std::conditional_t<sizeof(T) == 8 && std::is_unsigned_v<T>, std::uint64_t, std::int64_t>>;

template <class T>
inline constexpr bool hasBins =
    std::is_integral_v<T> || std::is_same_v<BinNumber<T>, float> || std::is_same_v<BinNumber<T>, double>;

template <class N>
std::string numberInWords(N number) {
  if constexpr (std::is_floating_point_v<N>) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(number));
    return text;
  } else {
    return std::to_string(number);
  }
}

inline void requireBins(std::size_t bins, const char* function) {
  if (bins == 0) throwInvalid({function, ": bins is 0"});
  if (bins > mostBins) throwInvalid({function, ": bins (", bins, ") exceeds ", mostBins});
}

template <class N>
void requireLimits(N lower, N upper, const char* function) {
  if (!(lower < upper))
    throwInvalid(
        {function, ": lower (", numberInWords(lower), ") is not less than upper (", numberInWords(upper), ")"});
}

// The slot of a bin number that may be out of range.
template <bool OUTSIDE, class Bin>
__device__ inline unsigned slotOf(Bin bin, unsigned bins) {
  static_assert(std::is_integral_v<Bin>, "gpuopt: the number of a bin must be an integer");
  using Unsigned = std::conditional_t<(sizeof(Bin) > 4), unsigned long long, unsigned>;
  if (static_cast<Unsigned>(bin) < bins) return static_cast<unsigned>(bin);
  if constexpr (OUTSIDE && std::is_signed_v<Bin>)
    return bin < 0 ? bins : bins + 1;
  else
    return OUTSIDE ? bins + 1 : bins;
}

// The element, or a function of it, is the bin.
template <class BinOf, bool OUTSIDE>
struct NumberedBins {
  BinOf binOf;
  unsigned bins;

  template <class T>
  __device__ unsigned operator()(const T& element) const {
    return slotOf<OUTSIDE>(binOf(element), bins);
  }
};

// Bins of equal width over [lower, upper).
template <class T, bool OUTSIDE, class = void>
struct EvenBins;

// The slot of x by its bin, if it is in one: no branches, since several elements are on their way at once.
template <bool OUTSIDE, class T>
__device__ inline unsigned slotOf(bool isInside, unsigned bin, T x, T least, unsigned bins) {
  return isInside ? bin : OUTSIDE && !(x < least) ? bins + 1 : bins;
}

// Integers of up to 2 bytes: floor(((x - first) * bins + begin) / (upper - lower)), the quotients of bins and of begin
// by the range apart. With `multiplier` and `addend` of 48 bits after the point the sum is too great by less than
// 2^16 / 2^48, which is at most 1 / range.
template <class T, bool OUTSIDE>
struct EvenBins<T, OUTSIDE, std::enable_if_t<std::is_integral_v<T> && sizeof(T) <= 2>> {
  T first;            // the least value in a bin
  unsigned span;      // the greatest one less the least
  unsigned firstBin;  // of the least
  unsigned quotient;  // whole bins from one value to the next
  std::uint64_t multiplier;
  std::uint64_t addend;
  unsigned bins;

  __device__ unsigned operator()(T x) const {
    const unsigned distance = static_cast<unsigned>(x) - static_cast<unsigned>(first);
    const auto part = static_cast<unsigned>((distance * multiplier + addend) >> 48);
    return slotOf<OUTSIDE>(distance <= span, firstBin + distance * quotient + part, x, first, bins);
  }
};

// Integers of 4 bytes: floor((x - lower) * bins / (upper - lower)) is the upper part of a product with a multiplier of
// 64 bits, exactly so if 2^(32 + shift) is no less than (upper - lower)^2 (Granlund and Montgomery 1994).
template <class T, bool OUTSIDE>
struct EvenBins<T, OUTSIDE, std::enable_if_t<std::is_integral_v<T> && sizeof(T) == 4>> {
  T first;          // the least value in a bin
  unsigned span;    // the greatest one less the least
  unsigned offset;  // first - lower
  unsigned shift;
  std::uint64_t multiplier;
  unsigned bins;

  __device__ unsigned operator()(T x) const {
    const unsigned distance = static_cast<unsigned>(x) - static_cast<unsigned>(first);
    const std::uint64_t product = std::uint64_t{distance + offset} * static_cast<unsigned>(multiplier >> 32) +
                                  __umulhi(distance + offset, static_cast<unsigned>(multiplier));
    return slotOf<OUTSIDE>(distance <= span, static_cast<unsigned>(product >> shift), x, first, bins);
  }
};

// Integers of 8 bytes: the product may be one too small.
template <class T, bool OUTSIDE>
struct EvenBins<T, OUTSIDE, std::enable_if_t<std::is_integral_v<T> && sizeof(T) == 8>> {
  T lower, upper;
  unsigned long long range;       // upper - lower
  unsigned long long multiplier;  // of 2^-64; 0 if there are more bins than values
  unsigned bins;

  __device__ unsigned operator()(T x) const {
    if (x < lower || x >= upper) return slotOf<OUTSIDE>(false, 0, x, lower, bins);
    const unsigned long long distance = static_cast<unsigned long long>(x) - static_cast<unsigned long long>(lower);
    if (multiplier == 0) return static_cast<unsigned>(distance * bins / range);
    const unsigned long long bin = __umul64hi(distance, multiplier);
    return static_cast<unsigned>(bin) + (isAtMost(bin + 1, range, distance, bins) ? 1u : 0u);
  }

  // Whether a * b <= c * d.
  __device__ static bool isAtMost(unsigned long long a, unsigned long long b, unsigned long long c,
                                  unsigned long long d) {
    const unsigned long long left = __umul64hi(a, b), right = __umul64hi(c, d);
    return left != right ? left < right : a * b <= c * d;
  }
};

// The operations that a compiler may not join.
__device__ inline float roundedProduct(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double roundedProduct(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float roundedSum(float a, float b) { return __fadd_rn(a, b); }
__device__ inline double roundedSum(double a, double b) { return __dadd_rn(a, b); }
__device__ inline float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
__device__ inline double fused(double a, double b, double c) { return __fma_rn(a, b, c); }

// A number as a sum of two, the second one small.
template <class N>
struct TwoParts {
  N sum, rest;
};

// start + bin * (width.sum + width.rest): the errors of the product and of the sum (Knuth's) make the rest.
template <class N>
__device__ inline TwoParts<N> edgeParts(N bin, const TwoParts<N>& width, N start) {
  const N product = roundedProduct(bin, width.sum);
  const N productError = fused(bin, width.rest, fused(bin, width.sum, -product));
  const N sum = roundedSum(start, product), part = roundedSum(sum, -start);
  const N sumError = roundedSum(roundedSum(start, -roundedSum(sum, -part)), roundedSum(product, -part));
  return {sum, roundedSum(sumError, productError)};
}

// The edges of bins: lower + bin * width, rounded to the type.
template <class Number>
struct BinEdges {
  Number lower;
  TwoParts<Number> width;
  TwoParts<double> exactWidth;
  Number tolerance;  // how far edgeParts() of `width` may be off
  unsigned bins;
  bool isEstimated;  // whether it is known to which edge an element is close

  // Rounded once. An edge that is not 0 is at least 2^-84 of the start, 2^-53 of it divided by 2^31 bins: less is the
  // error of the width.
  __device__ Number operator()(unsigned bin) const {
    const auto start = static_cast<double>(lower);
    const TwoParts<double> parts = edgeParts(static_cast<double>(bin), exactWidth, start);
    const double edge = roundedSum(parts.sum, parts.rest);
    return static_cast<Number>(fabs(edge) > fabs(start) * 0x1p-90 ? edge : 0);
  }

  __device__ unsigned search(Number x) const {
    unsigned bin = 0, end = bins;
    while (end - bin > 1) {
      const unsigned middle = bin + (end - bin) / 2;
      if (x < (*this)(middle))
        end = middle;
      else
        bin = middle;
    }
    return bin;
  }
};

// The slot of an element in [lower, upper) that is close to an edge, if edges.isEstimated. A call that is not inlined:
// hardly any element needs it, and the instructions of the others should fit into their cache.
template <class Number>
__device__ __noinline__ unsigned binBesideExactly(Number x, unsigned edge, const BinEdges<Number> edges) {
  if (!edges.isEstimated) return edges.search(x);
  return x >= edges(edge) ? edge : edge - 1;
}

// The same, at first in the element's own precision.
template <class Number>
__device__ inline unsigned binBeside(Number x, unsigned edge, const BinEdges<Number>& edges) {
  if (edges.isEstimated && edge == 0) return 0;
  if (edges.isEstimated && edge >= edges.bins) return edges.bins - 1;
  if (std::is_same_v<Number, float> && edges.isEstimated) {
    const TwoParts<Number> parts = edgeParts(static_cast<Number>(edge), edges.width, edges.lower);
    if (x >= roundedSum(parts.sum, roundedSum(parts.rest, edges.tolerance))) return edge;
    if (x < roundedSum(parts.sum, roundedSum(parts.rest, -edges.tolerance))) return edge - 1;
  }
  return binBesideExactly(x, edge, edges);
}

// The greatest integer that is not above a number, as an unsigned one: those below 0 are large.
__device__ inline unsigned floorOf(float number) { return static_cast<unsigned>(__float2int_rd(number)); }
__device__ inline unsigned floorOf(double number) { return static_cast<unsigned>(__double2int_rd(number)); }

// Floating point: the last bin whose edge, rounded to the type, is not above x. Arithmetic of the type finds it, but
// for elements close to an edge.
template <class T, bool OUTSIDE>
struct EvenBins<T, OUTSIDE, std::enable_if_t<!std::is_integral_v<T>>> {
  using Number = BinNumber<T>;
  Number upper;
  TwoParts<Number> scale;  // 1 / width
  Number sureness;  // elements whose position is closer than that to the middle of a bin are not close to an edge
  BinEdges<Number> edges;

  __device__ unsigned operator()(T value) const {
    const Number x = static_cast<Number>(value);
    const Number distance = x - edges.lower;
    const Number position = roundedProduct(distance, scale.sum);
    const Number error = fused(distance, scale.rest, fused(distance, scale.sum, -position));
    unsigned bin = floorOf(position);
    const Number fromMiddle = position - static_cast<Number>(static_cast<int>(bin)) - Number(0.5) + error;
    if (!(std::fabs(fromMiddle) < sureness)) bin = slotBeside(x, fromMiddle < 0 ? bin : bin + 1);
    if constexpr (OUTSIDE) return slotOf<OUTSIDE>(bin < edges.bins, bin, x, edges.lower, edges.bins);
    return bin < edges.bins ? bin : edges.bins;
  }

 private:
  // The bin, or edges.bins, of what is close to an edge, of NaN and of what is far outside.
  __device__ unsigned slotBeside(Number x, unsigned edge) const {
    return x >= edges.lower && x < upper ? binBeside(x, edge, edges) : edges.bins;
  }
};

__extension__ typedef unsigned __int128 Wide;

// The greatest exponent of a power of two, up to 64, with which the multiplier has 64 bits.
inline unsigned exponentOf(std::uint64_t range, std::uint64_t bins) {
  unsigned exponent = 64;
  const auto fits = [&](unsigned power) {  // (2^power * bins + range - 1) / range < 2^64
    const Wide product = static_cast<Wide>(bins) << power;
    return (product + range - 1) / range >> 64 == 0;
  };
  while (!fits(exponent)) --exponent;
  return exponent;
}

template <class T, bool OUTSIDE>
EvenBins<T, OUTSIDE> evenBinsOfWords(unsigned bins, std::int64_t lower, std::int64_t upper, const char* function) {
  constexpr std::int64_t LEAST = (std::numeric_limits<T>::min)(), MOST = (std::numeric_limits<T>::max)();
  const std::uint64_t range = static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
  if (range > std::uint64_t{1} << 32)
    throwInvalid({function, ": upper - lower (", std::to_string(range), ") exceeds 2^32, for elements of ", sizeof(T),
                  " bytes"});
  if (upper <= LEAST || lower > MOST)
    throwInvalid({function, ": no element can be in [lower, upper) = [", lower, ", ", upper, ")"});
  const std::int64_t first = lower < LEAST ? LEAST : lower;
  const std::int64_t last = upper > MOST ? MOST : upper - 1;
  const auto span = static_cast<unsigned>(last - first), offset = static_cast<unsigned>(first - lower);
  const auto ceiling = [range](Wide dividend) { return static_cast<std::uint64_t>((dividend + range - 1) / range); };
  if constexpr (sizeof(T) <= 2) {
    const std::uint64_t begin = std::uint64_t{offset} * bins;
    return {static_cast<T>(first),
            span,
            static_cast<unsigned>(begin / range),
            static_cast<unsigned>(bins / range),
            ceiling(static_cast<Wide>(bins % range) << 48),
            ceiling(static_cast<Wide>(begin % range) << 48),
            bins};
  } else {
    const unsigned exponent = exponentOf(range, bins);
    return {static_cast<T>(first), span, offset, exponent - 32, ceiling(static_cast<Wide>(bins) << exponent), bins};
  }
}

template <class T, bool OUTSIDE>
EvenBins<T, OUTSIDE> evenBinsOfLongs(unsigned bins, BinLimit<T> lower, BinLimit<T> upper) {
  const unsigned long long range = static_cast<unsigned long long>(upper) - static_cast<unsigned long long>(lower);
  const auto multiplier = (static_cast<Wide>(bins) << 64) / range;
  const bool fits = bins < range;
  return {static_cast<T>(lower), static_cast<T>(upper), range, fits ? static_cast<unsigned long long>(multiplier) : 0,
          bins};
}

// The power of two that is the last digit of a number other than 0.
template <class N>
N lastDigit(N number) {
  constexpr int DIGITS = std::numeric_limits<N>::digits;
  int exponent = 0;
  const N fraction = std::frexp(std::fabs(number), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, DIGITS));
  return std::ldexp(static_cast<N>(powerOfTwoIn(digits)), exponent - DIGITS);
}

// The width of bins whose edges are all numbers of the type: multiples of a power of two that is small enough for the
// greatest of them. Otherwise 0.
template <class N>
N exactWidthOf(unsigned bins, N lower, N upper) {
  const N range = upper - lower, width = range / static_cast<N>(bins);
  const N most = std::ldexp(N(1), std::numeric_limits<N>::digits);
  N digit = lastDigit(width);
  if (lower != 0) digit = smallerOf(digit, lastDigit(lower));
  if (upper != 0) digit = smallerOf(digit, lastDigit(upper));
  const bool isRangeExact = lower == 0 || (std::fabs(lower) + std::fabs(upper)) / digit < most;
  const bool isExact = isRangeExact && std::fabs(upper) / digit <= most && static_cast<N>(bins) <= most &&
                       std::fma(width, static_cast<N>(bins), -range) == 0;
  return isExact ? width : 0;
}

// upper - lower less the same rounded to double.
inline double rangeError(double lower, double upper) {
  const volatile double range = upper - lower, part = range - upper;  // volatile: in this order and precision
  const volatile double rest = upper - (range - part);
  return rest - (lower + part);
}

template <class T, bool OUTSIDE>
EvenBins<T, OUTSIDE> evenBinsOfNumbers(unsigned bins, BinNumber<T> lower, BinNumber<T> upper, const char* function) {
  using Number = BinNumber<T>;
  constexpr Number ULP = std::numeric_limits<Number>::epsilon();
  const Number shortWidth = (upper - lower) / static_cast<Number>(bins);
  if (!std::isfinite(upper - lower))
    throwInvalid(
        {function, ": upper - lower is not finite: lower is ", numberInWords(lower), ", upper ", numberInWords(upper)});
  if (shortWidth < (std::numeric_limits<Number>::min)() || !std::isfinite(1 / shortWidth))
    throwInvalid({function, ": upper - lower (", numberInWords(upper - lower), ") is too small for ", bins, " bins"});
  const double count = bins, range = static_cast<double>(upper) - static_cast<double>(lower);
  const double width = range / count;
  const double rest = (rangeError(lower, upper) - std::fma(width, count, -range)) / count;
  const Number exactWidth = exactWidthOf(bins, lower, upper);
  const double magnitude = largerOf(std::fabs(static_cast<double>(lower)), std::fabs(static_cast<double>(upper)));
  constexpr bool IS_FLOAT = std::is_same_v<Number, float>;
  // The position is off by half an ulp of `bins` where x - lower is rounded (of a double also for the range, the width
  // and the scale), and an edge by half an ulp of the greater limit. With an exact product both are exact.
  const auto roundings = static_cast<Number>((lower == 0 ? 0.1 : 1.1) + (IS_FLOAT ? 0 : 3));
  const bool isProductExact = exactWidth > 0 && lower == 0 && lastDigit(exactWidth) == exactWidth;
  const Number edge = Number(1.1) * static_cast<Number>(magnitude) / shortWidth;
  const Number margin = isProductExact ? 0 : ULP / 2 * (roundings * static_cast<Number>(bins) + edge);
  // The errors of tiny products are lost.
  const bool isEstimated = margin <= Number(0.25) && (exactWidth > 0 || magnitude > 0x1p-64);
  // An exact product that cannot underflow tells the bin even at an edge.
  const bool isExact = isProductExact && exactWidth <= 1;
  const Number sureness = isExact ? 1 : isEstimated ? Number(0.5) - margin : 0;
  const auto twoParts = [](double number, double more) {
    const auto sum = static_cast<Number>(number);
    return TwoParts<Number>{sum, static_cast<Number>(number - static_cast<double>(sum) + more)};
  };
  const auto tolerance = static_cast<Number>(exactWidth > 0 ? 0 : magnitude * 0x1p-44);
  return {upper,
          twoParts(1 / width, 0),
          sureness,
          {lower, twoParts(width, rest), {width, rest}, tolerance, bins, isEstimated}};
}

// The bins of a histogram over [lower, upper).
template <class T, bool OUTSIDE = true>
EvenBins<T, OUTSIDE> evenBins(std::size_t bins, BinLimit<T> lower, BinLimit<T> upper, const char* function) {
  requireBins(bins, function);
  requireLimits(lower, upper, function);
  const auto count = static_cast<unsigned>(bins);
  if constexpr (!std::is_integral_v<T>)
    return evenBinsOfNumbers<T, OUTSIDE>(count, lower, upper, function);
  else if constexpr (sizeof(T) == 8)
    return evenBinsOfLongs<T, OUTSIDE>(count, lower, upper);
  else
    return evenBinsOfWords<T, OUTSIDE>(count, lower, upper, function);
}

GPUOPT_DETAIL_END
