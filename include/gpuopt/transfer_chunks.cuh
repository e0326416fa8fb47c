/// \file
/// Pipelines with kernels of your own: sources, sinks, Pipeline.
///
/// <gpuopt/transfer_pipeline.cuh> includes this header and says what is common to all pipelines. This one is host code
/// alone: .cpp files can include it, too, and call functions of .cu files that launch the kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/pipeline/file.cuh>
#include <gpuopt/device/pipeline/plan.cuh>
#include <gpuopt/device/pipeline/run.cuh>
#include <gpuopt/device/pipeline/sink.cuh>
#include <gpuopt/device/pipeline/source.cuh>
#include <gpuopt/pipeline_types.cuh>

#include <fcntl.h>

#include <cstddef>
#include <string>
#include <utility>

GPUOPT_NAMESPACE_BEGIN

/// \name Sources
/// Where the data of a pipeline comes from. Each is for one run.
/// \{

/// The n elements of an array on the host, which must stay until the run has ended. Throws std::invalid_argument for an
/// array that is null, misaligned or in the memory of a device.
template <class T>
[[nodiscard]] detail::HostSource<T> fromHost(const T* data, std::size_t n) {
  return detail::HostSource<T>(data, n);
}

/// The elements of a container or span on the host, `range`.
template <class Range, class = detail::EnableRange<const Range>>
[[nodiscard]] auto fromHost(const Range& range) {
  return gpuopt::fromHost(detail::toAddress(range.data()), detail::sizeOf(range));
}

/// The elements of a file, as they are in memory, from byte `begin` to the end, or n of them; or of a pipe, whose bytes
/// before `begin` are read and left out.
///
/// \param path,begin the file, and where its elements begin
/// \param n how many elements; all if it is left out
/// \tparam T an element
///
/// Throws std::system_error if it cannot be opened, std::invalid_argument if it ends before `begin`, has fewer than n
/// elements or, without n, a length that is no multiple of the element's size. If the file ends before the length that
/// it had when it was opened, the run throws std::runtime_error. So it does for a pipe that ends before `begin`, before
/// n elements or within one. Files whose length the system does not know before they are read, such as those of /proc,
/// are read as pipes are.
template <class T>
[[nodiscard]] detail::FileSource<T> fromFile(const std::string& path, std::size_t begin = 0,
                                             std::size_t n = detail::unknownLength) {
  return {detail::OwnedFile("gpuopt::fromFile", path, O_RDONLY), begin, n};
}

/// The same of an open file, whose `descriptor` stays open. `begin` counts from the start of a file, whose position
/// stays where it is; of a pipe, from what has not been read.
template <class T>
[[nodiscard]] detail::FileSource<T> fromFile(int descriptor, std::size_t begin = 0,
                                             std::size_t n = detail::unknownLength) {
  return {detail::OwnedFile("gpuopt::fromFile", descriptor), begin, n};
}

/// The same of a file that is read past the system's page cache, if `cache` is FileCache::bypassed: for files that are
/// much longer than the memory, or read once, which would displace all others from the cache.
///
///     auto source = gpuopt::fromFile<float>("samples.bin", gpuopt::FileCache::bypassed);
///     if (!source.whyCached().empty()) std::puts(source.whyCached().c_str());   // the file system refuses
///
/// A file system that refuses, such as an older tmpfs, is no error: the file is read through the cache, and whyCached()
/// says why. Reads are of blocks of 4096 bytes: a `begin` that is no multiple of 4096 costs a copy on the host.
///
/// \param path,begin,n as above
/// \param cache whether the cache is used
template <class T>
[[nodiscard]] detail::FileSource<T> fromFile(const std::string& path, FileCache cache, std::size_t begin = 0,
                                             std::size_t n = detail::unknownLength) {
  if (cache == FileCache::used) return gpuopt::fromFile<T>(path, begin, n);
  return detail::directSource<T>(path, begin, n);
}

/// Elements that a callback produces.
///
/// \param f `std::size_t f(T* chunk, std::size_t capacity)` writes up to `capacity` elements to pinned memory, and
/// returns how many; 0 ends the run
/// \tparam T an element
template <class T, class F>
[[nodiscard]] detail::CallbackSource<T, F> fromCallback(F f) {
  return detail::CallbackSource<T, F>(std::move(f));
}

/// \}
/// \name Sinks
/// Where the results of a pipeline go: one for each element of the source.
/// \{

/// An array on the host, `data`, with room for n elements. Throws as fromHost does.
template <class T>
[[nodiscard]] detail::HostSink<T> toHost(T* data, std::size_t n) {
  return detail::HostSink<T>(data, n);
}

/// A container or span on the host, `range`.
template <class Range, class = detail::EnableRange<Range>>
[[nodiscard]] auto toHost(Range&& range) {
  return gpuopt::toHost(detail::toAddress(range.data()), detail::sizeOf(range));
}

/// A file, which is made at once if it is not there, and emptied when the run begins. Throws std::system_error if it
/// cannot be opened for writing. The run throws std::invalid_argument if it is the file that the source reads.
///
/// \param path the file
/// \tparam T a result
template <class T>
[[nodiscard]] detail::FileSink<T> toFile(const std::string& path) {
  return detail::FileSink<T>(detail::OwnedFile("gpuopt::toFile", path, O_WRONLY | O_CREAT), detail::FileStart::emptied);
}

/// The same from byte `begin` of the file on. It is not emptied: what is before that byte and after the results stays.
template <class T>
[[nodiscard]] detail::FileSink<T> toFile(const std::string& path, std::size_t begin) {
  return detail::FileSink<T>(detail::OwnedFile("gpuopt::toFile", path, O_WRONLY | O_CREAT), detail::FileStart::atByte,
                             begin);
}

/// An open file or pipe, which is written from its position on; the `descriptor` stays open.
template <class T>
[[nodiscard]] detail::FileSink<T> toFile(int descriptor) {
  return detail::FileSink<T>(detail::OwnedFile("gpuopt::toFile", descriptor), detail::FileStart::atPosition);
}

/// The end of a file, which is made at once if it is not there. Throws as toFile does.
///
/// \param path the file
/// \tparam T a result
template <class T>
[[nodiscard]] detail::FileSink<T> toEndOfFile(const std::string& path) {
  return detail::FileSink<T>(detail::OwnedFile("gpuopt::toEndOfFile", path, O_WRONLY | O_CREAT | O_APPEND),
                             detail::FileStart::atPosition);
}

/// A callback.
///
/// \param f `f(const T* chunk, std::size_t count)` consumes the next `count` results, which are in pinned memory until
/// it returns. It returns nothing, or whether to go on. It is called by a thread of the pipeline's own
/// \tparam T a result
template <class T, class F>
[[nodiscard]] detail::CallbackSink<T, F> toCallback(F f) {
  return detail::CallbackSink<T, F>(std::move(f));
}

/// \}

/// Streams, memory and settings with which data passes through the device. Kept for many runs, it allocates once.
///
/// One run at a time; several pipelines may run at once in several threads. It belongs to the device that was current
/// when it was made.
///
/// Technique: one stream for each engine (up, kernels, down) and a ring of slots, apart for in and out, so that each
/// engine always has its next chunk queued.
class Pipeline {
 public:
  /// Allocates nothing yet. Throws CudaError.
  ///
  /// \param options chunks, streams, progress, cancellation
  explicit Pipeline(PipelineOptions options = {}) : options_(std::move(options)), slots_(options_) {}

  /// Passes all of the source through the device to the sink; returns when that is done or cancelled.
  ///
  /// If it is cancelled by the progress callback or the token, chunks that are queued still reach the sink.
  ///
  /// \param source from fromHost, fromFile or fromCallback
  /// \param work called for each chunk, in order, with a PipelineChunk<In, Out>: queues kernels in its stream that read
  /// chunk.in and write chunk.out. What it queues elsewhere it must order itself, after the chunk's stream and before
  /// it; with GPUOPT_CHECK_POINTERS, work that launches in the default stream and not in the chunk's is refused
  /// \param sink from toHost, toFile or toCallback
  template <class Source, class Work, class Sink>
  PipelineResult run(Source source, const Work& work, Sink sink) {
    using In = typename Source::Element;
    using Out = typename Sink::Element;
    return runTyped<PipelineChunk<In, Out>>(source, work, &sink, {sizeof(In), sizeof(Out)});
  }

  /// The same without a sink: the work keeps its results on the device.
  template <class Source, class Work>
  PipelineResult run(Source source, const Work& work) {
    using In = typename Source::Element;
    return runTyped<PipelineChunk<In>>(source, work, nullptr, {sizeof(In), 0});
  }

 private:
  template <class Chunk, class Work>
  PipelineResult runTyped(detail::ChunkSource& source, const Work& work, detail::ChunkSink* sink,
                          detail::ElementBytes bytes) {
    static_assert(detail::requireCopyable<Chunk>());
    constexpr bool TAKES = detail::isCallable<const Work&, const Chunk&>;
    static_assert(
        TAKES,
        "gpuopt::Pipeline: the work must take a PipelineChunk<In, Out>, or a PipelineChunk<In> if there is no "
        "sink");
    if constexpr (TAKES) {
      const detail::PipelinePlan plan = detail::planPipeline(detail::pipelineRequest(options_, source, sink, bytes));
      detail::TypedWork<Chunk, Work> queue(work);
      return detail::PipelineRun(options_, plan, slots_, source, sink)(queue);
    } else {
      return {};
    }
  }

  PipelineOptions options_;
  detail::PipelineSlots slots_;
};

GPUOPT_NAMESPACE_END
