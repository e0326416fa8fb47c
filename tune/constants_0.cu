/// \file
/// The library's own constants.
// SPDX-License-Identifier: MIT
#include "constants_work.cuh"

std::vector<ConstantWork> gpuopt::tune::constantWorks0() { return works(true); }
