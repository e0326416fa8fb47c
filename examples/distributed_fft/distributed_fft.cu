/// \file
/// A two-dimensional Fourier transform of a matrix whose rows are on several GPUs: cuFFT transforms rows, and the
/// library's transposition makes rows of columns. A rank for each GPU: a thread of this process, or, as
/// distributed_fft_mpi, a process of mpirun.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"
#include "ranks.cuh"
#include "row_fft.cuh"

#include <gpuopt/distributed_symmetric.cuh>
#include <gpuopt/distributed_team.cuh>
#include <gpuopt/distributed_transpose.cuh>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <vector>

using gpuopt::distributed::Slabs;
using gpuopt::distributed::SymmetricVector;
using Complex = std::complex<double>;

constexpr std::size_t ROWS = 54, COLS = 40;

// Element (r, c) of the matrix.
float2 valueAt(std::size_t r, std::size_t c) {
  const std::size_t x = (r * COLS + c) * 7919;
  return make_float2(static_cast<float>(x % 1009) / 1009, static_cast<float>(x % 601) / 601 - 0.5f);
}

// exp(-2 pi i k / n) for all k.
std::vector<Complex> rootsOf(std::size_t n) {
  std::vector<Complex> roots;
  for (std::size_t k = 0; k < n; ++k)
    roots.push_back(std::polar(1.0, -6.283185307179586 * static_cast<double>(k) / static_cast<double>(n)));
  return roots;
}

// The transform by its definition: a sum over all elements for each frequency.
std::vector<Complex> transformByDefinition() {
  const std::vector<Complex> byRow = rootsOf(ROWS), byCol = rootsOf(COLS);
  std::vector<Complex> values, result(ROWS * COLS);
  for (std::size_t i = 0; i < ROWS * COLS; ++i) {
    const float2 value = valueAt(i / COLS, i % COLS);
    values.emplace_back(value.x, value.y);
  }
  for (std::size_t k = 0; k < ROWS; ++k)
    for (std::size_t l = 0; l < COLS; ++l)
      for (std::size_t r = 0; r < ROWS; ++r)
        for (std::size_t c = 0; c < COLS; ++c)
          result[k * COLS + l] += values[r * COLS + c] * byRow[k * r % ROWS] * byCol[l * c % COLS];
  return result;
}

// The largest distance of a rank's rows from those by definition.
double errorOf(const std::vector<float2>& rows, const Complex* expected) {
  double error = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    error = std::fmax(error, std::abs(Complex(rows[i].x, rows[i].y) - expected[i]));
  return error;
}

// A rank: transforms its rows, then its columns as rows of the transpose, and brings them back as rows. Where the order
// does not matter, such as for a product with another transform, the way back is not needed.
bool transformOn(gpuopt::distributed::Team& team, const std::vector<Complex>& expected) {
  const Slabs rows = Slabs::even(ROWS, team.size()), cols = Slabs::even(COLS, team.size());
  const std::size_t own = rows.size(team.rank()), first = rows.first(team.rank());
  SymmetricVector<float2> slab(team, rows.largest() * COLS), columns(team, cols.largest() * ROWS);
  const RowFft alongRows(COLS, static_cast<int>(own)), alongCols(ROWS, static_cast<int>(cols.size(team.rank())));
  std::vector<float2> values;
  for (std::size_t i = 0; i < own * COLS; ++i) values.push_back(valueAt(first + i / COLS, i % COLS));
  const std::size_t bytes = values.size() * sizeof(float2);
  gpuopt::check(cudaMemcpy(slab.data(), values.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");

  const cudaStream_t stream = nullptr;
  alongRows.forward(slab.data(), stream);
  gpuopt::distributed::transpose(team, slab, columns, ROWS, COLS, stream);
  alongCols.forward(columns.data(), stream);
  gpuopt::distributed::transpose(team, columns, slab, COLS, ROWS, stream);
  gpuopt::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  team.check();

  gpuopt::check(cudaMemcpy(values.data(), slab.data(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  const double error = errorOf(values, expected.data() + first * COLS);
  if (team.rank() == 0) std::printf("rank 0 differs by at most %.1e from the transform by definition\n", error);
  return error < 1e-3;
}

bool run() {
  const std::vector<Complex> expected = transformByDefinition();
  const RankOutcome outcome = onAllRanks([&](ncclComm_t comm) {
    gpuopt::distributed::Team team(comm);
    return transformOn(team, expected);
  });
  if (outcome.reports)
    std::printf("%zu x %zu complex numbers on %d ranks: transformed  %s\n", ROWS, COLS, outcome.ranks,
                outcome.right ? "ok" : "WRONG");
  return outcome.right;
}

int main() { return exitStatusOf("distributed_fft", run); }
