/// \file
/// From an element to its slot. Slots are the bins and, after them, those for elements in no bin: number `bins` for
/// those below the first bin, bins + 1 for those above the last one and for NaN; unless OUTSIDE, `bins` for both.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/keyed/even_edges.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

inline constexpr std::size_t maxBins = 0x7ffffffd;  // slots are numbered by an int

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

inline void requireBins(std::size_t bins, const char* function, const char* order = "") {
  if (bins == 0) throwInvalid({function, ": bins is 0", order});
  if (bins > maxBins) throwInvalid({function, ": bins (", bins, ") exceeds ", maxBins});
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
__device__ inline unsigned slotOf(bool isInside, unsigned bin, T x, T lower, unsigned bins) {
  return isInside ? bin : OUTSIDE && !(x < lower) ? bins + 1 : bins;
}

// Integers of up to 2 bytes: floor(((x - first) * bins + begin) / (upper - lower)), the quotients of bins and of begin
// by the range apart. With `multiplier` and `addend` of 48 bits after the point the sum is too great by less than
// 2^16 / 2^48, which is at most 1 / range.
template <class T, bool OUTSIDE>
struct EvenBins<T, OUTSIDE, std::enable_if_t<std::is_integral_v<T> && sizeof(T) <= 2>> {
  T first;            // the smallest value in a bin
  unsigned span;      // the largest one minus the smallest
  unsigned firstBin;  // of the smallest value
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
  T first;          // the smallest value in a bin
  unsigned span;    // the largest one minus the smallest
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
  Number clearance;        // elements that are closer to the middle of their bin are not close to an edge
  BinEdges<Number> edges;

  __device__ unsigned operator()(T value) const {
    const Number x = static_cast<Number>(value);
    const Number distance = x - edges.lower;
    const Number position = roundedProduct(distance, scale.sum);
    const Number error = fused(distance, scale.rest, fused(distance, scale.sum, -position));
    unsigned bin = floorOf(position);
    const Number fromMiddle = position - static_cast<Number>(static_cast<int>(bin)) - Number(0.5) + error;
    if (!(std::fabs(fromMiddle) < clearance)) bin = slotBeside(x, fromMiddle < 0 ? bin : bin + 1);
    if constexpr (OUTSIDE) return slotOf<OUTSIDE>(bin < edges.exact.bins, bin, x, edges.lower, edges.exact.bins);
    return bin < edges.exact.bins ? bin : edges.exact.bins;
  }

 private:
  // The bin, or edges.exact.bins, of what is close to an edge, of NaN and of what is far outside.
  __device__ unsigned slotBeside(Number x, unsigned edge) const {
    return x >= edges.lower && x < upper ? binBeside(x, edge, edges) : edges.exact.bins;
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

// Bins of which all elements are outside, above or below. The one value next to them is given the slot for that.
template <class T, bool OUTSIDE>
EvenBins<T, OUTSIDE> noBinsOfWords(unsigned bins, bool areAbove) {
  const T next = areAbove ? (std::numeric_limits<T>::min)() : (std::numeric_limits<T>::max)();
  const unsigned slot = areAbove && OUTSIDE ? bins + 1 : bins;
  if constexpr (sizeof(T) <= 2)
    return {next, 0, slot, 0, 0, 0, bins};
  else
    return {next, 0, 1, 0, std::uint64_t{slot} << 32, bins};
}

template <class T, bool OUTSIDE>
EvenBins<T, OUTSIDE> evenBinsOfWords(unsigned bins, std::int64_t lower, std::int64_t upper, const char* function) {
  constexpr std::int64_t MIN_VALUE = (std::numeric_limits<T>::min)(), MAX_VALUE = (std::numeric_limits<T>::max)();
  const std::uint64_t range = static_cast<std::uint64_t>(upper) - static_cast<std::uint64_t>(lower);
  if (range > std::uint64_t{1} << 32)
    throwInvalid({function, ": upper - lower (", std::to_string(range), ") exceeds 2^32, for elements of ", sizeof(T),
                  " bytes"});
  if (upper <= MIN_VALUE || lower > MAX_VALUE) return noBinsOfWords<T, OUTSIDE>(bins, upper <= MIN_VALUE);
  const std::int64_t first = lower < MIN_VALUE ? MIN_VALUE : lower;
  const std::int64_t last = upper > MAX_VALUE ? MAX_VALUE : upper - 1;
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
  const N max = std::ldexp(N(1), std::numeric_limits<N>::digits);
  N digit = lastDigit(width);
  if (lower != 0) digit = smallerOf(digit, lastDigit(lower));
  if (upper != 0) digit = smallerOf(digit, lastDigit(upper));
  const bool isRangeExact = lower == 0 || (std::fabs(lower) + std::fabs(upper)) / digit < max;
  const bool isExact = isRangeExact && std::fabs(upper) / digit <= max && static_cast<N>(bins) <= max &&
                       std::fma(width, static_cast<N>(bins), -range) == 0;
  return isExact ? width : 0;
}

// upper - lower less the same rounded to double.
inline double rangeError(double lower, double upper) {
  const volatile double range = upper - lower, part = range - upper;  // volatile: in this order and precision
  const volatile double rest = upper - (range - part);
  return rest - (lower + part);
}

inline ExactEdges<float> exactEdges(unsigned bins, float lower, float upper) { return {{}, lower, upper, bins}; }

// The scale is a power of two that brings the greater limit next to 1, or all digits of tiny ones above 2^-80.
inline ExactEdges<double> exactEdges(unsigned bins, double lower, double upper) {
  int exponent = 0;
  std::frexp(largerOf(std::fabs(lower), std::fabs(upper)), &exponent);
  const double scale = std::ldexp(1.0, smallerOf(-exponent, 1000));
  const auto scaled = [scale](double limit) {
    const double min = limit == 0 ? 0 : ExactEdges<double>::MIN_LIMIT, size = std::fabs(limit) * scale;
    return std::copysign(largerOf(min, size), limit);
  };
  return {{scale}, scaled(lower), scaled(upper), bins};
}

template <class T, bool OUTSIDE>
EvenBins<T, OUTSIDE> evenBinsOfNumbers(unsigned bins, BinNumber<T> lower, BinNumber<T> upper, const char* function) {
  using Number = BinNumber<T>;
  using Limits = std::numeric_limits<Number>;
  constexpr Number ULP = Limits::epsilon(), MIN_VALUE = (Limits::min)();
  if (!std::isfinite(lower) || !std::isfinite(upper))
    throwInvalid({function, ": lower and upper must be finite: lower is ", numberInWords(lower), ", upper ",
                  numberInWords(upper)});
  const Number magnitude = largerOf(std::fabs(lower), std::fabs(upper)), numbers = static_cast<Number>(bins);
  const ExactEdges<Number> exact = exactEdges(bins, lower, upper);
  const EvenBins<T, OUTSIDE> searched{upper, {}, 0, {exact, lower, {}, 0, false}};
  const Number shortWidth = (upper - lower) / numbers;
  // Neither the reciprocal of the width nor what is rounded off it may underflow.
  if (shortWidth < MIN_VALUE || shortWidth > ULP / MIN_VALUE) return searched;
  const double count = bins, range = static_cast<double>(upper) - static_cast<double>(lower);
  const double width = range / count;
  const double rest = (rangeError(lower, upper) - std::fma(width, count, -range)) / count;
  const Number exactWidth = exactWidthOf(bins, lower, upper);
  constexpr bool IS_FLOAT = std::is_same_v<Number, float>;
  // The position is off by half an ulp of `bins` where x - lower is rounded (of a double also for the range, the width
  // and the scale), and an edge by half an ulp of the greater limit. With an exact product both are exact.
  const auto roundings = static_cast<Number>((lower == 0 ? 0.1 : 1.1) + (IS_FLOAT ? 0 : 3));
  const bool isProductExact = exactWidth > 0 && lower == 0 && lastDigit(exactWidth) == exactWidth;
  const Number edge = Number(1.1) * magnitude / shortWidth;
  const Number margin = isProductExact ? 0 : ULP / 2 * (roundings * numbers + edge);
  // The errors of tiny products are lost.
  if (margin > Number(0.25) || (exactWidth == 0 && magnitude <= MIN_VALUE / ULP / ULP)) return searched;
  const auto twoParts = [](double number, double more) {
    const auto sum = static_cast<Number>(number);
    return TwoParts<Number>{sum, static_cast<Number>(number - static_cast<double>(sum) + more)};
  };
  // An exact product that cannot underflow tells the bin even at an edge.
  const Number clearance = isProductExact && exactWidth <= 1 ? Number(1) : Number(0.5) - margin;
  const Number tolerance = exactWidth > 0 ? 0 : 8 * ULP * ULP * magnitude;
  return {upper, twoParts(1 / width, 0), clearance, {exact, lower, twoParts(width, rest), tolerance, true}};
}

// The bins of a histogram over [lower, upper).
template <class T, bool OUTSIDE = true>
EvenBins<T, OUTSIDE> evenBins(std::size_t bins, BinLimit<T> lower, BinLimit<T> upper, const char* function) {
  requireBins(bins, function, "; it comes before lower and upper");
  requireLimits(lower, upper, function);
  const auto count = static_cast<unsigned>(bins);
  if constexpr (!std::is_integral_v<T>)
    return evenBinsOfNumbers<T, OUTSIDE>(count, lower, upper, function);
  else if constexpr (sizeof(T) == 8)
    return evenBinsOfLongs<T, OUTSIDE>(count, lower, upper);
  else
    return evenBinsOfWords<T, OUTSIDE>(count, lower, upper, function);
}

// Bins of which the last one has the upper limit, too.
template <class Bins, class Limit>
struct ClosedBins {
  Bins bins;
  Limit upper;
  unsigned last;

  template <class T>
  __device__ unsigned operator()(const T& x) const {
    return static_cast<Limit>(x) == upper ? last : bins(x);
  }
};

// The bins of a histogram with a policy.
template <class Policy, class T>
auto binsBetween(std::size_t bins, BinLimit<T> lower, BinLimit<T> upper, const char* function) {
  const auto even = evenBins<T, Policy::COUNTS_OUTSIDE>(bins, lower, upper, function);
  if constexpr (Policy::CLOSED)
    return ClosedBins<std::decay_t<decltype(even)>, BinLimit<T>>{even, upper, static_cast<unsigned>(bins) - 1};
  else
    return even;
}

GPUOPT_DETAIL_END
