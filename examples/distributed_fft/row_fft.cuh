/// \file
/// Fourier transforms of the rows of a matrix: by cuFFT, or, on the emulated device, which has none, by the sum that
/// defines them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/launch.cuh>

#include <cuda_runtime.h>

#ifndef GPUOPT_EMULATION
#include <cufft.h>
#endif

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

#ifndef GPUOPT_EMULATION

inline void checkFft(cufftResult code, const char* call) {
  if (code != CUFFT_SUCCESS) throw std::runtime_error(std::string(call) + ": error " + std::to_string(code));
}

/// Transforms of `rows` dense rows of n complex numbers, forward and in place. There may be no rows.
class RowFft {
 public:
  RowFft(int n, int rows) : hasRows_(rows > 0) {
    if (hasRows_) checkFft(cufftPlan1d(&plan_, n, CUFFT_C2C, rows), "cufftPlan1d");
  }
  RowFft(const RowFft&) = delete;
  RowFft& operator=(const RowFft&) = delete;
  ~RowFft() {
    if (hasRows_) cufftDestroy(plan_);
  }

  void forward(float2* data, cudaStream_t stream) const {
    if (!hasRows_) return;
    checkFft(cufftSetStream(plan_, stream), "cufftSetStream");
    checkFft(cufftExecC2C(plan_, data, data, CUFFT_FORWARD), "cufftExecC2C");
  }

 private:
  bool hasRows_;
  cufftHandle plan_ = 0;
};

#else

inline constexpr int MOST_COLUMNS = 512;

/// Each block transforms a row: each thread sums for the frequencies of its number, and of every blockDim.x-th after
/// it.
__global__ void transformRow(float2* data, int n) {
  __shared__ float2 row[MOST_COLUMNS];
  float2* const out = data + std::size_t{blockIdx.x} * static_cast<unsigned>(n);
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) row[i] = out[i];
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < n; k += static_cast<int>(blockDim.x)) {
    double re = 0, im = 0;
    for (int i = 0; i < n; ++i) {
      const double angle = -6.283185307179586 * (k * i % n) / n, c = std::cos(angle), s = std::sin(angle);
      re += row[i].x * c - row[i].y * s;
      im += row[i].x * s + row[i].y * c;
    }
    out[k] = make_float2(static_cast<float>(re), static_cast<float>(im));
  }
}

/// Transforms of `rows` dense rows of n complex numbers, forward and in place. There may be no rows.
class RowFft {
 public:
  RowFft(int n, int rows) : n_(n), rows_(rows) {
    if (n > MOST_COLUMNS) throw std::runtime_error("rows are too long for the emulated device");
  }

  void forward(float2* data, cudaStream_t stream) const {
    if (rows_ == 0) return;
    gpuopt::LaunchConfig config;
    config.grid = dim3(static_cast<unsigned>(rows_));
    config.block = dim3(32);
    config.stream = stream;
    gpuopt::launch(transformRow, config, data, n_);
  }

 private:
  int n_, rows_;
};

#endif
