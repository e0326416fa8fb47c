/// \file
/// Many blocks of the host's memory at once, from and to consecutive memory of the device: pages of a cache, rows of a
/// table, samples of a data set.
///
///     gpuopt::gatherBlocks(pages, offsets, count, 4096, device, stream);   // device + 4096 i is pages + offsets[i]
///     gpuopt::scatterBlocks(device, pages, offsets, count, 4096, stream);  // and back
///     gpuopt::gatherBlocks(pages, gpuopt::blockIndices(table), count, 4096, device, stream);  // pages + 4096 table[i]
///
/// <gpuopt/transfer.cuh> includes this header.
///
/// **Common to all functions.** Block i is at `host + offsets[i]`, at `host + indices[i] * blockBytes` or at
/// `blocks[i]` in the host's memory, and follows block i - 1 in the device's. Blocks have blockBytes bytes each, or
/// sizes[i]. They are in pinned, registered or pageable memory, at any alignment; aligned to 16 bytes for the full
/// speed. `offsets`, `blocks` and `sizes` are arrays of `count` elements in the host's memory; they may change again
/// when the call returns. The device's side is in the order of `stream`. Calls cannot be captured.
///
/// **Cost.** A kernel reads or writes pinned and registered memory through the link: at 0.84 of its speed or more for
/// thousands of blocks of 1 KiB, while the copy engine takes 2 us for each. Large blocks go through the copy engine.
/// All go through the ring of upload if one of them is in pageable memory, or not within one allocation or
/// registration.
///
/// **Errors.** Bad arguments throw std::invalid_argument before anything is copied: null pointers, also in the list;
/// sizes and offsets that are negative; blocks beyond the end of a container; a stream that is being captured. With
/// GPUOPT_CHECK_POINTERS, lists or blocks that the host cannot access, offsets that are no multiples of the alignment
/// of the elements that `host` points to, and blocks of a scatter that overlap, too.
/// Otherwise as in <gpuopt/transfer.cuh>.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/other_calls.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/transfer/block_lists.cuh>
#include <gpuopt/device/transfer/blocks.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/transfer_types.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// Of host memory whose size is unknown: the caller passed a pointer.
inline constexpr std::size_t unknownExtent = PTRDIFF_MAX;

}  // namespace detail

/// The numbers of blocks of one size, as an argument in place of offsets: made by blockIndices.
///
/// \tparam Index any integer
template <class Index>
struct BlockIndices {
  const Index* indices;                       ///< integers in the host's memory
  std::size_t count = detail::unknownExtent;  ///< how many there are, if they are in a container
};

namespace detail {

template <class N>
inline constexpr bool isInteger = std::is_integral_v<N> && !std::is_same_v<N, bool>;
template <class N>
using EnableInteger = std::enable_if_t<isInteger<N>>;

// What says where blocks of one size begin: offsets in bytes, or numbers of blocks.
template <class Offsets>
inline constexpr bool areOffsets =
    std::is_pointer_v<Offsets>&& isInteger<std::remove_cv_t<std::remove_pointer_t<Offsets>>>;
template <class Index>
inline constexpr bool areOffsets<BlockIndices<Index>> = true;
template <class Offsets>
using EnableOffsets = std::enable_if_t<areOffsets<Offsets>>;

// What the functions take, checked.
template <class Host, class Offset>
auto hostAt(const Host& host, const Offset* offsets, const BlockRequest& request) {
  requireHostArray({host.data, request.count, 1, 1, "host"}, request.function);
  requireHostArray(namedArray(offsets, request.count, "offsets"), request.function);
  return BlocksAtOffsets<Offset>{byteAddress(host.data), host.bytes, host.alignment, offsets};
}
template <class T>
auto hostAt(T* const* blocks, const BlockRequest& request) {
  requireHostArray(namedArray(blocks, request.count, "blocks"), request.function);
  return BlocksAtPointers<T>{blocks};
}

template <class Host, class Index>
auto hostAt(const Host& host, const BlockIndices<Index>& table, const BlockRequest& request) {
  requireHostArray({host.data, request.count, 1, 1, "host"}, request.function);
  if (table.count < request.count)
    throwInvalid({request.function, ": indices has ", table.count, " elements, but count is ", request.count});
  requireHostArray(namedArray(table.indices, request.count, "indices"), request.function);
  return BlocksAtIndices<Index>{byteAddress(host.data), host.bytes, table.indices, request.blockBytes};
}

inline void requireDevice(const BlockRequest& request, std::size_t bytes) {
  requireArray({request.device, bytes, 1, 1, "device"}, request.function);
}

// Blocks that are written do not overlap. Sorts them: with GPUOPT_CHECK_POINTERS alone.
template <class Host>
void requireDisjointBlocks(const Host& host, const BlockTransfer& transfer) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < transfer.request().count; ++i)
    if (transfer.bytesOf(i) > 0) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return host(a) < host(b); });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (host(order[i - 1]) + transfer.bytesOf(order[i - 1]) > host(order[i]))
      throwInvalid({transfer.request().function, ": blocks ", order[i - 1], " and ", order[i],
                    " overlap on the host: offsets are in bytes"});
}

template <class Host>
void requireBlocks(const Host& host, const BlockTransfer& transfer) {
  const std::size_t count = transfer.request().count, blockBytes = transfer.request().blockBytes;
  // Without branches: a list may be long. blockBytes is 0 where each block has its own size.
  bool areThere = true;
  if (blockBytes == 0 || !host.areThere(count, blockBytes))
    for (std::size_t i = 0; i < count; ++i)
      areThere &= transfer.bytesOf(i) == 0 || host.isThere(i, transfer.bytesOf(i));
  if (areThere && !GPUOPT_CHECK_POINTERS) return;
  for (std::size_t i = 0; i < count; ++i)
    if (transfer.bytesOf(i) > 0) host.require(i, transfer.bytesOf(i), transfer.request().function);
  if (transfer.request().direction == TransferDirection::download) requireDisjointBlocks(host, transfer);
}

// Queues the transfer of blocks whose lists and device memory are checked.
template <class Host>
std::unique_ptr<BlockTransfer> queueChecked(std::unique_ptr<BlockTransfer> transfer, const Host& host) {
  requireBlocks(host, *transfer);
  transfer->begin(host);
  return transfer;
}

// The same of blocks of one size: `lists` are host and offsets, or pointers.
template <class... Lists>
std::unique_ptr<BlockTransfer> queueBlocks(const BlockRequest& request, const Lists&... lists) {
  const auto host = hostAt(lists..., request);
  requireSize(request.blockBytes, {"blockBytes"}, request.function);
  requireSize(request.count, {"count"}, request.function, largerOf(request.blockBytes, std::size_t{1}));
  requireDevice(request, request.count * request.blockBytes);
  return queueChecked(std::make_unique<BlockTransfer>(request), host);
}

// The same of blocks that each have a size.
template <class Host, class Offset, class Size>
std::unique_ptr<BlockTransfer> queueBlocks(const BlockRequest& request, const Host& memory, const Offset& offsets,
                                           const Size& sizes) {
  const auto host = hostAt(memory, offsets, request);
  requireHostArray(namedArray(sizes, request.count, "sizes"), request.function);
  auto transfer = std::make_unique<BlockTransfer>(request);
  requireDevice(request, transfer->setSizes(sizes));
  return queueChecked(std::move(transfer), host);
}

// Returns when all is done.
template <class... Lists>
void moveBlocks(const BlockRequest& request, const Lists&... lists) {
  [[maybe_unused]] const CallRange range(request.function);
  queueBlocks(request, lists...)->waitForStream();
}

// Returns at once.
template <class... Lists>
TransferHandle beginBlocks(BlockRequest request, const Lists&... lists) {
  [[maybe_unused]] const CallRange range(request.function);
  request.isAsync = true;
  auto transfer = queueBlocks(request, lists...);
  transfer->recordEnd();
  return TransferHandle(std::move(transfer));
}

}  // namespace detail

/// The host's memory that offsets refer to, as an argument: a pointer, or a container or span, whose size is known.
///
/// \tparam V void, or const void
template <class V>
struct BlocksHost {
  /// Memory of unknown size, of elements of type T.
  template <class T, class = std::enable_if_t<std::is_convertible_v<T*, V*>>>
  BlocksHost(T* memory) : data(memory), alignment(detail::alignmentOf<T>()) {}

  /// The elements of a container or span.
  template <class R, class = std::enable_if_t<std::is_convertible_v<detail::RangeData<std::remove_reference_t<R>>, V*>>>
  BlocksHost(R&& range)
      : data(detail::toAddress(range.data())),
        bytes(detail::sizeOf(range) * sizeof(*detail::toAddress(range.data()))),
        alignment(alignof(std::remove_pointer_t<decltype(detail::toAddress(range.data()))>)) {}

  V* data;                                    ///< the first byte
  std::size_t bytes = detail::unknownExtent;  ///< how many there are
  std::size_t alignment;                      ///< of the elements: offsets are multiples of it
};

/// The numbers of blocks, such as a page table, for gatherBlocks and scatterBlocks: block i is at `host + indices[i] *
/// blockBytes`.
///
/// \param indices integers of any type in the host's memory, none of them negative
template <class Index, class = detail::EnableInteger<Index>>
[[nodiscard]] BlockIndices<Index> blockIndices(const Index* indices) {
  return {indices};
}

/// The same for a container or span of the host's; calls check that it has as many as there are blocks, or more.
///
/// \param range of integers of any type
/// \tparam Index the type of its elements
template <class Range, class Index = std::remove_cv_t<std::remove_pointer_t<detail::RangeData<const Range>>>,
          class = detail::EnableInteger<Index>>
[[nodiscard]] BlockIndices<Index> blockIndices(const Range& range) {
  return {detail::toAddress(range.data()), detail::sizeOf(range)};
}

/// \name Gather
/// Copies blocks of the host's memory to the device: for every i < count the blockBytes bytes at `host + offsets[i]`,
/// at `host + indices[i] * blockBytes` or at `blocks[i]`, to those at `device + i * blockBytes`; with `sizes`, sizes[i]
/// bytes to what follows the block before.
///
/// Returns when the blocks may be changed again; they are on the device then. gatherBlocksAsync returns at once: the
/// lists may be changed again then, the blocks after its handle's wait().
///
/// Technique: zero copy, of "CUDA C++ Best Practices Guide", with vectors that are aligned on the host's side.
/// \{

/// Begins a gather and returns before it is done. Parameters are those of gatherBlocks.
template <class Offsets, class = detail::EnableOffsets<Offsets>>
[[nodiscard]] TransferHandle gatherBlocksAsync(BlocksHost<const void> host, Offsets offsets, std::size_t count,
                                               std::size_t blockBytes, void* device, StreamRef stream = {}) {
  return detail::beginBlocks(
      {device, count, blockBytes, TransferDirection::upload, stream, "gpuopt::gatherBlocksAsync"}, host, offsets);
}
/// Gathers blocks and waits until they are on the device.
///
/// \param host what the offsets begin at: a pointer, or a container or span that all blocks are in
/// \param offsets where each block begins, in bytes from `host`: a pointer to integers of any type, none of them
/// negative; or the blocks' numbers, from blockIndices
/// \param count the number of blocks
/// \param blockBytes the bytes of each block
/// \param device memory of the current device for all blocks
/// \param stream the device's side of the copies is queued there
template <class Offsets, class = detail::EnableOffsets<Offsets>>
void gatherBlocks(BlocksHost<const void> host, Offsets offsets, std::size_t count, std::size_t blockBytes, void* device,
                  StreamRef stream = {}) {
  detail::moveBlocks({device, count, blockBytes, TransferDirection::upload, stream, "gpuopt::gatherBlocks"}, host,
                     offsets);
}

template <class T>
[[nodiscard]] TransferHandle gatherBlocksAsync(T* const* blocks, std::size_t count, std::size_t blockBytes,
                                               void* device, StreamRef stream = {}) {
  return detail::beginBlocks(
      {device, count, blockBytes, TransferDirection::upload, stream, "gpuopt::gatherBlocksAsync"}, blocks);
}
template <class T>
void gatherBlocks(T* const* blocks, std::size_t count, std::size_t blockBytes, void* device, StreamRef stream = {}) {
  detail::moveBlocks({device, count, blockBytes, TransferDirection::upload, stream, "gpuopt::gatherBlocks"}, blocks);
}

template <class Offset, class Size, class = detail::EnableInteger<Offset>, class = detail::EnableInteger<Size>>
[[nodiscard]] TransferHandle gatherBlocksAsync(BlocksHost<const void> host, const Offset* offsets, const Size* sizes,
                                               std::size_t count, void* device, StreamRef stream = {}) {
  return detail::beginBlocks({device, count, 0, TransferDirection::upload, stream, "gpuopt::gatherBlocksAsync"}, host,
                             offsets, sizes);
}
template <class Offset, class Size, class = detail::EnableInteger<Offset>, class = detail::EnableInteger<Size>>
void gatherBlocks(BlocksHost<const void> host, const Offset* offsets, const Size* sizes, std::size_t count,
                  void* device, StreamRef stream = {}) {
  detail::moveBlocks({device, count, 0, TransferDirection::upload, stream, "gpuopt::gatherBlocks"}, host, offsets,
                     sizes);
}

GPUOPT_OTHER_CALLS(
    gatherBlocks,
    "(host, offsets, count, blockBytes, device), (host, offsets, sizes, count, device) or "
    "(blocks, count, blockBytes, device), then a stream; lists are pointers, offsets also blockIndices(pointer)")

/// \}

/// \name Scatter
/// Copies blocks of the device's memory to the host: for every i < count the blockBytes bytes at `device + i *
/// blockBytes` to those at `host + offsets[i]`, at `host + indices[i] * blockBytes` or at `blocks[i]`; with `sizes`,
/// the sizes[i] bytes that follow those of the block before. Blocks of the host's memory must not overlap.
///
/// Returns when the host has the blocks. scatterBlocksAsync returns at once: the lists may be changed again then, and
/// the host has the blocks after its handle's wait().
///
/// Cost and technique are those of gatherBlocks.
/// \{

/// Begins a scatter and returns before it is done. Parameters are those of scatterBlocks.
template <class Offsets, class = detail::EnableOffsets<Offsets>>
[[nodiscard]] TransferHandle scatterBlocksAsync(const void* device, BlocksHost<void> host, Offsets offsets,
                                                std::size_t count, std::size_t blockBytes, StreamRef stream = {}) {
  return detail::beginBlocks(
      {device, count, blockBytes, TransferDirection::download, stream, "gpuopt::scatterBlocksAsync"}, host, offsets);
}
/// Scatters blocks and waits until they are on the host.
///
/// \param host what the offsets begin at: a pointer, or a container or span that all blocks are in
/// \param offsets where each block begins, in bytes from `host`: a pointer to integers of any type, none of them
/// negative; or the blocks' numbers, from blockIndices
/// \param count the number of blocks
/// \param blockBytes the bytes of each block
/// \param device memory of the current device for all blocks
/// \param stream the device's side of the copies is queued there
template <class Offsets, class = detail::EnableOffsets<Offsets>>
void scatterBlocks(const void* device, BlocksHost<void> host, Offsets offsets, std::size_t count,
                   std::size_t blockBytes, StreamRef stream = {}) {
  detail::moveBlocks({device, count, blockBytes, TransferDirection::download, stream, "gpuopt::scatterBlocks"}, host,
                     offsets);
}

template <class T>
[[nodiscard]] TransferHandle scatterBlocksAsync(const void* device, T* const* blocks, std::size_t count,
                                                std::size_t blockBytes, StreamRef stream = {}) {
  return detail::beginBlocks(
      {device, count, blockBytes, TransferDirection::download, stream, "gpuopt::scatterBlocksAsync"}, blocks);
}
template <class T>
void scatterBlocks(const void* device, T* const* blocks, std::size_t count, std::size_t blockBytes,
                   StreamRef stream = {}) {
  detail::moveBlocks({device, count, blockBytes, TransferDirection::download, stream, "gpuopt::scatterBlocks"}, blocks);
}

template <class Offset, class Size, class = detail::EnableInteger<Offset>, class = detail::EnableInteger<Size>>
[[nodiscard]] TransferHandle scatterBlocksAsync(const void* device, BlocksHost<void> host, const Offset* offsets,
                                                const Size* sizes, std::size_t count, StreamRef stream = {}) {
  return detail::beginBlocks({device, count, 0, TransferDirection::download, stream, "gpuopt::scatterBlocksAsync"},
                             host, offsets, sizes);
}
template <class Offset, class Size, class = detail::EnableInteger<Offset>, class = detail::EnableInteger<Size>>
void scatterBlocks(const void* device, BlocksHost<void> host, const Offset* offsets, const Size* sizes,
                   std::size_t count, StreamRef stream = {}) {
  detail::moveBlocks({device, count, 0, TransferDirection::download, stream, "gpuopt::scatterBlocks"}, host, offsets,
                     sizes);
}

GPUOPT_OTHER_CALLS(
    scatterBlocks,
    "(device, host, offsets, count, blockBytes), (device, host, offsets, sizes, count) or "
    "(device, blocks, count, blockBytes), then a stream; lists are pointers, offsets also blockIndices(pointer)")

/// \}

/// Says in one line what gatherBlocks, or scatterBlocks for a download, does with blocks of this memory, and why.
/// Nothing is transferred. Errors are those of the calls. The words may change from version to version.
///
///     gpuopt::explainBlocks(pages, count, 4096, gpuopt::TransferDirection::upload);   // "a kernel that accesses ..."
///
/// \param host the host's memory that the blocks are in: a pointer, a container or a span
/// \param count,blockBytes the number of blocks, and the bytes of each
/// \param direction from the host or to it
[[nodiscard]] inline std::string explainBlocks(BlocksHost<const void> host, std::size_t count, std::size_t blockBytes,
                                               TransferDirection direction) {
  constexpr const char* FUNCTION = "gpuopt::explainBlocks";
  detail::requireSize(count, {"count"}, FUNCTION);
  detail::requireSize(blockBytes, {"blockBytes"}, FUNCTION);
  const std::size_t bytes = detail::cappedProduct(count, blockBytes);
  if (bytes == 0) return detail::planInWords(detail::TransferPlan{detail::TransferAlgorithm::none, "no bytes"}, 0);
  const std::size_t known = host.bytes == detail::unknownExtent ? blockBytes : host.bytes;
  const detail::HostMemory memory = detail::hostMemory(host.data, known, FUNCTION);
  return detail::planInWords(detail::planBlocks(detail::blocksRequest(bytes, count, direction, memory, false), count),
                             bytes);
}

GPUOPT_NAMESPACE_END
