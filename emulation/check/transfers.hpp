/// Which bytes copies and fills have in common with other accesses.
// SPDX-License-Identifier: MIT
#pragma once

#include "gpuopt_emulation/observer.hpp"

#include <cstddef>
#include <cstdint>

namespace gpuopt::emulation::detail {

/// Whether a copy or a fill accesses one of some bytes.
inline bool touches(const Transfer& transfer, std::uintptr_t address, std::size_t bytes) {
  const std::uintptr_t end = address + bytes;
  if (end <= transfer.address || (transfer.height - 1) * transfer.pitch + transfer.width + transfer.address <= address)
    return false;
  const std::size_t begin = address < transfer.address ? 0 : address - transfer.address;
  const bool isInRow = transfer.height == 1 || begin % transfer.pitch < transfer.width;
  return isInRow || (begin / transfer.pitch + 1) * transfer.pitch < end - transfer.address;
}

/// The address of the first row of one that another one touches; 0 if there is none.
inline std::uintptr_t firstCommonRow(const Transfer& rows, const Transfer& other) {
  for (std::size_t row = 0; row < rows.height; ++row) {
    const std::uintptr_t address = rows.address + row * rows.pitch;
    if (touches(other, address, rows.width)) return address;
  }
  return 0;
}

inline bool isSame(const Transfer& a, const Transfer& b) {
  return a.isWrite == b.isWrite && a.address == b.address && a.pitch == b.pitch && a.width == b.width &&
         a.height == b.height;
}

}  // namespace gpuopt::emulation::detail
