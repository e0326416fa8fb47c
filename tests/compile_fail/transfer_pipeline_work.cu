// EXPECT: gpuopt::Pipeline: the work must take a PipelineChunk<In, Out>, or a PipelineChunk<In> if there is no sink
// WRITTEN: pipeline.run(gpuopt::fromHost(samples, n), [](float* chunk) {})
// SPDX-License-Identifier: MIT
#include <gpuopt/transfer_pipeline.cuh>

void fail(gpuopt::Pipeline& pipeline, const float* samples) {
  pipeline.run(gpuopt::fromHost(samples, 3), [](float*) {});
}
