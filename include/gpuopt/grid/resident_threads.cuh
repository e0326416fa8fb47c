/// \file
/// How many threads a multiprocessor holds, by the architecture that is compiled for.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

GPUOPT_DETAIL_BEGIN

// The threads of a full multiprocessor. Launch bounds ask for as many, because blocks hide each other's latency.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
constexpr unsigned RESIDENT_THREADS = 1024;
#elif defined(__CUDA_ARCH__) && \
    (__CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 870 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ >= 1100)
constexpr unsigned RESIDENT_THREADS = 1536;
#else
constexpr unsigned RESIDENT_THREADS = 2048;
#endif

GPUOPT_DETAIL_END
