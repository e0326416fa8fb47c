// EXPECT: gpuopt: a result returned to the host may have at most 4032 bytes
// SPDX-License-Identifier: MIT
#include <gpuopt/host/result.cuh>

struct TooLarge {
  char bytes[4033];
};

void fail() { gpuopt::HostResult<TooLarge> result; }
