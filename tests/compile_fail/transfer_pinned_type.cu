// EXPECT: gpuopt::PinnedVector: the elements must be trivially copyable and not const
// WRITTEN: PinnedVector<std::string>
// SPDX-License-Identifier: MIT
#include <gpuopt/host/pinned.cuh>

#include <string>

template class gpuopt::PinnedVector<std::string>;
