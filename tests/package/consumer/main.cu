// Copies numbers to the device, reduces them there in another file and here, and checks both sums.
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>

int totalOf(const int* data, std::size_t n);

int main() {
  std::vector<int> numbers(10000);
  std::iota(numbers.begin(), numbers.end(), 1);

  int* data = nullptr;
  gpuopt::check(cudaMalloc(reinterpret_cast<void**>(&data), numbers.size() * sizeof(int)), "cudaMalloc");
  gpuopt::check(cudaMemcpy(data, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice),
                "cudaMemcpy");
  const int here = gpuopt::reduce(data, numbers.size());
  const int there = totalOf(data, numbers.size());
  cudaFree(data);

  std::printf("sums: %d and %d\n", here, there);
  return here == 50005000 && there == here ? 0 : 1;
}
