/// \file
/// What callers choose about a pipeline or a ring of frames, and what they learn of its run.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/host/stream.cuh>

#include <cuda_runtime.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>

GPUOPT_TYPES_BEGIN

/// A stream that returns a value was cancelled, so there is no value.
struct PipelineCancelled : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// How a run ended.
struct PipelineResult {
  std::size_t elements = 0;  ///< elements of the source that are through: the sink has them
  std::size_t chunks = 0;    ///< the same in chunks
  bool isCancelled = false;  ///< by the progress callback, the token, or the sink
};

GPUOPT_TYPES_END

GPUOPT_NAMESPACE_BEGIN

/// The streams of a pipeline, one for each engine. They outlive it.
struct PipelineStreams {
  cudaStream_t up;    ///< copies to the device
  cudaStream_t work;  ///< the caller's kernels
  cudaStream_t down;  ///< copies from the device
};

/// Whether the system keeps a copy in its memory of a file that a pipeline reads.
enum class FileCache {
  used,     ///< it does: what is read again comes from memory
  bypassed  ///< it does not, if the file system allows that: a long file displaces nothing (O_DIRECT)
};

/// What can be chosen about a pipeline. The defaults are right for most.
struct PipelineOptions {
  /// Bytes of a chunk, in or out, whichever elements are larger. 0: 16 MiB, with a sink 4 MiB, less where the data is
  /// short.
  std::size_t chunkBytes = 0;
  /// Chunks in flight. 0: one for each stage, so 3, and one more for each end whose memory is not pinned.
  unsigned slots = 0;
  /// The first kernel waits for all that was queued here before the run.
  StreamRef after = nullptr;
  /// Called by the calling thread with the number of elements that are done, and the length of the source, or 0 if that
  /// is unknown. Returning false cancels.
  std::function<bool(std::size_t done, std::size_t all)> progress = nullptr;
  /// Cancels as soon as it is true. Any thread may set it.
  const std::atomic<bool>* cancel = nullptr;
  /// Streams to use instead of three of the pipeline's own.
  const PipelineStreams* streams = nullptr;
  /// Where the device memory of the chunks comes from.
  MemoryRef memory = nullptr;
};

/// One chunk in the device's memory, for the work of a pipeline.
///
/// \tparam In,Out an element of the source and one of the sink; void without a sink
template <class In, class Out = void>
struct PipelineChunk {
  In* in;               ///< the elements, which the work may also change
  Out* out;             ///< as many results for the sink; null without one
  std::size_t count;    ///< number of elements
  std::size_t first;    ///< number of the first one in the whole source
  std::size_t index;    ///< number of the chunk
  cudaStream_t stream;  ///< where the work queues its kernels
};

/// How long frames took. Any number of times in 16 KiB: they are counted in ranges of 3 %.
class FrameLatency {
 public:
  /// Adds one time.
  void add(std::chrono::nanoseconds time) {
    const auto count = static_cast<std::uint64_t>(time.count() > 0 ? time.count() : 0);
    ++counts_[rangeOf(count)];
    ++count_;
    if (count > largest_) largest_ = count;
  }

  /// How many times were added.
  [[nodiscard]] std::size_t count() const { return count_; }

  /// The longest time.
  [[nodiscard]] std::chrono::nanoseconds longest() const { return nanoseconds(largest_); }

  /// The time within which a share of at least `share` of all frames took, rounded up by at most 3 %:
  /// percentile(0.5) is the median. Zero without times. Throws std::invalid_argument if `share` is not between 0 and 1.
  [[nodiscard]] std::chrono::nanoseconds percentile(double share) const {
    if (!(share >= 0 && share <= 1))
      detail::throwInvalid({"gpuopt::FrameLatency::percentile: share is not between 0 and 1"});
    const double wanted = share * static_cast<double>(count_);
    std::size_t seen = 0;
    for (std::size_t range = 0; range < RANGES; ++range) {
      seen += counts_[range];
      if (seen > 0 && static_cast<double>(seen) >= wanted) {
        const std::uint64_t end = endOf(range);
        return nanoseconds(end < largest_ ? end : largest_);
      }
    }
    return nanoseconds(0);
  }

 private:
  // 32 ranges for each power of two: the times below 32 one by one.
  static constexpr unsigned BITS = 5;
  static constexpr std::size_t RANGES = (64 - BITS + 1) << BITS;

  static std::chrono::nanoseconds nanoseconds(std::uint64_t count) {
    return std::chrono::nanoseconds(static_cast<std::int64_t>(count));
  }

  static std::size_t rangeOf(std::uint64_t count) {
    unsigned shift = 0;
    while (count >> shift >= std::uint64_t{2} << BITS) ++shift;
    return (std::size_t{shift} << BITS) + static_cast<std::size_t>(count >> shift);
  }

  // The largest time of a range.
  static std::uint64_t endOf(std::size_t range) {
    if (range < std::size_t{2} << BITS) return range;
    const std::size_t shift = (range >> BITS) - 1;
    const std::uint64_t leading = range - (shift << BITS);
    return ((leading + 1) << shift) - 1;
  }

  std::array<std::uint64_t, RANGES> counts_{};
  std::size_t count_ = 0;
  std::uint64_t largest_ = 0;
};

GPUOPT_NAMESPACE_END
