/// Ranks, and groups of calls, which are one piece of work for all their streams.
// SPDX-License-Identifier: MIT
#pragma once

#include "clique.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

/// A rank of a communicator.
struct Member {
  std::shared_ptr<Clique> clique;
  int rank;
  int device;
  WorkPointer last;  ///< its latest work: one group comes after the other, whatever their streams
};

using MemberPointer = std::shared_ptr<Member>;

/// A call within a group.
struct GroupedCall {
  MemberPointer member;
  OperationPointer operation;
  cudaStream_t stream;
};

/// The calls of a group. It comes to all operations first, then waits: so one thread may be several ranks.
class GroupWork {
 public:
  explicit GroupWork(std::vector<GroupedCall> calls) : calls_(std::move(calls)) {}

  /// Whether all calls are over. Does not wait.
  bool begin() {
    post();
    for (const GroupedCall& call : calls_)
      if (!call.member->clique->isOver(call.operation)) return false;
    return true;
  }

  cudaError_t run() {
    post();
    bool isDone = true;
    for (const GroupedCall& call : calls_) {
      Clique& clique = *call.member->clique;
      isDone = (clique.wait(call.member->rank, call.operation) || clique.isAborted()) && isDone;
    }
    return isDone ? cudaSuccess : cudaErrorLaunchFailure;
  }

 private:
  void post() {
    if (std::exchange(isPosted_, true)) return;
    for (const GroupedCall& call : calls_) call.member->clique->post(call.member->rank, call.operation);
  }

  std::vector<GroupedCall> calls_;
  bool isPosted_ = false;
};

/// The calling thread's group.
class Group {
 public:
  static Group& current() {
    static thread_local Group group;
    return group;
  }

  void start() { ++depth_; }

  ncclResult_t end() {
    if (depth_ == 0) return ncclInvalidUsage;
    return --depth_ > 0 ? ncclSuccess : submit();
  }

  /// Forgets the group.
  ncclResult_t cancel() {
    --depth_;
    calls_.clear();
    joined_.clear();
    return ncclSuccess;
  }

  /// Adds a call, which is queued at the end of the group.
  ncclResult_t add(GroupedCall call) {
    calls_.push_back(std::move(call));
    return depth_ > 0 ? ncclSuccess : submit();
  }

  /// Adds a communicator that the caller has joined, and that waits for the others at the end of the group.
  ncclResult_t add(std::shared_ptr<Clique> clique) {
    joined_.push_back(std::move(clique));
    return depth_ > 0 ? ncclSuccess : submit();
  }

 private:
  ncclResult_t submit() {
    const std::vector<std::shared_ptr<Clique>> joined = std::exchange(joined_, {});
    std::vector<GroupedCall> calls = std::exchange(calls_, {});
    for (const auto& clique : joined)
      if (!clique->waitForRanks()) return ncclSystemError;
    if (calls.empty()) return ncclSuccess;
    std::vector<cudaStream_t> streams;
    std::vector<WorkPointer> before;
    for (const GroupedCall& call : calls) {
      if (std::find(streams.begin(), streams.end(), call.stream) == streams.end()) streams.push_back(call.stream);
      if (call.member->last != nullptr) before.push_back(call.member->last);
    }
    const auto group = std::make_shared<GroupWork>(calls);
    const WorkPointer work = Queue::instance().append(
        streams, [group] { return group->run(); }, before, [group] { return group->begin(); });
    for (const GroupedCall& call : calls) call.member->last = work;
    return work->code == cudaSuccess ? ncclSuccess : calls.front().member->clique->failure();
  }

  int depth_ = 0;
  std::vector<GroupedCall> calls_;
  std::vector<std::shared_ptr<Clique>> joined_;
};

}  // namespace gpuopt::emulation::detail
