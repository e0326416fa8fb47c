/// \file
/// Requests and plans are compared member by member, so that a test can state a whole plan.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/soa/aggregate.cuh>

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

// What is compared member by member: requests, plans. A family sets it for its own.
template <class T>
inline constexpr bool isPlan = false;

// The addresses of all members.
template <std::size_t COUNT>
struct MemberAddresses {
  const void* of[COUNT];
};
template <std::size_t COUNT>
struct FindAddresses {
  template <class... Ms>
  __host__ __device__ constexpr MemberAddresses<COUNT> operator()(const Ms&... members) const {
    return {{__builtin_addressof(members)...}};
  }
};

template <class T>
bool haveEqualMembers(const T& a, const T& b);

template <class T>
bool areEqual(const T& a, const T& b) {
  if constexpr (std::is_array_v<T>) {
    bool equal = true;
    for (std::size_t i = 0; i < std::extent_v<T>; ++i) equal = equal && areEqual(a[i], b[i]);
    return equal;
  } else if constexpr (std::is_aggregate_v<T>) {
    return haveEqualMembers(a, b);
  } else if constexpr (std::is_same_v<T, const char*>) {  // a reason
    return a == nullptr || b == nullptr ? a == b : std::string_view(a) == std::string_view(b);
  } else {
    return a == b;
  }
}

template <class... Ms, std::size_t... NUMBERS>
bool areEqualEach(TypeList<Ms...>, const void* const* a, const void* const* b, std::index_sequence<NUMBERS...>) {
  return (areEqual(*static_cast<const Ms*>(a[NUMBERS]), *static_cast<const Ms*>(b[NUMBERS])) && ...);
}

template <class T>
bool haveEqualMembers(const T& a, const T& b) {
  using Parts = StructMembers<T, true>;
  constexpr std::size_t COUNT = Parts::COUNT;
  return areEqualEach(typename Parts::Types{}, Parts::visit(a, FindAddresses<COUNT>{}).of,
                      Parts::visit(b, FindAddresses<COUNT>{}).of, std::make_index_sequence<COUNT>{});
}

template <class T, class = std::enable_if_t<isPlan<T>>>
bool operator==(const T& a, const T& b) {
  return haveEqualMembers(a, b);
}
template <class T, class = std::enable_if_t<isPlan<T>>>
bool operator!=(const T& a, const T& b) {
  return !haveEqualMembers(a, b);
}

GPUOPT_DETAIL_END
