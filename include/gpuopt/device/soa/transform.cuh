/// \file
/// The plan, the launch and the checks of forEach and transform of views.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/soa/convert.cuh>
#include <gpuopt/device/soa/plan.cuh>
#include <gpuopt/device/soa/transform_kernel.cuh>
#include <gpuopt/device/structs/arguments.cuh>
#include <gpuopt/device/structs/transform.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/soa/iterator.cuh>
#include <gpuopt/soa/view.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

// Whether kernels may access all columns by tiles and words.
template <unsigned ITEMS, class View>
bool areColumnsAligned(const View& view) {
  return areColumnsAligned<ITEMS>(view, std::make_index_sequence<View::COLUMNS>{});
}

// Whether there is a kernel that accesses all columns by tiles and words.
template <class... Views>
inline constexpr bool mayBeAligned = BlockOfViews<Views...>::FITS_REGISTERS && (hasContiguousColumns<Views> && ...);

// The bytes of a structure in its columns.
template <class View>
constexpr std::size_t columnBytes = memberBytes<typename View::Value>(std::make_index_sequence<View::COLUMNS>{});

// A function of the structures of views of the same size. Of the first one they are read.
template <class In, class... Others>
ColumnsPlan planOfViews(std::size_t writtenBytes, const In& in, const Others&... others) {
  ColumnsRequest request;
  request.n = in.size();
  request.readBytes = columnBytes<In>;
  request.writtenBytes = writtenBytes;
  request.largestBytes = largestSize<typename In::Value, typename Others::Value...>();
  request.areColumns = hasContiguousColumns<In> && (hasContiguousColumns<Others> && ...);
  if constexpr (mayBeAligned<In, Others...>) {
    constexpr unsigned ITEMS = BlockOfViews<In, Others...>::ITEMS;
    request.areAligned = request.n > 0 && areColumnsAligned<ITEMS>(in) && (areColumnsAligned<ITEMS>(others) && ...);
  }
  return planColumns(request);
}

template <class In, class Out>
ColumnsPlan planTransformColumns(const In& in, const Out& out) {
  return planOfViews(columnBytes<Out>, in, out);
}
template <class View>
ColumnsPlan planVisitColumns(const View& view) {
  return planOfViews(0, view);
}

// Launches the kernel of a plan for these views.
template <class... Views, class Launch>
void launchColumns(const ColumnsPlan& plan, const Launch& launchKernel) {
  switch (plan.algorithm) {
    case ColumnsAlgorithm::nothing:
      return;
    case ColumnsAlgorithm::words:
      if constexpr (mayBeAligned<Views...>) launchKernel(std::true_type{});
      return;
    case ColumnsAlgorithm::elements:
      return launchKernel(std::false_type{});
  }
}

template <class In, class Out, class F>
GPUOPT_HIDDEN void launchTransformColumns(const In& in, const Out& out, const F& f, const char* function,
                                          cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  const ColumnsPlan plan = planTransformColumns(in, out);
  launchColumns<In, Out>(plan, [&](auto aligned) {
    launch(transformColumnsKernel<aligned, In, Out, F>, gridConfig(plan.threads, plan.blocks, stream, function), in,
           out, f);
  });
}

template <class View, class F>
GPUOPT_HIDDEN void launchVisitColumns(const View& view, const F& f, const char* function, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  const ColumnsPlan plan = planVisitColumns(view);
  launchColumns<View>(plan, [&](auto aligned) {
    launch(visitColumnsKernel<aligned, View, F>, gridConfig(plan.threads, plan.blocks, stream, function), view, f);
  });
}

template <class View>
void requireViewOnDevice(const View& view, const char* function) {
  if (view.size() > 0) requireColumnsOnDevice(view, function, std::make_index_sequence<View::COLUMNS>{});
}

// Whether two views have their structures at the same addresses.
template <class In, class Out>
bool isSameView(const In& in, const Out& out) {
  constexpr bool IS_SAME = std::is_same_v<typename In::Value, typename Out::Value> &&
                           std::is_same_v<typename In::Layout, typename Out::Layout>;
  return IS_SAME && static_cast<const void*>(in.addresses().template at<0>(0)) == out.addresses().template at<0>(0);
}

// A column of the output is a column of the input, or overlaps none.
template <class In, std::size_t... INDICES>
void requireColumnApart(const NamedArray& written, const In& in, const char* function,
                        std::index_sequence<INDICES...>) {
  const auto require = [&](const NamedArray& read) {
    if (read.data != written.data || read.bytes() != written.bytes()) requireDisjoint(read, written, function);
  };
  (require(columnRange<INDICES>(in, message({"column ", INDICES, " of in"}))), ...);
}
template <class In, class Out, std::size_t... INDICES>
void requireColumnsApart(const In& in, const Out& out, const char* function, std::index_sequence<INDICES...>) {
  (requireColumnApart(columnRange<INDICES>(out, message({"column ", INDICES, " of out"})), in, function,
                      std::make_index_sequence<In::COLUMNS>{}),
   ...);
}

template <class In, class Out>
void requireViews(const In& in, const Out& out, const char* function) {
  if (in.size() != out.size())
    throwInvalid({function, ": in has ", in.size(), " structures, but out has ", out.size()});
  requireViewOnDevice(in, function);
  requireViewOnDevice(out, function);
  if (in.size() > 0 && !isSameView(in, out))
    requireColumnsApart(in, out, function, std::make_index_sequence<Out::COLUMNS>{});
}

GPUOPT_DETAIL_END
