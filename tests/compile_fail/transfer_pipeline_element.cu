// EXPECT: gpuopt::Pipeline: the elements at both ends must be trivially copyable
// WRITTEN: pipeline.run(gpuopt::fromHost(strings), work)
// SPDX-License-Identifier: MIT
#include <gpuopt/transfer_pipeline.cuh>

#include <string>

void fail(gpuopt::Pipeline& pipeline, const std::string* strings) {
  pipeline.run(gpuopt::fromHost(strings, 3), [](const gpuopt::PipelineChunk<std::string>&) {});
}
