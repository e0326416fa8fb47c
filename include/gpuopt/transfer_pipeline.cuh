/// \file
/// Data of any length, longer than the device's memory too, through the device in chunks: copies to the device, kernels
/// and copies back run at the same time, and so do the host's own copies.
///
///     float total = gpuopt::streamReduce(samples, n);                       // an array on the host
///     gpuopt::streamTransform(in, n, out, [] __device__(float x) { return 2 * x; });
///
///     gpuopt::Pipeline pipeline;
///     pipeline.run(gpuopt::fromFile<float>("samples.bin"),                  // or fromHost, fromCallback
///                  [&](const gpuopt::PipelineChunk<float>& chunk) {         // queues kernels
///                    gpuopt::histogram(chunk.in, chunk.count, bins, BINS, low, high, chunk.stream);
///                  });                                                      // and toHost, toFile, toCallback
///
/// **Memory of the host.** Pinned memory (PinnedVector, cudaMallocHost, cudaHostRegister) is read and written by the
/// copy engines. Other memory, files and callbacks go through slots of pinned memory that the pipeline keeps.
///
/// **Who calls what.** The calling thread fills slots, calls the source's callback, the work and the progress callback,
/// and returns when all is done. If the sink is a callback, a file or memory that is not pinned, a second thread serves
/// it, in the order of the chunks.
///
/// **Errors.** Bad arguments throw std::invalid_argument, errors of the runtime CudaError, errors of files
/// std::system_error, and a file that ends early std::runtime_error. What a callback or the work throws reaches the
/// caller. Whatever is thrown, all that was queued has been waited for.
///
/// `<A, Policy>` of streamReduce are those of all reductions: <gpuopt/reduce.cuh>.
///
/// More: docs/pipelines.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/pipeline/file.cuh>
#include <gpuopt/device/pipeline/options.cuh>
#include <gpuopt/device/pipeline/run.cuh>
#include <gpuopt/device/pipeline/sink.cuh>
#include <gpuopt/device/pipeline/source.cuh>
#include <gpuopt/device/pipeline/stream_calls.cuh>
#include <gpuopt/map.cuh>
#include <gpuopt/reduce.cuh>

#include <cstddef>
#include <string>
#include <type_traits>
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

/// The elements of a file, as they are in memory, from byte `begin` to the end; or of a pipe, whose bytes before
/// `begin` are read and left out.
///
/// \param path,begin the file, and where its elements begin
/// \tparam T an element
///
/// Throws std::system_error if it cannot be opened, std::invalid_argument if it ends before `begin` or its length is no
/// multiple of the element's size. If the file ends before the length that it had when it was opened, the run throws
/// std::runtime_error. So it does for a pipe that ends before `begin` or within an element. Files whose length the
/// system does not know before they are read, such as those of /proc, are read as pipes are.
template <class T>
[[nodiscard]] detail::FileSource<T> fromFile(const std::string& path, std::size_t begin = 0) {
  return detail::FileSource<T>(path, begin);
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
  return detail::FileSink<T>(path);
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
  /// chunk.in and write chunk.out. What it queues elsewhere it must wait for itself
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
    constexpr bool COPIES = detail::ChunkTypes<Chunk>::areCopyable;
    constexpr bool TAKES = detail::isCallable<const Work&, const Chunk&>;
    static_assert(COPIES, "gpuopt::Pipeline: the elements at both ends must be trivially copyable");
    static_assert(
        TAKES,
        "gpuopt::Pipeline: the work must take a PipelineChunk<In, Out>, or a PipelineChunk<In> if there is no "
        "sink");
    if constexpr (TAKES) {
      const auto call = [&work](const detail::RawChunk& raw) { work(detail::ChunkTypes<Chunk>::of(raw)); };
      return detail::PipelineRun(options_, slots_, source, sink, bytes)(call);
    } else {
      return {};
    }
  }

  PipelineOptions options_;
  detail::PipelineSlots slots_;
};

namespace detail {

// Folds the chunks of a source into one value, the first of them onto the start of `first`.
template <class Policy, class A, class Source, class Op, class Fold>
A streamReduceOnto(Source source, const Op& op, const Fold& first, const PipelineOptions& options) {
  using T = typename Source::Element;
  ChunkFold<Policy, A, Op> fold(op);
  const auto work = [&](const PipelineChunk<T>& chunk) { fold.add(first, chunk); };
  const PipelineResult result = Pipeline(options).run(std::move(source), work);
  if (result.isCancelled)
    throw PipelineCancelled("gpuopt::streamReduce: cancelled by options.cancel or options.progress");
  if (result.chunks == 0) fold.template addNone<T>(first);
  return fold.value();
}

}  // namespace detail

/// op over all elements of a source, each converted to the accumulator, and over `init`; of any length, longer than the
/// device's memory, too.
///
///     double total = gpuopt::streamReduce<double>(gpuopt::fromFile<float>("samples.bin"), gpuopt::Plus{}, 0.0);
///
/// Cost: one copy to the device, during which the chunks before it are reduced. The same bits on every run and at every
/// alignment. They depend on the number of elements and on `options.chunkBytes`: chunks are reduced one by one, and
/// their results combined in order.
///
/// \param source from fromHost, fromFile or fromCallback
/// \param op the operation, Plus unless given, as in reduce
/// \param init combined once, from the left; op's neutral element unless given
/// \param options chunks, progress, cancellation: if that happens, PipelineCancelled is thrown
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Source, class Op, class Init,
          class = detail::EnableSource<Source>, class = detail::EnableStart<Init>>
[[nodiscard]] Reduced<A, Op, const typename Source::Element*> streamReduce(Source source, Op op, Init init,
                                                                           const PipelineOptions& options = {}) {
  using Value = Reduced<A, Op, const typename Source::Element*>;
  return detail::streamReduceOnto<Policy, Value>(std::move(source), op, detail::foldOf<Value>(op, init), options);
}

/// The same without init.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Source, class Op = Plus,
          class = detail::EnableSource<Source>>
[[nodiscard]] Reduced<A, Op, const typename Source::Element*> streamReduce(Source source, Op op = {},
                                                                           const PipelineOptions& options = {}) {
  using Value = Reduced<A, Op, const typename Source::Element*>;
  return detail::streamReduceOnto<Policy, Value>(std::move(source), op, detail::foldOf<Value>(op), options);
}

/// streamReduce of n elements on the host, `streamReduce(host, n[, op[, init]][, options])`.
///
///     float total = gpuopt::streamReduce(samples, n);
///     float largest = gpuopt::streamReduce(samples, n, gpuopt::Maximum{}, 0.0f);
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class T, class... Rest>
[[nodiscard]] auto streamReduce(const T* host, std::size_t n, const Rest&... rest) {
  return gpuopt::streamReduce<A, Policy>(detail::HostSource<T>(host, n, "host", "gpuopt::streamReduce"), rest...);
}

/// streamReduce of a container or span on the host, `streamReduce(v[, op[, init]][, options])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class... Rest,
          class = detail::EnableRange<const Range>>
[[nodiscard]] auto streamReduce(const Range& host, const Rest&... rest) {
  return gpuopt::streamReduce<A, Policy>(detail::toAddress(host.data()), detail::sizeOf(host), rest...);
}

/// Computes f of every element of a source for a sink.
///
///     gpuopt::streamTransform(gpuopt::fromFile<float>("in.bin"), gpuopt::toFile<float>("out.bin"), Scale{2});
///
/// Cost: both ways of the link at once; kernels run beside the copies.
///
/// \param source,sink from fromHost and toHost, and so on
/// \param f as in transform: f(element), or f(element, i) with a std::size_t, its number in the source, if it does not
/// accept the element alone
/// \param options chunks, progress, cancellation
template <class Source, class Sink, class F, class = detail::EnableSource<Source>, class = detail::EnableSink<Sink>>
PipelineResult streamTransform(Source source, Sink sink, F f, const PipelineOptions& options = {}) {
  using In = typename Source::Element;
  using Out = typename Sink::Element;
  const auto work = [&f](const PipelineChunk<In, Out>& chunk) {
    gpuopt::transform(static_cast<const In*>(chunk.in), chunk.count, chunk.out,
                      detail::functionOfChunk<In>(f, chunk.first), chunk.stream);
  };
  return Pipeline(options).run(std::move(source), work, std::move(sink));
}

/// Computes out[i] = f(in[i]) for n elements on the host. `out` may be `in` if the types are the same, and must not
/// overlap it otherwise.
template <class In, class Out, class F>
PipelineResult streamTransform(const In* in, std::size_t n, Out* out, F f, const PipelineOptions& options = {}) {
  constexpr const char* FUNCTION = "gpuopt::streamTransform";
  detail::HostSource<In> source(in, n, "in", FUNCTION);
  detail::HostSink<Out> sink(out, n, "out", FUNCTION);
  detail::requireApart(in, n, out, FUNCTION);
  return gpuopt::streamTransform(std::move(source), std::move(sink), std::move(f), options);
}

/// The same for containers or spans on the host. `out` has as many elements as `in`, or more.
template <class In, class Out, class F, class = detail::EnableRange<const In>, class = detail::EnableRange<Out>>
PipelineResult streamTransform(const In& in, Out&& out, F f, const PipelineOptions& options = {}) {
  detail::requireSize(out, detail::sizeOf(in), "out", "gpuopt::streamTransform");
  return gpuopt::streamTransform(detail::toAddress(in.data()), detail::sizeOf(in), detail::toAddress(out.data()),
                                 std::move(f), options);
}

GPUOPT_NAMESPACE_END
