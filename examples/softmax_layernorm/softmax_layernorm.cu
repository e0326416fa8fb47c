/// \file
/// Softmax and layer normalisation of the rows of a matrix: one reduction of the rows, then a function of each element
/// and its index.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/map.cuh>
#include <gpuopt/reduce_rows.cuh>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <vector>

// What softmax needs of a row: its largest element, and the sum of exp(x - largest).
struct Exponentials {
  float largest;
  float sum;
};

struct OfOne {
  __device__ Exponentials operator()(float x) const { return {x, 1}; }
};

// Both in one pass (Milakov and Gimelshein 2018): the part with the smaller maximum is scaled to the other's.
struct Merge {
  __device__ Exponentials operator()(const Exponentials& a, const Exponentials& b) const {
    const float scaled = expf(-fabsf(a.largest - b.largest));
    return a.largest > b.largest ? Exponentials{a.largest, a.sum + b.sum * scaled}
                                 : Exponentials{b.largest, b.sum + a.sum * scaled};
  }
};

// The row of element i is i / cols. Division of 32-bit numbers is much cheaper on a GPU than that of std::size_t.
struct Softmax {
  const Exponentials* rows;
  unsigned cols;
  __device__ float operator()(float x, std::size_t i) const {
    const Exponentials row = rows[static_cast<unsigned>(i) / cols];
    return expf(x - row.largest) / row.sum;
  }
};

struct LayerNorm {
  const gpuopt::MeanVariance<float>* rows;
  const float *gain, *bias;
  unsigned cols;
  __device__ float operator()(float x, std::size_t i) const {
    const unsigned row = static_cast<unsigned>(i) / cols, col = static_cast<unsigned>(i) % cols;
    return (x - rows[row].mean) * rsqrtf(rows[row].variance + 1e-5f) * gain[col] + bias[col];
  }
};

bool isClose(float found, double expected) {
  return std::fabs(static_cast<double>(found) - expected) < 1e-5 * (1 + std::fabs(expected));
}

bool isSoftmax(const std::vector<float>& in, const std::vector<float>& out, std::size_t cols) {
  std::size_t wrong = 0;
  for (std::size_t begin = 0; begin < in.size(); begin += cols) {
    double sum = 0;
    for (std::size_t c = 0; c < cols; ++c) sum += std::exp(static_cast<double>(in[begin + c]));
    for (std::size_t c = 0; c < cols; ++c)
      wrong += isClose(out[begin + c], std::exp(static_cast<double>(in[begin + c])) / sum) ? 0 : 1;
  }
  std::printf("softmax: %zu of %zu wrong\n", wrong, in.size());
  return wrong == 0;
}

bool isLayerNorm(const std::vector<float>& in, const std::vector<float>& out, const std::vector<float>& gain,
                 const std::vector<float>& bias) {
  const std::size_t cols = gain.size();
  std::size_t wrong = 0;
  for (std::size_t begin = 0; begin < in.size(); begin += cols) {
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < cols; ++c) mean += in[begin + c] / static_cast<double>(cols);
    for (std::size_t c = 0; c < cols; ++c) variance += std::pow(in[begin + c] - mean, 2) / static_cast<double>(cols);
    for (std::size_t c = 0; c < cols; ++c)
      wrong += isClose(out[begin + c], (in[begin + c] - mean) / std::sqrt(variance + 1e-5) * gain[c] + bias[c]) ? 0 : 1;
  }
  std::printf("layer normalisation: %zu of %zu wrong\n", wrong, in.size());
  return wrong == 0;
}

bool run() {
  const unsigned rows = 100, cols = 1003;
  const std::size_t n = std::size_t{rows} * cols;
  std::vector<float> numbers(n), gain(cols), bias(cols);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<float>(i * 7919 % 1009) / 50 - 10;
  for (unsigned c = 0; c < cols; ++c) gain[c] = 1 + static_cast<float>(c % 7) / 8, bias[c] = static_cast<float>(c % 5);
  const DeviceArray<float> in(numbers), out(n), gains(gain), biases(bias);
  const DeviceArray<Exponentials> exponentials(rows);
  const DeviceArray<gpuopt::MeanVariance<float>> moments(rows);

  gpuopt::transformReduceRows(in.data(), rows, cols, exponentials.data(), OfOne{}, Merge{});
  gpuopt::transform(in.data(), n, out.data(), Softmax{exponentials.data(), cols});
  bool right = isSoftmax(numbers, out.toHost(), cols);

  gpuopt::meanVarianceRows(in.data(), rows, cols, moments.data());
  gpuopt::transform(in.data(), n, out.data(), LayerNorm{moments.data(), gains.data(), biases.data(), cols});
  right &= isLayerNorm(numbers, out.toHost(), gain, bias);
  return right;
}

int main() { return exitStatusOf("softmax_layernorm", run); }
