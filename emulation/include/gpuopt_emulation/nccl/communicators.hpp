/// NCCL's communicators: made, asked and ended.
// SPDX-License-Identifier: MIT
#pragma once

#include "group.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>

struct ncclComm {
  gpuopt::emulation::detail::MemberPointer member;
};

namespace gpuopt::emulation::detail {

/// The communicators whose ranks are coming, by their ids.
class Cliques {
 public:
  static Cliques& instance() {
    static Cliques* const cliques = new Cliques;
    return *cliques;
  }

  ncclUniqueId makeId() {
    const std::lock_guard<std::mutex> lock(mutex_);
    ncclUniqueId id{};
    ++last_;
    std::memcpy(id.internal, &last_, sizeof last_);
    return id;
  }

  /// The communicator of an id; null if another rank has given it another size.
  std::shared_ptr<Clique> get(const ncclUniqueId& id, int size) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto& clique = cliques_[std::string(id.internal, NCCL_UNIQUE_ID_BYTES)];
    if (clique == nullptr) clique = std::make_shared<Clique>(size);
    return clique->size() == size ? clique : nullptr;
  }

 private:
  std::mutex mutex_;
  std::uint64_t last_ = 0;
  std::map<std::string, std::shared_ptr<Clique>> cliques_;
};

inline thread_local std::string lastNcclError;

/// Fails with a report of what the caller did wrong.
inline ncclResult_t ncclFailure(ncclResult_t code, const std::string& what) {
  lastNcclError = what;
  report("NCCL: " + what);
  return code;
}

/// Refuses a call on a communicator that is still busy with the one before.
inline ncclResult_t requireReady(ncclComm_t comm, const char* call) {
  if (comm == nullptr) return ncclInvalidArgument;
  if (comm->member->pending == nullptr) return ncclSuccess;
  return ncclFailure(
      ncclInvalidArgument,
      std::string(call) + ": the communicator is in progress, until ncclCommGetAsyncError says otherwise");
}

}  // namespace gpuopt::emulation::detail

inline ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

inline ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (id == nullptr) return ncclInvalidArgument;
  *id = gpuopt::emulation::detail::Cliques::instance().makeId();
  return ncclSuccess;
}

inline ncclResult_t ncclGroupStart() {
  gpuopt::emulation::detail::Group::current().start();
  return ncclSuccess;
}
inline ncclResult_t ncclGroupEnd() { return gpuopt::emulation::detail::Group::current().end(); }

/// Makes a communicator with the other ranks: threads of this process, or calls of the same group. Waits for them
/// unless `config` says that it does not block.
inline ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank,
                                           ncclConfig_t* config) {
  namespace emulated = gpuopt::emulation::detail;
  const int blocking = config != nullptr ? config->blocking : NCCL_CONFIG_UNDEF_INT;
  if (comm == nullptr || ranks < 1 || rank < 0 || rank >= ranks)
    return emulated::ncclFailure(ncclInvalidArgument, "ncclCommInitRank: rank " + std::to_string(rank) + " of " +
                                                          std::to_string(ranks) + ", or comm is null");
  const bool isMode = blocking == 0 || blocking == 1 || blocking == NCCL_CONFIG_UNDEF_INT;
  if (config != nullptr && (config->magic != ncclConfigMagic || !isMode))
    return emulated::ncclFailure(ncclInvalidArgument, "ncclCommInitRankConfig: the configuration is not initialised");
  *comm = nullptr;
  const auto clique = emulated::Cliques::instance().get(id, ranks);
  if (clique == nullptr || !clique->join(rank, emulated::currentDevice))
    return emulated::ncclFailure(ncclInvalidUsage, "ncclCommInitRank: rank " + std::to_string(rank) + " on device " +
                                                       std::to_string(emulated::currentDevice) +
                                                       ": the rank or the device is taken, or the size differs");
  *comm = new ncclComm{
      std::make_shared<emulated::Member>(emulated::Member{clique, rank, emulated::currentDevice, blocking != 0})};
  return emulated::Group::current().add((*comm)->member);
}

inline ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
  return ncclCommInitRankConfig(comm, ranks, id, rank, nullptr);
}

inline ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  namespace emulated = gpuopt::emulation::detail;
  if (comms == nullptr || count < 1) return ncclInvalidArgument;
  const ncclUniqueId id = emulated::Cliques::instance().makeId();
  const int before = emulated::currentDevice;
  ncclResult_t code = ncclGroupStart();
  for (int i = 0; i < count && code == ncclSuccess; ++i) {
    code = cudaSetDevice(devices != nullptr ? devices[i] : i) == cudaSuccess ? ncclCommInitRank(&comms[i], count, id, i)
                                                                             : ncclUnhandledCudaError;
  }
  emulated::currentDevice = before;
  const ncclResult_t ended = code == ncclSuccess ? ncclGroupEnd() : emulated::Group::current().cancel();
  return code == ncclSuccess ? ended : code;
}

inline ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  return gpuopt::emulation::detail::requireReady(comm, "ncclCommFinalize");
}

inline ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  const ncclResult_t code = gpuopt::emulation::detail::requireReady(comm, "ncclCommDestroy");
  if (code == ncclSuccess) delete comm;
  return code;
}

/// Ends the waits of all ranks, which find ncclRemoteError. On GPUs, each rank has to abort.
inline ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  comm->member->clique->abort();
  if (const auto pending = comm->member->pending) pending->end(ncclRemoteError);
  delete comm;
  return ncclSuccess;
}

inline ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* code) {
  if (comm == nullptr || code == nullptr) return ncclInvalidArgument;
  const auto pending = comm->member->pending;
  *code = pending != nullptr ? pending->poll() : comm->member->clique->failure();
  return ncclSuccess;
}

inline const char* ncclGetLastError(ncclComm_t) { return gpuopt::emulation::detail::lastNcclError.c_str(); }

inline ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  if (comm == nullptr || count == nullptr) return ncclInvalidArgument;
  if (const auto code = gpuopt::emulation::detail::requireReady(comm, "ncclCommCount"); code != ncclSuccess)
    return code;
  *count = comm->member->clique->size();
  return ncclSuccess;
}

inline ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
  if (comm == nullptr || device == nullptr) return ncclInvalidArgument;
  if (const auto code = gpuopt::emulation::detail::requireReady(comm, "ncclCommCuDevice"); code != ncclSuccess)
    return code;
  *device = comm->member->device;
  return ncclSuccess;
}

inline ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  if (comm == nullptr || rank == nullptr) return ncclInvalidArgument;
  if (const auto code = gpuopt::emulation::detail::requireReady(comm, "ncclCommUserRank"); code != ncclSuccess)
    return code;
  *rank = comm->member->rank;
  return ncclSuccess;
}
