/// \file
/// Neighbouring elements that a thread scans: loads, stores, folds.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/word.cuh>
#include <gpuopt/device/rows/scan_chain.cuh>
#include <gpuopt/thread/operators.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// ITEMS elements in the order of the scan, of one aligned word unless ITEMS is 1.
template <class T, int ITEMS>
struct ScanItems {
  T values[ITEMS];

  __device__ void reverse() {
#pragma unroll
    for (int i = 0; i < ITEMS / 2; ++i) {
      const T other = values[i];
      values[i] = values[ITEMS - 1 - i];
      values[ITEMS - 1 - i] = other;
    }
  }

  __device__ void load(const T* from) {
    if constexpr (ITEMS == 1) {
      values[0] = *from;
    } else {
      const auto word = *reinterpret_cast<const Word<sizeof(values)>*>(from);
      __builtin_memcpy(values, &word, sizeof(values));
    }
  }

  __device__ void store(T* to) const {
    if constexpr (ITEMS == 1) {
      *to = values[0];
    } else {
      Word<sizeof(values)> word;
      __builtin_memcpy(&word, values, sizeof(values));
      storeWord<sizeof(values)>(to, word);
    }
  }
};

// What stands for elements beyond the end. They come after all others, so they change no result; but the
// operation takes them: it gets numbers that cannot overflow, or a `valid` element of any other type.
template <class A, class T>
__device__ inline T paddingLike(const T* valid) {
  if constexpr (std::is_arithmetic_v<A> && (std::is_arithmetic_v<T> || isHalf<T>))
    return T(0);
  else
    return *valid;
}

// The elements of a row in the order of the scan. `head` of them come before the first aligned word.
template <int ITEMS, bool REVERSED, class A, class In, class Out>
struct ScanRow {
  const In* in;
  Out* out;
  std::size_t cols;
  unsigned head;

  // With isShifted, words of both sides begin at the same elements of a row.
  __device__ ScanRow(const In* from, Out* to, std::size_t length, bool isShifted)
      : in(from), out(to), cols(length), head(0) {
    if (ITEMS == 1 || !isShifted) return;
    const std::size_t first = reinterpret_cast<std::size_t>(in) / sizeof(In) + (REVERSED ? cols : 0);
    const auto beyond = static_cast<unsigned>(first % ITEMS);
    head = REVERSED ? beyond : (ITEMS - beyond) % ITEMS;
    if (head > cols) head = static_cast<unsigned>(cols);
  }

  __device__ std::size_t position(std::size_t i) const { return REVERSED ? cols - 1 - i : i; }

  __device__ void load(ScanItems<In, ITEMS>& items, std::size_t word) const {
    const std::size_t first = head + word * ITEMS;
    if (first + ITEMS <= cols) {
      items.load(in + (REVERSED ? cols - first - ITEMS : first));
      if (REVERSED) items.reverse();
    } else {
#pragma unroll
      for (int i = 0; i < ITEMS; ++i)
        items.values[i] = first + i < cols ? in[position(first + i)] : paddingLike<A>(in + position(cols - 1));
    }
  }

  __device__ void store(ScanItems<Out, ITEMS>& items, std::size_t word) const {
    const std::size_t first = head + word * ITEMS;
    if (first + ITEMS <= cols) {
      if (REVERSED) items.reverse();
      items.store(out + (REVERSED ? cols - first - ITEMS : first));
    } else {
#pragma unroll
      for (int i = 0; i < ITEMS; ++i)
        if (first + i < cols) out[position(first + i)] = items.values[i];
    }
  }

  // Appends the head to what was before the row.
  template <class Op>
  __device__ void appendHead(ScanPrefix<A>& prefix, Op op) const {
    if constexpr (ITEMS > 1)
      for (unsigned i = 0; i < head; ++i) prefix.append(static_cast<A>(in[position(i)]), op);
  }

  // Writes the results of the head. One thread calls; others must have read it, as it may be in place.
  template <bool EXCLUSIVE, class Op>
  __device__ void storeHead(ScanPrefix<A> prefix, Op op) const {
    if constexpr (ITEMS > 1)
      for (unsigned i = 0; i < head; ++i) {
        const A value = static_cast<A>(in[position(i)]);
        const A before = prefix.value;
        prefix.append(value, op);
        out[position(i)] = static_cast<Out>(EXCLUSIVE ? before : prefix.value);
      }
  }
};

template <class A, class T, int ITEMS, class Op>
__device__ inline A foldItems(const ScanItems<T, ITEMS>& items, Op op) {
  A sum = static_cast<A>(items.values[0]);
#pragma unroll
  for (int i = 1; i < ITEMS; ++i) sum = static_cast<A>(op(sum, static_cast<A>(items.values[i])));
  return sum;
}

// The results of a thread's elements, of which `prefix` is before.
template <bool EXCLUSIVE, class Out, class A, class T, int ITEMS, class Op>
__device__ inline ScanItems<Out, ITEMS> scanItems(const ScanItems<T, ITEMS>& items, ScanPrefix<A> prefix, Op op) {
  ScanItems<Out, ITEMS> results;
#pragma unroll
  for (int i = 0; i < ITEMS; ++i) {
    if constexpr (EXCLUSIVE) results.values[i] = static_cast<Out>(prefix.value);
    if (!EXCLUSIVE || i + 1 < ITEMS) prefix.append(static_cast<A>(items.values[i]), op);
    if constexpr (!EXCLUSIVE) results.values[i] = static_cast<Out>(prefix.value);
  }
  return results;
}

GPUOPT_DETAIL_END
