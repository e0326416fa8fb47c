/// Ranks, and groups of calls, which are one piece of work for all their streams.
// SPDX-License-Identifier: MIT
#pragma once

#include "clique.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

class GroupLaunch;

/// A rank of a communicator.
struct Member {
  std::shared_ptr<Clique> clique;
  int rank;
  int device;
  bool isBlocking;
  WorkPointer last{};                      ///< its latest work: one group comes after the other, whatever their streams
  std::shared_ptr<GroupLaunch> pending{};  ///< of a communicator that does not block: what is in progress
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
    for (const GroupedCall& call : calls_) {
      call.operation->moment = currentMoment;
      call.member->clique->post(call.member->rank, call.operation);
    }
  }

  std::vector<GroupedCall> calls_;
  bool isPosted_ = false;
};

/// What the end of a group starts: communicators that are made, and calls that are queued. Before that, the host needs
/// the other ranks, where NCCL makes connections.
class GroupLaunch {
 public:
  GroupLaunch(std::vector<MemberPointer> made, std::vector<GroupedCall> calls)
      : made_(std::move(made)), calls_(std::move(calls)) {
    for (const GroupedCall& call : calls_) call.member->clique->connect(call.member->rank, *call.operation);
  }

  std::vector<MemberPointer> members() const {
    std::vector<MemberPointer> all = made_;
    for (const GroupedCall& call : calls_) all.push_back(call.member);
    return all;
  }

  /// Waits for the other ranks, and queues the calls.
  ncclResult_t run() {
    for (const MemberPointer& member : made_)
      if (!member->clique->waitForRanks()) return failureOf(*member);
    for (const GroupedCall& call : calls_)
      if (!call.member->clique->waitForConnection(call.member->rank, *call.operation)) return failureOf(*call.member);
    return queue();
  }

  /// The same as far as it goes without a wait. Says nothing but ncclInProgress at first, as NCCL may.
  ncclResult_t poll() {
    if (++polls_ < 3) return ncclInProgress;
    for (const MemberPointer& member : members())
      if (member->clique->failure() != ncclSuccess) return end(member->clique->failure());
    return isReady() ? end(queue()) : ncclInProgress;
  }

  /// Nothing is in progress any more.
  ncclResult_t end(ncclResult_t code) {
    for (const MemberPointer& member : members()) member->pending = nullptr;
    return code;
  }

 private:
  static ncclResult_t failureOf(const Member& member) {
    const ncclResult_t code = member.clique->failure();
    return code != ncclSuccess ? code : ncclSystemError;
  }

  bool isReady() const {
    return std::all_of(made_.begin(), made_.end(), [](const auto& member) { return member->clique->isComplete(); }) &&
           std::all_of(calls_.begin(), calls_.end(), [](const GroupedCall& call) {
             return call.member->clique->isConnected(call.member->rank, *call.operation);
           });
  }

  ncclResult_t queue() const {
    if (calls_.empty()) return ncclSuccess;
    std::vector<cudaStream_t> streams;
    std::vector<WorkPointer> before;
    for (const GroupedCall& call : calls_) {
      if (std::find(streams.begin(), streams.end(), call.stream) == streams.end()) streams.push_back(call.stream);
      if (call.member->last != nullptr) before.push_back(call.member->last);
    }
    const auto group = std::make_shared<GroupWork>(calls_);
    const WorkPointer work = Queue::instance().append(
        streams, [group] { return group->run(); }, before, [group] { return group->begin(); });
    for (const GroupedCall& call : calls_) call.member->last = work;
    return work->code == cudaSuccess ? ncclSuccess : calls_.front().member->clique->failure();
  }

  std::vector<MemberPointer> made_;
  std::vector<GroupedCall> calls_;
  int polls_ = 0;
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
    made_.clear();
    return ncclSuccess;
  }

  /// Adds a call, which is queued at the end of the group.
  ncclResult_t add(GroupedCall call) {
    calls_.push_back(std::move(call));
    return depth_ > 0 ? ncclSuccess : submit();
  }

  /// Adds a communicator that the caller has joined, and that needs the others at the end of the group.
  ncclResult_t add(MemberPointer member) {
    made_.push_back(std::move(member));
    return depth_ > 0 ? ncclSuccess : submit();
  }

 private:
  ncclResult_t submit() {
    const auto launch = std::make_shared<GroupLaunch>(std::exchange(made_, {}), std::exchange(calls_, {}));
    const std::vector<MemberPointer> members = launch->members();
    const auto blocks = [](const MemberPointer& member) { return member->isBlocking; };
    if (std::all_of(members.begin(), members.end(), blocks)) return launch->run();
    if (std::any_of(members.begin(), members.end(), blocks)) return ncclInvalidArgument;
    for (const MemberPointer& member : members) member->pending = launch;
    return ncclInProgress;
  }

  int depth_ = 0;
  std::vector<GroupedCall> calls_;
  std::vector<MemberPointer> made_;
};

}  // namespace gpuopt::emulation::detail
