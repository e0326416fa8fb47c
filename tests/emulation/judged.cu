/// Kernels for gpuopt-check: the argument says which one runs. The test names their lines.
// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

#include <unistd.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>

constexpr int THREADS = 256;

__global__ void reverse(int* data, bool waits) {
  __shared__ int shared[THREADS];
  shared[threadIdx.x] = data[threadIdx.x];  // uninitialised
  if (waits) __syncthreads();
  data[threadIdx.x] = shared[THREADS - 1 - threadIdx.x];  // race
}

__global__ void shift(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x + 8];  // out of bounds
}

__global__ void stride(const int* in, int* out) {
  out[threadIdx.x] = in[32 * threadIdx.x];  // sectors
}

__global__ void diverge() {
  if (threadIdx.x < THREADS / 2) __syncthreads();  // warning
}

__global__ void refuse(const int* in) {
  assert(in[threadIdx.x] < 0);  // error
}

__global__ void turn(int* out) {
  __shared__ int shared[32];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  const int other = __shfl_xor_sync(0xffffffff, static_cast<int>(threadIdx.x), 1);
  out[threadIdx.x] = shared[other];
}

__global__ void fill(int* out) { out[threadIdx.x] = 1; }

__global__ void add(int* out) {
  out[threadIdx.x] += 1;  // streams
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  int *in = nullptr, *out = nullptr;
  const std::size_t count = is("stride") ? 32 * THREADS : THREADS;
  cudaMalloc(&in, count * sizeof(int));
  cudaMalloc(&out, THREADS * sizeof(int));
  if (!is("uninitialised")) cudaMemset(in, 0, count * sizeof(int));
  if (is("clean") || is("race") || is("uninitialised")) {
    int host[THREADS];
    for (int i = 0; i < THREADS; ++i) host[i] = i;
    if (!is("uninitialised")) cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    reverse<<<1, THREADS>>>(in, !is("race"));
  }
  if (is("outOfBounds")) shift<<<1, THREADS>>>(in, out);
  if (is("stride")) stride<<<1, THREADS>>>(in, out);
  if (is("error")) refuse<<<1, THREADS>>>(in);
  if (is("diverged")) diverge<<<1, THREADS>>>();
  if (is("shuffle")) turn<<<1, 32>>>(out);
  if (is("streams")) {
    cudaStream_t first, second;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    fill<<<1, THREADS, 0, first>>>(out);  // first launch
    add<<<1, THREADS, 0, second>>>(out);
  }
  if (is("endless")) pause();
  if (is("crash")) std::abort();
  std::puts("the program's own words");
  return is("status") ? 3 : cudaDeviceSynchronize();
}
