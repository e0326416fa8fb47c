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

GPUOPT_DETAIL_BEGIN

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

GPUOPT_DETAIL_END
