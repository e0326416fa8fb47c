/// \file
/// Work of any length on an element: what the experiments on transfers and on the host do with data.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace experiments {

/// What is done with each element, on the device and on the host.
__host__ __device__ inline unsigned worked(unsigned x, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) x = (x ^ (x >> 15)) * 0x2C1B3C6Du + round;
  return x;
}

inline void workOnHost(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  for (std::size_t i = 0; i < n; ++i) out[i] = worked(in[i], rounds);
}

/// The same as a function of the library's.
struct Worked {
  unsigned rounds;
  __device__ unsigned operator()(unsigned x) const { return worked(x, rounds); }
};

}  // namespace experiments
