// EXPECT: gpuopt: only an aggregate can be taken apart
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Made {
  explicit Made(int);
  int id;
};

template class gpuopt::SoaView<Made>;
