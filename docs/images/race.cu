// The mistake of docs/images/race.svg, which scripts/picture_report.py draws.
// SPDX-License-Identifier: MIT
__global__ void reverse(int* data) {
  __shared__ int tile[256];
  const int i = threadIdx.x;
  tile[i] = data[i];
  data[i] = tile[255 - i];
}

int main() {
  int* data = nullptr;
  cudaMallocManaged(&data, 256 * sizeof(int));
  for (int i = 0; i < 256; ++i) data[i] = i;
  reverse<<<1, 256>>>(data);
  cudaDeviceSynchronize();
  cudaFree(data);
}
