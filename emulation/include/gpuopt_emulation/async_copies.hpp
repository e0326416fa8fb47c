/// Asynchronous copies of a thread from global to shared memory, which are complete at once here.
// SPDX-License-Identifier: MIT
#pragma once

#include "collectives.hpp"
#include "vector_types.hpp"

#include <cstddef>
#include <cstring>

#ifdef GPUOPT_EMULATION_PROFILE
extern "C" void gpuoptProfileAsyncCopy(void* to, const void* from, std::size_t bytes, std::size_t zeros);
#endif
#ifdef GPUOPT_EMULATION_CHECK
extern "C" {
void gpuoptCheckCopy(void* to, const void* from, std::size_t bytes);
void gpuoptCheckAsyncCopy(void* to, const void* from, std::size_t bytes, std::size_t zeros);
void gpuoptCheckCommit();
void gpuoptCheckWait(std::size_t pending);
}
#endif

// The last parameter of what can fail; a caller leaves it out.
#define GPUOPT_EMULATION_SITE gpuopt::emulation::detail::Site site = gpuopt::emulation::detail::Site::here()

namespace gpuopt::emulation::detail {

/// Copies 4, 8 or 16 bytes, of which the last `zeros` are zeros and are not read.
__forceinline__ void copyBytes(void* to, const void* from, std::size_t bytes, std::size_t zeros) {
  if (zeros > 0) {
    std::memset(to, 0, bytes);
    std::memcpy(to, from, bytes - zeros);
  } else if (bytes == 16) {
    *static_cast<uint4*>(to) = *static_cast<const uint4*>(from);
  } else if (bytes == 8) {
    *static_cast<uint2*>(to) = *static_cast<const uint2*>(from);
  } else {
    *static_cast<unsigned*>(to) = *static_cast<const unsigned*>(from);
  }
}

/// The copy of one thread for a barrier or a pipeline of libcu++.
inline void copyAll(void* to, const void* from, std::size_t bytes) {
#ifdef GPUOPT_EMULATION_CHECK
  gpuoptCheckCopy(to, from, bytes);
#else
  std::memcpy(to, from, bytes);
#endif
}

}  // namespace gpuopt::emulation::detail

/// Copies 4, 8 or 16 bytes, a multiple of which both addresses are. The last `zeros` bytes are filled with zeros
/// instead. Any other size traps.
__forceinline__ void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0,
                                             GPUOPT_EMULATION_SITE) {
  if ((bytes != 4 && bytes != 8 && bytes != 16) || zeros > bytes) __trap(site);
#ifdef GPUOPT_EMULATION_PROFILE
  gpuoptProfileAsyncCopy(to, from, bytes, zeros);  // copies, too, so that it is one instruction and no load and store
#elif defined(GPUOPT_EMULATION_CHECK)
  gpuoptCheckAsyncCopy(to, from, bytes, zeros);
#else
  gpuopt::emulation::detail::copyBytes(to, from, bytes, zeros);
#endif
}

inline void __pipeline_commit() {
#ifdef GPUOPT_EMULATION_CHECK
  gpuoptCheckCommit();
#endif
}

inline void __pipeline_wait_prior([[maybe_unused]] std::size_t pending) {
#ifdef GPUOPT_EMULATION_CHECK
  gpuoptCheckWait(pending);
#endif
}

#undef GPUOPT_EMULATION_SITE
