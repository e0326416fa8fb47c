// EXPECT g++: no matches converting function 'kernel' to type
// EXPECT nvcc: no instance of function template
// WRITTEN: `launch(kernel, config, data)`, where `kernel` is a template
// DO: name the types: `launch(kernel<int>, config, data)`
// SPDX-License-Identifier: MIT
#include <gpuopt/launch.cuh>

template <class T>
__global__ void kernel(T* data) {
  *data = T{};
}

void fail(int* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data); }
