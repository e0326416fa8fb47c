// EXPECT: gpuopt: transferred elements must be trivially copyable
// WRITTEN: download(strings, n, host)
// SPDX-License-Identifier: MIT
#include <gpuopt/transfer.cuh>

#include <string>

void copy(const std::string* device, std::string* host) { gpuopt::download(device, 10, host); }
