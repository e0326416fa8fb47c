/// The ranks of a communicator, and how their operations meet: whoever comes last does the work for all.
// SPDX-License-Identifier: MIT
#pragma once

#include "../queue.hpp"
#include "../report.hpp"
#include "../settings.hpp"
#include "reduction.hpp"
#include "types.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

/// GPUOPT_EMULATION_TIMEOUT: seconds that a rank waits for the others.
inline std::chrono::seconds rankTimeout() {
  return std::chrono::seconds(static_cast<long>(environmentNumber("GPUOPT_EMULATION_TIMEOUT", 60)));
}

/// A rank's part in a transfer or a collective.
struct RankOperation {
  const char* call;
  const void* from;
  void* to;
  std::size_t count;
  ncclDataType_t type;
  ncclRedOp_t op;
  int peer;  ///< or root
  bool isDone = false;
  MomentPointer moment{};  ///< of the work that it is in

  std::size_t bytes() const { return count * bytesOf(type); }
  bool is(const char* name) const { return std::strcmp(call, name) == 0; }
  bool isSend() const { return is("ncclSend"); }
  bool isReceive() const { return is("ncclRecv"); }

  std::string describe() const {
    return std::string(call) + " of " + std::to_string(count) + " elements of type " + std::to_string(type) +
           ", operation " + std::to_string(op) + ", root " + std::to_string(peer);
  }
};

using OperationPointer = std::shared_ptr<RankOperation>;

/// For tests: an abort ends gatherings with what the ranks that have not come sent last, instead of a failure, as on
/// GPUs, where a kernel that is aborted sends on what is in its buffer.
inline std::atomic<bool> abortSendsOldData{false};

class Clique {
 public:
  explicit Clique(int size) : size_(size), devices_(static_cast<std::size_t>(size), -1) {}

  int size() const { return size_; }

  /// A rank comes. False if it is there already, or another one on its device.
  bool join(int rank, int device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const int other : devices_)
      if (other == device) return false;
    if (devices_[static_cast<std::size_t>(rank)] >= 0) return false;
    devices_[static_cast<std::size_t>(rank)] = device;
    ++joined_;
    changed_.notify_all();
    return true;
  }

  bool isComplete() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return joined_ == size_;
  }

  /// Waits until all ranks have come. False if they never will.
  bool waitForRanks() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, rankTimeout(), [this] { return joined_ == size_ || failure_ != ncclSuccess; });
    return joined_ == size_;
  }

  /// A rank comes to a connection: of all ranks, for the first collective of a kind, or of two, for their first
  /// transfer. NCCL makes it on the host, with all of its ranks.
  void connect(int rank, const RankOperation& operation) {
    const std::lock_guard<std::mutex> lock(mutex_);
    connections_[connectionOf(rank, operation)].insert(rank);
    changed_.notify_all();
  }

  bool isConnected(int rank, const RankOperation& operation) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return hasConnection(rank, operation);
  }

  /// Waits until all ranks of a connection have come. False if they never will.
  bool waitForConnection(int rank, const RankOperation& operation) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto isOver = [&] { return hasConnection(rank, operation) || failure_ != ncclSuccess; };
    if (!changed_.wait_for(lock, rankTimeout(), isOver)) failLate(rank, operation);
    return hasConnection(rank, operation);
  }

  /// A rank comes to an operation. The last one that it needs does it for all.
  void post(int rank, const OperationPointer& operation) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure_ != ncclSuccess) return;
    if (isTransfer(*operation))
      postTransfer(wayOf(rank, *operation), operation);
    else
      postCollective(rank, operation);
    changed_.notify_all();
  }

  /// Whether an operation is done, or never will be. Does not wait.
  bool isOver(const OperationPointer& operation) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return operation->isDone || failure_ != ncclSuccess;
  }

  /// Waits until an operation is done. False if it never will be.
  bool wait(int rank, const OperationPointer& operation) {
    std::unique_lock<std::mutex> lock(mutex_);
    const auto isOver = [&] { return operation->isDone || failure_ != ncclSuccess; };
    if (!changed_.wait_for(lock, rankTimeout(), isOver)) failLate(rank, *operation);
    if (!operation->isDone) noteWritten(operation->to, bytesReceived(*operation));  // no value, which is known
    return operation->isDone;
  }

  /// Ends the waits of all ranks.
  void abort() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (abortSendsOldData)
      endWithOldData();
    else if (failure_ == ncclSuccess)
      failure_ = ncclRemoteError;
    isAborted_ = true;
    changed_.notify_all();
  }

  ncclResult_t failure() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return failure_;
  }

  bool isAborted() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return isAborted_;
  }

 private:
  using Collective = std::vector<OperationPointer>;  // one of each rank
  using Way = std::pair<int, int>;                   // from one rank to another

  static bool isTransfer(const RankOperation& operation) { return operation.isSend() || operation.isReceive(); }

  static Way wayOf(int rank, const RankOperation& operation) {
    return operation.isSend() ? Way{rank, operation.peer} : Way{operation.peer, rank};
  }

  static std::string connectionOf(int rank, const RankOperation& operation) {
    if (!isTransfer(operation)) return operation.call;
    const Way way = wayOf(rank, operation);
    return std::to_string(way.first) + " > " + std::to_string(way.second);
  }

  bool hasConnection(int rank, const RankOperation& operation) {
    const int ranks = !isTransfer(operation) ? size_ : operation.peer == rank ? 1 : 2;
    return static_cast<int>(connections_[connectionOf(rank, operation)].size()) == ranks;
  }

  /// What one rank has sent to another, or wants from it, in order.
  void postTransfer(Way way, const OperationPointer& operation) {
    auto& waiting = transfers_[way];
    if (waiting.empty() || waiting.front()->isSend() == operation->isSend()) {
      waiting.push_back(operation);
      return;
    }
    const OperationPointer other = waiting.front();
    waiting.pop_front();
    const RankOperation& send = operation->isSend() ? *operation : *other;
    const RankOperation& receive = operation->isSend() ? *other : *operation;
    if (send.bytes() != receive.bytes())
      return fail(ncclInvalidUsage, "rank " + std::to_string(way.first) + " sends " + std::to_string(send.bytes()) +
                                        " bytes to rank " + std::to_string(way.second) + ", which receives " +
                                        std::to_string(receive.bytes()));
    if (send.bytes() > 0) std::memcpy(receive.to, send.from, send.bytes());
    noteWritten(receive.to, send.bytes());
    noteMet(receive, {send.moment});
    operation->isDone = other->isDone = true;
  }

  void postCollective(int rank, const OperationPointer& operation) {
    auto at = collectives_.begin();  // the first one that this rank has not come to
    while (at != collectives_.end() && (*at)[static_cast<std::size_t>(rank)] != nullptr) ++at;
    if (at == collectives_.end()) at = collectives_.insert(at, Collective(static_cast<std::size_t>(size_)));
    (*at)[static_cast<std::size_t>(rank)] = operation;
    for (const OperationPointer& part : *at)
      if (part != nullptr && part->describe() != operation->describe())
        return fail(ncclInvalidUsage, "ranks call different collectives: " + part->describe() + "; rank " +
                                          std::to_string(rank) + " " + operation->describe());
    for (const OperationPointer& part : *at)
      if (part == nullptr) return;
    run(*at);
    noteMet(*at);
    for (const OperationPointer& part : *at) part->isDone = true;
    collectives_.erase(at);
  }

  void run(const Collective& parts) {
    const RankOperation& model = *parts.front();
    if (model.is("ncclAllGather"))
      allGather(parts);
    else if (model.is("ncclBroadcast"))
      broadcast(parts);
    else
      reduce(parts);
  }

  static void noteMet(const RankOperation& operation, const std::vector<MomentPointer>& others) {
    StreamObserver* const observer = streamObserver;
    if (observer != nullptr && operation.moment != nullptr) observer->met(operation.moment, others);
  }

  /// A rank waits for those whose values it receives.
  static void noteMet(const Collective& parts) {
    const RankOperation& model = *parts.front();
    std::vector<MomentPointer> senders;
    for (std::size_t rank = 0; rank < parts.size(); ++rank)
      if (!model.is("ncclBroadcast") || static_cast<int>(rank) == model.peer) senders.push_back(parts[rank]->moment);
    for (std::size_t rank = 0; rank < parts.size(); ++rank)
      if (!model.is("ncclReduce") || static_cast<int>(rank) == model.peer) noteMet(*parts[rank], senders);
  }

  void endWithOldData() {
    for (const Collective& parts : std::exchange(collectives_, {})) {
      allGather(parts);
      for (const OperationPointer& part : parts)
        if (part != nullptr) part->isDone = true;
    }
  }

  void allGather(const Collective& parts) {
    std::size_t bytes = 0;
    for (const OperationPointer& part : parts)
      if (part != nullptr) bytes = part->bytes();
    std::vector<unsigned char> all;  // a rank's input may be part of its output
    sent_.resize(parts.size());
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      const auto* const from = parts[rank] != nullptr ? static_cast<const unsigned char*>(parts[rank]->from) : nullptr;
      if (from != nullptr) sent_[rank].assign(from, from + bytes);
      sent_[rank].resize(bytes);
      all.insert(all.end(), sent_[rank].begin(), sent_[rank].end());
    }
    for (const OperationPointer& part : parts) {
      if (part == nullptr) continue;
      if (bytes > 0) std::memcpy(part->to, all.data(), all.size());
      noteWritten(part->to, all.size());
    }
  }

  static void broadcast(const Collective& parts) {
    const RankOperation& root = *parts[static_cast<std::size_t>(parts.front()->peer)];
    for (const OperationPointer& part : parts) {
      if (root.bytes() > 0) std::memmove(part->to, root.from, root.bytes());
      noteWritten(part->to, root.bytes());
    }
  }

  /// ncclAllReduce, ncclReduce and ncclReduceScatter.
  static void reduce(const Collective& parts) {
    const RankOperation& model = *parts.front();
    const bool scatters = model.is("ncclReduceScatter");
    std::vector<const void*> from;
    for (const OperationPointer& part : parts) from.push_back(part->from);
    const auto sum = reduced(model.type, model.op, from, 0, model.count * (scatters ? parts.size() : 1));
    for (std::size_t rank = 0; rank < parts.size(); ++rank) {
      const bool isMeant = !model.is("ncclReduce") || static_cast<int>(rank) == model.peer;
      if (!isMeant || model.bytes() == 0) continue;
      std::memcpy(parts[rank]->to, sum.data() + (scatters ? rank * model.bytes() : 0), model.bytes());
      noteWritten(parts[rank]->to, model.bytes());
    }
  }

  std::size_t bytesReceived(const RankOperation& operation) const {
    if (operation.to == nullptr) return 0;
    return operation.bytes() * (operation.is("ncclAllGather") ? static_cast<std::size_t>(size_) : 1);
  }

  void failLate(int rank, const RankOperation& operation) {
    fail(ncclSystemError, "rank " + std::to_string(rank) + " waits in vain in " + operation.describe());
  }

  void fail(ncclResult_t code, const std::string& why) {
    if (failure_ == ncclSuccess) report("NCCL: " + why);
    if (failure_ == ncclSuccess) failure_ = code;
    changed_.notify_all();
  }

  const int size_;
  std::vector<int> devices_;  // of the ranks; -1 until they come
  int joined_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  ncclResult_t failure_ = ncclSuccess;
  bool isAborted_ = false;
  std::map<std::string, std::set<int>> connections_;  // the ranks that have come to each
  std::map<Way, std::deque<OperationPointer>> transfers_;
  std::deque<Collective> collectives_;            // those that not all ranks have come to, in order
  std::vector<std::vector<unsigned char>> sent_;  // what each rank has sent to the last gathering
};

}  // namespace gpuopt::emulation::detail
