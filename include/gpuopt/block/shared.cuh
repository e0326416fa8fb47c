/// \file
/// Dynamic shared memory under one name, which kernels of different types would otherwise declare differently, and
/// addresses of shared variables that stay in a register.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/device_code.cuh>
#include <gpuopt/thread/shared_address.cuh>

/// \cond
namespace gpuopt {
// Outside the inline namespace: the emulated device defines this variable without knowing the version.
extern __shared__ __align__(128) unsigned char gpuoptDynamicShared[];
}  // namespace gpuopt
/// \endcond

GPUOPT_NAMESPACE_BEGIN

/// The block's dynamic shared memory as an array of T, aligned to 128 bytes. Its size is what the launch asked for
/// (LaunchConfig::sharedBytes); like all shared memory it is not initialised. Any thread may call.
template <class T>
__device__ inline T* dynamicShared() {
  return reinterpret_cast<T*>(gpuoptDynamicShared);
}

namespace detail {

// The same variable in shared memory, with its address in a register. From sm_90 on, ptxas computes the address of a
// shared variable from a slow special register (SR_CgaCtaId), again in each branch that names the variable. The empty
// assembler statement hides the origin of the address, and saves 42 of 283 cycles of a block's reduction.
template <class Variable>
__device__ inline Variable& keepAddress(Variable& variable) {
#if defined(__CUDA_ARCH__)
  unsigned address = sharedAddress(&variable);
  asm("" : "+r"(address));
  return *static_cast<Variable*>(__cvta_shared_to_generic(address));
#else
  return variable;
#endif
}

// Counters of 32 bits in shared memory, whose address stays in a register (see keepAddress).
class SharedCounts {
 public:
  __device__ explicit SharedCounts(unsigned* counts)
#if defined(__CUDA_ARCH__)
      : address_(sharedAddress(counts)) {
    asm("" : "+r"(address_));
  }
#else
      : counts_(counts) {
  }
#endif

  // Counts in counter `index`.
  __device__ void increment(unsigned index) const {
#if defined(__CUDA_ARCH__)
    asm volatile("red.shared.add.u32 [%0], 1;" : : "r"(address_ + 4 * index) : "memory");
#else
    atomicAdd(counts_ + index, 1u);
#endif
  }

  // Adds to a counter, and returns what it was before.
  __device__ unsigned add(unsigned index, unsigned count) const {
#if defined(__CUDA_ARCH__)
    unsigned before;
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(before) : "r"(address_ + 4 * index), "r"(count) : "memory");
    return before;
#else
    return atomicAdd(counts_ + index, count);
#endif
  }

 private:
#if defined(__CUDA_ARCH__)
  unsigned address_;
#else
  unsigned* counts_;
#endif
};

}  // namespace detail

GPUOPT_NAMESPACE_END
