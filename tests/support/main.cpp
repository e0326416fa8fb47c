/// The main function of every test program: says which device it tests, and says SKIPPED when there is none.
// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

#include <cstdio>

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) {
  constexpr int SKIPPED = 77;  // ctest's SKIP_RETURN_CODE, see tests/CMakeLists.txt
  int devices = 0;
  cudaDeviceProp properties{};
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
      cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    std::puts("SKIPPED: no CUDA device");
    return SKIPPED;
  }
  std::printf("device: %s\n", properties.name);
  std::fflush(stdout);
  return Catch::Session().run(argc, argv);
}
