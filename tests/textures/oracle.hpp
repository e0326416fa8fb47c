/// What the CUDA programming guide says that a texture delivers (its appendix on texture fetching), for whole numbers
/// as elements, and how an H200 rounds it. Written apart from the emulated device.
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

/// So many 256ths of the element i of a dimension: of two elements, the first or the second.
using Share = std::function<double(int i, double part, bool isSecond)>;

/// tex(x) = T[floor(x)].
inline double pointOf(double part, double x, const Share& share) {
  return share(static_cast<int>(std::floor(x)), part, false);
}

/// tex(x) = (1 - a) T[i] + a T[i + 1], i = floor(x - 0.5), a = frac(x - 0.5) in steps of 1/256. The two get whole
/// 256ths; what is half-way goes to the second or to the first.
inline double linearOf(double part, double x, bool halfToSecond, const Share& share) {
  const double below = std::floor(x - 0.5);
  const double a = std::floor((x - 0.5 - below) * 256 + 0.5) / 256;
  const double second = halfToSecond ? std::floor(part * a + 0.5) : std::ceil(part * a - 0.5);
  const int i = static_cast<int>(below);
  return share(i, part - second, false) + share(i + 1, second, true);
}

/// A texture of up to three dimensions. A GPU divides the weight of 256 by z, then by x, then by y. Halves go
/// to the second element, but for y only in the second column: as if the first column were what the second leaves.
struct Oracle {
  Side x, y, z;
  cudaTextureFilterMode filter;
  double border;
  std::function<double(int, int, int)> element;

  double at(double u, double v, double w) const {
    const auto divide = [this](double part, double coordinate, Side side, bool halfToSecond, const Share& share) {
      if (filter != cudaFilterModeLinear) return pointOf(part, coordinate, share);
      // Clamped before the weights are: products of several would be rounded to other 256ths.
      const bool isClamped = side.mode == cudaAddressModeClamp;
      return linearOf(part, isClamped ? std::clamp(coordinate, 0.5, side.n - 0.5) : coordinate, halfToSecond, share);
    };
    const auto elementAt = [this](int i, int j, int k) {
      const int column = addressed(i, x), row = addressed(j, y), plane = addressed(k, z);
      return column < 0 || row < 0 || plane < 0 ? border : element(column, row, plane);
    };
    return divide(256, w, z, true, [&](int k, double ofPlane, bool) {
      return divide(ofPlane, u, x, true, [&](int i, double ofColumn, bool isSecond) {
        return divide(ofColumn, v, y, isSecond,
                      [&](int j, double part, bool) { return part / 256 * elementAt(i, j, k); });
      });
    });
  }
};

}  // namespace texture_test
