/// \file
/// The axes of a permutation. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace bench {

/// Extents, and strides of both tensors in elements; the slowest axis of the output comes first.
struct TensorAxes {
  std::vector<std::ptrdiff_t> extents;
  std::vector<std::ptrdiff_t> inStrides;
  std::vector<std::ptrdiff_t> outStrides;

  std::size_t elements() const {
    std::size_t n = 1;
    for (const std::ptrdiff_t extent : extents) n *= static_cast<std::size_t>(extent);
    return n;
  }
};

}  // namespace bench
