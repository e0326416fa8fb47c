/// The beginning of every source that rewrite_launches.py writes: what nvcc includes and defines by itself.
// SPDX-License-Identifier: MIT
#pragma once

#include "../cuda_runtime.h"

// Headers of many projects hide their kernels from compilers that do not define this. Thrust would take it for nvcc.
#if !defined(__CUDACC__) && !defined(THRUST_DEVICE_SYSTEM)
#define __CUDACC__ 1             // NOLINT(bugprone-reserved-identifier)
#define __CUDACC_VER_MAJOR__ 13  // NOLINT(bugprone-reserved-identifier)
#define __CUDACC_VER_MINOR__ 0   // NOLINT(bugprone-reserved-identifier)
#endif
