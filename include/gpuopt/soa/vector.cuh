/// \file
/// Structures of arrays that own their memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/host/capture.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/workspace.cuh>
#include <gpuopt/soa/aggregate.cuh>
#include <gpuopt/soa/layout.cuh>
#include <gpuopt/soa/view.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::size_t columnAlignment = 256;

inline void zeroBytes(void* memory, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemsetAsync(memory, 0, bytes, stream), "cudaMemsetAsync");
}

inline void copyBytes(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
}

// How structs lie in an allocation that has room for `capacity` of them.
//   STRUCT_BYTES                  what a struct takes at most, without what is lost between columns
//   bytes(capacity)
//   places(memory, capacity)
//   copy(to, from, n, stream)     the first n structs
//   zero(places, first, n, stream)
template <class T, class LAYOUT, class Types = MemberTypes<T>>
struct SoaAllocation;

template <class T, class... Ms>
struct SoaAllocation<T, SoaColumns, TypeList<Ms...>> {
  static constexpr std::size_t STRUCT_BYTES = (sizeof(Ms) + ...);

  static std::size_t bytes(std::size_t capacity) {
    return (roundUp(capacity * sizeof(Ms), columnAlignment) + ...);
  }

  static Places<T, SoaColumns> places(unsigned char* memory, std::size_t capacity) {
    if (memory == nullptr) return {};
    std::size_t end = 0;
    const auto next = [&end, capacity](std::size_t size) {
      const std::size_t begin = end;
      end += roundUp(capacity * size, columnAlignment);
      return begin;
    };
    return Places<T, SoaColumns>{reinterpret_cast<Ms*>(memory + next(sizeof(Ms)))...};
  }

  static void copy(const Places<T, SoaColumns>& to, const Places<T, SoaColumns>& from, std::size_t n,
                   cudaStream_t stream) {
    forColumns([&](auto number) {
      auto* column = to.template at<decltype(number)::value>(0);
      copyBytes(column, from.template at<decltype(number)::value>(0), n * sizeof(*column), stream);
    });
  }

  static void zero(const Places<T, SoaColumns>& places, std::size_t first, std::size_t n,
                   cudaStream_t stream) {
    forColumns([&](auto number) {
      auto* begin = places.template at<decltype(number)::value>(first);
      zeroBytes(begin, n * sizeof(*begin), stream);
    });
  }

 private:
  template <class F>
  static void forColumns(const F& f) {
    forNumbers(f, std::index_sequence_for<Ms...>{});
  }
  template <class F, std::size_t... NUMBERS>
  static void forNumbers(const F& f, std::index_sequence<NUMBERS...>) {
    (f(std::integral_constant<std::size_t, NUMBERS>{}), ...);
  }
};

template <class T, unsigned WIDTH, class... Ms>
struct SoaAllocation<T, SoaTiles<WIDTH>, TypeList<Ms...>> {
  using Shape = SoaTileShape<T, WIDTH>;
  static constexpr std::size_t STRUCT_BYTES = Shape::BYTES;  // of a single one

  static std::size_t bytes(std::size_t capacity) { return (capacity + WIDTH - 1) / WIDTH * Shape::BYTES; }

  static Places<T, SoaTiles<WIDTH>> places(unsigned char* memory, std::size_t) { return {memory, 0}; }

  static void copy(const Places<T, SoaTiles<WIDTH>>& to, const Places<T, SoaTiles<WIDTH>>& from,
                   std::size_t n, cudaStream_t stream) {
    copyBytes(to.tiles(), from.tiles(), bytes(n), stream);
  }

  // Zeroes more than is asked for, up to the end of the last tile.
  static void zero(const Places<T, SoaTiles<WIDTH>>& places, std::size_t first, std::size_t n,
                   cudaStream_t stream) {
    const std::size_t head = first % WIDTH;
    const std::size_t whole = head == 0 ? first : first - head + WIDTH;
    if (head != 0) zeroTail(places, first, WIDTH - head, stream, std::index_sequence_for<Ms...>{});
    if (whole < first + n) zeroBytes(places.tiles() + bytes(whole), bytes(first + n) - bytes(whole), stream);
  }

 private:
  template <std::size_t... NUMBERS>
  static void zeroTail(const Places<T, SoaTiles<WIDTH>>& places, std::size_t first, std::size_t n,
                       cudaStream_t stream, std::index_sequence<NUMBERS...>) {
    (zeroBytes(places.template at<NUMBERS>(first), n * sizeof(Ms), stream), ...);
  }
};

}  // namespace detail

/// An array of T in device memory, each member of which has a column of its own; T as SoaView says.
///
///     gpuopt::SoaVector<Particle> particles(n, stream);
///     gpuopt::launch(step, config, particles.view());
///     particles.resize(2 * n);
///
/// All columns lie in one allocation, each at a multiple of 256 bytes; with LAYOUT = SoaTiles<WIDTH> the
/// allocation consists of tiles. It is stream-ordered: memory is taken, filled, copied and given back in the
/// order of the stream that the vector was made for, which must outlive it, and nothing synchronises. Memory
/// comes from the library's pool of the current device, which keeps what is given back for the next one.
/// While the stream is being captured the vector neither grows nor goes.
///
/// Like a std::vector: shrinking keeps the memory, growing beyond capacity() allocates exactly what is
/// needed, moves the structs and invalidates views, and if that fails the vector is what it was. CudaError if
/// there is not enough memory, std::invalid_argument for sizes beyond the address space and for growing in a
/// capture. Moved, never copied; what was moved from is empty and can be used again.
///
/// Cost of growing: a copy and a memset for each column (of tiles, one of each), in the order of the stream.
template <class T, class LAYOUT = SoaColumns>
class SoaVector {
  static_assert(!std::is_const_v<T>, "gpuopt::SoaVector: the struct is const");
  static_assert(alignof(T) <= detail::columnAlignment,
                "gpuopt::SoaVector: the struct is aligned to more than 256 bytes");
  using Allocation = detail::SoaAllocation<T, LAYOUT>;

 public:
  /// An empty vector without memory, of the default stream.
  SoaVector() noexcept = default;

  /// n structs, all bytes of which are zero. Without the zeros: none at first, then resizeForOverwrite(n).
  explicit SoaVector(std::size_t n, cudaStream_t stream = nullptr) : SoaVector(Empty{stream}) { resize(n); }

  SoaVector(SoaVector&& other) noexcept : SoaVector(Empty{other.stream_}) { swap(other); }
  SoaVector& operator=(SoaVector&& other) noexcept {
    SoaVector(std::move(other)).swap(*this);
    return *this;
  }

  ~SoaVector() {
    if (memory_ == nullptr) return;
    const detail::RelaxedCapture relaxed;
    detail::forgetError(cudaFreeAsync(memory_, stream_));
  }

  /// The number of structs.
  std::size_t size() const noexcept { return size_; }
  /// Whether there are none.
  bool empty() const noexcept { return size_ == 0; }

  /// The number of structs that there is memory for.
  std::size_t capacity() const noexcept { return capacity_; }

  /// The stream in whose order the vector works.
  cudaStream_t stream() const noexcept { return stream_; }

  /// The structs, for kernels and algorithms. Valid until the vector grows or goes.
  SoaView<T, LAYOUT> view() noexcept { return {places(), size_}; }
  /// The same to read.
  SoaView<const T, LAYOUT> view() const noexcept { return {places(), size_}; }

  /// Makes it n structs: the first ones keep their values, the bytes of new ones are zero.
  void resize(std::size_t n) {
    if (n > capacity_) {
      SoaVector grown(Empty{stream_});
      grown.allocate(n);
      if (size_ > 0) Allocation::copy(grown.places(), places(), size_, stream_);
      grown.zero(size_, n);
      swap(grown);
    } else if (n > size_) {
      zero(size_, n);
    }
    size_ = n;
  }

  /// Makes it n structs whose values are lost: for who overwrites them all.
  void resizeForOverwrite(std::size_t n) {
    if (n > capacity_) {
      SoaVector grown(Empty{stream_});
      grown.allocate(n);
      swap(grown);
    }
    size_ = n;
  }

  /// Makes it empty. The memory is kept: for who wants it back, assign an empty vector.
  void clear() noexcept { size_ = 0; }

  /// Exchanges memory, sizes and streams.
  void swap(SoaVector& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(stream_, other.stream_);
  }
  /// Exchanges two vectors, `a` and `b`.
  friend void swap(SoaVector& a, SoaVector& b) noexcept { a.swap(b); }

 private:
  // The public constructors build on this one: should one throw, the destructor runs.
  struct Empty {
    cudaStream_t stream;
  };
  explicit SoaVector(Empty empty) noexcept : stream_(empty.stream) {}

  detail::Places<T, LAYOUT> places() const { return Allocation::places(memory_, capacity_); }

  void allocate(std::size_t n) {
    if (n > PTRDIFF_MAX / 2 / Allocation::STRUCT_BYTES)
      detail::throwInvalid({"gpuopt::SoaVector: n (", n, ") structs are more than memory can hold"});
    if (detail::isCapturing(stream_))
      detail::throwInvalid({"gpuopt::SoaVector: stream is being captured: the memory would be the graph's"});
    memory_ = detail::allocateInOrder(Allocation::bytes(n), currentDevice(), stream_);
    capacity_ = n;
  }

  void zero(std::size_t first, std::size_t last) {
    if (first == 0 && last == capacity_)
      detail::zeroBytes(memory_, Allocation::bytes(capacity_), stream_);
    else
      Allocation::zero(places(), first, last - first, stream_);
  }

  unsigned char* memory_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  cudaStream_t stream_ = nullptr;
};

// For who forgets view().
template <class T, class U, class LAYOUT>
void toSoa(const T*, std::size_t, const SoaVector<U, LAYOUT>&, cudaStream_t = nullptr) {
  static_assert(std::is_void_v<U>, "gpuopt::toSoa: a SoaVector is no view: write vector.view()");
}
template <class U, class LAYOUT, class T>
void toAos(const SoaVector<U, LAYOUT>&, T*, cudaStream_t = nullptr) {
  static_assert(std::is_void_v<U>, "gpuopt::toAos: a SoaVector is no view: write vector.view()");
}

GPUOPT_NAMESPACE_END
