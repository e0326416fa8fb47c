/// \file
/// A structure of arrays that owns its memory: SoaVector.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/soa/aggregate.cuh>
#include <gpuopt/soa/layout.cuh>
#include <gpuopt/soa/view.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

inline constexpr std::size_t columnAlignment = memoryAlignment;

inline void zeroBytes(void* memory, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemsetAsync(memory, 0, bytes, stream), "cudaMemsetAsync");
}

inline void copyBytes(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
}

template <class Addresses, std::size_t... INDICES>
void copyColumns(const Addresses& to, const Addresses& from, std::size_t n, cudaStream_t stream,
                 std::index_sequence<INDICES...>) {
  (copyBytes(to.template at<INDICES>(0), from.template at<INDICES>(0), n * sizeof(*to.template at<INDICES>(0)), stream),
   ...);
}

template <class Addresses, std::size_t... INDICES>
void zeroColumns(const Addresses& addresses, std::size_t first, std::size_t n, cudaStream_t stream,
                 std::index_sequence<INDICES...>) {
  (zeroBytes(addresses.template at<INDICES>(first), n * sizeof(*addresses.template at<INDICES>(first)), stream), ...);
}

// An allocation of `capacity` structs.
//   STRUCT_BYTES                       bytes per struct at most, without the padding between columns
//   bytes(capacity)                    its size
//   addresses(memory, capacity)        the addresses of the members
//   copy(to, from, n, stream)          copies the first n structs
//   zero(addresses, first, n, stream)  zeroes the n structs from `first` on
template <class T, class LAYOUT, class Types = MemberTypes<T>>
struct SoaAllocation;

template <class T, class... Ms>
struct SoaAllocation<T, SoaColumns, TypeList<Ms...>> {
  using Addresses = SoaAddresses<T, SoaColumns>;
  static constexpr std::size_t STRUCT_BYTES = (sizeof(Ms) + ...);

  static std::size_t bytes(std::size_t capacity) { return (roundUp(capacity * sizeof(Ms), columnAlignment) + ...); }

  static Addresses addresses(unsigned char* memory, std::size_t capacity) {
    if (memory == nullptr) return {};
    std::size_t end = 0;
    const auto next = [&end, capacity](std::size_t size) {
      const std::size_t begin = end;
      end += roundUp(capacity * size, columnAlignment);
      return begin;
    };
    return Addresses{reinterpret_cast<Ms*>(memory + next(sizeof(Ms)))...};
  }

  static void copy(const Addresses& to, const Addresses& from, std::size_t n, cudaStream_t stream) {
    copyColumns(to, from, n, stream, std::index_sequence_for<Ms...>{});
  }

  static void zero(const Addresses& addresses, std::size_t first, std::size_t n, cudaStream_t stream) {
    zeroColumns(addresses, first, n, stream, std::index_sequence_for<Ms...>{});
  }
};

template <class T, unsigned WIDTH, class... Ms>
struct SoaAllocation<T, SoaTiles<WIDTH>, TypeList<Ms...>> {
  using Addresses = SoaAddresses<T, SoaTiles<WIDTH>>;
  using Tile = SoaTileLayout<T, WIDTH>;
  static constexpr std::size_t STRUCT_BYTES = Tile::BYTES;  // one struct takes a tile

  static std::size_t bytes(std::size_t capacity) { return (capacity + WIDTH - 1) / WIDTH * Tile::BYTES; }

  static Addresses addresses(unsigned char* memory, std::size_t) { return {memory, 0}; }

  static void copy(const Addresses& to, const Addresses& from, std::size_t n, cudaStream_t stream) {
    copyBytes(to.tiles(), from.tiles(), bytes(n), stream);
  }

  // Also zeroes the rest of the last tile.
  static void zero(const Addresses& addresses, std::size_t first, std::size_t n, cudaStream_t stream) {
    const std::size_t head = first % WIDTH;
    const std::size_t fullTiles = head == 0 ? first : first - head + WIDTH;
    if (head != 0) zeroColumns(addresses, first, WIDTH - head, stream, std::index_sequence_for<Ms...>{});
    if (fullTiles < first + n)
      zeroBytes(addresses.tiles() + bytes(fullTiles), bytes(first + n) - bytes(fullTiles), stream);
  }
};

}  // namespace detail

/// An array of structs of type T in device memory, with a column for each member. SoaView lists what T may be.
///
///     gpuopt::SoaVector<Particle> particles(n, stream);
///     gpuopt::launch(step, config, particles.view());
///     particles.resize(2 * n);
///
/// All columns share one allocation, each aligned to 256 bytes; with LAYOUT = SoaTiles<WIDTH> it is an array of tiles.
/// The vector is stream-ordered: it allocates, fills, copies and frees in the order of its stream, which must outlive
/// it, and never synchronises. Memory comes from the library's pool of the current device, which reuses it, or from
/// what a MemoryRef refers to. While the stream is being captured, the vector must neither grow nor be destroyed.
///
/// As with std::vector, shrinking keeps the memory, and growing beyond capacity() moves the structs and invalidates
/// views; it allocates exactly what is needed. If growing fails, the vector is unchanged: CudaError if there is not
/// enough memory, std::invalid_argument for sizes beyond the address space and for growing in a capture. Vectors can be
/// moved; a moved-from vector is empty and usable. Only clone() copies one.
///
/// Cost of growing: a copy and a memset per column (one of each with tiles), in the order of the stream.
template <class T, class LAYOUT = SoaColumns>
class SoaVector {
  static_assert(!std::is_const_v<T>, "gpuopt::SoaVector: the struct is const");
  static_assert(alignof(T) <= detail::columnAlignment,
                "gpuopt::SoaVector: the struct is aligned to more than 256 bytes");
  using Allocation = detail::SoaAllocation<T, LAYOUT>;

 public:
  /// An empty vector on the default stream, without memory.
  SoaVector() noexcept = default;

  /// n structs of zero bytes. To avoid zeroing, start with 0 and call resizeForOverwrite(n).
  explicit SoaVector(std::size_t n, StreamRef stream = {}) : memory_(0, stream) { resize(n); }

  /// The same, with memory from a pool or a memory resource, now and later.
  SoaVector(std::size_t n, StreamRef stream, MemoryRef memory) : memory_(0, stream, memory) { resize(n); }

  SoaVector(const SoaVector&) = delete;             // copy with clone(), or move
  SoaVector& operator=(const SoaVector&) = delete;  // copy with clone(), or move
  SoaVector(SoaVector&& other) noexcept
      : memory_(std::move(other.memory_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  SoaVector& operator=(SoaVector&& other) noexcept {
    SoaVector(std::move(other)).swap(*this);
    return *this;
  }

  /// The number of structs.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Whether size() is 0.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }

  /// The number of structs that fit without reallocation.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  /// The vector's stream.
  [[nodiscard]] cudaStream_t stream() const noexcept { return memory_.stream(); }

  /// A view of the structs, for kernels and algorithms. Valid until the vector grows or is destroyed.
  [[nodiscard]] SoaView<T, LAYOUT> view() noexcept { return {addresses(), size_}; }
  /// A view that only reads.
  [[nodiscard]] SoaView<const T, LAYOUT> view() const noexcept { return {addresses(), size_}; }

  /// A copy of the structs, on the same stream, in the order of which they are copied, with memory from the same pool.
  /// Its capacity is its size.
  [[nodiscard]] SoaVector clone() const {
    SoaVector copy(0, stream(), memory_.source());
    if (size_ > 0) {
      copy.allocate(size_);
      Allocation::copy(copy.addresses(), addresses(), size_, stream());
      copy.size_ = size_;
    }
    return copy;
  }

  /// Resizes to n structs. Existing ones keep their values, new ones are zero bytes.
  void resize(std::size_t n) {
    if (n > capacity_) {
      SoaVector grown(0, stream(), memory_.source());
      grown.allocate(n);
      if (size_ > 0) Allocation::copy(grown.addresses(), addresses(), size_, stream());
      grown.zero(size_, n);
      swap(grown);
    } else if (n > size_) {
      zero(size_, n);
    }
    size_ = n;
  }

  /// Resizes to n structs with undefined values, for callers that overwrite all of them.
  void resizeForOverwrite(std::size_t n) {
    if (n > capacity_) {
      SoaVector grown(0, stream(), memory_.source());
      grown.allocate(n);
      swap(grown);
    }
    size_ = n;
  }

  /// Makes the vector empty and keeps its memory. To free it, assign an empty vector.
  void clear() noexcept { size_ = 0; }

  /// Exchanges memory, where it comes from, sizes and streams.
  void swap(SoaVector& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
  }
  /// Exchanges two vectors, `a` and `b`.
  friend void swap(SoaVector& a, SoaVector& b) noexcept { a.swap(b); }

 private:
  detail::SoaAddresses<T, LAYOUT> addresses() const { return Allocation::addresses(memory_.data(), capacity_); }

  void allocate(std::size_t n) {
    detail::requireSize(n, {"n"}, "gpuopt::SoaVector", Allocation::STRUCT_BYTES);
    if (detail::isCapturing(stream()))
      detail::throwInvalid({"gpuopt::SoaVector: stream is being captured: the memory would be the graph's"});
    memory_ = detail::OrderedMemory(Allocation::bytes(n), stream(), memory_.source());
    capacity_ = n;
  }

  void zero(std::size_t first, std::size_t last) {
    if (first == 0 && last == capacity_)
      detail::zeroBytes(memory_.data(), memory_.bytes(), stream());
    else
      Allocation::zero(addresses(), first, last - first, stream());
  }

  detail::OrderedMemory memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

GPUOPT_NAMESPACE_END
