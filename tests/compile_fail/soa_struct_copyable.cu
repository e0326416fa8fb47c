// EXPECT: gpuopt: only a trivially copyable struct can be taken apart
// WRITTEN: struct Named { std::string name; }
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

#include <string>

struct Named {
  std::string name;
  int id;
};

template class gpuopt::SoaView<Named>;
