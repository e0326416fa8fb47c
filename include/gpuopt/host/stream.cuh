/// \file
/// The stream argument of the public functions: StreamRef.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/callable.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

template <class S>
constexpr bool hasStream();

// Stands for the query cuda::get_stream, whose name is known only to those who include CCCL: converts to any query that
// makes a stream of a cudaStream_t.
struct StreamQuery {
  template <class Query, class = std::enable_if_t<hasStream<std::decay_t<CallResult<const Query&, cudaStream_t>>>()>>
  operator Query() const {
    return Query{};
  }
};

// Hides functions of this name in the namespaces around: argument-dependent lookup alone finds Thrust's.
void get_stream() = delete;

// The ways to a stream, each the return type of its expression.
template <class S>
using GotStream = decltype(std::declval<const S&>().get());
template <class S>
using MemberStream = decltype(std::declval<const S&>().stream());
template <class S>
using MemberGetStream = decltype(std::declval<const S&>().get_stream());
template <class S>
using QueriedStream = decltype(std::declval<const S&>().query(StreamQuery{}));
template <class S>
using PolicyStream = decltype(get_stream(std::declval<const S&>()));

template <template <class> class Way, class S, class = void>
inline constexpr bool leadsToClass = false;
template <template <class> class Way, class S>
inline constexpr bool leadsToClass<Way, S, std::void_t<Way<S>>> = std::is_class_v<std::decay_t<Way<S>>>;

template <template <class> class Way, class S, class = void>
inline constexpr bool leadsToHandle = false;
template <template <class> class Way, class S>
inline constexpr bool leadsToHandle<Way, S, std::void_t<Way<S>>> = std::is_same_v<std::decay_t<Way<S>>, cudaStream_t>;

// Whether the expression gives a handle, or an object that has one.
template <template <class> class Way, class S>
constexpr bool leadsToStream() {
  if constexpr (leadsToClass<Way, S>)
    return !std::is_same_v<std::decay_t<Way<S>>, S> && hasStream<std::decay_t<Way<S>>>();
  else
    return leadsToHandle<Way, S>;
}

// Whether streamOf takes an S.
template <class S>
constexpr bool hasStream() {
  if constexpr (std::is_class_v<S>)
    return std::is_convertible_v<const S&, cudaStream_t> || leadsToHandle<GotStream, S> ||
           leadsToStream<MemberStream, S>() || leadsToStream<MemberGetStream, S>() ||
           leadsToStream<QueriedStream, S>() || leadsToHandle<PolicyStream, S>;
  else
    return std::is_same_v<S, cudaStream_t> || std::is_same_v<S, std::nullptr_t>;
}

// The stream that an object refers to, by what cuda::get_stream asks for, and by Thrust's get_stream of policies.
template <class S>
cudaStream_t streamOf(const S& stream) {
  if constexpr (std::is_convertible_v<const S&, cudaStream_t>)
    return stream;
  else if constexpr (leadsToHandle<GotStream, S>)
    return stream.get();
  else if constexpr (leadsToStream<MemberStream, S>())
    return streamOf(stream.stream());
  else if constexpr (leadsToStream<MemberGetStream, S>())
    return streamOf(stream.get_stream());
  else if constexpr (leadsToStream<QueriedStream, S>())
    return streamOf(stream.query(StreamQuery{}));
  else
    return get_stream(stream);
}

// Whether an argument of this type is meant to be a stream.
template <class S>
inline constexpr bool isStream = hasStream<std::decay_t<S>>();

template <class S>
using EnableStream = std::enable_if_t<isStream<S>>;

// For an argument that is a function: neither a stream nor a number, 0 and NULL included.
template <class F>
using EnableFunction = std::enable_if_t<!isStream<F> && !std::is_arithmetic_v<F> && !std::is_enum_v<F>>;

// Numbers, which would also convert to a cudaStream_t if they are 0 or NULL.
template <class N>
using EnableNumber = std::enable_if_t<std::is_arithmetic_v<N> || std::is_enum_v<N>, int>;

GPUOPT_DETAIL_END

GPUOPT_TYPES_BEGIN

/// The stream that a call is queued in, as an argument: functions that take a StreamRef take whatever makes one. It
/// does not own the stream.
///
/// - nothing, or `nullptr`: the default stream
/// - a `cudaStream_t`, or an object that converts to it or has it as `get()`, such as a `std::unique_ptr`
/// - what CCCL's `cuda::get_stream` takes: `cuda::stream_ref` and `cuda::stream`, objects with `stream()` or
///   `get_stream()`, environments that answer the query `cuda::get_stream`
/// - `thrust::cuda::par.on(stream)`
///
/// CCCL need not be included. `0`, `NULL`, `false` and other numbers are errors when compiled.
class StreamRef {
 public:
  /// The default stream.
  constexpr StreamRef(std::nullptr_t = nullptr) noexcept {}

  /// The stream of a handle.
  constexpr StreamRef(cudaStream_t stream) noexcept : stream_(stream) {}

  /// The stream of an object, as listed above.
  template <class S, class = detail::EnableStream<S>>
  StreamRef(const S& stream) : stream_(detail::streamOf(stream)) {}

  /// Refuses a number.
  template <class N, detail::EnableNumber<N> = 0>
  StreamRef(N) {
    static_assert(
        sizeof(N) == 0,
        "gpuopt: a number is not a stream: pass nullptr or leave it out for the default stream; otherwise pass "
        "a cudaStream_t, or an object that has one such as cuda::stream_ref");
  }

  /// The handle, for the CUDA runtime.
  constexpr operator cudaStream_t() const noexcept { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

GPUOPT_TYPES_END
