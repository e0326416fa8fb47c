/// \file
/// The ranks of an NCCL communicator, one GPU each: Team.
///
///     gpuopt::distributed::Team team(comm);
///
/// <gpuopt/distributed.cuh>, which includes this header, says what the calls of a team have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/team.cuh>
#include <gpuopt/host/stream.cuh>

#include <chrono>
#include <functional>

GPUOPT_NAMESPACE_BEGIN
namespace distributed {

/// How a Team works.
struct TeamOptions {
  /// Whether ranks write to each other's memory where they can. Otherwise NCCL transfers all data.
  bool usesPeerAccess = true;
  /// How long a call waits for another rank before it fails, in a kernel or, for NCCL, on the host. NCCL connects the
  /// ranks during their first calls, to which the timeout applies only if the communicator is non-blocking.
  std::chrono::milliseconds timeout{30000};
  /// Called before a wait on the host for NCCL fails, the one at the end of the team included; call ncclCommAbort in
  /// it. Without it NCCL keeps waiting, and so does every cudaFree; the team's own memory then stays allocated until
  /// the process ends.
  std::function<void()> abandon{};
};

/// The ranks of an NCCL communicator. All ranks make a team once, which finds out how they reach each other.
///
/// Ranks write directly to each other's memory if all of them can: up to 16 GPUs of one host, through peer access if
/// they are threads of one process, through CUDA's IPC if they are processes. Otherwise NCCL transfers the data, except
/// for matrices between ranks of one node. The caller owns the communicator, which must outlive
/// the team.
class Team {
 public:
  /// Connects the ranks. Collective; waits for all of them. The communicator's device must be the current one. A
  /// non-blocking communicator (ncclConfig_t::blocking = 0) may still be in progress. On a blocking one, NCCL waits for
  /// the other ranks without a timeout. `options` says how ranks reach each other, and how long calls wait.
  ///
  /// Throws std::invalid_argument, CudaError and NcclError, and TeamError if a rank does not come in time.
  explicit Team(ncclComm_t comm, const TeamOptions& options = {})
      : state_(comm, options.usesPeerAccess, options.timeout, options.abandon) {}

  /// This rank's number, from 0.
  [[nodiscard]] int rank() const { return state_.rank; }

  /// The number of ranks.
  [[nodiscard]] int size() const { return state_.size; }

  /// The communicator.
  [[nodiscard]] ncclComm_t communicator() const { return state_.comm; }

  /// Whether the ranks write to each other's memory: the same on all of them.
  [[nodiscard]] bool usesPeerAccess() const { return state_.usesPeers; }

  /// The number of nodes: groups of ranks that write to each other's memory. 1 with usesPeerAccess(), size() if no rank
  /// reaches another.
  [[nodiscard]] int nodes() const { return state_.nodes.count(); }

  /// Makes the stream wait until all ranks have reached this call. After it, all ranks see what any rank wrote before
  /// it, to its own memory or another's. Asynchronous with peer access, or if `stream` is
  /// captured; otherwise the host waits for all ranks, as long as TeamOptions::timeout says.
  ///
  /// \param stream the launch is queued there
  void barrier(StreamRef stream = nullptr) { state_.barrier(stream); }

  /// Throws TeamError if a finished asynchronous call has failed because of another rank, and NcclError if the
  /// communicator of a team without peer access has failed. Does not wait.
  void check() { state_.requireSuccess("gpuopt::distributed::Team"); }

 private:
  friend struct detail::TeamAccess;

  detail::TeamState state_;
};

}  // namespace distributed

namespace detail {

// The way of the other calls to a team's memory.
struct TeamAccess {
  static TeamState& of(distributed::Team& team) { return team.state_; }
};

}  // namespace detail
GPUOPT_NAMESPACE_END
