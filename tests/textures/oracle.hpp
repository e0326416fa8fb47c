/// What the CUDA programming guide says that a texture delivers (its appendix on texture fetching), for whole numbers
/// as elements. Written from its formulas, apart from the emulated device.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace texture_test {

/// A dimension of a texture: how many elements, and what happens outside.
struct Side {
  int n;
  cudaTextureAddressMode mode;
};

/// "x is replaced by 0 if x < 0 and N - 1 if N <= x"; wrap: by frac(x); mirror: by frac(x) or 1 - frac(x). An index is
/// moved by whole textures until it is inside. -1 is the border.
inline int addressed(int i, Side side) {
  if (side.mode == cudaAddressModeClamp) return std::clamp(i, 0, side.n - 1);
  while (i < 0 || i >= side.n) {
    if (side.mode == cudaAddressModeBorder) return -1;
    if (side.mode == cudaAddressModeWrap)
      i += i < 0 ? side.n : -side.n;
    else
      i = i < 0 ? -1 - i : 2 * side.n - 1 - i;
  }
  return i;
}

/// The elements of one dimension that are left when the other coordinates are settled.
using Line = std::function<double(int)>;

/// tex(x) = T[floor(x)].
inline double pointOf(const Line& line, double x) { return line(static_cast<int>(std::floor(x))); }

/// tex(x) = (1 - a) T[i] + a T[i + 1], i = floor(x - 0.5), a = frac(x - 0.5) in steps of 1/256.
inline double linearOf(const Line& line, double x) {
  const double below = std::floor(x - 0.5);
  const double a = std::floor((x - 0.5 - below) * 256 + 0.5) / 256;
  const int i = static_cast<int>(below);
  return (1 - a) * line(i) + a * line(i + 1);
}

/// A texture of up to three dimensions, fetched one dimension after the other.
struct Oracle {
  Side x, y, z;
  cudaTextureFilterMode filter;
  double border;
  std::function<double(int, int, int)> element;

  double at(double u, double v, double w) const {
    const auto along = [this](const Line& line, double coordinate) {
      return filter == cudaFilterModeLinear ? linearOf(line, coordinate) : pointOf(line, coordinate);
    };
    const auto elementAt = [this](int i, int j, int k) {
      const int column = addressed(i, x), row = addressed(j, y), plane = addressed(k, z);
      return column < 0 || row < 0 || plane < 0 ? border : element(column, row, plane);
    };
    return along(
        [&](int k) { return along([&](int j) { return along([&](int i) { return elementAt(i, j, k); }, u); }, v); }, w);
  }
};

}  // namespace texture_test
