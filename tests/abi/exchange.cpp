/// Links with exchange.cu: views, configurations and exceptions are of the same types in both. Needs no GPU.
// SPDX-License-Identifier: MIT
#include "exchange.hpp"

int main() {
  const float element = 0;
  if (exchange::elementsOf({&element, 3, 5}) != 15) return 1;
  if (exchange::withBlocks(7).grid.x != 7) return 2;
  try {
    exchange::fail();
  } catch (const gpuopt::CudaError& error) {
    return error.code() == cudaErrorInvalidValue ? 0 : 3;
  } catch (...) {
  }
  return 4;
}
