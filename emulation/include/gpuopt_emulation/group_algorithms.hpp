/// Reductions, scans and copies by a cooperative group.
// SPDX-License-Identifier: MIT
#pragma once

#include "warp_groups.hpp"

#include <cstddef>

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

/// Copies bytes, each thread some of them; done after wait().
template <class Group, class To, class From>
void memcpy_async(const Group& group, To* to, const From* from, std::size_t bytes) {
  for (std::size_t i = group.thread_rank(); i < bytes; i += group.size())
    reinterpret_cast<unsigned char*>(to)[i] = reinterpret_cast<const unsigned char*>(from)[i];
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
