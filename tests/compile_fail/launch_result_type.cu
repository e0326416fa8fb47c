// EXPECT: gpuopt: a result returned to the host must be trivially copyable
// SPDX-License-Identifier: MIT
#include <gpuopt/host/result.cuh>

#include <string>

void fail() { gpuopt::HostResult<std::string> result; }
