/// \file
/// Which memory the copy engine reaches, and copies on the host where it does not.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/pipeline/tuning.cuh>
#include <gpuopt/device/transfer/tuning.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/helper_threads.cuh>
#include <gpuopt/host/pinned.cuh>
#include <gpuopt/host/streaming_copy.cuh>
#include <gpuopt/host/tuning/tunable.cuh>

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Whether the runtime knows the byte: pinned, registered, managed or on the device.
inline bool isKnownToRuntime(const void* byte) { return memoryTypeOf(byte) != cudaMemoryTypeUnregistered; }

// Whether the copy engine reads and writes the array itself, without a slot of pinned memory.
inline bool isDirect(const void* data, std::size_t bytes) {
  const RelaxedCapture relaxed;
  return bytes > 0 && isKnownToRuntime(data) && isKnownToRuntime(static_cast<const unsigned char*>(data) + bytes - 1);
}

inline TunedValue stagingFor(std::size_t bytes) {
  return tunedValue(Tunable::staging, bytes).value_or(TunedValue{stagingThreads, stagingPiece});
}

// f(at, bytes) for pieces of `all` bytes, by several threads. f throws nothing.
template <class F>
class PiecewiseJob final : public HelpedJob {
 public:
  PiecewiseJob(std::size_t all, F f) : all_(all), f_(f), staging_(stagingFor(all)) {}
  ~PiecewiseJob() { HelperThreads::instance().finish(*this); }
  PiecewiseJob(const PiecewiseJob&) = delete;
  PiecewiseJob& operator=(const PiecewiseJob&) = delete;

  // Helpers may begin.
  void begin() {
    const auto pieces = static_cast<unsigned>(smallerOf(ceilDivide(all_, staging_.bytes), std::size_t{staging_.count}));
    HelperThreads::instance().invite(*this, smallerOf(pieces, transferCores(coreCount())) - 1);
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

// The same at once.
template <class F>
void inPieces(std::size_t all, const F& f) {
  PiecewiseJob<F> job(all, f);
  job.begin();
  job.finish();
}

// Fills a slot.
struct FillPieces {
  void* slot;
  const void* from;
  bool isStreaming;  // past the caches
  void operator()(std::size_t at, std::size_t count) const noexcept {
    copyBytes(static_cast<unsigned char*>(slot) + at, static_cast<const unsigned char*>(from) + at, count, isStreaming);
  }
};
using SlotFill = PiecewiseJob<FillPieces>;

// Empties a slot, past the caches: of a gigabyte in chunks of 8 MiB, 84 GB/s both ways instead of 59 (H200,
// 2026-11-23).
inline void emptySlot(void* to, const void* slot, std::size_t bytes) {
  inPieces(bytes, [=](std::size_t at, std::size_t count) noexcept {
    copyStreaming(static_cast<unsigned char*>(to) + at, static_cast<const unsigned char*>(slot) + at, count);
  });
}

GPUOPT_DETAIL_END
