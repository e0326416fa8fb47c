/// A header with launches, as a project has them beside its kernels.
// SPDX-License-Identifier: MIT
#pragma once

namespace launch_syntax_test {

template <class T>
__global__ void scaleElements(T* data, T factor, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] *= factor;
}

template <class T>
void scaleAll(T* data, T factor, int n) {
  scaleElements<<<(n + 63) / 64, 64>>>(data, factor, n);
}

inline int lineOfHeader() { return __LINE__; }  // line 18

}  // namespace launch_syntax_test
