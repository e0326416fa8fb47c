/// \file
/// A rank for each GPU, with NCCL: the threads of one process, or, compiled with GPUOPT_EXAMPLE_MPI, the processes of
/// mpirun.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>
#include <nccl.h>

#ifdef GPUOPT_EXAMPLE_MPI
#include <mpi.h>
#endif

#include <cstddef>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

inline void checkNccl(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw std::runtime_error(std::string(call) + ": " + ncclGetErrorString(code));
}

/// What became of all ranks.
struct RankOutcome {
  int ranks;
  bool right;    ///< on all of them
  bool reports;  ///< whether this process is to print it
};

/// Calls work(comm) on the device of this rank. The communicator ends after it.
template <class Work>
bool onRank(const ncclUniqueId& id, int rank, int ranks, int device, const Work& work) {
  ncclComm_t comm = nullptr;
  gpuopt::check(cudaSetDevice(device), "cudaSetDevice");
  checkNccl(ncclCommInitRank(&comm, ranks, id, rank), "ncclCommInitRank");
  const bool right = work(comm);
  checkNccl(ncclCommDestroy(comm), "ncclCommDestroy");
  return right;
}

#ifdef GPUOPT_EXAMPLE_MPI

/// Calls work(comm) in each process, with a GPU of its host for each. If one throws, all processes end.
template <class Work>
RankOutcome onAllRanks(const Work& work) {
  int rank = 0, ranks = 0, device = 0, right = 0;
  MPI_Comm host = MPI_COMM_NULL;
  ncclUniqueId id{};
  MPI_Init(nullptr, nullptr);
  try {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &device);
    if (rank == 0) checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    right = onRank(id, rank, ranks, device, work) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Comm_free(&host);
  MPI_Finalize();
  return {ranks, right != 0, rank == 0};
}

#else

/// Calls work(comm) in a thread for each GPU, or, on the emulated device, for each of GPUOPT_EMULATION_DEVICES. Throws
/// what the first rank has thrown.
template <class Work>
RankOutcome onAllRanks(const Work& work) {
  int ranks = 0;
  ncclUniqueId id{};
  gpuopt::check(cudaGetDeviceCount(&ranks), "cudaGetDeviceCount");
  checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  std::vector<char> right(static_cast<std::size_t>(ranks), 0);
  std::vector<std::exception_ptr> thrown(right.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank, i = static_cast<std::size_t>(rank)] {
      try {
        right[i] = static_cast<char>(onRank(id, rank, ranks, rank, work));
      } catch (...) {
        thrown[i] = std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  bool all = true;
  for (std::size_t i = 0; i < right.size(); ++i) {
    if (thrown[i] != nullptr) std::rethrow_exception(thrown[i]);
    all = all && right[i] != 0;
  }
  return {ranks, all, true};
}

#endif
