/// \file
/// Where a reduction's elements come from: arrays read in 16-byte vectors, pairs of arrays, any iterator.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// A source hands its elements out in steps: what one thread takes with one set of loads. It has
//   STEP            elements of a step
//   BYTES           bytes that a step reads
//   VECTORS         whether it reads them 16 at a time
//   Step            the registers of a step
//   load<CACHING>(step, s)     issues the loads of step s
//   values(step, v)            the elements of a loaded step, transformed
//   at(i)                      element i, counted from the start of the input, transformed
//   head            elements before the first step
// Loading is apart from looking at what was loaded so that many loads can be in flight.

// An array; from `head` on it lies on a 16-byte boundary if ALIGNED.
template <class T, class F, bool ALIGNED>
struct ArraySource {
  static constexpr bool VECTORS = ALIGNED;
  static constexpr int STEP = VectorShape<T>::ELEMENTS;
  static constexpr std::size_t BYTES = STEP * sizeof(T);
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
};

// Two arrays of one length; from `head` on both lie on a 16-byte boundary if ALIGNED.
template <class T, class U, class F, bool ALIGNED>
struct PairSource {
  static constexpr bool VECTORS = ALIGNED;
  static constexpr int STEP = largerOf(VectorShape<T>::ELEMENTS, VectorShape<U>::ELEMENTS);
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
};

// Anything that can be indexed on the device, element by element.
template <class It, class F>
struct IteratorSource {
  using Element = typename std::iterator_traits<It>::value_type;
  using Step = Element;
  using Value = std::decay_t<CallResult<F, Element>>;
  static constexpr bool VECTORS = false;
  static constexpr int STEP = 1;
  static constexpr std::size_t BYTES = sizeof(Element);

  It in;
  F f;
  std::size_t head = 0;

  template <Caching>
  __device__ void load(Step& step, std::size_t s) const {
    step = in[static_cast<typename std::iterator_traits<It>::difference_type>(s)];
  }

  __device__ void values(const Step& step, Value (&v)[1]) const { v[0] = f(step); }

  __device__ Value at(std::size_t i) const {
    Step step;
    load<Caching::normal>(step, i);
    return f(step);
  }
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
  static constexpr int STEP = 1;
  static constexpr std::size_t BYTES = sizeof(First) + sizeof(Second);

  It1 in1;
  It2 in2;
  F f;
  std::size_t head = 0;

  template <Caching>
  __device__ void load(Step& step, std::size_t s) const {
    step.first = in1[static_cast<typename std::iterator_traits<It1>::difference_type>(s)];
    step.second = in2[static_cast<typename std::iterator_traits<It2>::difference_type>(s)];
  }

  __device__ void values(const Step& step, Value (&v)[1]) const { v[0] = f(step.first, step.second); }

  __device__ Value at(std::size_t i) const {
    Step step;
    load<Caching::normal>(step, i);
    return f(step.first, step.second);
  }
};

// Thrust's iterators over contiguous memory unwrap to pointers through a function of Thrust's own, found by
// argument-dependent lookup: users who hold such an iterator have included it, and nobody else pays for it.
template <class It, class = void>
struct Unwrap {
  static It pointer(It in) { return in; }
};

template <class It>
struct Unwrap<
    It, std::enable_if_t<!std::is_pointer_v<It> &&
                         std::is_pointer_v<decltype(try_unwrap_contiguous_iterator(std::declval<It>()))>>> {
  static auto pointer(It in) { return try_unwrap_contiguous_iterator(in); }
};

// Reading by vectors pays while neighbouring lanes are few vectors apart: 12-byte structs gain 1 %, 20-byte
// ones lose 2 % against loads of their members, whose lines L1 holds until all have been read (H200,
// 2026-11-21).
template <class T>
inline constexpr bool readsVectors = std::is_trivially_copyable_v<T>&& VectorShape<T>::VECTORS <= 3;

// Whether every legal address of a T reaches a 16-byte boundary by whole elements.
template <class T>
inline constexpr bool alwaysAligns = alignof(T) % VectorShape<T>::common == 0;

inline constexpr std::size_t unreachable = ~std::size_t{0};

// The elements before the first boundary of `bytes` bytes.
template <class T>
std::size_t elementsToBoundary(const T* data, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  for (std::size_t i = 0; i < bytes; ++i)
    if ((address + i * sizeof(T)) % bytes == 0) return i;
  return unreachable;
}

// Peeling to a whole line keeps every warp's request within its own lines; 16 bytes are what the loads
// themselves need.
template <class T>
std::size_t headElements(const T* data, std::size_t n) {
  std::size_t head = elementsToBoundary(data, 128);
  if (head == unreachable) head = elementsToBoundary(data, 16);
  return head == unreachable ? unreachable : smallerOf(head, n);
}

template <class It>
bool isNull(It in) {
  if constexpr (std::is_pointer_v<It>)
    return in == nullptr;
  else
    return false;
}

template <class It>
void requireReadable(It in, std::size_t n, const char* function, const char* name) {
  if (isNull(in) && n > 0) throwInvalid({function, ": ", name, " is null, but n is ", n});
}

// Steps that a thread has in flight: Policy::VECTORS loads of 16 bytes, or three quarters as many bytes in
// narrower loads, 16 at most.
template <class Policy, class Source>
inline constexpr int itemsPerThread =
    clampTo(static_cast<int>((Source::VECTORS || Policy::BY_LENGTH || Policy::IN_ORDER ? 16 : 12) *
                             Policy::VECTORS / Source::BYTES),
            1, 16);

// Threads of a block where one tile of an input of so many bytes is work for `wanted` threads in all: one
// block if they are few.
template <class Policy>
std::size_t threadsFor(std::size_t wanted, std::size_t bytes) {
  const auto most = static_cast<std::size_t>(Policy::BLOCK);
  if (wanted <= most) return clampTo(ceilDivide(wanted, 32) * 32, std::size_t{128}, most);
  return bytes <= Policy::tileBytes ? smallerOf(static_cast<std::size_t>(Policy::tileThreads(bytes)), most)
                                    : most;
}

// Blocks of a kernel that loops which a multiprocessor shall hold: 1024 threads leave each 64 registers, too
// few for large partial results.
template <class Policy, class Partial>
inline constexpr int blocksAtOnce = sizeof(Partial) <= 16 ? 1024 / Policy::BLOCK : 1;

template <class T>
bool onVectorBoundary(const T* data) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
}

// Calls use(source) with the best source for the input. FIXED asks for steps that begin at element 0 whatever
// the address.
template <bool FIXED, class It, class F, class Use>
void withSource(It iterator, std::size_t n, F f, const char* function, Use use) {
  const auto in = Unwrap<It>::pointer(iterator);
  requireReadable(in, n, function, "in");
  using Unwrapped = std::decay_t<decltype(in)>;
  using T = typename std::iterator_traits<Unwrapped>::value_type;
  if constexpr (std::is_pointer_v<Unwrapped> && readsVectors<T>) {
    const std::size_t reached = FIXED ? 0 : headElements(in, n);
    const std::size_t head = reached == unreachable ? 0 : reached;
    if constexpr (FIXED || !alwaysAligns<T>)
      if (head < n && !onVectorBoundary(in + head))
        return use(ArraySource<T, F, false>{in, in + head, head, f});
    use(ArraySource<T, F, true>{in, in + head, head, f});
  } else {
    use(IteratorSource<Unwrapped, F>{in, f});
  }
}

template <bool FIXED, class It1, class It2, class F, class Use>
void withSource(It1 iterator1, It2 iterator2, std::size_t n, F f, const char* function, Use use) {
  const auto in1 = Unwrap<It1>::pointer(iterator1);
  const auto in2 = Unwrap<It2>::pointer(iterator2);
  requireReadable(in1, n, function, "in1");
  requireReadable(in2, n, function, "in2");
  using Unwrapped1 = std::decay_t<decltype(in1)>;
  using Unwrapped2 = std::decay_t<decltype(in2)>;
  using T = typename std::iterator_traits<Unwrapped1>::value_type;
  using U = typename std::iterator_traits<Unwrapped2>::value_type;
  if constexpr (std::is_pointer_v<Unwrapped1> && std::is_pointer_v<Unwrapped2> && readsVectors<T> &&
                readsVectors<U>) {
    const std::size_t reached = FIXED ? 0 : headElements(in1, n);
    const std::size_t head = reached == unreachable ? 0 : reached;
    if (head < n && !(onVectorBoundary(in1 + head) && onVectorBoundary(in2 + head)))
      return use(PairSource<T, U, F, false>{in1, in2, in1, in2, 0, f});
    use(PairSource<T, U, F, true>{in1, in2, in1 + head, in2 + head, head, f});
  } else {
    use(IteratorPairSource<Unwrapped1, Unwrapped2, F>{in1, in2, f});
  }
}

}  // namespace detail
GPUOPT_NAMESPACE_END
