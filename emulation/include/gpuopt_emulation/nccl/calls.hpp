/// NCCL's transfers and collectives, in the order of streams, and its memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "../memory.hpp"
#include "communicators.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace gpuopt::emulation::detail {

/// Memory of a device, or of the host if it is pinned, and long enough.
inline bool isTransferable(const void* pointer, std::size_t bytes) {
  if (bytes == 0) return true;
  if (pointer == nullptr || memory().attributes(pointer).type == cudaMemoryTypeUnregistered) return false;
  return memory().isWithinAllocation(pointer, bytes);
}

/// Checks a call and queues it. `reads` and `writes` are the elements of its buffers for each element of `count`.
inline ncclResult_t queueCall(ncclComm_t comm, const RankOperation& operation, cudaStream_t stream, std::size_t reads,
                              std::size_t writes) {
  const auto refuse = [&](const std::string& why) {
    return ncclFailure(ncclInvalidArgument, std::string(operation.call) + ": " + why);
  };
  if (comm == nullptr) return refuse("the communicator is null");
  if (const ncclResult_t code = requireReady(comm, operation.call); code != ncclSuccess) return code;
  const MemberPointer& member = comm->member;
  if (bytesOf(operation.type) == 0) return refuse("there is no data type " + std::to_string(operation.type));
  if (operation.op < ncclSum || operation.op >= ncclNumOps)
    return refuse("there is no operation " + std::to_string(operation.op));
  if (operation.peer < 0 || operation.peer >= member->clique->size())
    return refuse("there is no rank " + std::to_string(operation.peer));
  if (deviceOf(stream) != member->device)
    return refuse("the stream is of device " + std::to_string(deviceOf(stream)) + ", the communicator of device " +
                  std::to_string(member->device));
  if (!isTransferable(operation.from, reads * operation.bytes()))
    return refuse("what is sent is null, in the host's memory, or too short");
  if (!isTransferable(operation.to, writes * operation.bytes()))
    return refuse("where it goes is null, in the host's memory, or too short");
  return Group::current().add({member, std::make_shared<RankOperation>(operation), stream});
}

inline std::size_t ranksOf(ncclComm_t comm) {
  return comm != nullptr ? static_cast<std::size_t>(comm->member->clique->size()) : 0;
}
inline bool isRank(ncclComm_t comm, int rank) { return comm != nullptr && comm->member->rank == rank; }

}  // namespace gpuopt::emulation::detail

inline ncclResult_t ncclMemAlloc(void** pointer, std::size_t bytes) {
  return cudaMalloc(pointer, bytes) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}
inline ncclResult_t ncclMemFree(void* pointer) {
  return cudaFree(pointer) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

inline ncclResult_t ncclSend(const void* from, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                             cudaStream_t stream) {
  return gpuopt::emulation::detail::queueCall(comm, {"ncclSend", from, nullptr, count, type, ncclSum, peer}, stream, 1,
                                              0);
}

inline ncclResult_t ncclRecv(void* to, std::size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                             cudaStream_t stream) {
  return gpuopt::emulation::detail::queueCall(comm, {"ncclRecv", nullptr, to, count, type, ncclSum, peer}, stream, 0,
                                              1);
}

inline ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclComm_t comm,
                                  cudaStream_t stream) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::queueCall(comm, {"ncclAllGather", from, to, count, type, ncclSum, 0}, stream, 1,
                             emulated::ranksOf(comm));
}

inline ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type, int root,
                                  ncclComm_t comm, cudaStream_t stream) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::queueCall(comm, {"ncclBroadcast", from, to, count, type, ncclSum, root}, stream,
                             emulated::isRank(comm, root) ? 1 : 0, 1);
}

inline ncclResult_t ncclBcast(void* data, std::size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                              cudaStream_t stream) {
  return ncclBroadcast(data, data, count, type, root, comm, stream);
}

inline ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                                  ncclComm_t comm, cudaStream_t stream) {
  return gpuopt::emulation::detail::queueCall(comm, {"ncclAllReduce", from, to, count, type, op, 0}, stream, 1, 1);
}

inline ncclResult_t ncclReduce(const void* from, void* to, std::size_t count, ncclDataType_t type, ncclRedOp_t op,
                               int root, ncclComm_t comm, cudaStream_t stream) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::queueCall(comm, {"ncclReduce", from, to, count, type, op, root}, stream, 1,
                             emulated::isRank(comm, root) ? 1 : 0);
}

inline ncclResult_t ncclReduceScatter(const void* from, void* to, std::size_t count, ncclDataType_t type,
                                      ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::queueCall(comm, {"ncclReduceScatter", from, to, count, type, op, 0}, stream, emulated::ranksOf(comm),
                             1);
}
