/// \file
/// The search for the bin of an element.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>

GPUOPT_DETAIL_BEGIN

// The last bin whose lower edge is not above an element that is in one of the bins. `isReached(bin)` says it of a bin
// other than 0.
template <class IsReached>
__device__ inline unsigned lastReached(unsigned bins, const IsReached& isReached) {
  unsigned bin = 0, end = bins;
#pragma unroll 1
  while (end - bin > 1) {
    const unsigned middle = bin + (end - bin) / 2;
    if (isReached(middle))
      bin = middle;
    else
      end = middle;
  }
  return bin;
}

GPUOPT_DETAIL_END
