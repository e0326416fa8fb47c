/// \file
/// Many small copies and few large ones, and uploads, kernels and downloads that overlap.
// SPDX-License-Identifier: MIT
#pragma once

#include "../support/device_array.cuh"
#include "grid.cuh"
#include "host_memory.cuh"
#include "streams.cuh"
#include "worked.cuh"

#include <gpuopt/transfer.cuh>

#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace experiments {

// -------------------------------------------------------------------------------------------- copies

/// Rows of a matrix in the host's memory, `pitch` bytes apart, of each of which some bytes are wanted; on the device
/// they follow each other.
struct HostRows {
  const unsigned char* data;
  std::size_t count, bytes, pitch;
};

/// A copy for each row.
inline void copyRowByRow(const HostRows& rows, unsigned char* device) {
  for (std::size_t i = 0; i < rows.count; ++i)
    gpuopt::check(
        cudaMemcpyAsync(device + i * rows.bytes, rows.data + i * rows.pitch, rows.bytes, cudaMemcpyHostToDevice),
        "cudaMemcpyAsync");
}

/// One copy, which knows the pitch.
inline void copyInTwoDimensions(const HostRows& rows, unsigned char* device, cudaStream_t stream = nullptr) {
  gpuopt::check(cudaMemcpy2DAsync(device, rows.bytes, rows.data, rows.pitch, rows.bytes, rows.count,
                                  cudaMemcpyHostToDevice, stream),
                "cudaMemcpy2DAsync");
}

/// The host groups the rows in pinned memory, and copies them at once. Do not call it again before that is done.
inline void copyGrouped(const HostRows& rows, unsigned char* group, unsigned char* device) {
  for (std::size_t i = 0; i < rows.count; ++i)
    std::memcpy(group + i * rows.bytes, rows.data + i * rows.pitch, rows.bytes);
  gpuopt::check(cudaMemcpyAsync(device, group, rows.count * rows.bytes, cudaMemcpyHostToDevice), "cudaMemcpyAsync");
}

/// All copies in one call, since CUDA 13; before that, and on the emulated device, one after the other.
class RowBatch {
 public:
  RowBatch(const HostRows& rows, unsigned char* device) : sizes_(rows.count, rows.bytes) {
    for (std::size_t i = 0; i < rows.count; ++i) {
      to_.push_back(device + i * rows.bytes);
      from_.push_back(rows.data + i * rows.pitch);
    }
  }

  /// In any stream but the default one.
  void operator()(cudaStream_t stream) const {
#if CUDART_VERSION >= 13000 && !defined(GPUOPT_EMULATION)
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    gpuopt::check(
        cudaMemcpyBatchAsync(to_.data(), from_.data(), sizes_.data(), to_.size(), &attributes, &first, 1, stream),
        "cudaMemcpyBatchAsync");
#else
    for (std::size_t i = 0; i < to_.size(); ++i)
      gpuopt::check(cudaMemcpyAsync(to_[i], from_[i], sizes_[i], cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
#endif
  }

 private:
  std::vector<void*> to_;
  std::vector<const void*> from_;
  std::vector<std::size_t> sizes_;
};

/// The library's way: blocks of any addresses. Returns when they have arrived.
class RowGathering {
 public:
  explicit RowGathering(const HostRows& rows) : rows_(rows), offsets_(rows.count) {
    for (std::size_t i = 0; i < rows.count; ++i) offsets_[i] = i * rows.pitch;
  }

  void operator()(unsigned char* device) const {
    gpuopt::gatherBlocks(rows_.data, offsets_.data(), rows_.count, rows_.bytes, device);
  }

 private:
  HostRows rows_;
  std::vector<std::size_t> offsets_;
};

// ---------------------------------------------------------------------------------------------- work

inline constexpr unsigned workBlock = 256;

__global__ void work(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  const std::size_t i = globalThread();
  if (i < n) out[i] = worked(in[i], rounds);
}

inline void launchWork(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds,
                       cudaStream_t stream = nullptr) {
  if (n == 0) return;
  gpuopt::LaunchConfig config = gridFor(n, workBlock);
  config.stream = stream;
  gpuopt::launch(work, config, in, out, n, rounds);
}

// ------------------------------------------------------------------------------------------- overlap

/// The order in which the commands of several chunks are queued.
enum class IssueOrder {
  depthFirst,   ///< all of one chunk, then all of the next
  breadthFirst  ///< the uploads of a round of chunks, then their kernels, then their downloads
};

/// Uploads, works and downloads chunk by chunk. Each buffer has a stream: what is queued there happens in
/// order, so the next chunk never overwrites one that is still in use, and what different streams do
/// overlaps. One buffer: nothing overlaps. Two: two of upload, kernel and download at once. Three: all of
/// them.
class Pipeline {
 public:
  Pipeline(std::size_t chunk, unsigned buffers) : chunk_(chunk), streams_(buffers) {
    for (unsigned i = 0; i < buffers; ++i) buffers_.push_back(std::make_unique<DeviceArray<unsigned>>(chunk));
  }

  /// out = worked(in), both pinned memory of the host, with n elements. The host itself works on the last
  /// `onHost` of them in the meantime: the fourth way. Returns when all is done.
  void run(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds, IssueOrder order,
           std::size_t onHost = 0) const {
    const std::size_t onDevice = n - onHost;
    const std::size_t round = order == IssueOrder::depthFirst ? chunk_ : chunk_ * streams_.size();
    for (std::size_t begin = 0; begin < onDevice; begin += round) {
      const std::size_t end = begin + round < onDevice ? begin + round : onDevice;
      forEachChunk(begin, end, [&](std::size_t at, std::size_t count, unsigned* buffer, cudaStream_t stream) {
        copy(buffer, in + at, count, cudaMemcpyHostToDevice, stream);
      });
      forEachChunk(begin, end, [&](std::size_t, std::size_t count, unsigned* buffer, cudaStream_t stream) {
        launchWork(buffer, buffer, count, rounds, stream);
      });
      forEachChunk(begin, end, [&](std::size_t at, std::size_t count, unsigned* buffer, cudaStream_t stream) {
        copy(out + at, buffer, count, cudaMemcpyDeviceToHost, stream);
      });
    }
    workOnHost(in + onDevice, out + onDevice, onHost, rounds);
    streams_.synchronize();
  }

 private:
  static void copy(unsigned* to, const unsigned* from, std::size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
    gpuopt::check(cudaMemcpyAsync(to, from, n * sizeof(unsigned), kind, stream), "cudaMemcpyAsync");
  }

  template <class Queue>
  void forEachChunk(std::size_t begin, std::size_t end, const Queue& queue) const {
    for (std::size_t at = begin; at < end; at += chunk_) {
      const std::size_t which = at / chunk_ % streams_.size();
      const std::size_t count = at + chunk_ < end ? chunk_ : end - at;
      queue(at, count, buffers_[which]->data(), streams_[which]);
    }
  }

  std::size_t chunk_;
  Streams streams_;
  std::vector<std::unique_ptr<DeviceArray<unsigned>>> buffers_;
};

}  // namespace experiments
