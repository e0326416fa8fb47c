/// \file
/// Inverses of many 4 x 4 matrices: gpuopt::transformStructs with a matrix as a structure, beside the best copy of as
/// many bytes and cuBLAS's batched inversion.
// SPDX-License-Identifier: MIT
#include "support/buffers.cuh"
#include "support/cublas.cuh"
#include "support/data.cuh"
#include "support/goal_report.cuh"
#include "support/options.hpp"

#include <gpuopt/struct_io.cuh>

#include <cstddef>
#include <string>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t most = std::size_t{1} << 22;

struct alignas(16) Matrix {
  float at[4][4];
};

// The determinants of the 2 x 2 matrices of two rows, for the columns 01, 02, 03, 12, 13, 23.
struct Minors {
  float of[6];
};

__host__ __device__ inline Minors minorsOf(const float (&p)[4], const float (&q)[4]) {
  const auto minor = [&](int i, int j) { return p[i] * q[j] - p[j] * q[i]; };
  return {{minor(0, 1), minor(0, 2), minor(0, 3), minor(1, 2), minor(1, 3), minor(2, 3)}};
}

// Two rows of cofactors, of the row r and the minors of the other two rows.
__host__ __device__ inline void cofactors(const float (&r)[4], const float (&m)[6], float factor, float (&column)[4]) {
  column[0] = (r[1] * m[5] - r[2] * m[4] + r[3] * m[3]) * factor;
  column[1] = (-r[0] * m[5] + r[2] * m[2] - r[3] * m[1]) * factor;
  column[2] = (r[0] * m[4] - r[1] * m[2] + r[3] * m[0]) * factor;
  column[3] = (-r[0] * m[3] + r[1] * m[1] - r[2] * m[0]) * factor;
}

// Laplace's expansion along pairs of rows.
struct Invert {
  __host__ __device__ Matrix operator()(const Matrix& a) const {
    const Minors upper = minorsOf(a.at[0], a.at[1]), lower = minorsOf(a.at[2], a.at[3]);
    const auto& s = upper.of;
    const auto& c = lower.of;
    const float determinant = s[0] * c[5] - s[1] * c[4] + s[2] * c[3] + s[3] * c[2] - s[4] * c[1] + s[5] * c[0];
    const float factor = 1 / determinant;
    float columns[4][4];
    cofactors(a.at[1], c, factor, columns[0]);
    cofactors(a.at[0], c, -factor, columns[1]);
    cofactors(a.at[3], s, factor, columns[2]);
    cofactors(a.at[2], s, -factor, columns[3]);
    Matrix inverse;
    for (int row = 0; row < 4; ++row)
      for (int col = 0; col < 4; ++col) inverse.at[row][col] = columns[col][row];
    return inverse;
  }
};

// Random, with a diagonal that makes the inverse well conditioned.
__global__ void raiseDiagonal(Matrix* matrices, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int k = 0; k < 4; ++k) matrices[i].at[k][k] += 8;
}

__global__ void pointAtEach(Matrix* matrices, float** pointers, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) pointers[i] = &matrices[i].at[0][0];
}

// Whether the product of a matrix and its inverse is the identity, up to rounding.
struct AreInverse {
  const Matrix* in;
  const Matrix* out;

  __device__ bool operator()(std::size_t i) const {
    for (int row = 0; row < 4; ++row)
      for (int col = 0; col < 4; ++col) {
        double sum = row == col ? -1 : 0;
        for (int k = 0; k < 4; ++k) sum += double(in[i].at[row][k]) * double(out[i].at[k][col]);
        if (!(fabs(sum) < 1e-5)) return false;
      }
    return true;
  }
};

class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, GoalReport& report)
      : stream_(timer.stream()), buffers_(buffers), report_(report) {
    fillRandom(in_.as<float>(), most * 16, stream_);
    launchThreads(raiseDiagonal, most, stream_, in_.as<Matrix>(), most);
    launchThreads(pointAtEach, most, stream_, in_.as<Matrix>(), inPointers_.as<float*>(), most);
    launchThreads(pointAtEach, most, stream_, buffers_.out<Matrix>(), outPointers_.as<float*>(), most);
  }

  void measure(std::size_t n) {
    const Matrix* in = in_.as<Matrix>();
    Matrix* out = buffers_.out<Matrix>();
    const auto way = [=](const char* name, bool isPeer, auto call) {
      return buffers_.candidate(name, isPeer, call, n, AreInverse{in, out});
    };
    std::vector<Candidate> candidates{
        way("gpuopt", false, [=, s = stream_] { gpuopt::transform(in, n, out, Invert{}, s); })};
#ifdef GPUOPT_BENCHMARK_CUBLAS
    // Of columns first, it inverts the transpose, whose inverse is the transpose of the inverse: the same floats.
    candidates.push_back(way("cublasSmatinvBatched", true, [=, handle = cublas_.get()] {
      checkCublas(cublasSmatinvBatched(handle, 4, inPointers_.as<const float*>(), 4, outPointers_.as<float*>(), 4,
                                       info_.as<int>(), static_cast<int>(n)),
                  "cublasSmatinvBatched");
    }));
#endif
    const std::size_t bytes = n * sizeof(Matrix);
    report_.run({"inverse", "64", std::to_string(n), std::to_string(n), 2 * bytes, atLeast(0.9), std::move(candidates),
                 buffers_.copies(bytes / 4096 * 4096)});
  }

 private:
  cudaStream_t stream_;
  const Buffers& buffers_;
  GoalReport& report_;
  DeviceMemory in_{most * sizeof(Matrix)};
  DeviceMemory inPointers_{most * sizeof(float*)};
  DeviceMemory outPointers_{most * sizeof(float*)};
#ifdef GPUOPT_BENCHMARK_CUBLAS
  DeviceMemory info_{most * sizeof(int)};
  CublasHandle cublas_{stream_};
#endif
};

int run(Options& options) {
  options.parse(31, 11);
  Timer timer(options.repetitions);
  const Buffers buffers(most * sizeof(Matrix), timer.stream());
  GoalReport report(timer, options, "n", copyBandwidth(timer, buffers));
  Bench bench(timer, buffers, report);
  for (const std::size_t n : {std::size_t{10000}, std::size_t{100000}, std::size_t{1} << 20, most}) bench.measure(n);
  return report.finish(report.peers());
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "struct_inverse_bench",
                      "Inverses of 4 x 4 matrices, beside the best copy and cuBLAS.", run);
}
