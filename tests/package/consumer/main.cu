// Copies numbers to the device, reduces them there in another file and here, doubles them in a third file, and checks
// the sums. Ends with 77 if there is no device to run on.
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <cstddef>
#include <cstdio>
#include <numeric>
#include <vector>

bool devicePresent();
int totalOf(const int* data, std::size_t n);
void doubleInts(int* data, int n);

#ifdef GPUOPT_EMULATION
const char* const variant = "emulated";
#else
const char* const variant = "native";
#endif

int main() {
  if (!devicePresent()) {
    std::printf("%s: compiled and linked; no device, so nothing was run\n", variant);
    return 77;
  }
  std::vector<int> numbers(10000);
  std::iota(numbers.begin(), numbers.end(), 1);

  int* data = nullptr;
  gpuopt::check(cudaMalloc(reinterpret_cast<void**>(&data), numbers.size() * sizeof(int)), "cudaMalloc");
  gpuopt::check(cudaMemcpy(data, numbers.data(), numbers.size() * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
  const int here = gpuopt::reduce(data, numbers.size());
  const int there = totalOf(data, numbers.size());
  doubleInts(data, static_cast<int>(numbers.size()));
  const int doubled = gpuopt::reduce(data, numbers.size());
  cudaFree(data);

  std::printf("%s: sums %d, %d and %d\n", variant, here, there, doubled);
  return here == 50005000 && there == here && doubled == 2 * here ? 0 : 1;
}
