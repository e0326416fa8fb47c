/// \file
/// A matrix whose rows are on several GPUs is transposed, and its columns are brought together, with a rank for each
/// GPU: a thread of this process, or, as distributed_transpose_mpi, a process of mpirun.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"
#include "ranks.cuh"

#include <gpuopt/distributed_columns.cuh>
#include <gpuopt/distributed_symmetric.cuh>
#include <gpuopt/distributed_team.cuh>
#include <gpuopt/distributed_transpose.cuh>

#include <cstddef>
#include <cstdio>
#include <vector>

using gpuopt::distributed::Slabs;
using gpuopt::distributed::SymmetricVector;

constexpr std::size_t ROWS = 1000, COLS = 600;

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

bool run() {
  const RankOutcome outcome = onAllRanks([](ncclComm_t comm) {
    gpuopt::distributed::Team team(comm);
    return transposeOn(team);
  });
  if (outcome.reports)
    std::printf("%zu x %zu floats on %d ranks: transposed, moved to columns, summed  %s\n", ROWS, COLS, outcome.ranks,
                outcome.right ? "ok" : "WRONG");
  return outcome.right;
}

int main() { return exitStatusOf("distributed_transpose", run); }
