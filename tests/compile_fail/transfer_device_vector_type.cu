// EXPECT: gpuopt::DeviceVector: the elements must be trivially copyable, not const, and aligned to at most 256 bytes
// WRITTEN: DeviceVector<std::string>
// SPDX-License-Identifier: MIT
#include <gpuopt/device_vector.cuh>

#include <string>

template class gpuopt::DeviceVector<std::string>;
