// The kernels of transformRows access rows by 16 bytes, keep them in registers, and blocks of a cluster exchange their
// parts of a statistic without a barrier of the cluster that waits for global memory. Bulk copies, from sm_90 on, move
// staged rows with numbers of columns.
// SPDX-License-Identifier: MIT
#include <gpuopt/rows_transform.cuh>

#include <cuda_bf16.h>

#include <cstddef>

// CODEGEN: kernel=(lane|ends|block|cluster|reread)TransformKernel contains=ld\.global\.L1::no_allocate\.v4\.u32 contains=st\.global\.v4\.u32 no-local no-spill
// CODEGEN: kernel=blockTransformKernel contains=bar\.sync absent=barrier\.cluster max-registers=64
// CODEGEN: kernel=(cluster|reread)TransformKernel arch=90 contains=st\.async contains=barrier\.cluster\.arrive\.relaxed absent=barrier\.cluster\.arrive\.release
// CODEGEN: kernel=clusterTransformKernel arch=90 contains=cp\.async\.bulk\.prefetch\.L2
// CODEGEN: kernel=(lane|ends)TransformKernel absent=bar\.sync max-registers=64
// CODEGEN: kernel=stagedTransformKernel absent=bar\.sync no-local no-spill max-registers=112
// CODEGEN: kernel=stagedTransformKernel.*SoftmaxMap contains=cp\.async\.cg contains=st\.global\.v4 max-registers=56
// CODEGEN: kernel=stagedTransformKernel.*NormMap arch=80 contains=cp\.async\.cg contains=st\.global\.v4
// CODEGEN: kernel=stagedTransformKernel.*NormMap arch=90 contains=cp\.async\.bulk\.shared contains=cp\.async\.bulk\.global absent=cp\.async\.cg
void normalisedRows(const __nv_bfloat16* in, __nv_bfloat16* out, const __nv_bfloat16* gamma, const __nv_bfloat16* beta,
                    std::size_t rows, std::size_t cols, cudaStream_t stream) {
  gpuopt::softmaxRows(in, out, rows, cols, stream);
  gpuopt::layerNormRows(in, out, rows, cols, gamma, beta, 1e-5, stream);
}
