/// The keywords of CUDA C++ in terms of C++17.
// SPDX-License-Identifier: MIT
#pragma once

// The headers of others come first: some of them spell an attribute __noinline__, which is a macro below.
#include <boost/context/fiber.hpp>

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <memory>
#include <type_traits>

#define CUDART_VERSION 13000
#define CUDA_VERSION CUDART_VERSION
#define CUDARTAPI

// For programs that use the toolkit's Thrust: its 8-bit types would bring in the toolkit's own vector types.
#ifndef CCCL_DISABLE_NVFP8_SUPPORT
#define CCCL_DISABLE_NVFP8_SUPPORT
#endif

#define __host__
#define __device__
#define __global__
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)

/// A block runs on one thread of the operating system, so what the block shares is what that thread owns.
#ifdef GPUOPT_EMULATION_PROFILE
#define __shared__ thread_local __align__(128)  // on a GPU a kernel's first variable is aligned so
#else
#define __shared__ thread_local
#endif

/// In a section of their own, so that the memory of an object's managed variables is known: memory.hpp.
#define __managed__ __attribute__((section("gpuopt_managed")))

#define __align__(bytes) __attribute__((aligned(bytes)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))

/// Marks what runs each time a thread waits. scheduler.cpp has it optimised.
#ifdef GPUOPT_EMULATION_SCHEDULER
#define GPUOPT_EMULATION_HOT __attribute__((used))
#else
#define GPUOPT_EMULATION_HOT
#endif

#ifndef __clang__
#define __builtin_assume(condition) static_cast<void>(0)
#endif

#undef BOOST_NOINLINE
#define BOOST_NOINLINE __attribute__((noinline))
