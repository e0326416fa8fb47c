/// \file
/// Dynamic shared memory under one name, so that kernels of different types do not declare it differently,
/// and addresses of shared variables that stay in a register.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

/// \cond
namespace gpuopt {
// Outside the inline namespace: the emulated device defines this variable without knowing the version.
extern __shared__ __align__(128) unsigned char gpuoptDynamicShared[];
}  // namespace gpuopt
/// \endcond

GPUOPT_NAMESPACE_BEGIN

/// The block's dynamic shared memory as an array of T, aligned to 128 bytes. Its size is what the launch
/// asked for (LaunchConfig::sharedBytes); like all shared memory it holds nothing defined at first. Any
/// thread may call.
template <class T>
__device__ inline T* dynamicShared() {
  return reinterpret_cast<T*>(gpuoptDynamicShared);
}

namespace detail {

// The same variable in shared memory, by an address in a register. From sm_90 on, ptxas forms addresses of
// __shared__ variables from a slow special register (SR_CgaCtaId), and reads that again in every branch that
// names the variable, so also between a barrier and the load behind it. The compiler cannot see through an
// assembler statement, even an empty one, and so does not name the variable again. H200, 2026-11-22, cycles
// of one reduction of a block: 256 floats 241 instead of 283, 512 doubles 436 instead of 508.
template <class Variable>
__device__ inline Variable& keepAddress(Variable& variable) {
#if defined(__CUDA_ARCH__)
  auto address = static_cast<unsigned>(__cvta_generic_to_shared(&variable));
  asm("" : "+r"(address));
  return *static_cast<Variable*>(__cvta_shared_to_generic(address));
#else
  return variable;
#endif
}

}  // namespace detail

GPUOPT_NAMESPACE_END
