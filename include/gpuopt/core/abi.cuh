/// \file
/// The library's namespaces, and the visibility of what a shared library must not share: see "ABI" in
/// docs/architecture.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/requirements.cuh>
#include <gpuopt/version.cuh>

#include <cuda_runtime.h>

// nvcc's list of architectures: 800,900. An emulated device defines its own name.
#if !defined(GPUOPT_ABI_ARCHITECTURES) && defined(__CUDA_ARCH_LIST__)
#define GPUOPT_ABI_ARCHITECTURES __CUDA_ARCH_LIST__
#endif

#define GPUOPT_ABI_JOIN_VERSION(major, minor, patch) v##major##_##minor##_##patch
#define GPUOPT_ABI_VERSION_OF(major, minor, patch) GPUOPT_ABI_JOIN_VERSION(major, minor, patch)
#define GPUOPT_ABI_VERSION GPUOPT_ABI_VERSION_OF(GPUOPT_VERSION_MAJOR, GPUOPT_VERSION_MINOR, GPUOPT_VERSION_PATCH)

// Appends up to 20 architectures to a name, without separators: 800,900 becomes 800900. Absent ones are empty.
#define GPUOPT_ABI_APPEND(name, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, ...) \
  name##_##a##b##c##d##e##f##g##h##i##j##k##l##m##n##o##p##q##r##s##t
#define GPUOPT_ABI_JOIN(...) GPUOPT_ABI_APPEND(__VA_ARGS__, , , , , , , , , , , , , , , , , , , , )

#ifdef GPUOPT_ABI_ARCHITECTURES
#define GPUOPT_ABI_BUILD GPUOPT_ABI_JOIN(GPUOPT_ABI_VERSION, GPUOPT_ABI_ARCHITECTURES)
#else
#define GPUOPT_ABI_BUILD GPUOPT_ABI_VERSION
#endif

/// Whether the host functions check pointers (core/pointer_check.cuh).
#ifndef GPUOPT_CHECK_POINTERS
#define GPUOPT_CHECK_POINTERS 0
#endif

/// Whether the host functions are ranges in timelines (core/call_range.cuh).
#ifndef GPUOPT_NVTX
#define GPUOPT_NVTX 0
#endif

#define GPUOPT_ABI_WITH_OF(name, part) name##_##part
#define GPUOPT_ABI_WITH(name, part) GPUOPT_ABI_WITH_OF(name, part)

// Sources with and without the checks, or the ranges, may be linked together: each has its own functions.
#if GPUOPT_CHECK_POINTERS
#define GPUOPT_ABI_CHECKED GPUOPT_ABI_WITH(GPUOPT_ABI_BUILD, checked)
#else
#define GPUOPT_ABI_CHECKED GPUOPT_ABI_BUILD
#endif
#if GPUOPT_NVTX
#define GPUOPT_ABI_NAME GPUOPT_ABI_WITH(GPUOPT_ABI_CHECKED, ranges)
#else
#define GPUOPT_ABI_NAME GPUOPT_ABI_CHECKED
#endif

/// Opens gpuopt and the inline namespace named after version, architectures, checks and ranges.
#define GPUOPT_NAMESPACE_BEGIN \
  namespace gpuopt {           \
  inline namespace GPUOPT_ABI_NAME {
#define GPUOPT_NAMESPACE_END \
  }                          \
  }

/// The same with gpuopt::detail in it.
#define GPUOPT_DETAIL_BEGIN \
  GPUOPT_NAMESPACE_BEGIN    \
  namespace detail {
#define GPUOPT_DETAIL_END \
  }                       \
  GPUOPT_NAMESPACE_END

/// The same, named after the version alone, for types that sources compiled by nvcc and by a host compiler exchange.
/// Must not contain a namespace detail: gpuopt::detail would be ambiguous.
#define GPUOPT_TYPES_BEGIN \
  namespace gpuopt {       \
  inline namespace GPUOPT_ABI_VERSION {
#define GPUOPT_TYPES_END \
  }                      \
  }

/// Not exported by a shared library. For kernels, for functions with static variables, which inherit the visibility,
/// and for functions that are given a kernel or handle the runtime's last error: every library has its own kernels and,
/// by default, its own statically linked runtime.
#define GPUOPT_HIDDEN __attribute__((__visibility__("hidden")))
#ifdef __NVCC__
#pragma nv_diag_suppress 1407  // redundant for instances with types of unnamed namespaces
#endif

#define GPUOPT_KERNEL GPUOPT_HIDDEN __global__
