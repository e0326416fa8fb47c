/// \file
/// Host memory of every kind, and uploads, kernels and downloads that overlap.
// SPDX-License-Identifier: MIT
#pragma once

#include "../support/device_array.cuh"
#include "grid.cuh"

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

namespace experiments {

enum class HostMemory {
  pageable,       ///< what malloc gives: the driver copies it through a pinned buffer of its own
  pinned,         ///< stays where it is: the copy engine reads it directly
  writeCombined,  ///< pinned and not cached: quick to write, very slow for the host to read
  mapped          ///< pinned and in the device's address space: kernels access it without a copy
};

/// Memory of the host that frees itself.
class HostBuffer {
 public:
  HostBuffer(HostMemory kind, std::size_t bytes) : kind_(kind) {
    if (kind == HostMemory::pageable) {
      data_ = std::malloc(bytes);
      if (data_ == nullptr) throw std::bad_alloc();
    } else {
      const unsigned flags = kind == HostMemory::writeCombined ? cudaHostAllocWriteCombined
                             : kind == HostMemory::mapped      ? cudaHostAllocMapped
                                                               : cudaHostAllocDefault;
      gpuopt::check(cudaHostAlloc(&data_, bytes, flags), "cudaHostAlloc");
    }
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  ~HostBuffer() {
    if (kind_ == HostMemory::pageable)
      std::free(data_);
    else
      cudaFreeHost(data_);
  }

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

  /// The address for kernels; of mapped memory only.
  template <class T>
  T* onDevice() const {
    void* address = nullptr;
    gpuopt::check(cudaHostGetDevicePointer(&address, data_, 0), "cudaHostGetDevicePointer");
    return static_cast<T*>(address);
  }

 private:
  HostMemory kind_;
  void* data_ = nullptr;
};

// ---------------------------------------------------------------------------------------------- work

inline constexpr unsigned workBlock = 256;

/// What is done with each element, on the device and on the host.
__host__ __device__ inline unsigned worked(unsigned x, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) x = (x ^ (x >> 15)) * 0x2C1B3C6Du + round;
  return x;
}

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

inline void workOnHost(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  for (std::size_t i = 0; i < n; ++i) out[i] = worked(in[i], rounds);
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
    for (cudaStream_t& stream : streams_) {
      gpuopt::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
      buffers_.push_back(std::make_unique<DeviceArray<unsigned>>(chunk));
    }
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;
  ~Pipeline() {
    for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
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
    for (const cudaStream_t stream : streams_) gpuopt::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
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
  std::vector<cudaStream_t> streams_;
  std::vector<std::unique_ptr<DeviceArray<unsigned>>> buffers_;
};

}  // namespace experiments
