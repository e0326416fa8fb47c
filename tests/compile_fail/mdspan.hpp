// What tells an mdspan, and what can be wrong with one.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

template <std::size_t RANK, bool STRIDED, class Reference>
struct Mdspan {
  using element_type = float;
  using extents_type = std::size_t;
  using layout_type = int;
  using accessor_type = int;
  using data_handle_type = float*;
  using reference = Reference;

  static constexpr std::size_t rank() { return RANK; }
  static constexpr bool is_always_strided() { return STRIDED; }
  std::size_t extent(std::size_t) const { return 4; }
  std::size_t stride(std::size_t) const { return 1; }
  float* data_handle() const { return nullptr; }
};
