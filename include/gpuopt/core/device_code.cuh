/// \file
/// What headers with device functions need: a compiler for CUDA, or the emulated device's headers.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

// The emulated device names itself as the architecture.
#if !defined(__CUDACC__) && !defined(GPUOPT_ABI_ARCHITECTURES)
#error \
    "gpuopt: a host compiler with the toolkit's headers cannot compile device functions: name the file .cu and use nvcc, or put -I <gpuopt>/emulation/include before the toolkit's headers"
#include <see_the_error_above>
#endif
