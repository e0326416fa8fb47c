/// \file
/// A CUDA graph that transposes a part of a matrix of halves to floats: both matrices have leading dimensions, and what
/// lies between their rows stays as it is.
// SPDX-License-Identifier: MIT
#include "capture.cuh"
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/transpose.cuh>

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdio>
#include <vector>

bool run() {
  const std::size_t rows = 301, cols = 205, ld = 256, outLd = 320;
  const DeviceArray<__half> in(rows * ld);
  const DeviceArray<float> out(cols * outLd);
  const cudaStream_t stream = cudaStreamPerThread;

  const gpuopt::MatrixView from{in.data(), rows, cols, ld};
  const gpuopt::MatrixView to{out.data(), cols, rows, outLd};
  const cudaGraphExec_t graph = capture(stream, [&] { gpuopt::transpose(from, to, gpuopt::Cast<float>{}, stream); });

  std::vector<__half> halves(rows * ld);
  std::vector<float> found(cols * outLd), expected(cols * outLd, -1);
  bool right = true;
  for (std::size_t frame = 1; frame <= 3; ++frame) {
    for (std::size_t i = 0; i < halves.size(); ++i)
      halves[i] = __float2half(static_cast<float>(i * 7919 * frame % 2039));  // which a half holds exactly
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < cols; ++c) expected[c * outLd + r] = __half2float(halves[r * ld + c]);
    found.assign(found.size(), -1);

    gpuopt::check(cudaMemcpyAsync(in.data(), halves.data(), in.bytes(), cudaMemcpyHostToDevice, stream),
                  "cudaMemcpyAsync");
    gpuopt::check(cudaMemcpyAsync(out.data(), found.data(), out.bytes(), cudaMemcpyHostToDevice, stream),
                  "cudaMemcpyAsync");
    gpuopt::check(cudaGraphLaunch(graph, stream), "cudaGraphLaunch");
    gpuopt::check(cudaMemcpyAsync(found.data(), out.data(), out.bytes(), cudaMemcpyDeviceToHost, stream),
                  "cudaMemcpyAsync");
    gpuopt::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    std::printf("frame %zu: %s\n", frame, found == expected ? "ok" : "WRONG");
    right = right && found == expected;
  }
  gpuopt::check(cudaGraphExecDestroy(graph), "cudaGraphExecDestroy");
  return right;
}

int main() { return exitStatusOf("interop_graph_half", run); }
