/// \file
/// The edges of bins of equal width between floating-point limits: on which side of one an element is, exactly.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cmath>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

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

// a + b without rounding (Knuth 1969).
template <class N>
__device__ inline TwoParts<N> exactSum(N a, N b) {
  const N sum = roundedSum(a, b), part = roundedSum(sum, -a);
  return {sum, roundedSum(roundedSum(a, -roundedSum(sum, -part)), roundedSum(b, -part))};
}

// start + bin * (width.sum + width.rest): the errors of the product and of the sum make the rest.
template <class N>
__device__ inline TwoParts<N> edgeParts(N bin, const TwoParts<N>& width, N start) {
  const N product = roundedProduct(bin, width.sum);
  const N productError = fused(bin, width.rest, fused(bin, width.sum, -product));
  const TwoParts<N> sum = exactSum(start, product);
  return {sum.sum, roundedSum(sum.rest, productError)};
}

// A number with the sign of a + b + c. The errors of both sums are far smaller than the second one, unless that cancels
// and has none.
__device__ inline double signOfSum(double a, double b, double c) {
  const TwoParts<double> two = exactSum(a, b), three = exactSum(two.sum, c);
  return roundedSum(three.sum, roundedSum(three.rest, two.rest));
}

// A number with the sign of a sum of terms that has no rounding: they become numbers whose digits do not overlap, the
// smallest first (Shewchuk 1997). In local memory: registers would be missing where this is called, and hardly ever is.
template <int COUNT>
__device__ inline double signOfSum(double (&terms)[COUNT]) {
#pragma unroll 1
  for (int end = 1; end < COUNT; ++end)
#pragma unroll 1
    for (int i = 0; i < end; ++i) {
      const TwoParts<double> sum = exactSum(terms[end], terms[i]);
      terms[end] = sum.sum;
      terms[i] = sum.rest;
    }
  double leading = 0;
#pragma unroll 1
  for (int i = 0; i < COUNT; ++i) leading = terms[i] != 0 ? terms[i] : leading;
  return leading;
}

// The bits of a floating-point number: of halfway cases, those are rounded to that have a 0 at the end.
template <class N>
using NumberBits = std::conditional_t<sizeof(N) == 4, unsigned, unsigned long long>;

template <class N>
__device__ inline NumberBits<N> bitsOf(N number) {
  NumberBits<N> bits;
  __builtin_memcpy(&bits, &number, sizeof(bits));
  return bits;
}

// The next greater number of a finite one.
template <class N>
__device__ inline N numberAfter(N number) {
  const NumberBits<N> bits = number == 0 ? 1 : number > 0 ? bitsOf(number) + 1 : bitsOf(number) - 1;
  N after;
  __builtin_memcpy(&after, &bits, sizeof(after));
  return after;
}

// The factor of doubles; other numbers have none.
template <class Number>
struct EdgeScale {};
template <>
struct EdgeScale<double> {
  double scale;
};

// The edges of bins: the exact lower + bin * (upper - lower) / bins, rounded to the nearest number of the type. Doubles
// are scaled, so that no product overflows; numbers that are tiny beside the greater limit only tell on which side of a
// number another one is, and the least one of their sign does, too.
template <class Number>
struct ExactEdges : EdgeScale<Number> {
  static constexpr double MIN_LIMIT = 0x1p-400, MIN_NUMBER = 0x1p-500;
  Number lower, upper;
  unsigned bins;

  // Whether an edge between the limits is not above x: whether the exact one is below the middle between x and the next
  // number, or is the middle and rounded to x.
  __device__ bool isReached(unsigned bin, Number x) const {
    const double sign = distance(bin, x, numberAfter(x));
    return sign < 0 || (sign == 0 && bitsOf(x) % 2 == 0);
  }

  // Bit by bit. Halving a range costs the elements that need no search up to 4 % (H100, weighted histograms).
  __device__ unsigned search(Number x) const {
    unsigned bin = 0;
#pragma unroll 1
    for (unsigned bit = 1u << 30; bit != 0; bit /= 2)
      if (bin + bit < bins && isReached(bin + bit, x)) bin += bit;
    return bin;
  }

  __host__ __device__ static double atLeast(double min, double number) {
    return number > 0 && number < min ? min : number < 0 && number > -min ? -min : number;
  }

 private:
  // A number with the sign of the distance from the middle of two numbers to an edge; `bins` times that is a sum of
  // products. Of floats and up to 2^28 bins they are exact in double.
  __device__ double distance(unsigned bin, float x, float after) const {
    const double middle = (static_cast<double>(x) + static_cast<double>(after)) / 2, part = bin;
    return signOfSum(roundedProduct(static_cast<double>(upper), part),
                     -roundedProduct(middle, static_cast<double>(bins)),
                     roundedProduct(static_cast<double>(lower), roundedSum(static_cast<double>(bins), -part)));
  }

  __device__ double distance(unsigned bin, double x, double after) const {
    const double number = scaled(x), ulp = roundedSum(scaled(after), -number);
    double terms[7] = {-roundedProduct(ulp, static_cast<double>(bins))};
    const auto setProduct = [&terms](int i, double a, double b) {
      terms[i] = roundedProduct(a, b);
      terms[i + 1] = fused(a, b, -terms[i]);
    };
    setProduct(1, lower, 2.0 * (bins - bin));
    setProduct(3, upper, 2.0 * bin);
    setProduct(5, number, -2.0 * bins);
    return signOfSum(terms);
  }

  __device__ double scaled(double number) const {
    const double product = roundedProduct(number, this->scale);
    return product == 0 && number != 0 ? (number > 0 ? MIN_NUMBER : -MIN_NUMBER) : atLeast(MIN_NUMBER, product);
  }
};

// The bin of an element in [lower, upper), which is close to `edge` unless that is 0. A call that is not inlined:
// hardly any element needs it, and the instructions of the others should fit into their cache.
template <class Number>
__device__ __noinline__ unsigned binBesideExactly(Number x, unsigned edge, const ExactEdges<Number> edges) {
  if (edge == 0) return edges.search(x);
  return edges.isReached(edge, x) ? edge : edge - 1;
}

// The same edges, and what finds them in the type's own precision.
template <class Number>
struct BinEdges {
  ExactEdges<Number> exact;
  Number lower;
  TwoParts<Number> width;
  Number tolerance;  // how far edgeParts() may be off
  bool isEstimated;  // whether all that is usable: it is known to which edge an element is close
};

// The bin of an element in [lower, upper), which is close to `edge` if edges.isEstimated.
template <class Number>
__device__ inline unsigned binBeside(Number x, unsigned edge, const BinEdges<Number>& edges) {
  if (!edges.isEstimated) return binBesideExactly(x, 0, edges.exact);
  if (edge == 0) return 0;
  if (edge >= edges.exact.bins) return edges.exact.bins - 1;
  const TwoParts<Number> parts = edgeParts(static_cast<Number>(edge), edges.width, edges.lower);
  if (x >= roundedSum(parts.sum, roundedSum(parts.rest, edges.tolerance))) return edge;
  if (x < roundedSum(parts.sum, roundedSum(parts.rest, -edges.tolerance))) return edge - 1;
  return binBesideExactly(x, edge, edges.exact);
}

GPUOPT_DETAIL_END
