// EXPECT: gpuopt: a struct without members cannot be taken apart
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Nothing {};

template class gpuopt::SoaView<Nothing>;
