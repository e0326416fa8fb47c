/// \file
/// A function of each structure of views: forEach, transform, and what explains them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/range.cuh>
#include <gpuopt/device/soa/transform.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/soa/iterator.cuh>
#include <gpuopt/soa/view.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// Calls f for each structure of a SoaVector or a view, which f may change.
///
///     gpuopt::forEach(particles, [] __device__(Particle& p) { p.position.x += p.velocity.x; }, stream);
///     gpuopt::forEach(particles.view().select<&Particle::mass>(), Heavier{});  // moves this column alone
///
/// Cost: one read and one write of every column of the view, at copy speed if columns are aligned to 16 bytes, as those
/// of a SoaVector are; of a view of const structures, one read. Asynchronous on `stream`, one kernel.
///
/// \param soa the structures, in device memory: of const ones, f only reads them
/// \param f called once for each structure, in no particular order: f(structure), or f(structure, i) with a std::size_t
/// if it does not accept the structure alone. It gets a reference to a copy in registers, which is written back. Any
/// functor or extended lambda for device code with a const call operator; its result is ignored
///
/// Throws std::invalid_argument for columns that the device cannot access (with GPUOPT_CHECK_POINTERS); CudaError.
template <class Soa, class F, class = detail::EnableNoRange<Soa>, class = detail::EnableSoa<Soa>>
void forEach(Soa&& soa, F f, StreamRef stream = {}) {
  constexpr const char* FUNCTION = "gpuopt::forEach";
  using T = detail::SoaStructOf<Soa>;
  constexpr bool CALLABLE = detail::requireDeviceCode<F>();
  constexpr bool TAKES = detail::takesStruct<void, F, T>();
  constexpr bool USELESS = CALLABLE && !std::is_const_v<T> && detail::changesNothing<F>;
  static_assert(TAKES || !CALLABLE,
                "gpuopt::forEach: the function must take a structure of the view, alone or with its index, by a const "
                "call operator");
  static_assert(!USELESS,
                "gpuopt::forEach: the function takes a structure by value or as const, so it changes nothing: take a "
                "reference, or pass a SoaView<const T> to only read");
  if constexpr (CALLABLE && TAKES && !USELESS) {
    const auto view = detail::soaViewOf(soa);
    detail::requireViewOnDevice(view, FUNCTION);
    const detail::SoaReadingView<Soa> read = view;
    if constexpr (std::is_const_v<T>)
      detail::launchVisitColumns(read, f, FUNCTION, stream);
    else
      detail::launchTransformColumns(read, view, detail::Changing<T, F>{f}, FUNCTION, stream);
  }
}

/// The same for n structures from an iterator of a view on, `first`, such as view.begin().
template <class T, class LAYOUT, class F>
void forEach(SoaIterator<T, LAYOUT> first, std::size_t n, F f, StreamRef stream = {}) {
  detail::requireSize(n, {"n"}, "gpuopt::forEach");
  gpuopt::forEach(SoaView<T, LAYOUT>(first.addresses(), n), f, stream);
}

/// The same for the structures from `first` to before `last`.
template <class T, class LAYOUT, class F>
void forEach(SoaIterator<T, LAYOUT> first, SoaIterator<T, LAYOUT> last, F f, StreamRef stream = {}) {
  gpuopt::forEach(first, static_cast<std::size_t>(last - first), f, stream);
}

/// Computes out[i] = f(in[i]) for every structure of a SoaVector or a view.
///
/// Cost: one read of every column of `in` and one write of every column of `out`, as in forEach. Asynchronous on
/// `stream`, one kernel.
///
/// \param in structures in device memory
/// \param out as many structures of any type, in any layout. Each of its columns may be a column of `in`, and overlaps
/// none otherwise
/// \param f as in forEach: f(in[i]), or f(in[i], i); its result converts to a structure of `out`
///
/// Throws std::invalid_argument if the numbers of structures differ, or columns overlap; CudaError.
template <class In, class Out, class F, class = detail::EnableSoa<In, Out>>
void transform(In&& in, Out&& out, F f, StreamRef stream = {}) {
  constexpr const char* FUNCTION = "gpuopt::transform";
  using U = detail::SoaStructOf<Out>;
  constexpr bool CALLABLE = detail::requireDeviceCode<F>();
  constexpr bool TAKES = detail::takesStruct<U, F, const detail::SoaStructOf<In>>();
  static_assert(!std::is_const_v<U>, "gpuopt::transform: the structures of out are const");
  static_assert(TAKES || !CALLABLE || std::is_const_v<U>,
                "gpuopt::transform: the function must take a structure of in, alone or with its index, and return one "
                "of out, by a const call operator");
  if constexpr (CALLABLE && TAKES && !std::is_const_v<U>) {
    const detail::SoaReadingView<In> read = detail::soaViewOf(in);
    const auto written = detail::soaViewOf(out);
    detail::requireViews(read, written, FUNCTION);
    detail::launchTransformColumns(read, written, f, FUNCTION, stream);
  }
}

/// The same for n structures from iterators of views on.
template <class T, class IN, class U, class OUT, class F>
void transform(SoaIterator<T, IN> in, std::size_t n, SoaIterator<U, OUT> out, F f, StreamRef stream = {}) {
  detail::requireSize(n, {"n"}, "gpuopt::transform");
  gpuopt::transform(SoaView<T, IN>(in.addresses(), n), SoaView<U, OUT>(out.addresses(), n), f, stream);
}

/// The same for the structures from `first` to before `last`.
template <class T, class IN, class U, class OUT, class F>
void transform(SoaIterator<T, IN> first, SoaIterator<T, IN> last, SoaIterator<U, OUT> out, F f, StreamRef stream = {}) {
  gpuopt::transform(first, static_cast<std::size_t>(last - first), out, f, stream);
}

/// Says in one line how `forEach` accesses the columns of `soa`: its launch, the bytes to read and write, and why.
/// Nothing is launched. Errors are those of the call. The words may change from version to version.
template <class Soa, class = detail::EnableSoa<Soa>>
[[nodiscard]] std::string explainForEach(Soa&& soa) {
  const auto view = detail::soaViewOf(soa);
  detail::requireViewOnDevice(view, "gpuopt::explainForEach");
  const detail::SoaReadingView<Soa> read = view;
  if constexpr (std::is_const_v<detail::SoaStructOf<Soa>>)
    return planInWords(detail::planVisitColumns(read));
  else
    return planInWords(detail::planTransformColumns(read, view));
}

/// The same for `transform` of views.
///
/// \param in as in transform
/// \param out as in transform
template <class In, class Out, class = detail::EnableSoa<In, Out>>
[[nodiscard]] std::string explainTransform(In&& in, Out&& out) {
  const detail::SoaReadingView<In> read = detail::soaViewOf(in);
  const auto written = detail::soaViewOf(out);
  detail::requireViews(read, written, "gpuopt::explainTransform");
  return planInWords(detail::planTransformColumns(read, written));
}

GPUOPT_NAMESPACE_END
