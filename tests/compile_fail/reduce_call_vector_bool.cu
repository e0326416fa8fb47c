// EXPECT: gpuopt::reduce: these arguments fit no form of it: it takes (in, n), (first, last), or a container with data() and size(), then op, init, stream and workspace
// WRITTEN: `reduce(v)` of a `std::vector<bool>`
// DO: a `std::vector<bool>` has bits and no array: copy bytes to the device
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <vector>

bool fail(const std::vector<bool>& v) { return gpuopt::reduce(v); }
