/// \file
/// A function of every structure of a view: forEach and transform.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/soa/convert.cuh>
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
  if constexpr (hasContiguousColumns<View>)
    return areColumnsAligned<ITEMS>(view, std::make_index_sequence<View::COLUMNS>{});
  else
    return false;
}

template <class Shape, class... Views>
inline constexpr bool mayBeAligned = Shape::FITS_REGISTERS && (hasContiguousColumns<Views> && ...);

// The kernel for views of such addresses. They are not empty.
template <class In, class Out, class F>
GPUOPT_HIDDEN void launchTransformColumns(const In& in, const Out& out, const F& f, const char* function,
                                          cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  using Shape = ShapeOfViews<In, Out>;
  const LaunchConfig config =
      gridConfig(Shape::BLOCK, ceilDivide(in.size(), std::size_t{Shape::STRUCTS}), stream, function);
  if constexpr (mayBeAligned<Shape, In, Out>)
    if (areColumnsAligned<Shape::ITEMS>(in) && areColumnsAligned<Shape::ITEMS>(out))
      return launch(transformColumnsKernel<true, In, Out, F>, config, in, out, f);
  launch(transformColumnsKernel<false, In, Out, F>, config, in, out, f);
}

template <class View, class F>
GPUOPT_HIDDEN void launchVisitColumns(const View& view, const F& f, const char* function, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  using Shape = ShapeOfViews<View>;
  const LaunchConfig config =
      gridConfig(Shape::BLOCK, ceilDivide(view.size(), std::size_t{Shape::STRUCTS}), stream, function);
  if constexpr (mayBeAligned<Shape, View>)
    if (areColumnsAligned<Shape::ITEMS>(view)) return launch(visitColumnsKernel<true, View, F>, config, view, f);
  launch(visitColumnsKernel<false, View, F>, config, view, f);
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
