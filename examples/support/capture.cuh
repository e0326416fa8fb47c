/// \file
/// CUDA graphs of what a program queues on a stream. Native only: the emulated device has no graphs.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/error.cuh>

/// What work() queues on the stream, to be launched at once and often. The caller destroys it.
template <class Work>
cudaGraphExec_t capture(cudaStream_t stream, const Work& work) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  gpuopt::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  work();
  gpuopt::check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  gpuopt::check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  gpuopt::check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  return executable;
}
