/// \file
/// Many blocks of the host's memory at once, from and to consecutive memory of the device: pages of a cache, rows of a
/// table, samples of a data set.
///
///     gpuopt::gatherBlocks(pages, offsets, count, 4096, device, stream);   // device + 4096 i is pages + offsets[i]
///     gpuopt::scatterBlocks(device, pages, offsets, count, 4096, stream);  // and back
///
/// <gpuopt/transfer.cuh> includes this header.
///
/// **Common to all functions.** Block i is at `host + offsets[i]` or at `blocks[i]` in the host's memory, and follows
/// block i - 1 in the device's. Blocks have blockBytes bytes each, or sizes[i]. All are in memory of the same kind:
/// pinned, registered, or pageable; at any alignment, aligned to 16 bytes for the full speed. `offsets`, `blocks` and
/// `sizes` are arrays of `count` in the host's memory; they may change again when the call returns. The device's side
/// is in the order of `stream`. Calls cannot be captured.
///
/// **Cost.** A kernel reads or writes pinned and registered memory through the link: nearly its full speed for blocks
/// of 1 KiB, while the copy engine takes 2 us for each. Large blocks go through the copy engine, blocks of pageable
/// memory through the ring of upload.
///
/// **Errors.** Bad arguments throw std::invalid_argument before anything is copied: null pointers, sizes that are
/// negative together, a stream that is being captured. Otherwise as in <gpuopt/transfer.cuh>.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/device/transfer/blocks.cuh>
#include <gpuopt/device/transfer/handle.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

template <class N>
using EnableInteger = std::enable_if_t<std::is_integral_v<N> && !std::is_same_v<N, bool>>;

inline unsigned char* byteAddress(const void* address) {
  return static_cast<unsigned char*>(const_cast<void*>(address));
}

// Where the blocks are on the host: what the functions take, checked.
template <class Offset>
auto hostAt(const void* host, const Offset* offsets, const BlockRequest& request) {
  requireAddress({host, request.count, 1, 1, "host"}, request.function);
  requireAddress(namedArray(offsets, request.count, "offsets"), request.function);
  return [=](std::size_t i) { return byteAddress(host) + offsets[i]; };
}
template <class T>
auto hostAt(T* const* blocks, const BlockRequest& request) {
  requireAddress(namedArray(blocks, request.count, "blocks"), request.function);
  return [=](std::size_t i) { return byteAddress(blocks[i]); };
}

inline void requireDevice(const BlockRequest& request, std::size_t bytes) {
  requireArray({request.device, bytes, 1, 1, "device"}, request.function);
}

inline std::unique_ptr<BlockTransfer> makeBlocks(const BlockRequest& request) {
  requireSize(request.blockBytes, {"blockBytes"}, request.function);
  requireSize(request.count, {"count"}, request.function, largerOf(request.blockBytes, std::size_t{1}));
  requireDevice(request, request.count * request.blockBytes);
  return std::make_unique<BlockTransfer>(request);
}

inline std::unique_ptr<BlockTransfer> makeBlocks(const BlockRequest& request, const NamedArray& sizes) {
  requireAddress(sizes, request.function);
  return std::make_unique<BlockTransfer>(request);
}

// Queues the transfer of blocks of equal size.
template <class Host>
std::unique_ptr<BlockTransfer> queueBlocks(const BlockRequest& request, const Host& host) {
  auto transfer = makeBlocks(request);
  transfer->begin(host);
  return transfer;
}

// The same of blocks that each have a size.
template <class Host, class Size>
std::unique_ptr<BlockTransfer> queueBlocks(const BlockRequest& request, const Host& host, const Size* sizes) {
  auto transfer = makeBlocks(request, namedArray(sizes, request.count, "sizes"));
  requireDevice(request, transfer->setSizes(sizes));
  transfer->begin(host);
  return transfer;
}

inline void endBlocks(std::unique_ptr<BlockTransfer> transfer) { transfer->waitForStream(); }

inline TransferHandle handleOf(std::unique_ptr<BlockTransfer> transfer) {
  transfer->recordEnd();
  return TransferHandle(std::move(transfer));
}

}  // namespace detail

/// \name Gather
/// Copies blocks of the host's memory to the device: for every i < count the blockBytes bytes at `host + offsets[i]`,
/// or at `blocks[i]`, to those at `device + i * blockBytes`; with `sizes`, sizes[i] bytes to what follows the block
/// before.
///
/// Returns when the blocks may be changed again; they are on the device then. gatherBlocksAsync returns when the lists
/// may be changed again, and for pageable memory the blocks, too: its handle's wait() ends it.
///
/// Technique: zero copy, of "CUDA C++ Best Practices Guide", with vectors that are aligned on the host's side.
/// \{

/// Begins a gather and returns before it is done. Parameters are those of gatherBlocks.
template <class Offset, class = detail::EnableInteger<Offset>>
[[nodiscard]] TransferHandle gatherBlocksAsync(const void* host, const Offset* offsets, std::size_t count,
                                               std::size_t blockBytes, void* device, StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  blockBytes,
                                     TransferDirection::upload,   stream, "gpuopt::gatherBlocks"};
  return detail::handleOf(detail::queueBlocks(request, detail::hostAt(host, offsets, request)));
}
/// Gathers blocks and waits until they are on the device.
///
/// \param host what the offsets begin at
/// \param offsets where each block begins, in bytes from `host`: integers of any type
/// \param count the number of blocks
/// \param blockBytes the bytes of each block
/// \param device memory of the current device for all blocks
/// \param stream the device's side of the copies is queued there
template <class Offset, class = detail::EnableInteger<Offset>>
void gatherBlocks(const void* host, const Offset* offsets, std::size_t count, std::size_t blockBytes, void* device,
                  StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  blockBytes,
                                     TransferDirection::upload,   stream, "gpuopt::gatherBlocks"};
  detail::endBlocks(detail::queueBlocks(request, detail::hostAt(host, offsets, request)));
}

template <class T>
[[nodiscard]] TransferHandle gatherBlocksAsync(T* const* blocks, std::size_t count, std::size_t blockBytes,
                                               void* device, StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  blockBytes,
                                     TransferDirection::upload,   stream, "gpuopt::gatherBlocks"};
  return detail::handleOf(detail::queueBlocks(request, detail::hostAt(blocks, request)));
}
template <class T>
void gatherBlocks(T* const* blocks, std::size_t count, std::size_t blockBytes, void* device, StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  blockBytes,
                                     TransferDirection::upload,   stream, "gpuopt::gatherBlocks"};
  detail::endBlocks(detail::queueBlocks(request, detail::hostAt(blocks, request)));
}

template <class Offset, class Size, class = detail::EnableInteger<Offset>, class = detail::EnableInteger<Size>>
[[nodiscard]] TransferHandle gatherBlocksAsync(const void* host, const Offset* offsets, const Size* sizes,
                                               std::size_t count, void* device, StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  0,
                                     TransferDirection::upload,   stream, "gpuopt::gatherBlocks"};
  return detail::handleOf(detail::queueBlocks(request, detail::hostAt(host, offsets, request), sizes));
}
template <class Offset, class Size, class = detail::EnableInteger<Offset>, class = detail::EnableInteger<Size>>
void gatherBlocks(const void* host, const Offset* offsets, const Size* sizes, std::size_t count, void* device,
                  StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  0,
                                     TransferDirection::upload,   stream, "gpuopt::gatherBlocks"};
  detail::endBlocks(detail::queueBlocks(request, detail::hostAt(host, offsets, request), sizes));
}

/// \}

/// \name Scatter
/// Copies blocks of the device's memory to the host: for every i < count the blockBytes bytes at `device + i *
/// blockBytes` to those at `host + offsets[i]`, or at `blocks[i]`; with `sizes`, the sizes[i] bytes that follow those
/// of the block before. Blocks of the host's memory must not overlap.
///
/// Returns when the host has the blocks. scatterBlocksAsync returns when the lists may be changed again, and for
/// pageable memory when the host has the blocks: its handle's wait() ends it.
///
/// Cost and technique are those of gatherBlocks.
/// \{

/// Begins a scatter and returns before it is done. Parameters are those of scatterBlocks.
template <class Offset, class = detail::EnableInteger<Offset>>
[[nodiscard]] TransferHandle scatterBlocksAsync(const void* device, void* host, const Offset* offsets,
                                                std::size_t count, std::size_t blockBytes, StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  blockBytes,
                                     TransferDirection::download, stream, "gpuopt::scatterBlocks"};
  return detail::handleOf(detail::queueBlocks(request, detail::hostAt(host, offsets, request)));
}
/// Scatters blocks and waits until they are on the host.
///
/// \param host what the offsets begin at
/// \param offsets where each block begins, in bytes from `host`: integers of any type
/// \param count the number of blocks
/// \param blockBytes the bytes of each block
/// \param device memory of the current device for all blocks
/// \param stream the device's side of the copies is queued there
template <class Offset, class = detail::EnableInteger<Offset>>
void scatterBlocks(const void* device, void* host, const Offset* offsets, std::size_t count, std::size_t blockBytes,
                   StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  blockBytes,
                                     TransferDirection::download, stream, "gpuopt::scatterBlocks"};
  detail::endBlocks(detail::queueBlocks(request, detail::hostAt(host, offsets, request)));
}

template <class T>
[[nodiscard]] TransferHandle scatterBlocksAsync(const void* device, T* const* blocks, std::size_t count,
                                                std::size_t blockBytes, StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  blockBytes,
                                     TransferDirection::download, stream, "gpuopt::scatterBlocks"};
  return detail::handleOf(detail::queueBlocks(request, detail::hostAt(blocks, request)));
}
template <class T>
void scatterBlocks(const void* device, T* const* blocks, std::size_t count, std::size_t blockBytes,
                   StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  blockBytes,
                                     TransferDirection::download, stream, "gpuopt::scatterBlocks"};
  detail::endBlocks(detail::queueBlocks(request, detail::hostAt(blocks, request)));
}

template <class Offset, class Size, class = detail::EnableInteger<Offset>, class = detail::EnableInteger<Size>>
[[nodiscard]] TransferHandle scatterBlocksAsync(const void* device, void* host, const Offset* offsets,
                                                const Size* sizes, std::size_t count, StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  0,
                                     TransferDirection::download, stream, "gpuopt::scatterBlocks"};
  return detail::handleOf(detail::queueBlocks(request, detail::hostAt(host, offsets, request), sizes));
}
template <class Offset, class Size, class = detail::EnableInteger<Offset>, class = detail::EnableInteger<Size>>
void scatterBlocks(const void* device, void* host, const Offset* offsets, const Size* sizes, std::size_t count,
                   StreamRef stream = {}) {
  const detail::BlockRequest request{detail::byteAddress(device), count,  0,
                                     TransferDirection::download, stream, "gpuopt::scatterBlocks"};
  detail::endBlocks(detail::queueBlocks(request, detail::hostAt(host, offsets, request), sizes));
}

/// \}

GPUOPT_NAMESPACE_END
