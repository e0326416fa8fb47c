/// \file
/// What a team consists of: the memory in which its ranks meet, and the exchanges of all its calls.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/distributed/combine.cuh>
#include <gpuopt/device/distributed/connection.cuh>
#include <gpuopt/device/distributed/failure_words.cuh>
#include <gpuopt/device/distributed/nccl.cuh>
#include <gpuopt/device/distributed/nodes.cuh>
#include <gpuopt/device/distributed/peer_memory.cuh>
#include <gpuopt/device/distributed/reduce_plan.cuh>
#include <gpuopt/device/distributed/tuning.cuh>
#include <gpuopt/device/distributed/waiting.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/host/result.cuh>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

GPUOPT_NAMESPACE_BEGIN
namespace distributed {
class Team;
}

namespace detail {

struct TeamAccess;
class SymmetricMemory;

inline std::string failureText(unsigned failure, const char* function) {
  const int rank = static_cast<int>(failure & 0xffff);
  switch (static_cast<PeerFailure>(failure >> 16)) {
    case PeerFailure::refused:
      return message({function, ": rank ", rank, " refused its arguments"});
    case PeerFailure::different:
      return message({function, ": rank ", rank, " made a different call, or used a different type"});
    case PeerFailure::lost:
      return message({function, ": a rank did not come in time"});
    case PeerFailure::timeout:
      return message({function, ": rank ", rank, " did not come in time"});
    default:
      return message({function, ": no rank has elements, and the operation has no known identity: pass init"});
  }
}

[[noreturn]] inline void throwFailure(unsigned failure, const char* function) {
  const std::string text = failureText(failure, function);
  if (static_cast<PeerFailure>(failure >> 16) == PeerFailure::empty) throw std::invalid_argument(text);
  throw distributed::TeamError(static_cast<int>(failure & 0xffff), text);
}

// The word by which the other ranks know a call: of its name and the size of its partial result.
inline unsigned callWord(const char* function, std::size_t bytes) {
  unsigned word = 2166136261u;  // FNV-1a
  for (; *function != '\0'; ++function) word = (word ^ static_cast<unsigned char>(*function)) * 16777619u;
  word = (word ^ static_cast<unsigned>(bytes)) * 16777619u;
  return word == refusedCall ? 0 : word;
}

// The same of a call that has this number in common on all ranks, too.
inline unsigned callWord(unsigned word, std::size_t number) {
  for (int byte = 0; byte < 8; ++byte, number >>= 8) word = (word ^ static_cast<unsigned char>(number)) * 16777619u;
  return word == refusedCall ? 0 : word;
}

// What NCCL may use for ever, *isStuck, is left to the end of the process.
struct FreeStream {
  const bool* isStuck = nullptr;

  void operator()(cudaStream_t stream) const {
    if (!*isStuck) forgetError(cudaStreamDestroy(stream));
  }
};

// The device of a communicator, which has to be the current one. Waits for a non-blocking one that is still being made.
inline int teamDevice(ncclComm_t comm, NcclWait& wait) {
  if (comm == nullptr) throwInvalid({"gpuopt::distributed::Team: comm is null"});
  wait.untilReady("gpuopt::distributed::Team");
  int device = 0;
  detail::checkNccl(ncclCommCuDevice(comm, &device), "ncclCommCuDevice");
  if (device != currentDevice())
    throwInvalid({"gpuopt::distributed::Team: the communicator is of device ", device, ", the current device is ",
                  currentDevice()});
  return device;
}

template <class Ask>
int ncclValue(const Ask& ask, const char* call) {
  int value = 0;
  detail::checkNccl(ask(&value), call);
  return value;
}

class TeamState {
 public:
  GPUOPT_HIDDEN TeamState(ncclComm_t communicator, bool usesPeerAccess, std::chrono::nanoseconds timeout,
                          std::function<void()> abandon)
      : comm(communicator),
        wait(comm, timeout, std::move(abandon)),
        device(teamDevice(comm, wait)),
        rank(ncclValue([this](int* value) { return ncclCommUserRank(comm, value); }, "ncclCommUserRank")),
        size(ncclValue([this](int* value) { return ncclCommCount(comm, value); }, "ncclCommCount")) {
    allocate();
    connect(usesPeerAccess);
    unsigned* const own = contribution() + maxPeerWords;
    const auto nanoseconds = static_cast<unsigned long long>(timeout.count());
    peers = tableOf(nanoseconds, 0, own, own + 2);
    agreements = tableOf(nanoseconds, 1, own + 1, own + 2);
  }
  TeamState(const TeamState&) = delete;
  TeamState& operator=(const TeamState&) = delete;

  const ncclComm_t comm;
  NcclWait wait;  // for what NCCL does, by the host
  const int device, rank, size;
  bool usesPeers = false;  // all ranks reach each other
  RankNodes nodes;         // those that do: all, some, or each rank alone
  PeerTable peers{};       // of the node, for exchanges in the order of the caller's streams,
  PeerTable agreements{};  // and for those that the host waits for
  SlabTuning slabTuning;
  std::vector<const SymmetricMemory*> symmetric;  // what the ranks have allocated together

  // This rank's contribution to an exchange between peers, in its own memory.
  unsigned* contribution() const { return reinterpret_cast<unsigned*>(memory_.data() + 2 * slotBytes); }

  // For work beside that of the caller's stream.
  cudaStream_t sideStream() const { return sideStream_.get(); }

  // The first failure of an asynchronous call; kernels write it.
  unsigned* failed() const { return failed_.get(); }

  // Throws if an asynchronous call has failed, or the communicator of a team without peer access.
  void requireSuccess(const char* function) {
    const unsigned failure = *static_cast<const volatile unsigned*>(failed_.get());
    if (failure != 0) fail(failure, function);
    const unsigned inNode = static_cast<const volatile unsigned*>(failed_.get())[1];
    if (inNode != 0) throwFailure(ofAllRanks(inNode), function);
    if (!usesPeers || wait.hasFailed()) wait.requireSuccess(function);
  }

  // Throws what a kernel has noticed.
  [[noreturn]] void fail(unsigned failure, const char* function) {
    if (static_cast<PeerFailure>(failure >> 16) == PeerFailure::lost) wait.lose(function);
    throwFailure(failure, function);
  }

  // Whether the calling thread can call for this team.
  bool isDeviceCurrent() const { return currentDevice() == device; }

  // After a call with wrong arguments on this rank: tells the others, who would wait for it. `words` are the words of a
  // contribution, `isAsynchronous` whether later calls are to fail.
  GPUOPT_HIDDEN void refuse(cudaStream_t stream, unsigned words, bool isAsynchronous) noexcept {
    if (isAsynchronous && *failed() == 0) *failed() = static_cast<unsigned>(PeerFailure::refused) << 16 | ownRank();
    if (wait.hasFailed()) return;
    try {
      const cudaStream_t queue = queueOfRefusal(stream);
      const DeviceScope scope(device);
      if (planTeamReduce({size, usesPeers, words}).algorithm == TeamReduceAlgorithm::peers)
        return launch(meetPeersKernel<false>, config(queue, 1), peers, refusedCall, failed_.get());
      const ScratchMemory gathered(std::size_t{words} * sizeof(unsigned) * static_cast<unsigned>(size), queue);
      auto* const all = reinterpret_cast<unsigned*>(gathered.data());
      launch(refuseKernel<>, config(queue, 1), all + words * ownRank(), exchange());
      wait.untilQueued(ncclAllGather(all + words * ownRank(), all, words, ncclUint32, comm, queue), "ncclAllGather",
                       "gpuopt::distributed");
      wait.leavePending(queue);
    } catch (...) {  // the others give up in time
    }
  }

  GPUOPT_HIDDEN void barrier(cudaStream_t stream) {
    constexpr const char* FUNCTION = "gpuopt::distributed::Team::barrier";
    unsigned* const words = contribution();
    const unsigned call = callWord(FUNCTION, 0);
    if (usesPeers) {
      meet(call, stream);
    } else {
      wait.requireSuccess(FUNCTION);
      if (isCapturing(stream))
        wait.untilQueued(ncclAllReduce(words, words, 1, ncclUint32, ncclMax, comm, stream), "ncclAllReduce", FUNCTION);
      else if (!isOver_)
        agreeByNccl(call, FUNCTION, stream);
    }
    requireSuccess(FUNCTION);
  }

  // A barrier between the ranks of a node, for a call. Its ranks are numbered within it. A relaxed one says only that
  // the streams of all ranks have come here.
  template <PeerOrder ORDER = PeerOrder::ordered>
  void meet(unsigned call, cudaStream_t stream) const {
    launch(meetPeersKernel<true, ORDER>, config(stream, 1), peers, call, failed_.get() + (usesPeers ? 0 : 1));
  }

  // Waits on the host until all ranks have come here with the same call, or throws. In no order with the caller's
  // streams, and no part of a graph.
  GPUOPT_HIDDEN void agree(unsigned call, const char* function) {
    const RelaxedCapture relaxed;
    if (usesPeers) {
      launch(meetPeersKernel<true>, config(stream_.get(), 1), agreements, call, failed_.get());
      check(cudaStreamSynchronize(stream_.get()), "cudaStreamSynchronize");
    } else {
      agreeByNccl(call, function, stream_.get());
    }
    requireSuccess(function);
  }

  // After a call with wrong arguments on this rank: the others learn of it, whether they wait on the host or in a
  // stream. From then on all calls fail. Of an earlier failure the others know, and may have gone: nothing is written
  // to their memory.
  GPUOPT_HIDDEN void leave(cudaStream_t stream) noexcept {
    const bool isKnown = *failed() != 0;
    if (!isKnown) *failed() = failureCode(PeerFailure::refused, rank);
    if (wait.hasFailed() || (usesPeers ? isKnown : isOver_)) return;
    isOver_ = true;
    try {
      const RelaxedCapture relaxed;
      const cudaStream_t queue = queueOfRefusal(stream);
      const DeviceScope scope(device);
      if (!usesPeers) return static_cast<void>(gather(refusedCall, "gpuopt::distributed"));
      launch(leavePeersKernel<>, config(queue, 1), peers, agreements);
      peers.timeout = agreements.timeout = 0;  // from now on nobody answers
    } catch (...) {                            // the others give up in time
    }
  }

  // A value of each rank. Waits for all ranks.
  template <class T>
  std::vector<T> gather(const T& value, const char* function) {
    return gather(value, function, stream_.get());
  }
  template <class T>
  std::vector<T> gather(const T& value, const char* function, cudaStream_t stream) {
    const Marked<T> own{value, callWord(id_, ++gathers_)};
    std::vector<T> values;
    for (const auto& each : gatherValues(comm, size, own, memory_.data() + gatherOffset, stream, wait, function)) {
      if (each.mark != own.mark) wait.lose(function);
      values.push_back(each.value);
    }
    return values;
  }

  // The number of the next exchange that NCCL gathers in the order of the caller's streams.
  unsigned* exchange() const { return contribution() + maxPeerWords + 3; }

  // The launch of one block with a thread for each word of all ranks, or as many as there may be.
  LaunchConfig config(cudaStream_t stream, unsigned words) const {
    return gridConfig(static_cast<int>(exchangeBlock(words, size)), 1, stream, "gpuopt::distributed");
  }

  unsigned ownRank() const { return static_cast<unsigned>(rank); }

 private:
  static constexpr std::size_t slotBytes = peerSlotWords * sizeof(MarkedWord);

  // Slots of exchanges and of agreements, a contribution, two epochs and whether the team is broken, the number of
  // an exchange, what is gathered.
  static constexpr std::size_t gatherOffset = roundUp(2 * slotBytes + (maxPeerWords + 4) * sizeof(unsigned), 256);

  // What a rank has gathered, and in which gathering of which team: see exchangeMark.
  template <class T>
  struct Marked {
    T value;
    unsigned mark;
  };

  void agreeByNccl(unsigned call, const char* function, cudaStream_t stream) {
    const auto calls = gather(call, function, stream);
    for (int other = 0; other < size && *failed() == 0; ++other) {
      const unsigned others = calls[static_cast<std::size_t>(other)];
      const PeerFailure why = others == refusedCall ? PeerFailure::refused : PeerFailure::different;
      if (others != call) *failed() = failureCode(why, other);
    }
    isOver_ = *failed() != 0;
  }

  void allocate() {
    const RelaxedCapture relaxed;
    for (auto* const owner : {&stream_, &sideStream_}) {
      cudaStream_t stream = nullptr;
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
      *owner = {stream, FreeStream{&wait.isStuck()}};
    }
    const std::size_t bytes = gatherOffset + (static_cast<std::size_t>(size) + 1) * gatheredBytes;
    memory_ = OwnedMemory(PeerMemories::instance().make(bytes), wait.isStuck());
    check(cudaMemsetAsync(memory_.data(), 0, bytes, stream_.get()), "cudaMemsetAsync");
  }

  // The caller's stream, unless nothing would run in it now, or it may be of another device.
  cudaStream_t queueOfRefusal(cudaStream_t stream) const {
    return !isDeviceCurrent() || isCapturing(stream) ? stream_.get() : stream;
  }

  // A failure in the node, with the rank's number in the team.
  unsigned ofAllRanks(unsigned failure) const {
    return (failure & ~0xffffu) | static_cast<unsigned>(nodes.ranks(rank)[failure & 0xffff]);
  }

  // Finds the ranks that reach each other. If they are not the same for all of a node, each rank is alone.
  void connect(bool isWanted) {
    constexpr const char* FUNCTION = "gpuopt::distributed::Team";
    const auto addresses = gather(peerAddress(memory_.data(), device), FUNCTION);
    id_ = callWord(callWord(0u, addresses[0].process), addresses[0].number);
    check(cudaMemcpyAsync(exchange(), &id_, sizeof id_, cudaMemcpyHostToDevice, stream_.get()), "cudaMemcpyAsync");
    int lowest = rank;
    if (isWanted) connection_.connect(addresses, rank);
    for (int other = rank - 1; isWanted && other >= 0; --other)
      if (connection_.memory(other) != nullptr) lowest = other;
    nodes = RankNodes(gather(lowest, FUNCTION));
    const auto& own = nodes.ranks(rank);
    const bool isNode = own.size() <= maxPeers && (isWanted ? connection_.reachesAll(own) : own.size() == 1);
    for (const char each : gather(static_cast<char>(isNode), FUNCTION))
      if (each == 0) nodes = RankNodes::alone(size);
    usesPeers = isWanted && nodes.count() == 1;
  }

  // The node's slots number `set`, with words of this rank.
  PeerTable tableOf(unsigned long long timeout, unsigned set, unsigned* epoch, unsigned* broken) const {
    PeerTable table{};
    table.epoch = epoch;
    table.broken = broken;
    table.timeout = timeout;
    const std::vector<int>& own = nodes.ranks(rank);
    table.rank = nodes.indexOf(rank);
    table.size = static_cast<int>(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) {
      void* const memory = own[i] == rank ? memory_.data() : connection_.memory(own[i]);
      table.slots[i] = static_cast<MarkedWord*>(memory) + set * peerSlotWords;
    }
    return table;
  }

  std::unique_ptr<std::remove_pointer_t<cudaStream_t>, FreeStream> stream_, sideStream_;
  OwnedMemory memory_;
  FailureWords failed_;
  PeerConnection connection_{wait.isStuck()};
  // The same on all ranks: who the team is, and how often it has gathered values.
  unsigned id_ = 0, gathers_ = 0;
  bool isOver_ = false;  // without peer access: all ranks know of a failure, and nothing is gathered any more

  // Before all else ends. Failure words that a kernel may still write stay this team's.
  struct Settled {
    TeamState& team;
    ~Settled() {
      team.wait.settle();
      if (team.wait.isStuck()) *team.failed() = failureCode(PeerFailure::lost, team.rank);
    }
  };
  const Settled settled_{*this};
};

// The calls of a team are for its own device.
inline void requireTeamDevice(const TeamState& team, const char* function) {
  if (!team.isDeviceCurrent())
    throwInvalid({function, ": the team is of device ", team.device, ", the current device is ", currentDevice()});
}

}  // namespace detail
GPUOPT_NAMESPACE_END
