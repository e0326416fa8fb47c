/// \file
/// What streamReduce and streamTransform do with each chunk.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/box.cuh>
#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/pipeline/ends.cuh>
#include <gpuopt/device/pipeline/run.cuh>
#include <gpuopt/device/reduce/fold.cuh>
#include <gpuopt/device/reduce/launch.cuh>
#include <gpuopt/device/structs/arguments.cuh>
#include <gpuopt/host/pinned.cuh>
#include <gpuopt/host/result.cuh>
#include <gpuopt/pipeline_types.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class Source>
using EnableSource = std::enable_if_t<std::is_base_of_v<ChunkSource, Source>>;
template <class Sink>
using EnableSink = std::enable_if_t<std::is_base_of_v<ChunkSink, Sink>>;

// Tells an initial value from options in overload resolution.
template <class Init>
using EnableStart = std::enable_if_t<!std::is_same_v<Init, PipelineOptions>>;

// Folds the chunks of elements T into one value, in their order: the first onto what `first` begins with, each of the
// others onto the value of those before. The value is in pinned memory, where the last kernel leaves it for the host.
template <class Policy, class A, class T, class Op, class First>
class ChunkFold final : public ChunkWork {
 public:
  ChunkFold(const Op& op, const First& first) : op_(op), first_(first), value_(1) {}

  void queue(const RawChunk& chunk) override { queue(chunk, false); }

  // After the last chunk, wait() may be called.
  void queue(const RawChunk& chunk, bool isLast) {
    [[maybe_unused]] const CallRange range(FUNCTION);
    const ReduceCall call{FUNCTION, chunk.stream, nullptr};
    const auto source =
        sourceOf<hasFixedSteps<Policy>>(FUNCTION, chunk.count, Identity{}, static_cast<const T*>(chunk.in));
    Boxed<A>* const value = value_.devicePointer();
    const auto end = end_.destination();
    const Destination<typename First::Result> out{value, isLast ? end.flag : nullptr, end.signal};
    if (chunk.index == 0)
      launchReduce<Policy>(call, first_, chunk.count, source, out);
    else
      launchReduce<Policy>(call, foldOf<A>(op_, DeviceValue<Boxed<A>>{value}), chunk.count, source, out);
  }

  // Waits for the last chunk's kernel, which is in `stream`, to store the value.
  void wait(cudaStream_t stream) { end_.wait(stream); }

  // The value of no elements: init, or the neutral element.
  void queueNone() {
    Boxed<A>* const value = value_.devicePointer();
    reduceToDevice<Policy>(ReduceCall{FUNCTION, nullptr, nullptr}, first_, value, 0, Identity{},
                           static_cast<const T*>(nullptr));
    check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }

  A value() const { return unbox(value_[0]); }

 private:
  static constexpr const char* FUNCTION = "gpuopt::streamReduce";

  Op op_;
  First first_;
  PinnedVector<Boxed<A>> value_;
  HostResult<unsigned> end_;  // has the flag of the last kernel
};

// What follows the elements in a call of streamReduce: op, init and options, each of which may be left out.
template <class Op, class First>
struct StreamArguments {
  Op op;
  First first;
  PipelineOptions options;
};

template <class A, class It, class Op, class Init, class = EnableStart<Init>>
auto streamArguments(const Op& op, const Init& init, const PipelineOptions& options = {}) {
  using Value = Reduced<A, Op, It>;
  return StreamArguments<Op, decltype(foldOf<Value>(op, init))>{op, foldOf<Value>(op, init), options};
}
template <class A, class It, class Op = Plus>
auto streamArguments(const Op& op = {}, const PipelineOptions& options = {}) {
  using Value = Reduced<A, Op, It>;
  return StreamArguments<Op, decltype(foldOf<Value>(op))>{op, foldOf<Value>(op), options};
}

// The type of f(element), or else of f(element, index).
template <class F, class T>
constexpr auto resultForElement() {
  if constexpr (isCallable<const F&, const T&>)
    return TypeOf<CallResult<const F&, const T&>>{};
  else
    return TypeOf<CallResult<const F&, const T&, std::size_t>>{};
}

// A function of an element and its index in the whole, for a chunk that begins at `first`. Says what it returns: nvcc
// hides the bodies of device functions from host code.
template <class F>
struct FromFirst {
  F f;
  std::size_t first;

  template <class T,
            class = std::enable_if_t<isCallable<const F&, const T&> || isCallable<const F&, const T&, std::size_t>>>
  __device__ auto operator()(const T& element, std::size_t i) const ->
      typename decltype(resultForElement<F, T>())::type {
    return callForStruct(f, first + i, element);
  }
};

template <class F>
inline constexpr bool isDeviceLambda<FromFirst<F>> = isDeviceLambda<F>;
template <class F>
inline constexpr bool isHostLambda<FromFirst<F>> = isHostLambda<F>;

// The function for one chunk. Functions of the element alone stay as they are, and so do their kernels.
template <class In, class F>
auto functionOfChunk(const F& f, std::size_t first) {
  if constexpr (!isDeviceLambda<F> && isCallable<const F&, const In&>)
    return f;
  else
    return FromFirst<F>{f, first};
}

// Results on the host may replace the elements that they are computed of: those have been copied by then.
template <class In, class Out>
void requireApart(const In* in, std::size_t n, const Out* out, const char* function) {
  const NamedArray read = namedArray(in, n, "in"), written = namedArray(out, n, "out");
  const bool isInPlace = std::is_same_v<In, Out> && read.data == written.data;
  if (n > 0 && !isInPlace) requireDisjoint(read, written, function);
}

GPUOPT_DETAIL_END
