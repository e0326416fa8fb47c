/// \file
/// Addresses of shared memory as instructions take them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

GPUOPT_DETAIL_BEGIN

#if defined(__CUDA_ARCH__)
// The 32 bits of an address in the shared memory of the block.
__device__ inline unsigned sharedAddress(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}
#endif

GPUOPT_DETAIL_END
