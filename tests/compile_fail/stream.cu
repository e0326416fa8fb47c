// SPDX-License-Identifier: MIT
#include <gpuopt/host/stream.cuh>

#if CASE == 1
// EXPECT: gpuopt: a number is not a stream: pass nullptr or leave it out for the default stream
// WRITTEN: `false` as a stream
cudaStream_t pass(gpuopt::StreamRef stream) { return stream; }
cudaStream_t fail() { return pass(false); }

#elif CASE == 2
// EXPECT: gpuopt: a number is not a stream: pass nullptr or leave it out for the default stream
// WRITTEN: `NULL` as a stream
cudaStream_t pass(gpuopt::StreamRef stream) { return stream; }
cudaStream_t fail() { return pass(NULL); }

#elif CASE == 3
// EXPECT: gpuopt: a number is not a stream: pass nullptr or leave it out for the default stream
// WRITTEN: `0` as a stream
cudaStream_t pass(gpuopt::StreamRef stream) { return stream; }
cudaStream_t fail() { return pass(0); }

#endif
