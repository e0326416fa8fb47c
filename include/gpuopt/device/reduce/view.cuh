/// \file
/// Inputs that are reduced part by part: rows, pieces of rows, segments, each with an alignment of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/array.cuh>
#include <gpuopt/device/reduce/source.cuh>
#include <gpuopt/host/grid_config.cuh>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// The elements before the first boundary of BOUNDARY bytes; of 16 bytes where whole elements reach no further
// one.
template <std::size_t BOUNDARY, class T>
__device__ inline std::size_t headOf(const T* data) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  if constexpr (isPowerOfTwo<static_cast<int>(sizeof(T))>) {
    return (0 - address) % BOUNDARY / sizeof(T);
  } else {
    std::size_t head = 0;
    while ((address + head * sizeof(T)) % 16 != 0) ++head;
    return head;
  }
}

// A view hands out sources for parts of an input. It has
//   Iterator, Element, Source
//   part<BOUNDARY>(first, count)   the source of the elements [first, first + count)
//   steps()                        the source whose steps begin at element 0, where startsSteps says so
//   flat(count)                    the source of the first `count` elements
// The steps of a part begin at a boundary of BOUNDARY bytes.

// An array, read by vectors.
template <class T>
struct ArrayView {
  using Iterator = const T*;
  using Element = T;
  using Source = ArraySource<T, Identity, true>;

  const T* data;

  template <std::size_t BOUNDARY>
  __device__ Source part(std::size_t first, std::size_t count) const {
    const T* begin = data + first;
    const std::size_t whole = headOf<BOUNDARY>(begin);
    const std::size_t head = whole < count ? whole : count;
    return {begin, begin + head, head, {}};
  }

  Source steps() const { return {data, data, 0, {}}; }

  Source flat(std::size_t count) const {
    const std::size_t head = headElements(data, count);
    return {data, data + head, head, {}};
  }
};

// Anything that can be indexed on the device, element by element.
template <class It>
struct IteratorView {
  using Iterator = It;
  using Element = typename std::iterator_traits<It>::value_type;
  using Source = IteratorSource<It, Identity>;

  It in;

  template <std::size_t>
  __host__ __device__ Source part(std::size_t first, std::size_t) const {
    return {in + static_cast<typename std::iterator_traits<It>::difference_type>(first), {}};
  }

  Source steps() const { return {in, {}}; }
  Source flat(std::size_t) const { return {in, {}}; }
};

// Whether all rows of a matrix consist of whole steps.
template <class T>
bool startsSteps(const ArrayView<T>& view, std::size_t cols, std::size_t ld) {
  constexpr std::size_t STEP = ArrayView<T>::Source::STEP;
  return onVectorBoundary(view.data) && cols % STEP == 0 && ld % STEP == 0;
}

template <class It>
bool startsSteps(const IteratorView<It>&, std::size_t, std::size_t) {
  return true;
}

// The same input element by element.
template <class T>
IteratorView<const T*> byElements(const ArrayView<T>& view) {
  return {view.data};
}

template <class It>
IteratorView<It> byElements(const IteratorView<It>& view) {
  return view;
}

// Calls use(view) with the best view of the input.
template <class It, class Use>
void withView(It iterator, Use use) {
  const auto in = Unwrap<It>::pointer(iterator);
  using Unwrapped = std::decay_t<decltype(in)>;
  using T = typename std::iterator_traits<Unwrapped>::value_type;
  if constexpr (std::is_pointer_v<Unwrapped> && readsVectors<T> && alwaysAligns<T>)
    use(ArrayView<T>{in});
  else
    use(IteratorView<Unwrapped>{in});
}

template <class It, class R>
void requireMatrix(It in, std::size_t rows, std::size_t cols, std::size_t ld, R* out, std::size_t results,
                   const char* function) {
  if (ld < cols) throwInvalid({function, ": ld (", ld, ") is less than cols (", cols, ")"});
  if (isNull(Unwrap<It>::pointer(in)) && rows > 0 && cols > 0)
    throwInvalid({function, ": in is null, but rows is ", rows, " and cols is ", cols});
  if (out == nullptr && results > 0)
    throwInvalid({function, ": out is null, but there are ", results, " results"});
}

// Steps that a thread has in flight for so many 16-byte loads.
template <int VECTORS, class Source>
inline constexpr int itemsFor = clampTo(static_cast<int>(VECTORS * 16 / Source::BYTES), 1, 16);

// What one thread of THREADS contributes to the fold of the elements [first, first + count).
template <int THREADS, int ITEMS, class View, class Reducer>
__device__ inline void addPart(typename Reducer::Partial& partial, const View& view, const Reducer& reducer,
                               std::size_t first, std::size_t count, unsigned thread) {
  using Source = typename View::Source;
  constexpr std::size_t BOUNDARY = THREADS >= 256 ? 128 : 16;
  const Source source = view.template part<BOUNDARY>(first, count);
  const std::size_t steps = (count - source.head) / Source::STEP;
  const std::size_t edge = thread < source.head ? thread : thread + steps * Source::STEP;
  typename Source::Value values[1];
  if (edge < count) values[0] = source.at(edge);
  // The same way for all threads: one that took another would double the time of its warp.
  std::size_t done = 0;
#pragma unroll 1
  for (; done + ITEMS * THREADS <= steps; done += ITEMS * THREADS)
    addSteps<Caching::normal, THREADS, ITEMS>(partial, source, reducer, done + thread);
  addStepsBelow<Caching::normal, THREADS, ITEMS>(partial, source, reducer, done + thread, steps);
  if (edge < count) reducer.add(partial, values, edge);
}

// Elements in shared memory, where threads read at any distance from each other. With gaps, a word is left
// out after every 128 bytes: that keeps distances of 32 bytes and their multiples from meeting in one bank
// (odd ones do not, but would with gaps).
template <class T>
struct PaddedSlots {
  static constexpr unsigned PERIOD = sizeof(T) > 8   ? 8
                                     : sizeof(T) > 4 ? 16
                                     : sizeof(T) > 2 ? 32
                                     : sizeof(T) > 1 ? 64
                                                     : 128;
  static constexpr unsigned GAP = sizeof(T) > 16 ? 0 : sizeof(T) < 4 ? 4 / sizeof(T) : 1;
};

// Shared memory for COUNT elements wherever their first whole step begins.
template <class T, unsigned COUNT>
struct StagedStorage {
  static constexpr unsigned SLOTS = COUNT + VectorShape<T>::ELEMENTS;
  static constexpr unsigned GAPS = SLOTS / PaddedSlots<T>::PERIOD * PaddedSlots<T>::GAP;
  alignas(alignof(T) > 16 ? alignof(T) : 16) unsigned char bytes[sizeof(T) * (SLOTS + GAPS)];
};

template <class T>
struct StagedElements {
  T* elements;
  unsigned gap;

  template <unsigned COUNT>
  __device__ StagedElements(StagedStorage<T, COUNT>& storage, bool gaps)
      : elements(reinterpret_cast<T*>(storage.bytes)), gap(gaps ? PaddedSlots<T>::GAP : 0) {}

  __device__ T* slot(unsigned i) const { return elements + i + i / PaddedSlots<T>::PERIOD * gap; }
};

// Stores values as words of a wider type.
template <class Word, int COUNT, class T>
__device__ inline void storeAs(T* slot, const T (&values)[COUNT]) {
  constexpr std::size_t WORDS = COUNT * sizeof(T) / sizeof(Word);
  Word words[WORDS];
  __builtin_memcpy(words, values, sizeof(values));
#pragma unroll
  for (std::size_t i = 0; i < WORDS; ++i) reinterpret_cast<Word*>(slot)[i] = words[i];
}

// Stages the elements of a step from a multiple of STEP on: no gap lies between them. Words where gaps allow
// no vectors.
template <int STEP, class T>
__device__ inline void stageStep(const StagedElements<T>& staged, unsigned first, const T (&values)[STEP]) {
  T* slot = staged.slot(first);
  if constexpr (sizeof(values) % 16 == 0)
    if (staged.gap == 0) return storeAs<uint4>(slot, values);
  if constexpr (sizeof(T) <= 2 && sizeof(values) % 4 == 0) {
    storeAs<unsigned>(slot, values);
  } else {
#pragma unroll
    for (int e = 0; e < STEP; ++e) slot[e] = values[e];
  }
}

// THREADS threads bring the elements [first, first + count) into shared memory, where they lie from the
// returned index on. All of them call; a barrier is theirs.
template <int THREADS, int ITEMS, class View, class T>
__device__ inline unsigned stageElements(const StagedElements<T>& staged, const View& view, std::size_t first,
                                         unsigned count, unsigned thread) {
  using Source = typename View::Source;
  constexpr unsigned STEP = Source::STEP;
  const Source source = view.template part<16>(first, count);
  const unsigned head = static_cast<unsigned>(source.head);
  const unsigned origin = STEP - head;
  const unsigned steps = (count - head) / STEP;
  const unsigned edge = thread < head ? thread : thread + steps * STEP;
  if (edge < count) *staged.slot(origin + edge) = source.at(edge);
  for (unsigned step = thread; step < steps; step += ITEMS * THREADS) {
    typename Source::Step loaded[ITEMS];
    typename Source::Value values[STEP];
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i)
      source.template load<Caching::normal>(loaded[i],
                                            step + i * THREADS < steps ? step + i * THREADS : step);
#pragma unroll
    for (unsigned i = 0; i < ITEMS; ++i)
      if (step + i * THREADS < steps) {
        source.values(loaded[i], values);
        stageStep(staged, (step + i * THREADS + 1) * STEP, values);
      }
  }
  return origin;
}

// Adds the staged elements begin, begin + stride, ... below end.
template <class T, class Reducer>
__device__ inline void addStaged(typename Reducer::Partial& partial, const StagedElements<T>& staged,
                                 const Reducer& reducer, unsigned begin, unsigned end, unsigned stride) {
  constexpr unsigned BATCH = 4;
  unsigned i = begin;
  for (; i + (BATCH - 1) * stride < end; i += BATCH * stride) {
    const T values[BATCH] = {*staged.slot(i), *staged.slot(i + stride), *staged.slot(i + 2 * stride),
                             *staged.slot(i + 3 * stride)};
    reducer.add(partial, values, i);
  }
  for (; i < end; i += stride) {
    const T value[1] = {*staged.slot(i)};
    reducer.add(partial, value, i);
  }
}

// op over groups of `lanes` neighbouring lanes (a power of two); the first of each group holds the result.
template <class Partial, class Op>
__device__ inline Partial reduceLanes(Partial partial, Op op, unsigned lanes) {
  for (unsigned delta = 1; delta < lanes; delta *= 2) partial = op(partial, shuffleDown(partial, delta));
  return partial;
}

}  // namespace detail
GPUOPT_NAMESPACE_END
