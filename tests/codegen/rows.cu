// The kernels of rows by index move 16 bytes at a time and keep everything in registers; the atomic form adds 16 bytes
// in one operation from sm_90 on.
// SPDX-License-Identifier: MIT
#include <gpuopt/rows_add.cuh>
#include <gpuopt/rows_combine.cuh>
#include <gpuopt/rows_gather.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>

// CODEGEN: kernel=moveRowsKernel<uint4 contains=ld\.global\.v4\.u32 no-local no-spill max-registers=64
// CODEGEN: kernel=combineRowsKernel<.*__nv_bfloat16,.*8u, contains=ld\.global\.v4\.u32 no-local no-spill max-registers=80
// CODEGEN: kernel=addListsKernel<.*(float,.*4u|8u), contains=ld\.global\.v4\.u32 contains=st\.shared\.v4\.u32 no-local no-spill max-registers=80
// CODEGEN: kernel=addRowsKernel<.*4u,.*float,.*float,.*4u arch=90 contains=red\.relaxed\.gpu\.global\.add\.v4\.f32 no-local no-spill
// CODEGEN: kernel=addRowsKernel<.*__half,.*8u arch=90 contains=add\.noftz\.v4\.f16x2 no-local no-spill
// CODEGEN: kernel=addRowsKernel<.*__nv_bfloat16,.*8u arch=90 contains=add\.noftz\.v4\.bf16x2 no-local no-spill
// CODEGEN: kernel=addFewRowsKernel<.*float,.*4u contains=ld\.global\.v4\.u32 no-local no-spill max-registers=96
// CODEGEN: kernel=addFewRowsKernel<.*__half,.*8u contains=ld\.global\.v4\.u32 no-local no-spill max-registers=96
// CODEGEN: kernel=(count|fill)BucketsKernel absent=atom\.global no-local no-spill max-registers=64
// CODEGEN: kernel=(partitionRows|listBuckets)Kernel no-local no-spill max-registers=64
// CODEGEN: kernel=addSlotsKernel<.*float,.*4u contains=ld\.global\.v4\.u32 no-local no-spill max-registers=80
// CODEGEN: kernel=addSlotsKernel<.*__half,.*8u contains=ld\.global\.v4\.u32 no-local no-spill max-registers=80
// CODEGEN: kernel=sortBucketsKernel no-local no-spill max-registers=64
template <class T>
void rowsByIndex(const T* in, const unsigned* indices, std::size_t n, T* out, cudaStream_t stream) {
  using namespace gpuopt;
  const MatrixView<const T> from{in, n, 1024};
  const MatrixView<T> to{out, n, 1024};
  gatherRows(from, indices, n, to, stream);
  addRows(from, indices, n, to, stream);
  addRows<RowAddition::atomic>(from, indices, n, to, stream);
}

void rowsOfAllTypes(const unsigned* indices, std::size_t n, void* memory, cudaStream_t stream) {
  const auto call = [&](auto* data) { rowsByIndex(data, indices, n, data, stream); };
  call(static_cast<float*>(memory));
  call(static_cast<__half*>(memory));
  call(static_cast<__nv_bfloat16*>(memory));
  gpuopt::combineRows(gpuopt::MatrixView<const __nv_bfloat16>{static_cast<__nv_bfloat16*>(memory), n, 64}, indices, 8,
                      gpuopt::MatrixView<__nv_bfloat16>{static_cast<__nv_bfloat16*>(memory), n, 64}, stream);
}
