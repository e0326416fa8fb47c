/// \file
/// How structures of a type are moved: StructTransfer and StructTransferPolicy.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/word.cuh>

GPUOPT_NAMESPACE_BEGIN

/// How structures move between an array and the threads that own them.
enum class StructTransfer {
  direct,    ///< each thread accesses its own structure: best for one access per thread, slow for more
  tile,      ///< through a warp's tile in shared memory: copy speed for any type
  exchange,  ///< through shuffles, without shared memory: types aligned to 4 bytes or more
};

namespace detail {

// Bytes that a thread takes at least, for types aligned to words and for others, and at most. Measured:
// benchmarks/results/struct_tuning.csv.
inline constexpr unsigned minLaneBytesOfWords = 24;
inline constexpr unsigned minLaneBytes = 40;
inline constexpr unsigned maxLaneBytes = 192;

// Structures per thread: as many as share a 16-byte vector, otherwise as few as fill whole words and the minimum above.
// One if that exceeds the maximum.
template <class T>
constexpr unsigned itemsOf() {
  if (16 % sizeof(T) == 0 && (sizeof(T) < 16 || isWord<T>)) return static_cast<unsigned>(16 / sizeof(T));
  constexpr unsigned LEAST = leastAlignment<T> >= 4 ? minLaneBytesOfWords : minLaneBytes;
  unsigned items = 1;
  while (sizeof(T) * items < LEAST || sizeof(T) * items % 4 != 0) ++items;
  return items == 1 || sizeof(T) * items <= maxLaneBytes ? items : 1;
}

}  // namespace detail

/// How structures of type T are loaded and stored, and how many each thread takes: ITEMS, or the number that suits the
/// type if ITEMS is 0. The host functions use StructTransferPolicy<T>, and StagedStructs<T, BLOCK, ITEMS> uses
/// StructTransferPolicy<T, ITEMS>. To change it, specialise it for your own type (and any ITEMS), or pass StagedStructs
/// another class with these three members.
///
/// The default is `direct` for one structure of 1, 2, 4, 8 or 16 bytes, aligned to its size, and `tile` for everything
/// else: transformStructs of 64-byte structures then runs at 0.98 of copy speed, against 0.16 with `direct` (H200,
/// benchmarks/results/struct_tuning.csv).
template <class T, unsigned ITEMS = 0>
struct StructTransferPolicy {
  static constexpr unsigned items = ITEMS == 0 ? detail::itemsOf<T>() : ITEMS;  ///< structures per thread
  /// How threads load their structures.
  static constexpr StructTransfer load =
      detail::isWord<T> && items == 1 ? StructTransfer::direct : StructTransfer::tile;
  static constexpr StructTransfer store = load;  ///< how threads store their structures
};

GPUOPT_NAMESPACE_END
