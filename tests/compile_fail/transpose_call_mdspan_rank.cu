// EXPECT: gpuopt: an mdspan must have two extents, or three for a batch
// SPDX-License-Identifier: MIT
#include <gpuopt/transpose.cuh>

#include <cstddef>

struct Vector {
  using element_type = float;
  using extents_type = std::size_t;
  using layout_type = int;
  using accessor_type = int;
  using data_handle_type = float*;
  using reference = float&;

  static constexpr std::size_t rank() { return 1; }
  static constexpr bool is_always_strided() { return true; }
  std::size_t extent(std::size_t) const { return 4; }
  std::size_t stride(std::size_t) const { return 1; }
  float* data_handle() const { return nullptr; }
};

void fail(Vector in, Vector out) { gpuopt::transpose(in, out); }
