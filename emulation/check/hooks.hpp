/// From the functions that the compiler and the emulated device call to the checker.
// SPDX-License-Identifier: MIT
#pragma once

#include "checker.hpp"

#include "../profile/compiler_hooks.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpuopt::emulation::detail {

/// The lane that runs if it is observed, and not the scheduler, whose stack is another.
inline Lane* checkedLane(const void* frame) {
  Lane* const lane = currentLane;
  const bool isChecked =
      lane != nullptr && lane->trace != nullptr && lane->trace->isOnStack(reinterpret_cast<std::uintptr_t>(frame));
  return isChecked ? lane : nullptr;
}

inline AccessWay wayOf(HookedAccess access) {
  switch (access.kind) {
    case HookedAccess::Kind::load:
      return access.isVolatile ? AccessWay::volatileRead : AccessWay::read;
    case HookedAccess::Kind::store:
      return access.isVolatile ? AccessWay::volatileWrite : AccessWay::write;
    case HookedAccess::Kind::atomicLoad:
      return AccessWay::atomicRead;
    default:
      return AccessWay::atomicWrite;
  }
}

inline bool isRelease(int order) {
  return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
}

inline bool isAcquire(int order) {
  return order == __ATOMIC_ACQUIRE || order == __ATOMIC_CONSUME || order == __ATOMIC_ACQ_REL ||
         order == __ATOMIC_SEQ_CST;
}

void noteAccess(HookedAccess access, const volatile void* pointer, std::size_t bytes, const void* caller,
                const void* frame) {
  Lane* const lane = checkedLane(frame);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (currentLane == nullptr) {
    Checker& checker = Checker::instance();
    if (isWrite(wayOf(access))) checker.written(const_cast<const void*>(pointer), bytes);
    checker.hostAccess(wayOf(access), address, bytes, reinterpret_cast<std::uintptr_t>(caller));
  }
  if (lane == nullptr || lane->trace->isOnStack(address)) return;
  BlockChecker& checker = *lane->trace->checker;
  if (isRelease(access.order)) checker.fence(*lane, FenceScope::device, caller);
  const bool readsOld = access.kind == HookedAccess::Kind::atomicUpdate && !access.isExchange;
  checker.access(*lane, wayOf(access), address, bytes, reinterpret_cast<std::uintptr_t>(caller), readsOld);
  if (isAcquire(access.order)) lane->trace->isAcquiring = true;
}

void noteFence(int, const void* caller) {
  if (Lane* const lane = checkedLane(__builtin_frame_address(0)))
    lane->trace->checker->fence(*lane, FenceScope::device, caller);
}

}  // namespace gpuopt::emulation::detail

extern "C" {

void gpuoptCheckBlockFence() {
  using namespace gpuopt::emulation::detail;
  if (Lane* const lane = checkedLane(__builtin_frame_address(0)))
    lane->trace->checker->fence(*lane, FenceScope::block, __builtin_return_address(0));
}

void gpuoptCheckAsyncCopy(void* to, const void* from, std::size_t bytes, std::size_t zeros) {
  using namespace gpuopt::emulation::detail;
  if (Lane* const lane = checkedLane(__builtin_frame_address(0))) {
    lane->trace->checker->copy(*lane, reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from),
                               bytes, zeros, reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
  }
  copyBytes(to, from, bytes, zeros);
}

void gpuoptCheckCopy(void* to, const void* from, std::size_t bytes) {
  using namespace gpuopt::emulation::detail;
  noteAccess({HookedAccess::Kind::load}, from, bytes, __builtin_return_address(0), __builtin_frame_address(0));
  noteAccess({HookedAccess::Kind::store}, to, bytes, __builtin_return_address(0), __builtin_frame_address(0));
  std::memcpy(to, from, bytes);
}

void gpuoptCheckCommit() {
  using namespace gpuopt::emulation::detail;
  if (Lane* const lane = checkedLane(__builtin_frame_address(0))) ++lane->trace->groups;
}

void gpuoptCheckWait(std::size_t pending) {
  using namespace gpuopt::emulation::detail;
  if (Lane* const lane = checkedLane(__builtin_frame_address(0)))
    lane->trace->checker->await(*lane, pending, __builtin_return_address(0));
}
}
