/// \file
/// Ranges of a view staged in shared memory, from where threads add them up element by element.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/reduce/view.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Padding against bank conflicts: one word after every 128 bytes.
//
//     element   0 ... 31   pad   32 ... 63   pad   64 ...      (4 bytes each)
//     bank      0 ... 31    0     1 ... 0     1     2 ...
//
// Threads that read at a distance of 32 bytes, or a multiple, would all use the same banks without it; odd distances
// have no conflicts, and would get some from it.
template <class T>
struct BankPadding {
  static constexpr unsigned PERIOD = sizeof(T) > 8   ? 8
                                     : sizeof(T) > 4 ? 16
                                     : sizeof(T) > 2 ? 32
                                     : sizeof(T) > 1 ? 64
                                                     : 128;
  static constexpr unsigned ELEMENTS = sizeof(T) > 16 ? 0 : sizeof(T) < 4 ? 4 / sizeof(T) : 1;
};

// Shared memory for COUNT elements, at any position of their first full step.
template <class T, unsigned COUNT>
struct StagedStorage {
  static constexpr unsigned ELEMENTS = COUNT + FullVectors<T>::ELEMENTS;
  static constexpr unsigned PADDING = ELEMENTS / BankPadding<T>::PERIOD * BankPadding<T>::ELEMENTS;
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char bytes[sizeof(T) * (ELEMENTS + PADDING)];
};

template <class T>
struct StagedElements {
  T* elements;
  unsigned padding;  // elements after each period

  template <unsigned COUNT>
  __device__ StagedElements(StagedStorage<T, COUNT>& storage, bool isPadded)
      : elements(reinterpret_cast<T*>(storage.bytes)), padding(isPadded ? BankPadding<T>::ELEMENTS : 0) {}

  __device__ T* address(unsigned i) const { return elements + i + i / BankPadding<T>::PERIOD * padding; }
};

// Stores values as words of a wider type.
template <class Word, int COUNT, class T>
__device__ inline void storeAs(T* address, const T (&values)[COUNT]) {
  constexpr std::size_t WORDS = COUNT * sizeof(T) / sizeof(Word);
  Word words[WORDS];
  __builtin_memcpy(words, values, sizeof(values));
#pragma unroll
  for (std::size_t i = 0; i < WORDS; ++i) reinterpret_cast<Word*>(address)[i] = words[i];
}

// Stages a step; `first` is a multiple of STEP, so that no padding splits it. By vectors if there is no padding, else
// narrow types by words.
template <int STEP, class T>
__device__ inline void stageStep(const StagedElements<T>& staged, unsigned first, const T (&values)[STEP]) {
  T* address = staged.address(first);
  if constexpr (sizeof(values) % 16 == 0)
    if (staged.padding == 0) return storeAs<uint4>(address, values);
  if constexpr (sizeof(T) <= 2 && sizeof(values) % 4 == 0) {
    storeAs<unsigned>(address, values);
  } else {
#pragma unroll
    for (int e = 0; e < STEP; ++e) address[e] = values[e];
  }
}

// THREADS threads stage the elements [first, first + count) of a plain view; returns the index of the first one. All of
// them call, and synchronise before they read.
template <int THREADS, int ITEMS, class View, class T>
__device__ inline unsigned stageElements(const StagedElements<T>& staged, const View& view, std::size_t first,
                                         unsigned count, unsigned thread) {
  using Source = typename View::Source;
  constexpr unsigned STEP = Source::STEP;
  const Source source = view.template range<16>(first, count);
  const unsigned head = static_cast<unsigned>(source.head);
  const unsigned origin = STEP - head;  // full steps begin at multiples of STEP
  const unsigned steps = (count - head) / STEP;
  const unsigned edge = thread < head ? thread : thread + steps * STEP;
  if (edge < count) *staged.address(origin + edge) = source.at(edge);
  for (unsigned step = thread; step < steps; step += ITEMS * THREADS) {
    typename Source::Step loaded[ITEMS];
    typename Source::Value values[STEP];
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i)
      source.template load<Caching::normal>(loaded[i], step + i * THREADS < steps ? step + i * THREADS : step);
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i)
      if (step + i * THREADS < steps) {
        source.values(loaded[i], values);
        stageStep(staged, (step + i * THREADS + 1) * STEP, values);
      }
  }
  return origin;
}

// The partial result of f of the staged elements first, first + stride, ... of those from `begin` to `end`, whose
// indices count from `begin`.
template <class T, class F, class Reducer>
__device__ inline typename Reducer::Partial addStaged(const StagedElements<T>& staged, const F& f,
                                                      const Reducer& reducer, unsigned begin, unsigned first,
                                                      unsigned end, unsigned stride) {
  using Value = std::decay_t<typename Call<F, T>::Result>;
  constexpr unsigned BATCH = 4;
  auto share = ShareOf<Reducer>::start(reducer);
  unsigned i = begin + first;
  for (; i + (BATCH - 1) * stride < end; i += BATCH * stride) {
    const Value values[BATCH] = {f(*staged.address(i)), f(*staged.address(i + stride)),
                                 f(*staged.address(i + 2 * stride)), f(*staged.address(i + 3 * stride))};
    reducer.add(share, values, i - begin, stride);
  }
  for (; i < end; i += stride) {
    const Value value[1] = {f(*staged.address(i))};
    reducer.add(share, value, i - begin);
  }
  return ShareOf<Reducer>::close(reducer, share);
}

GPUOPT_DETAIL_END
