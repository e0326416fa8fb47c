// EXPECT: gpuopt: a result returned to the host must be trivially copyable
// WRITTEN: `reduce(in, n, op)` of a `std::string`
// DO: reduce indices or numbers, and make strings of them on the host
// SPDX-License-Identifier: MIT
#include <gpuopt/host/result.cuh>

#include <string>

void fail() { gpuopt::HostResult<std::string> result; }
