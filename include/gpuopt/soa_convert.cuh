/// \file
/// Conversions between arrays of structures and structures of arrays: toSoa, toAos.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/range.cuh>
#include <gpuopt/device/soa/convert.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/soa/view.cuh>

#include <cstddef>
#include <string>
#include <utility>

GPUOPT_NAMESPACE_BEGIN

/// Copies n structures from an array to columns: `soa[i] = aos[i]` for i < n. Asynchronous on `stream`, one kernel.
///
/// `aos` has n structures in device memory, at any address that their type allows. `soa` is a SoaVector, or a view in
/// device memory, of exactly n structures (otherwise use a subview), and does not overlap `aos`. Columns aligned to 16
/// bytes, such as those of SoaVector, are fastest; those of subviews and your own may have any address that their
/// element allows.
///
/// Cost: that of copying the array, padding included. Throws std::invalid_argument before anything is written if n is
/// not the view's, if `aos` is null or misaligned, or if `aos` overlaps a column; CudaError if the launch fails.
template <class T, class Soa, class = detail::EnableSoa<Soa>>
void toSoa(const T* aos, std::size_t n, Soa&& soa, StreamRef stream = {}) {
  constexpr const char* FUNCTION = "gpuopt::toSoa";
  using U = detail::SoaStructOf<Soa>;
  const auto columns = detail::soaViewOf(soa);
  static_assert(!std::is_const_v<U>, "gpuopt::toSoa: the structures of the view are const");
  if constexpr (!std::is_const_v<U> && detail::requireSameStruct<T, U>())
    if (detail::checkDeviceConversion(aos, n, columns, FUNCTION)) detail::convert(aos, columns, FUNCTION, stream);
}

/// The same for a container or a span of structures, such as thrust::device_vector, with as many as the view has.
template <class R, class Soa, class = detail::EnableRange<R>, class = detail::EnableSoa<Soa>>
void toSoa(R&& aos, Soa&& soa, StreamRef stream = {}) {
  gpuopt::toSoa(detail::dataOf(aos), detail::sizeOf(aos), soa, stream);
}

/// Copies all structures of a view or a SoaVector to an array: `aos[i] = soa[i]`. Padding between members becomes zero.
/// Asynchronous on `stream`, one kernel. Requirements, cost and errors are those of toSoa.
template <class Soa, class T, class = detail::EnableSoa<Soa>>
void toAos(Soa&& soa, T* aos, StreamRef stream = {}) {
  constexpr const char* FUNCTION = "gpuopt::toAos";
  static_assert(!std::is_const_v<T>, "gpuopt::toAos: the structures of the array are const");
  const detail::SoaReadingView<Soa> columns = detail::soaViewOf(soa);
  if constexpr (!std::is_const_v<T> && detail::requireSameStruct<T, detail::SoaStructOf<Soa>>())
    if (detail::checkDeviceConversion(aos, columns.size(), columns, FUNCTION))
      detail::convert(aos, columns, FUNCTION, stream);
}

/// The same for a container or a span of structures, such as thrust::device_vector, with as many as the view has or
/// more.
template <class Soa, class R, class = detail::EnableSoa<Soa>, class = detail::EnableRange<R>>
void toAos(Soa&& soa, R&& aos, StreamRef stream = {}) {
  detail::requireSize(aos, soa.size(), "aos", "gpuopt::toAos");
  gpuopt::toAos(soa, detail::dataOf(aos), stream);
}

/// Says in one line how toSoa moves the n structures of `aos` to `soa`: its launch, the bytes to read and write, and
/// why. Nothing is launched. Errors are those of the call. The words may change from version to version.
template <class T, class Soa, class = detail::EnableSoa<Soa>>
[[nodiscard]] std::string explainToSoa(const T* aos, std::size_t n, Soa&& soa) {
  const auto columns = detail::soaViewOf(soa);
  detail::checkDeviceConversion(aos, n, columns, "gpuopt::explainToSoa");
  return planInWords(detail::planConversion(aos, columns));
}

/// The same for toAos, which moves the structures of `soa` to `aos`.
template <class Soa, class T, class = detail::EnableSoa<Soa>>
[[nodiscard]] std::string explainToAos(Soa&& soa, T* aos) {
  const detail::SoaReadingView<Soa> columns = detail::soaViewOf(soa);
  detail::checkDeviceConversion(aos, columns.size(), columns, "gpuopt::explainToAos");
  return planInWords(detail::planConversion(aos, columns));
}

/// toSoa for host memory: `soa[i] = aos[i]` for i < n, in a loop of the calling thread.
template <class T, class U, class LAYOUT>
void toSoaHost(const T* aos, std::size_t n, SoaView<U, LAYOUT> soa) {
  static_assert(!std::is_const_v<U>, "gpuopt::toSoaHost: the structures of the view are const");
  if constexpr (!std::is_const_v<U> && detail::requireSameStruct<T, U>()) {
    if (!detail::checkConversion(aos, n, soa, "gpuopt::toSoaHost")) return;
    for (std::size_t i = 0; i < n; ++i) soa.store(i, aos[i]);
  }
}

/// toAos for host memory: `aos[i] = soa[i]`, in a loop of the calling thread.
template <class U, class LAYOUT, class T>
void toAosHost(SoaView<U, LAYOUT> soa, T* aos) {
  static_assert(!std::is_const_v<T>, "gpuopt::toAosHost: the structures of the array are const");
  if constexpr (!std::is_const_v<T> && detail::requireSameStruct<T, U>()) {
    if (!detail::checkConversion(aos, soa.size(), soa, "gpuopt::toAosHost")) return;
    for (std::size_t i = 0; i < soa.size(); ++i)
      detail::readZeroPadded(soa, i, aos[i], std::make_index_sequence<detail::memberCount<T>>{});
  }
}

GPUOPT_NAMESPACE_END
