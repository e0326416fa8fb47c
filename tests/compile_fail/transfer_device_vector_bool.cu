// EXPECT: gpuopt::DeviceVector: a std::vector<bool> has no array of bool: download to another container
// SPDX-License-Identifier: MIT
#include <gpuopt/device_vector.cuh>

void fail(const gpuopt::DeviceVector<bool>& flags) { static_cast<void>(flags.toHost()); }
