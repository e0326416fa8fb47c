/// \file
/// Shapes of the benchmarks of transpositions, and the check of what came out.
// SPDX-License-Identifier: MIT
#pragma once

#include "buffers.cuh"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// A batch of matrices of rows x cols, whose transposes are cols x rows. The leading dimensions count
/// elements; the matrices of a batch follow each other.
struct Shape {
  std::size_t rows;
  std::size_t cols;
  std::size_t inLd;
  std::size_t outLd;
  std::size_t batch;

  __host__ __device__ std::size_t inStride() const { return rows * inLd; }
  __host__ __device__ std::size_t outStride() const { return cols * outLd; }
  __host__ __device__ std::size_t elements() const { return rows * cols * batch; }
  bool isDense() const { return inLd == cols && outLd == rows; }

  /// What one of the buffers must hold.
  std::size_t extent() const { return batch * (std::max)(inStride(), outStride()); }

  std::string text() const {
    std::string text = std::to_string(rows) + " x " + std::to_string(cols);
    if (!isDense()) text += ", ld " + std::to_string(inLd) + " and " + std::to_string(outLd);
    if (batch > 1) text += ", batch " + std::to_string(batch);
    return text;
  }
};

inline Shape dense(std::size_t rows, std::size_t cols, std::size_t batch = 1) {
  return {rows, cols, cols, rows, batch};
}

namespace detail {

template <class In, class Out, class Function>
struct IsTransposed {
  const In* in;
  const Out* out;
  Shape shape;
  Function function;

  __device__ bool operator()(std::size_t i) const {
    const std::size_t row = i % shape.rows;
    const std::size_t col = i / shape.rows % shape.cols;
    const std::size_t matrix = i / shape.rows / shape.cols;
    const Out expected = function(in[matrix * shape.inStride() + row * shape.inLd + col]);
    return sameBytes(out[matrix * shape.outStride() + col * shape.outLd + row], expected);
  }
};

}  // namespace detail

/// Whether the results are the transposes of the data, each element changed by the function.
template <class In, class Out, class Function>
bool holdTranspose(const Buffers& buffers, const Shape& shape, Function function) {
  return buffers.areRight(
      shape.elements(), detail::IsTransposed<In, Out, Function>{buffers.in<In>(), buffers.out<Out>(), shape, function});
}

/// A transposition, each element changed by the function.
template <class In, class Out, class Function, class Call>
Candidate transposition(const std::string& name, const Buffers& buffers, const Shape& shape, Function function,
                        Call call) {
  const auto correct = [=, &buffers] {
    buffers.poison(shape.batch * shape.outStride() * sizeof(Out));
    call();
    return holdTranspose<In, Out>(buffers, shape, function);
  };
  return {name, call, correct};
}

}  // namespace bench
