/// Reductions, scans and copies by a cooperative group.
// SPDX-License-Identifier: MIT
#pragma once

#include "async_copies.hpp"
#include "warp_groups.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>

// The last parameter of what can wait; a caller leaves it out.
#define GPUOPT_EMULATION_SITE gpuopt::emulation::detail::Site site = gpuopt::emulation::detail::Site::here()

namespace cooperative_groups {

#define GPUOPT_EMULATION_OPERATOR(name, expression)                     \
  template <class T>                                                    \
  struct name {                                                         \
    T operator()(const T& a, const T& b) const { return (expression); } \
  };
GPUOPT_EMULATION_OPERATOR(plus, static_cast<T>(a + b))
GPUOPT_EMULATION_OPERATOR(less, b < a ? b : a)
GPUOPT_EMULATION_OPERATOR(greater, a < b ? b : a)
GPUOPT_EMULATION_OPERATOR(bit_and, static_cast<T>(a& b))
GPUOPT_EMULATION_OPERATOR(bit_or, static_cast<T>(a | b))
GPUOPT_EMULATION_OPERATOR(bit_xor, static_cast<T>(a ^ b))
#undef GPUOPT_EMULATION_OPERATOR

/// The values of all threads of a group, combined, in each of them.
template <class Group, class T, class Op>
T reduce(const Group& group, T value, Op op, GPUOPT_EMULATION_SITE) {
  for (unsigned step = 1; step < group.size(); step *= 2) {
    const T other = group.shfl_down(value, step, site);
    if (group.thread_rank() + step < group.size()) value = op(value, other);
  }
  return group.shfl(value, 0, site);
}

/// The values of the threads up to the calling one, combined.
template <class Group, class T, class Op>
T inclusive_scan(const Group& group, T value, Op op, GPUOPT_EMULATION_SITE) {
  for (unsigned step = 1; step < group.size(); step *= 2) {
    const T other = group.shfl_up(value, step, site);
    if (group.thread_rank() >= step) value = op(other, value);
  }
  return value;
}
template <class Group, class T>
T inclusive_scan(const Group& group, T value, GPUOPT_EMULATION_SITE) {
  return inclusive_scan(group, value, plus<T>(), site);
}

/// The values of the threads before the calling one, combined; T{} in the first one.
template <class Group, class T, class Op>
T exclusive_scan(const Group& group, T value, Op op, GPUOPT_EMULATION_SITE) {
  const T before = group.shfl_up(inclusive_scan(group, value, op, site), 1, site);
  return group.thread_rank() == 0 ? T{} : before;
}
template <class Group, class T>
T exclusive_scan(const Group& group, T value, GPUOPT_EMULATION_SITE) {
  return exclusive_scan(group, value, plus<T>(), site);
}

namespace detail {

/// Copies bytes one by one, each thread some of them.
template <class Group>
__forceinline__ void copySingleBytes(const Group& group, unsigned char* to, const unsigned char* from,
                                     std::size_t bytes) {
  for (std::size_t i = group.thread_rank(); i < bytes; i += group.size()) to[i] = from[i];
}

/// Bytes of one asynchronous copy by a group, chosen as the toolkit does: the alignment of the type, or what both
/// addresses have in common.
template <class T>
unsigned copyWidth(const void* to, const void* from, std::size_t bytes) {
  std::size_t alignment = 1;
  if constexpr (!std::is_void_v<T>) alignment = alignof(T);
  if (alignment >= 4) return static_cast<unsigned>(alignment < 16 ? alignment : 16);
  const auto differing = (reinterpret_cast<std::uintptr_t>(to) ^ reinterpret_cast<std::uintptr_t>(from)) | 16;
  const auto common = static_cast<unsigned>(differing & (~differing + 1));
  return bytes < common ? static_cast<unsigned>(alignment) : common;
}

}  // namespace detail

/// Copies bytes, each thread some of them; done after wait(). Inlined, so that a profile finds the line of the call.
template <class Group, class To, class From>
__forceinline__ void memcpy_async(const Group& group, To* to, const From* from, std::size_t bytes) {
  auto* target = reinterpret_cast<unsigned char*>(to);
  const auto* source = reinterpret_cast<const unsigned char*>(from);
  const unsigned width = detail::copyWidth<To>(to, from, bytes);
  if (width < 4) return detail::copySingleBytes(group, target, source, bytes);
  const std::size_t before = (0 - reinterpret_cast<std::uintptr_t>(from)) % width;
  const std::size_t copies = (bytes - before) / width, end = before + copies * width;
  detail::copySingleBytes(group, target, source, before);
  for (std::size_t i = group.thread_rank(); i < copies; i += group.size())
    __pipeline_memcpy_async(target + before + i * width, source + before + i * width, width);
  detail::copySingleBytes(group, target + end, source + end, bytes - end);
}
template <class Group>
void wait(const Group& group, GPUOPT_EMULATION_SITE) {
  group.sync(site);
}
template <unsigned STAGES, class Group>
void wait_prior(const Group& group, GPUOPT_EMULATION_SITE) {
  group.sync(site);
}

}  // namespace cooperative_groups

#undef GPUOPT_EMULATION_SITE
