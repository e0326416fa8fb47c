/// CPU stand-in for the CUDA runtime and device language: put this folder first on the include path and
/// compile CUDA C++ with an ordinary C++17 compiler (`g++ -x c++ kernel.cu -lboost_context -lpthread`). See
/// docs/emulation.md.
// SPDX-License-Identifier: MIT
#pragma once

#if __cplusplus < 201703L  // g++ goes on after #error; the missing file ends the compilation
#error "gpuopt's emulated device needs C++17: compile with -std=c++17 or later"
#include <see_the_error_above>
#endif

#ifndef __cpp_exceptions
#error "gpuopt's emulated device reports errors by exceptions: compile without -fno-exceptions"
#include <see_the_error_above>
#endif

#define GPUOPT_EMULATION 1

// The guards of the toolkit's headers: others ask by them whether there is CUDA.
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__      // NOLINT(bugprone-reserved-identifier)
#define __CUDA_RUNTIME_API_H__  // NOLINT(bugprone-reserved-identifier)
#define __DRIVER_TYPES_H__      // NOLINT(bugprone-reserved-identifier)
#define __VECTOR_TYPES_H__      // NOLINT(bugprone-reserved-identifier)
#define __VECTOR_FUNCTIONS_H__  // NOLINT(bugprone-reserved-identifier)
#define __HOST_DEFINES_H__      // NOLINT(bugprone-reserved-identifier)
#endif

#define GPUOPT_ABI_ARCHITECTURES emulated  // in the name of the library's inline namespace

// gpuopt checks the pointers that it is given. Thrust's device system for CPUs has its vectors in host memory.
#if !defined(GPUOPT_CHECK_POINTERS) && !defined(THRUST_DEVICE_SYSTEM)
#define GPUOPT_CHECK_POINTERS 1
#endif

#include "gpuopt_emulation/language.hpp"

#include "gpuopt_emulation/vector_types.hpp"

#include "gpuopt_emulation/atomics.hpp"
#include "gpuopt_emulation/collectives.hpp"
#include "gpuopt_emulation/intrinsics.hpp"
#include "gpuopt_emulation/rounding.hpp"
#include "gpuopt_emulation/runtime.hpp"
#include "gpuopt_emulation/simd.hpp"
#include "gpuopt_emulation/special_registers.hpp"

// Thrust's iterators of memory are unwrapped to pointers by a function that its device system for CPUs leaves out.
#if defined(THRUST_DEVICE_SYSTEM) && __has_include(<thrust/type_traits/unwrap_contiguous_iterator.h>)
#include <thrust/type_traits/unwrap_contiguous_iterator.h>
#endif
