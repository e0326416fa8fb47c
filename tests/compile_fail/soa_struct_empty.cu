// EXPECT: gpuopt: a struct without members cannot be taken apart
// SPDX-License-Identifier: MIT
#include <gpuopt/thread/soa_view.cuh>

struct Nothing {};

template class gpuopt::SoaView<Nothing>;
