/// What the tests of reductions share: elements of any size, operations whose result tells the order of the
/// operands, serial oracles.
// SPDX-License-Identifier: MIT
#pragma once

#include "device_array.cuh"
#include "random.hpp"

#include <gpuopt/host/launch.cuh>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

namespace gpuopt::test {

/// COUNT words that are added one by one: an element of COUNT * sizeof(Word) bytes without a known identity.
template <class Word, int COUNT>
struct Many {
  Word words[COUNT];

  friend __host__ __device__ Many operator+(const Many& a, const Many& b) {
    Many sum{};
    for (int i = 0; i < COUNT; ++i) sum.words[i] = static_cast<Word>(a.words[i] + b.words[i]);
    return sum;
  }
  friend __host__ __device__ bool operator==(const Many& a, const Many& b) {
    for (int i = 0; i < COUNT; ++i)
      if (!(a.words[i] == b.words[i])) return false;
    return true;
  }
};

using Bytes3 = Many<unsigned char, 3>;
using Float3 = Many<float, 3>;
using Words5 = Many<unsigned, 5>;    // 20 bytes
using Words6 = Many<unsigned, 6>;    // 24 bytes, which only every other address of a word can align to 8
using Words25 = Many<unsigned, 25>;  // 100 bytes

/// Integers first, first + 1, ..., last that were joined in order, or the knowledge that they were not.
struct Span {
  int first;
  int last;
  int inOrder;

  friend bool operator==(const Span& a, const Span& b) {
    return a.first == b.first && a.last == b.last && a.inOrder == b.inOrder;
  }
};

/// Associative, not commutative: says whether its operands came in the order of the input, without a gap.
struct CombineSpans {
  __host__ __device__ Span operator()(const Span& a, const Span& b) const {
    return {a.first, b.last, a.inOrder != 0 && b.inOrder != 0 && a.last + 1 == b.first ? 1 : 0};
  }
};

/// A 2x2 matrix of integers modulo 2^32.
struct Matrix {
  unsigned a, b, c, d;

  friend bool operator==(const Matrix& x, const Matrix& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d;
  }
};

/// Associative, not commutative.
struct MatrixProduct {
  __host__ __device__ Matrix operator()(const Matrix& x, const Matrix& y) const {
    return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d};
  }
};

/// Commutative and associative, but unknown to the library: no identity, and no shorter ways.
struct UnknownPlus {
  template <class T>
  __host__ __device__ T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
};

/// Test data for any element of these tests: arithmetic types and halves hold whole numbers from -3 to 3.
template <class T>
struct Elements {
  static std::vector<T> make(std::size_t n, unsigned seed) { return smallIntegers<T>(n, seed); }
};

template <class Word, int COUNT>
struct Elements<Many<Word, COUNT>> {
  static std::vector<Many<Word, COUNT>> make(std::size_t n, unsigned seed) {
    const std::vector<Word> words = smallIntegers<Word>(n * COUNT, seed);
    std::vector<Many<Word, COUNT>> elements(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = 0; k < COUNT; ++k) elements[i].words[k] = words[i * COUNT + k];
    return elements;
  }
};

template <>
struct Elements<Span> {
  static std::vector<Span> make(std::size_t n, unsigned) {
    std::vector<Span> spans(n);
    for (std::size_t i = 0; i < n; ++i) spans[i] = {static_cast<int>(i), static_cast<int>(i), 1};
    return spans;
  }
};

template <>
struct Elements<Matrix> {
  static std::vector<Matrix> make(std::size_t n, unsigned seed) {
    const std::vector<unsigned> words = randomVector<unsigned>(4 * n, seed);
    std::vector<Matrix> matrices(n);
    for (std::size_t i = 0; i < n; ++i)
      matrices[i] = {words[4 * i] | 1u, words[4 * i + 1], words[4 * i + 2], words[4 * i + 3] | 1u};
    return matrices;
  }
};

/// op over values[first..last) from left to right, in A.
template <class A, class T, class Op>
A foldSerially(const std::vector<T>& values, std::size_t first, std::size_t last, Op op) {
  A result = static_cast<A>(values[first]);
  for (std::size_t i = first + 1; i < last; ++i) result = static_cast<A>(op(result, static_cast<A>(values[i])));
  return result;
}

template <class A, class T, class Op>
A foldSerially(const std::vector<T>& values, Op op) {
  return foldSerially<A>(values, 0, values.size(), op);
}

/// A sum and the sum of the magnitudes, in long double.
struct ExactSum {
  long double sum = 0;
  long double magnitude = 0;

  /// What a sum in a format with this epsilon may be off by, if its additions form a tree of about log2(n)
  /// levels.
  double tolerance(double epsilon, std::size_t n) const {
    return static_cast<double>(magnitude) * epsilon * (1 + std::log2(static_cast<double>(n) + 1));
  }
};

template <class T>
ExactSum sumExactly(const std::vector<T>& values) {
  ExactSum exact;
  for (const T& value : values) {
    const long double x = static_cast<long double>(static_cast<double>(value));
    exact.sum += x;
    exact.magnitude += std::fabs(x);
  }
  return exact;
}

/// One block or several, of this many threads.
inline LaunchConfig blocksOf(int threads, unsigned blocks = 1) {
  LaunchConfig config;
  config.grid = dim3(blocks);
  config.block = dim3(static_cast<unsigned>(threads));
  return config;
}

}  // namespace gpuopt::test
