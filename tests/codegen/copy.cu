// The control of this check: a kernel whose code is known.
// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

// CODEGEN: kernel=copyVectors contains=ld\.global.*v4 contains=st\.global.*v4 no-local no-spill max-registers=16
__global__ void copyVectors(const float4* in, float4* out) { out[threadIdx.x] = in[threadIdx.x]; }
