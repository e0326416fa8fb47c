/// \file
/// The columns of a distributed matrix: each rank reduces its rows, then all combine their partial results.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/combine.cuh>
#include <gpuopt/device/distributed/reduce.cuh>
#include <gpuopt/device/distributed/reduce_plan.cuh>
#include <gpuopt/device/distributed/symmetric.cuh>
#include <gpuopt/device/reduce/columns.cuh>
#include <gpuopt/device/reduce/matrix_input.cuh>

#include <memory>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

template <class Reducer>
TeamColumnsRequest teamColumnsRequest(const TeamCall& call, const MatrixShape& matrix) {
  return {call.team.size, matrix.cols, sizeof(typename Reducer::Partial), sizeof(typename Reducer::Result)};
}

// The partial results of all ranks, one for each column; this rank's are made before the ranks agree.
template <class Policy, class Reducer, class It, class Out>
std::unique_ptr<ScratchMemory> reduceOwnRows(const TeamCall& call, const Reducer& reducer, It in,
                                             const MatrixShape& matrix, const Out& out) {
  using Partial = typename Reducer::Partial;
  call.team.requireSuccess(call.function);
  requireTeamDevice(call.team, call.function);
  requireMatrix(in, matrix, out, matrix.cols, call.function);
  const TeamColumnsPlan plan = planTeamColumns(teamColumnsRequest<Reducer>(call, matrix));
  if (plan.blocks == 0) return nullptr;
  auto gathered = std::make_unique<ScratchMemory>(plan.gatheredBytes, call.stream);
  launchColumns<Policy>(ReduceCall{call.function, call.stream, call.workspace}, PartialOf<Reducer>{reducer}, in,
                        Identity{}, matrix,
                        reinterpret_cast<Partial*>(gathered->data() + plan.ownBytes * call.team.ownRank()));
  return gathered;
}

// Reduces the columns of the rows of all ranks.
template <class Policy, class Reducer, class It, class Out>
void reduceTeamColumns(const TeamCall& call, const Reducer& reducer, It in, const MatrixShape& matrix,
                       const Out& results) {
  using Partial = typename Reducer::Partial;
  const auto out = boxedOutput(results);
  if constexpr (requireOutput<typename Reducer::Result, std::decay_t<decltype(out)>>()) {
    std::unique_ptr<ScratchMemory> gathered;
    try {
      gathered = reduceOwnRows<Policy>(call, reducer, in, matrix, out);
    } catch (...) {
      call.team.leave(call.stream);
      throw;
    }
    call.team.agree(callWord(callWord(call.function, sizeof(Partial)), matrix.cols), call.function);
    const TeamColumnsPlan plan = planTeamColumns(teamColumnsRequest<Reducer>(call, matrix));
    if (plan.blocks == 0) return;
    call.team.wait.untilQueued(ncclAllGather(gathered->data() + plan.ownBytes * call.team.ownRank(), gathered->data(),
                                             plan.ownBytes, ncclUint8, call.team.comm, call.stream),
                               "ncclAllGather", call.function);
    launch(combineColumnsKernel<Reducer, std::decay_t<decltype(out)>>,
           gridConfig(combineColumnsThreads, plan.blocks, call.stream, call.function),
           reinterpret_cast<const Partial*>(gathered->data()), matrix.cols, call.team.size, reducer,
           StoredResult<std::decay_t<decltype(out)>>{out, call.team.failed(), call.team.peers.broken});
    call.team.wait.leavePending(call.stream);
  }
}

// What reduces a rank's rows, and how the ranks exchange their partial results.
template <class Policy, class Reducer, class It>
std::string explainTeamColumns(const TeamCall& call, const Reducer&, It in, const MatrixShape& matrix) {
  return message({columnsInWords<Policy, PartialOf<Reducer>>(call.function, in, matrix), "; then ",
                  planInWords(planTeamColumns(teamColumnsRequest<Reducer>(call, matrix)))});
}

GPUOPT_DETAIL_END
