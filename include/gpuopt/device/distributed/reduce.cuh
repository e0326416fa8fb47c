/// \file
/// The way of a distributed array to its result: each rank reduces its part, then all combine their partial results.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/combine.cuh>
#include <gpuopt/device/distributed/reduce_plan.cuh>
#include <gpuopt/device/distributed/team.cuh>
#include <gpuopt/device/reduce/launch.cuh>
#include <gpuopt/host/memory.cuh>

#include <cstddef>
#include <optional>
#include <string>

GPUOPT_DETAIL_BEGIN

// The arguments that all public functions share.
struct TeamCall {
  const char* function;
  TeamState& team;
  cudaStream_t stream;
  Workspace* workspace;
};

// One exchange of partial results, as planTeamReduce says.
template <class Partial>
class Exchange {
  static constexpr unsigned WORDS = Contribution<Partial>::WORDS;

 public:
  explicit Exchange(const TeamCall& call)
      : call_(call), plan_(planTeamReduce({call.team.size, call.team.usesPeers, WORDS})) {
    if (!usesPeers()) gathered_.emplace(plan_.gatheredBytes, call.stream);
  }

  // Where this rank's part goes.
  Contribution<Partial> own(std::size_t n) const {
    return {ownWords(), callWord(call_.function, sizeof(Partial)), n, usesPeers() ? nullptr : call_.team.exchange()};
  }

  // The other ranks learn that this one has no contribution.
  void refuse(bool isAsynchronous) const { call_.team.refuse(call_.stream, WORDS, isAsynchronous); }

  // The host waits for the other ranks: by NCCL in time; between peers the kernel gives up.
  void begin() const {
    if (!usesPeers()) call_.team.wait.begin(call_.stream);
  }
  void finish() const {
    if (!usesPeers()) call_.team.wait.finish(call_.stream, call_.function);
  }
  // Or it does not wait.
  void leavePending() const {
    if (!usesPeers()) call_.team.wait.leavePending(call_.stream);
  }

  // Queues the rest: every rank gets all contributions, and combines them.
  template <class Reducer, class Out>
  void combine(const Reducer& reducer, const Out& out) const {
    TeamState& team = call_.team;
    if constexpr (Contribution<Partial>::FITS_SLOTS)
      if (usesPeers())
        return launch(combinePeersKernel<Reducer, Out>, config(), team.peers, team.contribution(), reducer, out);
    unsigned* const all = allWords();
    team.wait.untilQueued(ncclAllGather(ownWords(), all, WORDS, ncclUint32, team.comm, call_.stream), "ncclAllGather",
                          call_.function);
    launch(combineGatheredKernel<Reducer, Out>, config(), all, team.exchange(), team.rank, team.size, reducer, out);
  }

 private:
  bool usesPeers() const { return plan_.algorithm == TeamReduceAlgorithm::peers; }
  LaunchConfig config() const {
    return gridConfig(static_cast<int>(plan_.threads), 1, call_.stream, "gpuopt::distributed");
  }
  unsigned* allWords() const { return reinterpret_cast<unsigned*>(gathered_->data()); }
  unsigned* ownWords() const {
    return usesPeers() ? call_.team.contribution() : allWords() + std::size_t{WORDS} * call_.team.ownRank();
  }

  const TeamCall& call_;
  TeamReducePlan plan_;
  std::optional<ScratchMemory> gathered_;
};

// Reduces f of one element of each input to this rank's contribution.
template <class Policy, class Reducer, class F, class... Its>
void reduceOwnPart(const TeamCall& call, const Reducer& reducer, const Contribution<typename Reducer::Partial>& out,
                   const F& f, Its... in) {
  const auto source = sourceOf<hasFixedSteps<Policy>>(call.function, out.n, f, in...);
  const ReduceCall local{call.function, call.stream, call.workspace};
  launchReduce<Policy>(local, PartialOf<Reducer>{reducer}, out.n, source, out);
}

// What reduces a rank's part, and how the ranks exchange their partial results.
template <class Policy, class Reducer, class It>
std::string explainTeamReduce(const TeamCall& call, const Reducer&, It in, std::size_t n) {
  constexpr unsigned WORDS = Contribution<typename Reducer::Partial>::WORDS;
  return message({arrayInWords<Policy, PartialOf<Reducer>>(call.function, in, n), "; then ",
                  planInWords(planTeamReduce({call.team.size, call.team.usesPeers, WORDS}))});
}

// Reduces the parts of all ranks. The result goes to device memory of every rank,
template <class Policy, class Reducer, class Out, class F, class... Its>
void reduceTeamToDevice(const TeamCall& call, const Reducer& reducer, Out& out, std::size_t n, const F& f, Its... in) {
  using Destination = decltype(destinationOf<typename Reducer::Result>(out, call.function));
  const Exchange<typename Reducer::Partial> exchange(call);
  std::optional<Destination> destination;
  try {
    call.team.requireSuccess(call.function);
    requireTeamDevice(call.team, call.function);
    destination.emplace(destinationOf<typename Reducer::Result>(out, call.function));
    reduceOwnPart<Policy>(call, reducer, exchange.own(n), f, in...);
  } catch (...) {
    exchange.refuse(true);
    throw;
  }
  exchange.combine(reducer, StoredResult<Destination>{*destination, call.team.failed(), call.team.peers.broken});
  exchange.leavePending();
}

// or back to the caller on every rank, who waits for it.
template <class Policy, class Reducer, class F, class... Its>
auto reduceTeamToHost(const TeamCall& call, const Reducer& reducer, std::size_t n, const F& f, Its... in) {
  using Result = typename Reducer::Result;
  const Exchange<typename Reducer::Partial> exchange(call);
  HostResult<TeamResult<Result>> result;
  try {
    call.team.requireSuccess(call.function);
    requireTeamDevice(call.team, call.function);
    requireNotCapturing(call.stream, call.function);
    reduceOwnPart<Policy>(call, reducer, exchange.own(n), f, in...);
  } catch (...) {
    exchange.refuse(false);
    throw;
  }
  exchange.begin();
  exchange.combine(reducer, ReturnedResult<Result>{result.destination()});
  try {
    exchange.finish();
  } catch (...) {
    result.abandon();  // a kernel may still write it, once the communicator is aborted
    throw;
  }
  const TeamResult<Result> combined = result.wait(call.stream);
  if (combined.failure != 0) call.team.fail(combined.failure, call.function);
  return unbox(combined.result);
}

GPUOPT_DETAIL_END
