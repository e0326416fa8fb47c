/// \file
/// What addRows checks before it launches anything.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/add.cuh>
#include <gpuopt/device/rows/arguments.cuh>
#include <gpuopt/device/rows/combine_arguments.cuh>
#include <gpuopt/device/rows/gather_arguments.cuh>
#include <gpuopt/device/rows/indices.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class In, class Out>
constexpr bool requireAddableRows() {
  constexpr bool IS_FLOAT = isOneOf<Out, float, double> || isHalf<Out>;
  static_assert(IS_FLOAT || std::is_const_v<Out>,
                "gpuopt: rows are added to rows of float, double, __half or __nv_bfloat16");
  if constexpr (IS_FLOAT || std::is_const_v<Out>)
    return requireCombinableRows<In, Out, float>();
  else
    return false;
}

// Rows are counted in 32 bits, with one more for padding.
inline constexpr std::size_t maxGroupedRows = 0xffffffff;

// Passes the call to use(call), a generic lambda, if its types and arguments are right.
template <class In, class Out, class Index, class Use>
void withAddedRows(const char* name, const MatrixView<In>& in, const Index* indices, std::size_t n,
                   const MatrixView<Out>& out, RowAddition addition, RowIndices policy, cudaStream_t stream,
                   const Use& use) {
  if constexpr (requireIndexType<Index>() && requireAddableRows<In, Out>()) {
    requireRows(in, "in", name);
    requireRows(out, "out", name);
    requireMovesRows(named(in, "in"), named(out, "out"), Indexed::out, namedArray(indices, n, "indices"), name);
    if (addition == RowAddition::deterministic && out.rows > maxGroupedRows)
      throwInvalid({name, ": out has ", out.rows, " rows, more than ", maxGroupedRows, ": use RowAddition::atomic"});
    const AddRowsRequest request{combineRowsRequest(in, out), n, sizeof(Index), addition, policy};
    use(AddRowsCall{request, planAddRows(request), name, stream});
  }
}

template <RowAddition ADDITION, RowIndices INDICES, class In, class Index, class Out>
void addRowsOf(const char* name, const MatrixView<In>& in, const Index* indices, std::size_t n,
               const MatrixView<Out>& out, cudaStream_t stream) {
  withAddedRows(name, in, indices, n, out, ADDITION, INDICES, stream, [&](const auto& call) {
    requireRowIndices(indices, n, out.rows, INDICES, name, stream);
    launchAddRows<ADDITION, INDICES, std::remove_const_t<In>, Out>(call,
                                                                   reinterpret_cast<const IndexWord<Index>*>(indices));
  });
}

template <RowAddition ADDITION, RowIndices INDICES, class In, class Index, class Out>
std::string explainAddRowsOf(const char* name, const MatrixView<In>& in, const Index* indices, std::size_t n,
                             const MatrixView<Out>& out) {
  std::string text;
  withAddedRows(name, in, indices, n, out, ADDITION, INDICES, nullptr,
                [&text](const AddRowsCall& call) { text = planInWords(call.plan); });
  return text;
}

GPUOPT_DETAIL_END
