/// \file
/// Data between host and device at the speed of the link, from any memory of the host's.
///
///     std::vector<float> samples = ...;
///     gpuopt::upload(samples.data(), n, device, stream);    // samples may change again
///     gpuopt::download(device, n, samples.data(), stream);  // samples has the data
///
///     auto transfer = gpuopt::uploadAsync(samples.data(), n, device, stream);
///     ...                                                   // leave samples and device alone
///     transfer.wait();
///
/// Copies of ordinary, pageable memory by the CUDA runtime run at a fraction of the link's speed. Here, a few threads
/// copy it to or from pinned slots, which the copy engine empties or fills meanwhile. Pinned and registered memory
/// (PinnedVector, registerHost) goes to the copy engine at once. explainTransfer says what happens.
///
/// **Common to all functions.** Elements have any trivially copyable type; n counts them. The device's side is in the
/// order of `stream`: what was queued there before is done before the transfer, and what is queued there afterwards
/// finds it done. Threads are started by the first transfer that needs them, never more than three quarters of the
/// cores, and sleep between transfers. Any threads may call at the same time.
///
/// **Graphs.** Transfers of pinned memory can be captured, and return at once then. Those of pageable memory cannot.
///
/// **Errors.** Bad arguments throw std::invalid_argument before anything is copied: null pointers with n > 0, a
/// negative n, misaligned addresses, `host` in the memory of a device, pageable memory while `stream` is captured.
/// Pinned slots count towards pinnedCapacity(); std::runtime_error says if that does not suffice. Errors of the runtime
/// throw CudaError; then nothing uses the arrays any more, and the contents of the target are unknown.
///
/// More: docs/transfers.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/transfer/handle.cuh>
#include <gpuopt/device/transfer/launch.cuh>
#include <gpuopt/host/pinned.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/transfer_blocks.cuh>
#include <gpuopt/transfer_frames.cuh>
#include <gpuopt/transfer_pipeline.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// The types of the arrays.
template <class From, class To>
constexpr bool requireTransferable() {
  constexpr bool IS_SAME = std::is_same_v<std::remove_const_t<From>, To>;
  static_assert(!std::is_const_v<To>, "gpuopt: the elements of a transfer's target are const");
  static_assert(IS_SAME || std::is_const_v<To>, "gpuopt: host and device have elements of different types");
  static_assert(std::is_trivially_copyable_v<To>, "gpuopt: transferred elements must be trivially copyable");
  return IS_SAME && std::is_trivially_copyable_v<To>;
}

template <class T>
unsigned char* bytesOf(T* data) {
  return reinterpret_cast<unsigned char*>(const_cast<std::remove_const_t<T>*>(data));
}

// A range may be of const elements or not.
template <class T>
const T* constPointer(T* data) {
  return data;
}

template <class H, class D>
Transfer checkedTransfer(H* host, std::size_t n, D* device, TransferDirection direction, const char* function,
                         cudaStream_t stream) {
  requireAddress(namedArray(host, n, "host"), function);
  requireArray(namedArray(device, n, "device"), function);
  return {bytesOf(host), bytesOf(device), n * sizeof(H), direction, stream, function};
}

}  // namespace detail

/// Copies n elements from the host to the device, in the order of `stream`. Returns when `host` may be changed again;
/// its elements may still be on their way.
///
/// Cost: pageable memory takes the time of a pinned copy and a tenth more if it is large, and that of the runtime's
/// copy if it is small. The first transfers also allocate slots and start threads: tens of milliseconds. Technique: the
/// staging buffers of "How to Optimize Data Transfers in CUDA C/C++" (Harris 2012), filled by several threads.
///
/// \param host n elements in any memory of the host's
/// \param n the number of elements
/// \param device n elements in the current device's memory
/// \param stream the device's side of the copy is queued there
template <class T, class U>
void upload(const T* host, std::size_t n, U* device, StreamRef stream = {}) {
  if constexpr (detail::requireTransferable<T, U>()) {
    const auto transfer = detail::checkedTransfer(host, n, device, TransferDirection::upload, "gpuopt::upload", stream);
    detail::runTransfer(transfer, detail::planOf(transfer));
  }
}

/// The same for containers or spans: every element of `host`. `device` has as many elements or more.
template <class H, class D, class = detail::EnableRange<H>, class = detail::EnableRange<D>>
void upload(H&& host, D&& device, StreamRef stream = {}) {
  const std::size_t n = detail::sizeOf(host);
  detail::requireSize(device, n, "device", "gpuopt::upload");
  gpuopt::upload(detail::constPointer(detail::toAddress(host.data())), n, detail::dataOf(device), stream);
}

/// Copies n elements from the device to the host, in the order of `stream`. Returns when `host` has them.
///
/// Cost and technique are those of upload. Large copies are written past the host's caches.
///
/// \param device n elements in the current device's memory
/// \param n the number of elements
/// \param host n elements in any memory of the host's
/// \param stream the device's side of the copy is queued there
template <class T, class U>
void download(const T* device, std::size_t n, U* host, StreamRef stream = {}) {
  if constexpr (detail::requireTransferable<T, U>()) {
    const auto transfer =
        detail::checkedTransfer(host, n, device, TransferDirection::download, "gpuopt::download", stream);
    detail::runTransfer(transfer, detail::planOf(transfer));
  }
}

/// The same for containers or spans: every element of `device`. `host` has as many elements or more.
template <class D, class H, class = detail::EnableRange<D>, class = detail::EnableRange<H>>
void download(D&& device, H&& host, StreamRef stream = {}) {
  const std::size_t n = detail::sizeOf(device);
  detail::requireSize(host, n, "host", "gpuopt::download");
  gpuopt::download(detail::constPointer(detail::dataOf(device)), n, detail::toAddress(host.data()), stream);
}

/// Begins what upload does, and returns at once; arguments are those of upload. The handle's wait() ends it.
template <class T, class U>
[[nodiscard]] TransferHandle uploadAsync(const T* host, std::size_t n, U* device, StreamRef stream = {}) {
  if constexpr (detail::requireTransferable<T, U>()) {
    const auto transfer =
        detail::checkedTransfer(host, n, device, TransferDirection::upload, "gpuopt::uploadAsync", stream);
    return TransferHandle(detail::beginTransfer(transfer, detail::planOf(transfer)));
  } else {
    return {};
  }
}

/// Begins what download does, and returns at once; arguments are those of download. The handle's wait() ends it.
template <class T, class U>
[[nodiscard]] TransferHandle downloadAsync(const T* device, std::size_t n, U* host, StreamRef stream = {}) {
  if constexpr (detail::requireTransferable<T, U>()) {
    const auto transfer =
        detail::checkedTransfer(host, n, device, TransferDirection::download, "gpuopt::downloadAsync", stream);
    return TransferHandle(detail::beginTransfer(transfer, detail::planOf(transfer)));
  } else {
    return {};
  }
}

/// What upload or download does with n elements of the host's memory, as text: "one copy by the copy engine: the host's
/// memory is pinned".
///
/// \param host n elements
/// \param n the number of elements
/// \param direction from the host or to it
template <class T>
[[nodiscard]] std::string explainTransfer(const T* host, std::size_t n, TransferDirection direction) {
  constexpr const char* FUNCTION = "gpuopt::explainTransfer";
  detail::requireAddress(detail::namedArray(host, n, "host"), FUNCTION);
  return detail::planInWords(
      detail::planOf({detail::bytesOf(host), nullptr, n * sizeof(T), direction, nullptr, FUNCTION}));
}

/// Gives the slots that transfers keep back to the system, and pinned memory that nobody uses (trimPinned). Waits for
/// the device.
inline void trimTransfers() {
  detail::TransferSlotsPool::instance().trim();
  trimPinned();
}

GPUOPT_NAMESPACE_END
