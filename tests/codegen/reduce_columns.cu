// The kernel of columns reads 16 bytes at a time and keeps everything in registers; two blocks of 512 threads
// fit on a multiprocessor, or one of 1024.
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

// CODEGEN: kernel=columnsKernel.*ArraySource contains=ld\.global\.nc.*v4\.u32 no-local no-spill
// CODEGEN: kernel=columnsKernel.*IteratorSource absent=ld\.global\.nc.*v4 no-local no-spill
// CODEGEN: kernel=columnsKernel<(512|1024) max-registers=64
struct UnknownSum {
  __host__ __device__ int operator()(int a, int b) const { return a + b; }
};

void reduceColumnsOfEverything(const float* floats, const double* doubles, const __half* halves,
                               const signed char* bytes, const int* integers, void* out, cudaStream_t stream) {
  using namespace gpuopt;
  constexpr std::size_t rows = 1000, cols = 1001;
  reduceColumns(floats, rows, cols, cols, static_cast<float*>(out), Plus{}, stream);
  reduceColumns(doubles, rows, cols, cols, static_cast<double*>(out), Plus{}, stream);
  reduceColumns(halves, rows, cols, cols, static_cast<float*>(out), Plus{}, stream);
  reduceColumns(bytes, rows, cols, cols, static_cast<int*>(out), Plus{}, stream);
  reduceColumns<std::int64_t>(bytes, rows, cols, cols, static_cast<std::int64_t*>(out), Plus{}, stream);
  reduceColumns(integers, rows, cols, cols, static_cast<int*>(out), UnknownSum{}, stream);
}
