/// \file
/// How the ranks of a communicator get to write to each other's memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/nccl.cuh>
#include <gpuopt/device/distributed/peer_memory.cuh>
#include <gpuopt/device/distributed/waiting.cuh>
#include <gpuopt/grid/peer_words.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Up to 64 bytes of a file; none if it cannot be read.
inline std::string readFile(const char* path) {
  char bytes[64];
  std::FILE* const file = std::fopen(path, "rb");
  const std::size_t count = file != nullptr ? std::fread(bytes, 1, sizeof bytes, file) : 0;
  if (file != nullptr) std::fclose(file);
  return std::string(bytes, count);
}

inline std::uint64_t hashOf(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Tells processes apart, also those of containers that number their processes alike.
GPUOPT_HIDDEN inline std::uint64_t processToken() {
  static const std::uint64_t token = hashOf(readFile("/dev/urandom"));
  return token;
}

// Tells hosts apart.
inline std::uint64_t hostToken() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return hashOf(name + readFile("/proc/sys/kernel/random/boot_id"));
}

// What a rank tells the others of its memory.
struct PeerAddress {
  std::uint64_t host, process;
  int device;
  bool hasHandle;
  void* memory;
  cudaIpcMemHandle_t handle;
  unsigned number;  // of the memory, in its process
};

inline PeerAddress peerAddress(void* memory, int device) {
  static std::atomic<unsigned> count{0};
  PeerAddress address{hostToken(), processToken(), device, false, memory, {}, ++count};
  const cudaError_t code = cudaIpcGetMemHandle(&address.handle, memory);
  address.hasHandle = code == cudaSuccess;
  forgetError(code);
  return address;
}

// The most bytes of a rank's value that gatherValues takes.
inline constexpr std::size_t gatheredBytes = 256;

// Exchanges a value of each rank, on the host. Waits for all ranks. `memory` has gatheredBytes for each of them, and
// for one more.
template <class T>
std::vector<T> gatherValues(ncclComm_t comm, int size, const T& value, unsigned char* memory, cudaStream_t stream,
                            NcclWait& wait, const char* function) {
  static_assert(sizeof(T) <= gatheredBytes);
  std::vector<T> values(static_cast<std::size_t>(size));
  const std::size_t bytes = values.size() * sizeof(T);
  check(cudaMemcpyAsync(memory + bytes, &value, sizeof(T), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  wait.begin(stream);
  wait.untilQueued(ncclAllGather(memory + bytes, memory, sizeof(T), ncclUint8, comm, stream), "ncclAllGather",
                   function);
  wait.finish(stream, function);
  check(cudaMemcpyAsync(values.data(), memory, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  return values;
}

// The memory of the other ranks under addresses that this device can write; null where it cannot.
class PeerConnection {
 public:
  explicit PeerConnection(const bool& isStuck) : isStuck_(isStuck) {}
  PeerConnection(const PeerConnection&) = delete;
  PeerConnection& operator=(const PeerConnection&) = delete;
  ~PeerConnection() {
    if (isStuck_) return;
    for (void* const memory : opened_) forgetError(cudaIpcCloseMemHandle(memory));
  }

  // To all that can be written from here.
  void connect(const std::vector<PeerAddress>& addresses, int rank) {
    const PeerAddress& own = addresses[static_cast<std::size_t>(rank)];
    for (const PeerAddress& peer : addresses)
      memory_.push_back(peer.process == own.process ? enable(peer, own) : open(peer, own));
  }

  void* memory(int rank) const { return memory_[static_cast<std::size_t>(rank)]; }

  bool reachesAll(const std::vector<int>& ranks) const {
    return std::all_of(ranks.begin(), ranks.end(), [this](int rank) { return memory(rank) != nullptr; });
  }

 private:
  // A device of this process.
  void* enable(const PeerAddress& peer, const PeerAddress& own) {
    if (peer.device != own.device && !reaches(peer.device, own.device)) return nullptr;
    auto memory = PeerMemories::instance().find(peer.memory);
    if (memory == nullptr) return nullptr;
    shared_.emplace_back(std::move(memory), isStuck_);
    return peer.memory;
  }

  static bool reaches(int peer, int own) {
    int canAccess = 0;
    const cudaError_t asked = cudaDeviceCanAccessPeer(&canAccess, own, peer);
    forgetError(asked);
    if (asked != cudaSuccess || canAccess == 0) return false;
    const cudaError_t enabled = cudaDeviceEnablePeerAccess(peer, 0);
    forgetError(enabled);
    return enabled == cudaSuccess || enabled == cudaErrorPeerAccessAlreadyEnabled;
  }

  // A device of another process on this host.
  void* open(const PeerAddress& peer, const PeerAddress& own) {
    if (peer.host != own.host || !peer.hasHandle) return nullptr;
    void* memory = nullptr;
    const cudaError_t code = cudaIpcOpenMemHandle(&memory, peer.handle, cudaIpcMemLazyEnablePeerAccess);
    forgetError(code);
    if (code != cudaSuccess) return nullptr;
    opened_.push_back(memory);
    return memory;
  }

  const bool& isStuck_;
  std::vector<void*> memory_, opened_;
  std::vector<OwnedMemory> shared_;
};

}  // namespace detail
GPUOPT_NAMESPACE_END
