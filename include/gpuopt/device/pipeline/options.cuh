/// \file
/// What callers choose about a pipeline, and what they learn of its run.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/host/stream.cuh>

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
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
  /// Bytes of a chunk, in or out, whichever elements are larger. 0: 16 MiB, with a sink 8 MiB, less where the data is
  /// short.
  std::size_t chunkBytes = 0;
  /// Chunks in flight. 0: one for each stage, so 3, and one more for each end whose memory is not pinned.
  unsigned slots = 0;
  /// The first kernel waits for all that was queued here before the run.
  StreamRef after = nullptr;
  /// Called by the calling thread with the elements that are through, and the length of the source, or 0 if that is
  /// unknown. Returning false cancels.
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

GPUOPT_NAMESPACE_END
