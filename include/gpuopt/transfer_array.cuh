/// \file
/// Transfers of arrays between host and device: upload, download, and both in the background.
///
/// <gpuopt/transfer.cuh> includes this header and says what is common to all transfers. This one is host code alone:
/// .cpp files can include it, too.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/other_calls.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/transfer/launch.cuh>
#include <gpuopt/device/transfer/rows.cuh>
#include <gpuopt/host/kept_run.cuh>
#include <gpuopt/host/pinned.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/transfer_types.cuh>

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

// A range may be of const elements or not.
template <class T>
const T* constPointer(T* data) {
  return data;
}

template <class H, class D>
Transfer checkedTransfer(H* host, std::size_t n, D* device, TransferDirection direction, const char* function,
                         cudaStream_t stream) {
  requireAddress(namedArray(host, n, "host"), function);
  requireAddress(namedArray(device, n, "device"), function);
  return {bytesOf(host), bytesOf(device), n * sizeof(H), direction, stream, function};
}

// The handle of a transfer that has been begun. From, To: the types of the arrays.
template <class From, class To, class H, class D>
TransferHandle arrayHandle(H* host, std::size_t n, D* device, TransferDirection direction, const char* function,
                           cudaStream_t stream) {
  if constexpr (requireTransferable<From, To>()) {
    const Transfer transfer = checkedTransfer(host, n, device, direction, function, stream);
    return TransferHandle(beginTransfer(transfer, planOf(transfer, true)));
  } else {
    return {};
  }
}

template <class P>
inline constexpr bool isPointer = std::is_pointer_v<std::decay_t<P>>;
// Whether two arrays say how many elements they have: one of them is a container or span, the other one, too, or a
// pointer.
template <class From, class To>
constexpr bool areSized() {
  constexpr bool IS_FROM_RANGE = isRange<std::remove_reference_t<From>>;
  constexpr bool IS_TO_RANGE = isRange<std::remove_reference_t<To>>;
  return (IS_FROM_RANGE && (IS_TO_RANGE || isPointer<To>)) || (isPointer<From> && IS_TO_RANGE);
}
template <class From, class To>
using EnableSized = std::enable_if_t<areSized<From, To>()>;

// The number of elements: of `from`, if that says it; `to` then has as many.
template <class From, class To>
std::size_t countOf(const From& from, const To& to, const char* target, const char* function) {
  if constexpr (isRange<From> && isRange<To>) requireSize(to, sizeOf(from), target, function);
  if constexpr (isRange<From>)
    return sizeOf(from);
  else
    return sizeOf(to);
}

template <class H>
auto hostAddress(H& host) {
  if constexpr (isRange<H>)
    return toAddress(host.data());
  else
    return host;
}
template <class D>
auto deviceAddress(D& device) {
  if constexpr (isRange<D>)
    return dataOf(device);
  else
    return device;
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
  if constexpr (detail::requireTransferable<T, U>())
    detail::transferNow(detail::checkedTransfer(host, n, device, TransferDirection::upload, "gpuopt::upload", stream));
}

/// The same where a container or span says n: every element of `host`, and `device` has as many or more. If one of them
/// is a pointer, the other one says n.
template <class H, class D, class = detail::EnableSized<H, D>>
void upload(H&& host, D&& device, StreamRef stream = {}) {
  const std::size_t n = detail::countOf(host, device, "device", "gpuopt::upload");
  gpuopt::upload(detail::constPointer(detail::hostAddress(host)), n, detail::deviceAddress(device), stream);
}

/// The same of a matrix, whose rows may have gaps between them on either side: `host` and `device` have one shape, and
/// each its own leading dimension. A batch is one if its matrices follow each other.
///
///     gpuopt::upload(gpuopt::MatrixView{host, rows, cols, 2 * cols}, gpuopt::MatrixView{device, rows, cols, pitch});
///
/// Cost: that of upload of the rows without gaps. Gaps on the device take as much memory again during the call, unless
/// the host's memory is pinned.
template <class T, class U>
void upload(const MatrixView<T>& host, const MatrixView<U>& device, StreamRef stream = {}) {
  if constexpr (detail::requireTransferable<T, U>())
    detail::transferMatrix(host, device, TransferDirection::upload, "gpuopt::upload", stream, false);
}

GPUOPT_OTHER_CALLS(upload,
                   "(host, n, device) or, if one of the arrays is a container or span, or both are a MatrixView, "
                   "(host, device); then a stream")

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
  if constexpr (detail::requireTransferable<T, U>())
    detail::transferNow(
        detail::checkedTransfer(host, n, device, TransferDirection::download, "gpuopt::download", stream));
}

/// The same where a container or span says n: every element of `device`, and `host` has as many or more. If one of them
/// is a pointer, the other one says n.
template <class D, class H, class = detail::EnableSized<D, H>>
void download(D&& device, H&& host, StreamRef stream = {}) {
  const std::size_t n = detail::countOf(device, host, "host", "gpuopt::download");
  gpuopt::download(detail::constPointer(detail::deviceAddress(device)), n, detail::hostAddress(host), stream);
}

/// The same of a matrix, as in upload. Gaps between the rows of `host` stay as they are.
template <class T, class U>
void download(const MatrixView<T>& device, const MatrixView<U>& host, StreamRef stream = {}) {
  if constexpr (detail::requireTransferable<T, U>())
    detail::transferMatrix(host, device, TransferDirection::download, "gpuopt::download", stream, false);
}

GPUOPT_OTHER_CALLS(download,
                   "(device, n, host) or, if one of the arrays is a container or span, or both are a MatrixView, "
                   "(device, host); then a stream")

/// Begins what upload does, and returns at once; arguments are those of upload. What is queued in `stream` afterwards
/// finds the data on the device. `host` must be left alone until the handle's wait() has returned.
///
/// Cost: the calling thread copies up to 256 KiB of pageable memory, 20 us, and queues the rest, some 10 us for each
/// batch of up to 32 MiB. It waits where CUDA's queues are full: docs/transfers.md.
template <class T, class U>
[[nodiscard]] TransferHandle uploadAsync(const T* host, std::size_t n, U* device, StreamRef stream = {}) {
  return detail::arrayHandle<T, U>(host, n, device, TransferDirection::upload, "gpuopt::uploadAsync", stream);
}

/// The same where a container or span says n.
template <class H, class D, class = detail::EnableSized<H, D>>
[[nodiscard]] TransferHandle uploadAsync(H&& host, D&& device, StreamRef stream = {}) {
  const std::size_t n = detail::countOf(host, device, "device", "gpuopt::uploadAsync");
  return gpuopt::uploadAsync(detail::constPointer(detail::hostAddress(host)), n, detail::deviceAddress(device), stream);
}

/// The same of a matrix.
template <class T, class U>
[[nodiscard]] TransferHandle uploadAsync(const MatrixView<T>& host, const MatrixView<U>& device,
                                         StreamRef stream = {}) {
  if constexpr (detail::requireTransferable<T, U>())
    return TransferHandle(
        detail::transferMatrix(host, device, TransferDirection::upload, "gpuopt::uploadAsync", stream, true));
  else
    return {};
}

GPUOPT_OTHER_CALLS(uploadAsync,
                   "(host, n, device) or, if one of the arrays is a container or span, or both are a MatrixView, "
                   "(host, device); then a stream")

/// Begins what download does, and returns at once; arguments are those of download. What is queued in `stream`
/// afterwards may overwrite `device`, and finds `host` written; so does the host after the handle's wait(), or after
/// one for the stream.
template <class T, class U>
[[nodiscard]] TransferHandle downloadAsync(const T* device, std::size_t n, U* host, StreamRef stream = {}) {
  return detail::arrayHandle<T, U>(host, n, device, TransferDirection::download, "gpuopt::downloadAsync", stream);
}

/// The same where a container or span says n.
template <class D, class H, class = detail::EnableSized<D, H>>
[[nodiscard]] TransferHandle downloadAsync(D&& device, H&& host, StreamRef stream = {}) {
  const std::size_t n = detail::countOf(device, host, "host", "gpuopt::downloadAsync");
  return gpuopt::downloadAsync(detail::constPointer(detail::deviceAddress(device)), n, detail::hostAddress(host),
                               stream);
}

/// The same of a matrix.
template <class T, class U>
[[nodiscard]] TransferHandle downloadAsync(const MatrixView<T>& device, const MatrixView<U>& host,
                                           StreamRef stream = {}) {
  if constexpr (detail::requireTransferable<T, U>())
    return TransferHandle(
        detail::transferMatrix(host, device, TransferDirection::download, "gpuopt::downloadAsync", stream, true));
  else
    return {};
}

GPUOPT_OTHER_CALLS(downloadAsync,
                   "(device, n, host) or, if one of the arrays is a container or span, or both are a MatrixView, "
                   "(device, host); then a stream")

/// What upload or download does with n elements of the host's memory, as text: "the copy engine: the host's memory
/// is pinned; reads 4096 bytes, writes 4096".
///
/// \param host n elements
/// \param n the number of elements
/// \param direction from the host or to it
template <class T>
[[nodiscard]] std::string explainTransfer(const T* host, std::size_t n, TransferDirection direction) {
  constexpr const char* FUNCTION = "gpuopt::explainTransfer";
  detail::requireAddress(detail::namedArray(host, n, "host"), FUNCTION);
  const detail::Transfer transfer{detail::bytesOf(host), nullptr, n * sizeof(T), direction, nullptr, FUNCTION};
  const detail::HostMemory memory = detail::hostMemory(host, transfer.bytes, FUNCTION);
  return detail::planInWords(detail::planFor(transfer, memory, false), transfer.bytes);
}

/// Gives the slots that transfers keep back to the system, and pinned memory that nobody uses (trimPinned). The
/// device's memory that streamReduce keeps of an array in pinned memory, up to 64 MiB, goes back to the library's pool.
/// Waits for the device.
inline void trimTransfers() {
  detail::TransferSlotsPool::instance().trim();
  detail::KeptRuns::instance().trim();
  trimPinned();
}

GPUOPT_NAMESPACE_END
