/// \file
/// Checks of the standard, the compiler and the toolkit, before any other header is read: one line says what to do.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/macros.cuh>

// g++ goes on after #error; the missing file ends the compilation.
#if __cplusplus < 201703L
#error "gpuopt needs C++17: compile with -std=c++17 or later"
#include <see_the_error_above>
#endif

// Host functions throw. The compilation for the device is not asked.
#if !defined(__cpp_exceptions) && !defined(__CUDA_ARCH__)
#error "gpuopt reports errors by exceptions: compile without -fno-exceptions"
#include <see_the_error_above>
#endif

#if !__has_include(<cuda_runtime.h>)
#error \
    "gpuopt needs cuda_runtime.h: compile with nvcc, or give a host compiler the toolkit's headers with -I <CUDA>/include or the emulated device with -I <gpuopt>/emulation/include"
#include <see_the_error_above>
#endif

#include <cuda_runtime.h>

#if CUDART_VERSION < 12000
#error "gpuopt needs CUDA 12 or later: the cuda_runtime.h that is found first is older"
#include <see_the_error_above>
#endif
