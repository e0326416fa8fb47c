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

#include <gpuopt/core/range.cuh>
#include <gpuopt/device/pipeline/short_reduce.cuh>
#include <gpuopt/device/pipeline/stream_calls.cuh>
#include <gpuopt/map.cuh>
#include <gpuopt/pipeline_types.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/transfer_chunks.cuh>

#include <cstddef>
#include <string>
#include <utility>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

// The request of a reduction, and its plan.
template <class Source>
PipelinePlan planStreamReduce(const Source& source, const PipelineOptions& options) {
  PipelineRequest request = pipelineRequest(options, source, nullptr, {sizeof(typename Source::Element), 0});
  request.isUnwatched = options.progress == nullptr && options.cancel == nullptr && options.streams == nullptr;
  return planPipeline(request);
}

// Folds the chunks of a source into one value. What follows the source in the call: op, init, options.
template <class A, class Policy, class Source, class... Rest>
auto foldStream(Source source, const Rest&... rest) {
  using T = typename Source::Element;
  static_assert(requireCopyable<PipelineChunk<T>>());
  const auto call = streamArguments<A, const T*>(rest...);
  const PipelinePlan plan = planStreamReduce(source, call.options);
  ChunkFold<Policy, Reduced<A, decltype(call.op), const T*>, T, decltype(call.op), decltype(call.first)> fold(
      call.op, call.first);
  if (plan.algorithm == PipelineAlgorithm::fewCopies) {
    runFewCopies(call.options, plan, source, fold);
  } else {
    PipelineSlots slots(call.options);
    const PipelineResult result = PipelineRun(call.options, plan, slots, source, nullptr)(fold);
    if (result.isCancelled)
      throw PipelineCancelled("gpuopt::streamReduce: cancelled by options.cancel or options.progress");
    if (result.chunks == 0) fold.queueNone();
  }
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
  return detail::foldStream<A, Policy>(std::move(source), op, init, options);
}

/// The same without init.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Source, class Op = Plus,
          class = detail::EnableSource<Source>>
[[nodiscard]] Reduced<A, Op, const typename Source::Element*> streamReduce(Source source, Op op = {},
                                                                           const PipelineOptions& options = {}) {
  return detail::foldStream<A, Policy>(std::move(source), op, options);
}

/// streamReduce of n elements on the host, `streamReduce(host, n[, op[, init]][, options])`.
///
///     float total = gpuopt::streamReduce(samples, n);
///     float largest = gpuopt::streamReduce(samples, n, gpuopt::Maximum{}, 0.0f);
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class T, class... Rest>
[[nodiscard]] auto streamReduce(const T* host, std::size_t n, const Rest&... rest) {
  return detail::foldStream<A, Policy>(detail::HostSource<T>(host, n, "host", "gpuopt::streamReduce"), rest...);
}

/// streamReduce of a container or span on the host, `streamReduce(v[, op[, init]][, options])`.
template <class A = DefaultAccumulator, class Policy = ReducePolicy, class Range, class... Rest,
          class = detail::EnableRange<const Range>>
[[nodiscard]] auto streamReduce(const Range& host, const Rest&... rest) {
  return detail::foldStream<A, Policy>(detail::hostSource(host, "host", "gpuopt::streamReduce"), rest...);
}

/// Says in one line how `streamReduce` passes a source through the device: chunks, slots, bytes, and why. Nothing is
/// read, and nothing is launched. Errors are those of the call. The words may change from version to version.
///
///     gpuopt::explainStreamReduce(gpuopt::fromHost(samples, n));   // "64 chunks of 4194304 elements, 4 slots, ..."
///
/// \param source from fromHost, fromFile or fromCallback
/// \param options as in the call
template <class Source, class = detail::EnableSource<Source>>
[[nodiscard]] std::string explainStreamReduce(const Source& source, const PipelineOptions& options = {}) {
  return detail::planInWords(detail::planStreamReduce(source, options));
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

/// Says in one line how `streamTransform` passes a source through the device to a sink. Nothing is read or written.
///
/// \param source,sink from fromHost and toHost, and so on
/// \param options as in the call
template <class Source, class Sink, class = detail::EnableSource<Source>, class = detail::EnableSink<Sink>>
[[nodiscard]] std::string explainStreamTransform(const Source& source, const Sink& sink,
                                                 const PipelineOptions& options = {}) {
  const detail::ElementBytes bytes{sizeof(typename Source::Element), sizeof(typename Sink::Element)};
  return detail::planInWords(detail::planPipeline(detail::pipelineRequest(options, source, &sink, bytes)));
}

GPUOPT_NAMESPACE_END
