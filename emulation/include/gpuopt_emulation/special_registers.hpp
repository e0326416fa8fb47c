/// What kernels read of special registers, clocks, and the refusal of other inline PTX.
// SPDX-License-Identifier: MIT
#pragma once

#include "collectives.hpp"
#include "limits.hpp"

#include <time.h>

#include <string>

namespace gpuopt::emulation::detail {

/// The special registers that rewrite_launches.py knows, by PTX's names.
namespace special {

inline unsigned laneid() { return callingLane("%laneid").inWarp(); }
inline unsigned warpid() { return callingLane("%warpid").index / WARP_LANES; }
inline unsigned nwarpid() { return MAX_BLOCK_THREADS / WARP_LANES; }
inline unsigned smid() {
  return static_cast<unsigned>((1ull * (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) %
                               MULTIPROCESSORS);
}
inline unsigned nsmid() { return MULTIPROCESSORS; }
inline unsigned clock() { return static_cast<unsigned>(clock64()); }
inline unsigned long long clock64() { return static_cast<unsigned long long>(::clock64()); }
inline unsigned long long globaltimer() { return static_cast<unsigned long long>(::clock64()); }
inline unsigned lanemask_eq() { return callingLane("%lanemask_eq").bit(); }
inline unsigned lanemask_lt() { return lanemask_eq() - 1; }
inline unsigned lanemask_le() { return lanemask_lt() | lanemask_eq(); }
inline unsigned lanemask_gt() { return ~lanemask_le(); }
inline unsigned lanemask_ge() { return ~lanemask_lt(); }

}  // namespace special

/// Inline PTX is no code of a CPU: the thread that reaches it ends the launch.
[[noreturn]] inline void refusePtx(const char* text, Site site = Site::here()) {
  const Lane& lane = callingLane("inline PTX");
  lane.block->failInLane(lane, std::string("the emulated device does not execute inline PTX: \"") + text + '"', site);
}

}  // namespace gpuopt::emulation::detail

#define GPUOPT_EMULATED_REGISTER(variable, name) \
  static_cast<void>((variable) = static_cast<decltype(+(variable))>(::gpuopt::emulation::detail::special::name()))
#define GPUOPT_EMULATED_PTX(text) ::gpuopt::emulation::detail::refusePtx(text)

/// In a kernel the device's clock, and on the host the C library's function, in whose place this one is.
extern "C" __attribute__((weak)) clock_t clock() noexcept {
  if (gpuopt::emulation::detail::currentLane != nullptr) return static_cast<clock_t>(clock64());
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return used.tv_sec * CLOCKS_PER_SEC + used.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
}
