// The kernels of rows and segments read 16 bytes at a time and keep everything in registers.
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <cuda_fp16.h>

#include <cstddef>

// CODEGEN: kernel=(laneRows|longRows)Kernel.*Array(Source|View) contains=ld\.global\.nc.*v4\.u32 no-local no-spill
// CODEGEN: kernel=(stagedRows|segments)Kernel.*ArrayView contains=ld\.global\.nc.*v4\.u32 no-spill
// Positions are stored with the padding behind their values: no sector is written in part.
// CODEGEN: kernel=(laneRows|stagedRows)Kernel.*ArgExtreme contains=st\.global\.v2\.u32 absent=st\.global\.(f32|u32|b32|u8)
void reduceRowsAndSegments(const float* floats, const double* doubles, const __half* halves, const signed char* bytes,
                           const unsigned* offsets, void* out, cudaStream_t stream) {
  using namespace gpuopt;
  constexpr std::size_t rows = 1000, cols = 1001;
  reduceRows(floats, rows, cols, cols, static_cast<float*>(out), Plus{}, stream);
  reduceRows(doubles, rows, cols, cols, static_cast<double*>(out), Plus{}, stream);
  reduceRows(halves, rows, cols, cols, static_cast<float*>(out), Plus{}, stream);
  reduceRows(bytes, rows, cols, cols, static_cast<int*>(out), Plus{}, stream);
  argMinRows(floats, rows, cols, cols, static_cast<ArgResult<float>*>(out), stream);
  reduceSegments(floats, offsets, rows, static_cast<float*>(out), Plus{}, stream);
  reduceSegments(halves, offsets, rows, static_cast<float*>(out), Plus{}, stream);
}
