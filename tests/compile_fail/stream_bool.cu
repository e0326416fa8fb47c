// EXPECT: gpuopt: a number is no stream: pass nullptr or leave it out for the default stream
// WRITTEN: `false` as a stream
// SPDX-License-Identifier: MIT
#include <gpuopt/host/stream.cuh>

cudaStream_t pass(gpuopt::StreamRef stream) { return stream; }
cudaStream_t fail() { return pass(false); }
