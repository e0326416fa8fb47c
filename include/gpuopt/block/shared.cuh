/// \file
/// Dynamic shared memory under one name, so that kernels of different types do not declare it differently.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

namespace gpuopt {

/// The block's dynamic shared memory as an array of T, aligned to 128 bytes. Its size is what the launch
/// asked for (LaunchConfig::sharedBytes); like all shared memory it holds nothing defined at first. Any
/// thread may call.
template <class T>
__device__ inline T* dynamicShared() {
  extern __shared__ __align__(128) unsigned char gpuoptDynamicShared[];
  return reinterpret_cast<T*>(gpuoptDynamicShared);
}

}  // namespace gpuopt
