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
  /// Whether ranks write to each other's memory where they can. Otherwise NCCL moves everything.
  bool usesPeerAccess = true;
  /// How long a call waits for another rank before it gives up with an error: in a kernel, or on the host for NCCL.
  std::chrono::milliseconds timeout{30000};
  /// Called before a wait on the host for NCCL ends with an error: the place for ncclCommAbort. NCCL's kernels wait on
  /// without it, and so does every cudaFree; the team's own memory then stays allocated until the process ends.
  std::function<void()> abandon{};
};

/// The ranks of an NCCL communicator: made once by all of them, it finds out how they reach each other.
///
/// Where all ranks can write to each other's memory, they do: up to 16 GPUs of one host, as threads of one process by
/// peer access, as processes by CUDA's IPC. Otherwise NCCL moves everything but matrices within nodes, whose ranks do
/// reach each other. The communicator stays the caller's and
/// must outlive the team.
class Team {
 public:
  /// Connects the ranks. Collective; waits for all of them. The communicator's device must be the current one.
  ///
  /// Throws std::invalid_argument, CudaError and NcclError.
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

  /// Waits, in the order of the stream, until all ranks have come here. What any rank has written before, to its own
  /// memory or another's, all ranks see after it. Asynchronous.
  ///
  /// \param stream the launch is queued there
  void barrier(StreamRef stream = nullptr) { state_.barrier(stream); }

  /// Throws TeamError if an asynchronous call that is done has failed because of another rank, and NcclError if the
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
