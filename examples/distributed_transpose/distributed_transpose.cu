/// \file
/// A matrix whose rows are on several GPUs is transposed, and its columns are brought together, with a thread for each
/// GPU: all that there are, or, on the emulated device, GPUOPT_EMULATION_DEVICES.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"

#include <gpuopt/distributed_columns.cuh>
#include <gpuopt/distributed_symmetric.cuh>
#include <gpuopt/distributed_team.cuh>
#include <gpuopt/distributed_transpose.cuh>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using gpuopt::distributed::Slabs;
using gpuopt::distributed::SymmetricVector;

constexpr std::size_t ROWS = 1000, COLS = 600;

void checkNccl(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw std::runtime_error(std::string(call) + ": " + ncclGetErrorString(code));
}

// Element (r, c) of the matrix.
float valueAt(std::size_t r, std::size_t c) { return static_cast<float>((r * COLS + c) % 999983); }

template <class T>
std::vector<T> toHost(const SymmetricVector<T>& values) {
  std::vector<T> host(values.size());
  gpuopt::check(cudaMemcpy(host.data(), values.data(), host.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return host;
}

// A rank: its rows of the matrix become its rows of the transpose, and then its columns of the matrix. The sums of
// columns are of the rows of all ranks.
bool transposeOn(gpuopt::distributed::Team& team) {
  const Slabs rows = Slabs::even(ROWS, team.size()), cols = Slabs::even(COLS, team.size());
  const std::size_t firstRow = rows.first(team.rank()), firstCol = cols.first(team.rank());
  const std::size_t ownCols = cols.size(team.rank());
  SymmetricVector<float> in(team, rows.largest() * COLS), out(team, cols.largest() * ROWS);
  SymmetricVector<double> sums(team, COLS);
  std::vector<float> slab;
  for (std::size_t i = 0; i < rows.size(team.rank()) * COLS; ++i)
    slab.push_back(valueAt(firstRow + i / COLS, i % COLS));
  gpuopt::check(cudaMemcpy(in.data(), slab.data(), slab.size() * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  if (team.rank() == 0) std::printf("%s\n", gpuopt::distributed::explainTranspose(team, in, out, ROWS, COLS).c_str());

  gpuopt::distributed::transpose(team, in, out, ROWS, COLS);
  gpuopt::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  team.check();
  const std::vector<float> transposed = toHost(out);
  gpuopt::distributed::redistribute(team, in, out, ROWS, COLS);
  gpuopt::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  team.check();
  const std::vector<float> columns = toHost(out);

  gpuopt::distributed::reduceColumns<double>(team, in.data(), rows.size(team.rank()), COLS, sums.data());
  gpuopt::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  team.check();

  bool right = true;
  const std::vector<double> columnSums = toHost(sums);
  for (std::size_t c = 0; c < COLS; ++c) {
    double sum = 0;
    for (std::size_t r = 0; r < ROWS; ++r) sum += static_cast<double>(valueAt(r, c));
    right = right && columnSums[c] == sum;
  }
  for (std::size_t r = 0; r < ROWS; ++r)
    for (std::size_t c = 0; c < ownCols; ++c)
      right = right && transposed[c * ROWS + r] == valueAt(r, firstCol + c) &&
              columns[r * ownCols + c] == valueAt(r, firstCol + c);
  return right;
}

void runRank(const ncclUniqueId& id, int rank, int ranks, char& right) {
  ncclComm_t comm = nullptr;
  gpuopt::check(cudaSetDevice(rank), "cudaSetDevice");
  checkNccl(ncclCommInitRank(&comm, ranks, id, rank), "ncclCommInitRank");
  {
    gpuopt::distributed::Team team(comm);
    right = static_cast<char>(transposeOn(team));
  }
  checkNccl(ncclCommDestroy(comm), "ncclCommDestroy");
}

bool run() {
  int ranks = 0;
  ncclUniqueId id{};
  gpuopt::check(cudaGetDeviceCount(&ranks), "cudaGetDeviceCount");
  checkNccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  std::vector<char> right(static_cast<std::size_t>(ranks), 0);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] { runRank(id, rank, ranks, right[static_cast<std::size_t>(rank)]); });
  for (std::thread& thread : threads) thread.join();
  bool all = true;
  for (const char each : right) all = all && each != 0;
  std::printf("%zu x %zu floats on %d ranks: transposed, moved to columns, summed  %s\n", ROWS, COLS, ranks,
              all ? "ok" : "WRONG");
  return all;
}

int main() { return exitStatusOf("distributed_transpose", run); }
