// The mistake of docs/images/divergent_barrier.svg, which scripts/picture_report.py draws.
// SPDX-License-Identifier: MIT
#include <cstdio>

__global__ void sum(const float* in, float* out, int n) {
  __shared__ float partial[256];
  const int i = threadIdx.x;
  if (i >= n) return;
  partial[i] = in[i];
  for (int half = 128; half > 0; half /= 2) {
    __syncthreads();
    if (i < half) partial[i] += partial[i + half];
  }
  if (i == 0) *out = partial[0];
}

int main() {
  float* data = nullptr;
  cudaMallocManaged(&data, 257 * sizeof(float));
  sum<<<1, 256>>>(data, data + 256, 100);
  cudaFree(data);
}
