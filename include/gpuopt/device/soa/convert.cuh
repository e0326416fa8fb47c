/// \file
/// Conversions between arrays of structures and columns: toSoa and toAos.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/soa/convert_tile.cuh>
#include <gpuopt/device/soa/plan.cuh>
#include <gpuopt/device/structs/tuning.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/soa/aggregate.cuh>
#include <gpuopt/soa/view.cuh>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// `aos` points to const structures if they are read.
template <unsigned ITEMS, bool ALIGNED, class T, class View>
GPUOPT_HIDDEN void launchConvert(const ConvertPlan& plan, T* aos, const View& soa, const char* function,
                                 cudaStream_t stream) {
  constexpr unsigned BLOCK = convertThreads(ITEMS * sizeof(T));
  const auto launchKernel = [&](auto kernel, int percent) {
    static SharedCarveout carveout;
    carveout.prefer(reinterpret_cast<const void*>(kernel), percent);
    launch(kernel, gridConfig(BLOCK, plan.blocks, stream, function), aos, soa);
  };
  if constexpr (std::is_const_v<T>)
    launchKernel(toSoaKernel<View, BLOCK, ITEMS, ALIGNED>, transformCarveout);
  else
    launchKernel(toAosKernel<View, BLOCK, ITEMS, ALIGNED>, toAosCarveout);
}

template <unsigned ITEMS, class View, std::size_t... INDICES>
bool areColumnsAligned(const View& soa, std::index_sequence<INDICES...>) {
  return (alignedTo(soa.addresses().template at<INDICES>(0), ConvertColumn<View, ITEMS, true, INDICES>::ALIGNMENT) &&
          ...);
}

template <class T, std::size_t... INDICES>
constexpr std::size_t memberBytes(std::index_sequence<INDICES...>) {
  return (sizeof(Member<T, INDICES>) + ...);
}

template <class T, class View>
ConvertPlan planConversion(T*, const View& soa) {
  constexpr auto MEMBERS = std::make_index_sequence<memberCount<T>>{};
  ConvertRequest request;
  request.n = soa.size();
  request.structBytes = sizeof(T);
  request.memberBytes = memberBytes<std::remove_const_t<T>>(MEMBERS);
  request.isToSoa = std::is_const_v<T>;
  if constexpr (hasContiguousColumns<View>) {
    request.areColumns = true;
    request.areAligned = request.n > 0 && areColumnsAligned<convertItems(sizeof(T), true)>(soa, MEMBERS);
  }
  return planConvert(request);
}

// The arguments are checked, and there is at least one structure.
template <class T, class View>
void convert(T* aos, const View& soa, const char* function, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  const ConvertPlan plan = planConversion(aos, soa);
  if constexpr (!hasContiguousColumns<View>)
    launchConvert<1, false>(plan, aos, soa, function, stream);
  else if (plan.algorithm == ConvertAlgorithm::alignedColumns)
    launchConvert<convertItems(sizeof(T), true), true>(plan, aos, soa, function, stream);
  else
    launchConvert<convertItems(sizeof(T), false), false>(plan, aos, soa, function, stream);
}

// A column from its first byte to its last. In tiles, this includes parts of other columns.
template <std::size_t INDEX, class View>
NamedArray columnRange(const View& soa, const std::string& name) {
  const auto* first = reinterpret_cast<const unsigned char*>(soa.addresses().template at<INDEX>(0));
  const auto* end = reinterpret_cast<const unsigned char*>(soa.addresses().template at<INDEX>(soa.size() - 1) + 1);
  return {first, static_cast<std::size_t>(end - first), 1, 1, name.c_str()};
}

template <class View, std::size_t... INDICES>
void requireDisjointColumns(const NamedArray& aos, const View& soa, const char* function,
                            std::index_sequence<INDICES...>) {
  (requireDisjoint(aos, columnRange<INDICES>(soa, message({"column ", INDICES})), function), ...);
}

template <class T, class U>
constexpr bool requireSameStruct() {
  constexpr bool IS_SAME = std::is_same_v<std::remove_const_t<T>, std::remove_const_t<U>>;
  static_assert(IS_SAME, "gpuopt: the structures of the array and of the view are of different types");
  return IS_SAME;
}

template <class View, std::size_t... INDICES>
void requireColumnsOnDevice(const View& soa, const char* function, std::index_sequence<INDICES...>) {
  (requireArray(columnRange<INDICES>(soa, message({"column ", INDICES})), function), ...);
}

// Throws if the arguments are wrong; returns whether there is anything to convert.
template <class T, class View>
bool checkConversion(const T* aos, std::size_t n, const View& soa, const char* function) {
  requireSize(n, {"n"}, function, sizeof(T));
  if (n != soa.size()) throwInvalid({function, ": n is ", n, ", but the view has ", soa.size(), " structures"});
  const NamedArray array = namedArray(aos, n, "aos");
  requireAddress(array, function);
  if (n > 0) requireDisjointColumns(array, soa, function, std::make_index_sequence<memberCount<T>>{});
  return n > 0;
}

// The same for arguments in device memory.
template <class T, class View>
bool checkDeviceConversion(const T* aos, std::size_t n, const View& soa, const char* function) {
  if (!checkConversion(aos, n, soa, function)) return false;
  requireArray(namedArray(aos, n, "aos"), function);
  requireColumnsOnDevice(soa, function, std::make_index_sequence<memberCount<T>>{});
  return true;
}

}  // namespace detail

/// Copies n structures from an array to columns: `soa[i] = aos[i]` for i < n. Asynchronous on `stream`, one kernel.
///
/// `aos` has n structures in device memory, at any address that their type allows. `soa` is a view of exactly n
/// structures (otherwise use a subview), in device memory, and does not overlap `aos`. Columns aligned to 16 bytes,
/// such as those of SoaVector, are fastest; those of subviews and your own may have any address that their element
/// allows.
///
/// Cost: that of copying the array, padding included. Throws std::invalid_argument before anything is written if n is
/// not the view's, if `aos` is null or misaligned, or if `aos` overlaps a column; CudaError if the launch fails.
template <class T, class U, class LAYOUT>
void toSoa(const T* aos, std::size_t n, SoaView<U, LAYOUT> soa, StreamRef stream = {}) {
  constexpr const char* FUNCTION = "gpuopt::toSoa";
  static_assert(!std::is_const_v<U>, "gpuopt::toSoa: the structures of the view are const");
  if constexpr (!std::is_const_v<U> && detail::requireSameStruct<T, U>())
    if (detail::checkDeviceConversion(aos, n, soa, FUNCTION)) detail::convert(aos, soa, FUNCTION, stream);
}

/// The same for a container or a span of structures, such as thrust::device_vector, with as many as the view has.
template <class R, class U, class LAYOUT, class = detail::EnableRange<R>>
void toSoa(R&& aos, SoaView<U, LAYOUT> soa, StreamRef stream = {}) {
  gpuopt::toSoa(detail::dataOf(aos), detail::sizeOf(aos), soa, stream);
}

/// Copies all structures of a view to an array: `aos[i] = soa[i]`. Padding between members becomes zero. Asynchronous
/// on `stream`, one kernel. Requirements, cost and errors are those of toSoa.
template <class U, class LAYOUT, class T>
void toAos(SoaView<U, LAYOUT> soa, T* aos, StreamRef stream = {}) {
  constexpr const char* FUNCTION = "gpuopt::toAos";
  static_assert(!std::is_const_v<T>, "gpuopt::toAos: the structures of the array are const");
  const SoaView<const U, LAYOUT> columns = soa;
  if constexpr (!std::is_const_v<T> && detail::requireSameStruct<T, U>())
    if (detail::checkDeviceConversion(aos, columns.size(), columns, FUNCTION))
      detail::convert(aos, columns, FUNCTION, stream);
}

/// The same for a container or a span of structures, such as thrust::device_vector, with as many as the view has or
/// more.
template <class U, class LAYOUT, class R, class = detail::EnableRange<R>>
void toAos(SoaView<U, LAYOUT> soa, R&& aos, StreamRef stream = {}) {
  detail::requireSize(aos, soa.size(), "aos", "gpuopt::toAos");
  gpuopt::toAos(soa, detail::dataOf(aos), stream);
}

/// Says in one line how toSoa moves the n structures of `aos` to `soa`: its launch, the bytes to read and write, and
/// why. Nothing is launched. Errors are those of the call. The words may change from version to version.
template <class T, class U, class LAYOUT>
[[nodiscard]] std::string explainToSoa(const T* aos, std::size_t n, SoaView<U, LAYOUT> soa) {
  detail::checkDeviceConversion(aos, n, soa, "gpuopt::explainToSoa");
  return planInWords(detail::planConversion(aos, soa));
}

/// The same for toAos, which moves the structures of `soa` to `aos`.
template <class U, class LAYOUT, class T>
[[nodiscard]] std::string explainToAos(SoaView<U, LAYOUT> soa, T* aos) {
  const SoaView<const U, LAYOUT> columns = soa;
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
