/// \file
/// What gatherRows and scatterRows check before they launch anything.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/rows/arguments.cuh>
#include <gpuopt/device/rows/gather.cuh>
#include <gpuopt/device/rows/gather_plan.cuh>
#include <gpuopt/device/rows/indices.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class In, class Out, class F>
constexpr bool requireMovableRows() {
  using Element = std::remove_const_t<In>;
  constexpr bool IS_SAME = std::is_same_v<Element, Out> || !std::is_same_v<F, Identity>;
  static_assert(!std::is_const_v<Out>, "gpuopt: the elements of out are const");
  static_assert(std::is_trivially_copyable_v<Element> && std::is_trivially_copyable_v<Out>,
                "gpuopt: only rows of trivially copyable elements can be moved");
  static_assert(IS_SAME || std::is_const_v<Out>,
                "gpuopt: in and out have elements of different types: pass a function such as gpuopt::Cast");
  if constexpr (!std::is_const_v<Out> && IS_SAME && requireDeviceCode<F>()) {
    constexpr bool TAKES = isDeviceLambda<F> || constructs<Out, const F&, const Element&>();
    static_assert(TAKES, "gpuopt: the function must take an element of in and return one of out, by a const operator");
    return TAKES && std::is_trivially_copyable_v<Element> && std::is_trivially_copyable_v<Out>;
  } else {
    return false;
  }
}

// `indexed` is the matrix whose rows the indices name, `other` has a row for each.
inline void requireMovesRows(const NamedView& in, const NamedView& out, Indexed side, const NamedArray& indices,
                             const char* function) {
  const NamedView& other = side == Indexed::in ? out : in;
  requireSameCols(in, out, function);
  requireArray(indices, function);
  if (other.rows < indices.n)
    throwInvalid({function, ": ", other.name, " has ", other.rows, " rows, but n is ", indices.n});
  requireNoOverlap(in, out, function);
  requireNoOverlap(indices, out, function);
}

template <class In, class Out>
MoveRowsRequest moveRowsRequest(const MatrixView<In>& in, const MatrixView<Out>& out, std::size_t n,
                                std::size_t indexBytes, bool onlyMoves, bool scatters) {
  return {reinterpret_cast<std::uintptr_t>(in.data),
          reinterpret_cast<std::uintptr_t>(out.data),
          n,
          in.cols,
          in.ld,
          out.ld,
          sizeof(In),
          sizeof(Out),
          indexBytes,
          onlyMoves,
          scatters};
}

// The call of these arguments, which are checked.
template <Indexed SIDE, class In, class Out, class Index, class F>
MoveRowsCall moveRowsCall(const char* name, const MatrixView<In>& in, const Index* indices, std::size_t n,
                          const MatrixView<Out>& out, const F&, cudaStream_t stream) {
  requireRows(in, "in", name);
  requireRows(out, "out", name);
  requireMovesRows(named(in, "in"), named(out, "out"), SIDE, namedArray(indices, n, "indices"), name);
  constexpr bool MOVES = std::is_same_v<F, Identity>;
  const MoveRowsRequest request = moveRowsRequest(in, out, n, sizeof(Index), MOVES, SIDE == Indexed::out);
  return {planMoveRows(request), name, stream};
}

template <Indexed SIDE, RowIndices INDICES, class In, class Out, class Index, class F>
void moveRows(const char* name, const MatrixView<In>& in, const Index* indices, std::size_t n,
              const MatrixView<Out>& out, const F& function, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(name);
  if constexpr (requireIndexType<Index>() && requireMovableRows<In, Out, F>()) {
    const MoveRowsCall call = moveRowsCall<SIDE>(name, in, indices, n, out, function, stream);
    requireRowIndices(indices, n, SIDE == Indexed::in ? in.rows : out.rows, INDICES, name, stream);
    launchMoveRows<std::remove_const_t<In>, Out, SIDE, INDICES>(
        call, reinterpret_cast<const IndexWord<Index>*>(indices), function);
  }
}

template <Indexed SIDE, class In, class Out, class Index, class F>
std::string explainMoveRows(const char* name, const MatrixView<In>& in, const Index* indices, std::size_t n,
                            const MatrixView<Out>& out, const F& function) {
  if constexpr (requireIndexType<Index>() && requireMovableRows<In, Out, F>())
    return planInWords(moveRowsCall<SIDE>(name, in, indices, n, out, function, nullptr).plan);
  else
    return {};
}

GPUOPT_DETAIL_END
