/// \file
/// An array in device memory that frees itself: DeviceVector.
///
///     gpuopt::DeviceVector<float> x(numbers);                  // of a std::vector, in the device's memory
///     gpuopt::DeviceVector<float> y(x.size());                 // not initialised
///     gpuopt::transform(x, y, Twice{});
///     const std::vector<float> results = y.toHost();
///
/// Host code alone: .cpp files can include it, too.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/transfer_array.cuh>

#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <vector>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Memory of n elements.
inline OrderedMemory vectorMemory(std::size_t n, std::size_t elementBytes, cudaStream_t stream, MemoryRef source) {
  constexpr const char* FUNCTION = "gpuopt::DeviceVector";
  requireSize(n, {"n"}, FUNCTION, elementBytes);
  if (n > 0 && isCapturing(stream))
    throwInvalid({FUNCTION, ": stream is being captured: the memory would be the graph's"});
  try {
    return OrderedMemory(n * elementBytes, stream, source);
  } catch (const CudaError& error) {
    throw CudaError(error.code(),
                    message({FUNCTION, ": ", n, " elements of ", elementBytes, " bytes: ", error.call()}));
  }
}

template <class R>
using RangeElement = std::remove_cv_t<std::remove_pointer_t<RangeData<const R>>>;

template <class R, class T>
using EnableElements = std::enable_if_t<std::is_same_v<RangeElement<R>, T>>;

}  // namespace detail

/// An array in the memory of the current device, which frees itself. Every function of gpuopt takes it as it takes
/// other containers, kernels take data().
///
///     gpuopt::DeviceVector<float> a(n, stream);                // n elements, not initialised
///     gpuopt::DeviceVector<float> b(numbers, stream);          // a copy of a std::vector, std::array, span
///     gpuopt::DeviceVector<float> c{1, 2, 3};                  // as with std::vector, braces hold elements
///
/// It is stream-ordered: it allocates, copies and frees in the order of its stream, which must outlive it. Work that
/// was queued there before the destructor may still use the array; what is queued in other streams must wait for the
/// stream, and be done or waited for before the destructor. Memory comes from the library's pool of the current device,
/// which reuses it, or from what a MemoryRef refers to; it is aligned to 256 bytes.
///
/// It has one size for life, and is moved; a moved-from vector is empty. It cannot be made while the stream is being
/// captured. For columns of a struct there is SoaVector, for pinned memory PinnedVector.
///
/// **Errors.** A negative n and a captured stream throw std::invalid_argument; CudaError, which names the size, if
/// there is not enough memory.
///
/// \tparam T any trivially copyable type
template <class T>
class DeviceVector {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T> && alignof(T) <= detail::memoryAlignment,
                "gpuopt::DeviceVector: the elements must be trivially copyable, not const, and aligned to at most 256 "
                "bytes");

 public:
  using value_type = T;  ///< an element

  /// No elements, no memory.
  DeviceVector() noexcept = default;

  /// n elements, not initialised.
  ///
  /// \param n the number of elements
  /// \param stream memory is allocated and freed in its order
  /// \param memory where it comes from
  explicit DeviceVector(std::size_t n, StreamRef stream = {}, MemoryRef memory = nullptr)
      : memory_(detail::vectorMemory(n, sizeof(T), stream, memory)) {}

  /// A copy of a container or span on the host, whose elements may change when the constructor returns. Cost: that of
  /// upload.
  template <class R, class = detail::EnableElements<R, T>>
  explicit DeviceVector(const R& host, StreamRef stream = {}, MemoryRef memory = nullptr)
      : DeviceVector(detail::sizeOf(host), stream, memory) {
    gpuopt::upload(host, *this, stream);
  }

  /// The elements in the braces.
  DeviceVector(std::initializer_list<T> elements, StreamRef stream = {}, MemoryRef memory = nullptr)
      : DeviceVector(elements.size(), stream, memory) {
    gpuopt::upload(elements.begin(), *this, stream);
  }

  /// n elements of zero bytes; parameters are those of the constructor.
  [[nodiscard]] static DeviceVector zeros(std::size_t n, StreamRef stream = {}, MemoryRef memory = nullptr) {
    DeviceVector vector(n, stream, memory);
    if (n > 0) check(cudaMemsetAsync(vector.data(), 0, n * sizeof(T), stream), "cudaMemsetAsync");
    return vector;
  }

  DeviceVector(const DeviceVector&) = delete;             // copy with clone(), or move
  DeviceVector& operator=(const DeviceVector&) = delete;  // copy with clone(), or move
  DeviceVector(DeviceVector&&) noexcept = default;
  DeviceVector& operator=(DeviceVector&&) noexcept = default;

  /// The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return memory_.bytes() / sizeof(T); }
  /// Whether there are none.
  [[nodiscard]] bool empty() const noexcept { return memory_.bytes() == 0; }
  /// The vector's stream.
  [[nodiscard]] cudaStream_t stream() const noexcept { return memory_.stream(); }

  /// The first element, for kernels: the host cannot access it. Null if there are none.
  [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(memory_.data()); }
  /// The same of a const vector.
  [[nodiscard]] const T* data() const noexcept { return reinterpret_cast<const T*>(memory_.data()); }

  /// The first element.
  [[nodiscard]] T* begin() noexcept { return data(); }
  /// The same of a const vector.
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  /// The end of the elements.
  [[nodiscard]] T* end() noexcept { return data() + size(); }
  /// The same of a const vector.
  [[nodiscard]] const T* end() const noexcept { return data() + size(); }

  /// The elements, as the work before it in the vector's stream has left them. Waits for that stream. Cost: that of
  /// download.
  [[nodiscard]] std::vector<T> toHost() const {
    static_assert(!std::is_same_v<T, bool>,
                  "gpuopt::DeviceVector: a std::vector<bool> has no array of bool: download to another container");
    std::vector<T> host(size());
    if constexpr (!std::is_same_v<T, bool>) gpuopt::download(*this, host, stream());
    return host;
  }

  /// A copy on the same stream, in the order of which it is made, with memory from the same pool.
  [[nodiscard]] DeviceVector clone() const {
    DeviceVector copy(size(), stream(), memory_.source());
    if (!empty())
      check(cudaMemcpyAsync(copy.data(), data(), memory_.bytes(), cudaMemcpyDeviceToDevice, stream()),
            "cudaMemcpyAsync");
    return copy;
  }

 private:
  detail::OrderedMemory memory_;
};

/// The element type of the container or span.
template <class R, class = detail::EnableRange<const R>>
DeviceVector(const R&, StreamRef = {}, MemoryRef = nullptr) -> DeviceVector<detail::RangeElement<R>>;

GPUOPT_NAMESPACE_END
