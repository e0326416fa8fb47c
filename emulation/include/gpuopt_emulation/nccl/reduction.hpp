/// The reductions of NCCL's collectives: element by element, in the order of the ranks.
// SPDX-License-Identifier: MIT
#pragma once

#include "types.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace gpuopt::emulation::detail {

template <class T>
T combined(ncclRedOp_t op, T a, T b) {
  switch (op) {
    case ncclProd:
      return static_cast<T>(a * b);
    case ncclMax:
      return a < b ? b : a;
    case ncclMin:
      return b < a ? b : a;
    default:
      return static_cast<T>(a + b);
  }
}

/// Integers wrap around: those with a sign are combined without it, but compared with it.
template <class T>
T combinedWrapping(ncclRedOp_t op, T a, T b) {
  if constexpr (std::is_integral_v<T> && sizeof(T) >= sizeof(int))
    if (op != ncclMax && op != ncclMin) {
      using Unsigned = std::make_unsigned_t<T>;
      return static_cast<T>(combined(op, static_cast<Unsigned>(a), static_cast<Unsigned>(b)));
    }
  return combined(op, a, b);
}

/// Reduces one element of each rank to `to`, which may be one of them.
template <class T>
void reduceElements(ncclRedOp_t op, const std::vector<const void*>& from, std::size_t first, std::size_t count,
                    std::vector<unsigned char>& to) {
  to.resize(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    T sum = static_cast<const T*>(from[0])[first + i];
    for (std::size_t rank = 1; rank < from.size(); ++rank)
      sum = combinedWrapping(op, sum, static_cast<const T*>(from[rank])[first + i]);
    if (op == ncclAvg) sum = static_cast<T>(sum / static_cast<T>(static_cast<float>(from.size())));
    std::memcpy(to.data() + i * sizeof(T), &sum, sizeof(T));
  }
}

/// Elements [first, first + count) of all ranks, reduced.
inline std::vector<unsigned char> reduced(ncclDataType_t type, ncclRedOp_t op, const std::vector<const void*>& from,
                                          std::size_t first, std::size_t count) {
  std::vector<unsigned char> to;
  const auto reduceAs = [&](auto element) { reduceElements<decltype(element)>(op, from, first, count, to); };
  switch (type) {
    case ncclInt8:
      reduceAs(std::int8_t{});
      break;
    case ncclUint8:
      reduceAs(std::uint8_t{});
      break;
    case ncclInt32:
      reduceAs(std::int32_t{});
      break;
    case ncclUint32:
      reduceAs(std::uint32_t{});
      break;
    case ncclInt64:
      reduceAs(std::int64_t{});
      break;
    case ncclUint64:
      reduceAs(std::uint64_t{});
      break;
    case ncclFloat16:
      reduceAs(__half{});
      break;
    case ncclBfloat16:
      reduceAs(__nv_bfloat16{});
      break;
    case ncclFloat64:
      reduceAs(double{});
      break;
    default:
      reduceAs(float{});
  }
  return to;
}

}  // namespace gpuopt::emulation::detail
