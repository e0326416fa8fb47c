/// \file
/// Which memory the copy engine reaches, and copies on the host where it does not.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/pipeline/tuning.cuh>
#include <gpuopt/device/transfer/tuning.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/helper_threads.cuh>
#include <gpuopt/host/host_memory.cuh>
#include <gpuopt/host/streaming_copy.cuh>
#include <gpuopt/host/tuning/tunable.cuh>

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Whether the copy engine reads and writes an array of the host's itself, without a slot of pinned memory.
inline bool isDirect(const NamedArray& array, const char* function) {
  requireAddress(array, function);
  if (array.n == 0) return false;
  const RelaxedCapture relaxed;
  const cudaMemoryType first = memoryTypeOf(array.data);
  if (first == cudaMemoryTypeDevice)
    throwInvalid({function, ": ", array.name, " is in the memory of a device: a pipeline takes arrays on the host"});
  return first != cudaMemoryTypeUnregistered && isInOneAllocation(array.data, array.bytes());
}

inline TunedValue stagingFor(std::size_t bytes) {
  return tunedValue(Tunable::staging, bytes).value_or(TunedValue{stagingThreads, stagingPiece});
}

// f(at, bytes) for pieces of `all` bytes, by several threads. f throws nothing.
template <class F>
class PiecewiseJob final : public HelpedJob {
 public:
  PiecewiseJob(std::size_t all, F f) : PiecewiseJob(all, f, stagingFor(all)) {}
  PiecewiseJob(std::size_t all, F f, const TunedValue& staging) : all_(all), f_(f), staging_(staging) {}
  ~PiecewiseJob() { HelperThreads::instance().finish(*this); }
  PiecewiseJob(const PiecewiseJob&) = delete;
  PiecewiseJob& operator=(const PiecewiseJob&) = delete;

  // Helpers may begin.
  void begin() {
    const auto pieces = static_cast<unsigned>(smallerOf(ceilDivide(all_, staging_.bytes), std::size_t{staging_.count}));
    if (pieces > 1) HelperThreads::instance().invite(*this, smallerOf(pieces, transferCores(coreCount())) - 1);
  }

  // Does what is left, and waits for the helpers.
  void finish() {
    run();
    HelperThreads::instance().finish(*this);
  }

  void run() noexcept override {
    for (std::size_t at = next(); at < all_; at = next()) f_(at, smallerOf(staging_.bytes, all_ - at));
  }

 private:
  std::size_t next() { return next_.fetch_add(staging_.bytes, std::memory_order_relaxed); }

  std::size_t all_;
  F f_;
  TunedValue staging_;  // threads, and the bytes of a piece
  std::atomic<std::size_t> next_{0};
};

// The same at once. A host function of a stream passes the staging, since it must not ask the runtime for the device.
template <class F>
void inPieces(std::size_t all, const F& f, const TunedValue& staging) {
  PiecewiseJob<F> job(all, f, staging);
  job.begin();
  job.finish();
}

template <class F>
void inPieces(std::size_t all, const F& f) {
  inPieces(all, f, stagingFor(all));
}

// Fills a slot, or empties it.
struct CopyPieces {
  void* to;
  const void* from;
  bool isStreaming;  // past the caches
  void operator()(std::size_t at, std::size_t count) const noexcept {
    copyBytes(static_cast<unsigned char*>(to) + at, static_cast<const unsigned char*>(from) + at, count, isStreaming);
  }
};
using SlotFill = PiecewiseJob<CopyPieces>;

// Empties a slot, past the caches: of a gigabyte in chunks of 8 MiB, 84 GB/s both ways instead of 59 (H200,
// 2026-11-23).
inline void emptySlot(void* to, const void* slot, std::size_t bytes) { inPieces(bytes, CopyPieces{to, slot, true}); }

GPUOPT_DETAIL_END
