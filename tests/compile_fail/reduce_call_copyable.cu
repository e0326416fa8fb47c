// EXPECT: gpuopt: the accumulator of a reduction must be trivially copyable
// WRITTEN: `reduceInto(x, n, out)` of a struct with a `std::string`
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>

#include <string>

struct Named {
  std::string name;
  friend Named operator+(const Named& a, const Named& b) { return {a.name + b.name}; }
};

void fail(const Named* x, Named* out) { gpuopt::reduceInto(x, 1000, out); }
