/// \file
/// Sources: how a reduction reads its elements from arrays, pairs of arrays, or iterators.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/input.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/reduce/tuning.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// A source hands out its elements in steps. A step is what one thread loads at once: one vector of four floats, three
// vectors of four float3, one element of an iterator.
//   STEP, BYTES     elements of a step, and the bytes it reads
//   VECTORS         whether it reads vectors
//   ALWAYS_ALIGNS   whether every legal address allows that
//   Step            the registers of a step
//   load<CACHING>(step, s)     issues the loads of step s
//   values(step, v)            the elements of a loaded step, transformed
//   at(i)                      element i of the input, transformed
//   head            elements before the first step
// and a source of vectors
//   isMisaligned()  whether the addresses rule out vectors after all
//   elementwise()   then, the same elements and steps, loaded one by one
// Loading is separate from reading the values, so that a thread can have many loads in flight.

// Whether from every legal address of a T some element begins on a 16-byte boundary.
template <class T>
inline constexpr bool alwaysAligns = alignof(T) % FullVectors<T>::common == 0;

template <class T>
bool onVectorBoundary(const T* data) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

// An array, whose steps begin at element `head`. ALIGNED promises that they are on 16-byte boundaries.
template <class T, class F, bool ALIGNED>
struct ArraySource {
  static constexpr bool VECTORS = ALIGNED;
  static constexpr bool ALWAYS_ALIGNS = alwaysAligns<T>;
  static constexpr int STEP = FullVectors<T>::ELEMENTS;
  static constexpr std::size_t BYTES = STEP * sizeof(T);
  using Element = T;
  using Step = VectorGroup<T, STEP, ALIGNED>;
  using Value = std::decay_t<CallResult<F, T>>;

  const T* data;
  const T* first;  // data + head
  std::size_t head;
  F f;

  template <Caching CACHING>
  __device__ void load(Step& step, std::size_t s) const {
    step.template load<CACHING>(first + s * STEP);
  }

  __device__ void values(const Step& step, Value (&v)[STEP]) const {
    T elements[STEP];
    step.unpack(elements);
#pragma unroll
    for (int i = 0; i < STEP; ++i) v[i] = f(elements[i]);
  }

  __device__ Value at(std::size_t i) const { return f(data[i]); }

  bool isMisaligned() const { return !onVectorBoundary(first); }
  ArraySource<T, F, false> elementwise() const { return {data, data, 0, f}; }
};

// The same elements in steps of 32 bytes on 32-byte boundaries, which are loaded as WideVector.
template <class T, class F>
struct WideSource : ArraySource<T, F, true> {
  static constexpr int STEP = static_cast<int>(32 / sizeof(T));
  static constexpr std::size_t BYTES = 32;
  using Step = WideVector;
  using Value = typename ArraySource<T, F, true>::Value;

  template <Caching CACHING>
  __device__ void load(Step& step, std::size_t s) const {
    step = loadWideVector<CACHING>(this->first + s * STEP);
  }

  __device__ void values(const Step& step, Value (&v)[STEP]) const {
    T elements[STEP];
    __builtin_memcpy(elements, &step, sizeof(step));
#pragma unroll
    for (int i = 0; i < STEP; ++i) v[i] = this->f(elements[i]);
  }
};

// Two arrays of one length, as above.
template <class T, class U, class F, bool ALIGNED>
struct PairSource {
  static constexpr bool VECTORS = ALIGNED;
  static constexpr bool ALWAYS_ALIGNS = false;
  static constexpr int STEP = largerOf(FullVectors<T>::ELEMENTS, FullVectors<U>::ELEMENTS);
  static constexpr std::size_t BYTES = STEP * (sizeof(T) + sizeof(U));
  struct Step {
    VectorGroup<T, STEP, ALIGNED> first;
    VectorGroup<U, STEP, ALIGNED> second;
  };
  using Value = std::decay_t<CallResult<F, T, U>>;

  const T* data1;
  const U* data2;
  const T* first1;  // data1 + head
  const U* first2;  // data2 + head
  std::size_t head;
  F f;

  template <Caching CACHING>
  __device__ void load(Step& step, std::size_t s) const {
    step.first.template load<CACHING>(first1 + s * STEP);
    step.second.template load<CACHING>(first2 + s * STEP);
  }

  __device__ void values(const Step& step, Value (&v)[STEP]) const {
    T elements1[STEP];
    U elements2[STEP];
    step.first.unpack(elements1);
    step.second.unpack(elements2);
#pragma unroll
    for (int i = 0; i < STEP; ++i) v[i] = f(elements1[i], elements2[i]);
  }

  __device__ Value at(std::size_t i) const { return f(data1[i], data2[i]); }

  bool isMisaligned() const { return !onVectorBoundary(first1) || !onVectorBoundary(first2); }
  PairSource<T, U, F, false> elementwise() const { return {data1, data2, data1, data2, 0, f}; }
};

template <class It>
__device__ inline typename std::iterator_traits<It>::value_type elementAt(It in, std::size_t i) {
  return in[static_cast<typename std::iterator_traits<It>::difference_type>(i)];
}

// Any iterator that the device can index, element by element.
template <class It, class F>
struct IteratorSource {
  using Element = typename std::iterator_traits<It>::value_type;
  using Step = Element;
  using Value = std::decay_t<CallResult<F, Element>>;
  static constexpr bool VECTORS = false;
  static constexpr bool ALWAYS_ALIGNS = true;
  static constexpr int STEP = 1;
  static constexpr std::size_t BYTES = sizeof(Element);

  It in;
  F f;
  std::size_t head = 0;

  template <Caching>
  __device__ void load(Step& step, std::size_t s) const {
    step = elementAt(in, s);
  }

  __device__ void values(const Step& step, Value (&v)[1]) const { v[0] = f(step); }

  __device__ Value at(std::size_t i) const { return f(elementAt(in, i)); }
};

template <class It1, class It2, class F>
struct IteratorPairSource {
  using First = typename std::iterator_traits<It1>::value_type;
  using Second = typename std::iterator_traits<It2>::value_type;
  struct Step {
    First first;
    Second second;
  };
  using Value = std::decay_t<CallResult<F, First, Second>>;
  static constexpr bool VECTORS = false;
  static constexpr bool ALWAYS_ALIGNS = true;
  static constexpr int STEP = 1;
  static constexpr std::size_t BYTES = sizeof(First) + sizeof(Second);

  It1 in1;
  It2 in2;
  F f;
  std::size_t head = 0;

  template <Caching>
  __device__ void load(Step& step, std::size_t s) const {
    step.first = elementAt(in1, s);
    step.second = elementAt(in2, s);
  }

  __device__ void values(const Step& step, Value (&v)[1]) const { v[0] = f(step.first, step.second); }

  __device__ Value at(std::size_t i) const { return f(elementAt(in1, i), elementAt(in2, i)); }
};

// An iterator whose elements come in boxes.
template <class It>
struct BoxIterator {
  using value_type = Box<typename std::iterator_traits<It>::value_type>;
  using difference_type = typename std::iterator_traits<It>::difference_type;
  using pointer = const value_type*;
  using reference = value_type;
  using iterator_category = std::random_access_iterator_tag;

  It in;

  __device__ value_type operator[](difference_type i) const { return value_type(in[i]); }
  __host__ __device__ BoxIterator operator+(difference_type i) const { return {in + i}; }
};

// The elements of an input, a plain pointer where the iterator is one inside, in boxes if they need them.
template <class It>
auto elementsOf(It iterator) {
  const auto in = Unwrap<It>::pointer(iterator);
  if constexpr (!needsBox<typename std::iterator_traits<Unwrapped<It>>::value_type>)
    return in;
  else if constexpr (isMemory<It>)
    return boxes(in);
  else
    return BoxIterator<Unwrapped<It>>{in};
}

// A function of such elements.
template <class... Its, class F>
auto functionOf(const F& f) {
  using Result = std::decay_t<typename Call<F, typename std::iterator_traits<Its>::value_type...>::Result>;
  if constexpr (needsBox<Result> || (needsBox<typename std::iterator_traits<Its>::value_type> || ...))
    return OnBoxes<F, Result>{f};
  else
    return f;
}

template <class T>
inline constexpr bool readsVectors = FullVectors<T>::VECTORS <= maxStepVectors&& std::is_trivially_copyable_v<T>;

inline constexpr std::size_t unreachable = ~std::size_t{0};

// Index of the first element on a boundary of `bytes` bytes.
template <class T>
std::size_t elementsToBoundary(const T* data, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  for (std::size_t i = 0; i < bytes; ++i)
    if ((address + i * sizeof(T)) % bytes == 0) return i;
  return unreachable;
}

// Elements before the first 128-byte boundary, so that each request of a warp covers full lines; before the first
// 16-byte boundary if no element begins on the former; 0 if none begins on either.
template <class T>
std::size_t headElements(const T* data, std::size_t n) {
  std::size_t head = elementsToBoundary(data, 128);
  if (head == unreachable) head = elementsToBoundary(data, 16);
  return head == unreachable ? 0 : smallerOf(head, n);
}

// The source of n elements, of vectors where the type allows it. FIXED asks for steps that begin at element 0 whatever
// the address.
template <bool FIXED, class F, class It>
auto sourceOf(const char* function, std::size_t n, const F& f, It iterator) {
  const auto in = elementsOf(deviceIterator(iterator, n, function, "in"));
  const auto elementFunction = functionOf<It>(f);
  requireReadable(in, n, function, "in");
  using Unwrapped = std::decay_t<decltype(in)>;
  using Function = std::decay_t<decltype(elementFunction)>;
  using T = typename std::iterator_traits<Unwrapped>::value_type;
  if constexpr (std::is_pointer_v<Unwrapped> && readsVectors<T>) {
    const std::size_t head = FIXED ? 0 : headElements(in, n);
    return ArraySource<T, Function, true>{in, in + head, head, elementFunction};
  } else {
    return IteratorSource<Unwrapped, Function>{in, elementFunction};
  }
}

template <bool FIXED, class F, class It1, class It2>
auto sourceOf(const char* function, std::size_t n, const F& f, It1 iterator1, It2 iterator2) {
  const auto in1 = elementsOf(deviceIterator(iterator1, n, function, "in1"));
  const auto in2 = elementsOf(deviceIterator(iterator2, n, function, "in2"));
  const auto elementFunction = functionOf<It1, It2>(f);
  requireReadable(in1, n, function, "in1");
  requireReadable(in2, n, function, "in2");
  using Function = std::decay_t<decltype(elementFunction)>;
  using Unwrapped1 = std::decay_t<decltype(in1)>;
  using Unwrapped2 = std::decay_t<decltype(in2)>;
  using T = typename std::iterator_traits<Unwrapped1>::value_type;
  using U = typename std::iterator_traits<Unwrapped2>::value_type;
  if constexpr (std::is_pointer_v<Unwrapped1> && std::is_pointer_v<Unwrapped2> && readsVectors<T> && readsVectors<U>) {
    const std::size_t head = FIXED ? 0 : headElements(in1, n);
    return PairSource<T, U, Function, true>{in1, in2, in1 + head, in2 + head, head, elementFunction};
  } else {
    return IteratorPairSource<Unwrapped1, Unwrapped2, Function>{in1, in2, elementFunction};
  }
}

// Whether the addresses of a source of vectors may turn out to be misaligned.
template <bool FIXED, class Source>
inline constexpr bool mayBeMisaligned = Source::VECTORS && (FIXED || !Source::ALWAYS_ALIGNS);

// Calls use(source) of n elements; where their addresses rule out vectors, with a source that reads them one by one.
template <bool FIXED, class Source, class Use>
void withReadable(const Source& source, std::size_t n, const Use& use) {
  if constexpr (mayBeMisaligned<FIXED, Source>)
    if (source.head < n && source.isMisaligned()) return use(source.elementwise());
  use(source);
}

// The source as the policy loads it. Steps that begin at element 0 may be on no 32-byte boundary; the others begin on a
// 128-byte boundary.
template <class Policy, bool FIXED, class Source>
auto asLoaded(const Source& source) {
  return source;
}

template <class Policy, bool FIXED, class T, class F>
auto asLoaded(const ArraySource<T, F, true>& source) {
  if constexpr (Policy::WIDE_LOADS && !FIXED && 16 % sizeof(T) == 0)
    return WideSource<T, F>{source};
  else
    return source;
}

GPUOPT_DETAIL_END
