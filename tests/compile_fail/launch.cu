// SPDX-License-Identifier: MIT
#include <gpuopt/host/result.cuh>
#include <gpuopt/launch.cuh>

#include <string>

#if CASE == 1
// EXPECT: gpuopt::launch: the number of arguments differs from the number of the kernel's parameters
// WRITTEN: `launch(kernel, config, data)`, where `kernel` has two parameters
// DO: one argument for each parameter: default arguments of a kernel are not used
__global__ void kernel(int* data, int value) { *data = value; }

void fail(int* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data); }

#elif CASE == 2
// EXPECT: gpuopt::launch: an argument of the kernel after the eighth does not convert to the type of its parameter
__global__ void kernel(int, int, int, int, int, int, int, int, int*) {}

void fail(float* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, 1, 2, 3, 4, 5, 6, 7, 8, data); }

#elif CASE == 3
// EXPECT: gpuopt::launch: argument 3 of the kernel does not convert to the type of its parameter
__global__ void kernel(int* data, int value, double* other) { *data = value + (other == nullptr); }

void fail(int* data, float* other) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data, 1, other); }

#elif CASE == 4
// EXPECT: gpuopt::launch: argument 1 of the kernel does not convert to the type of its parameter
// DO: compare with the declaration of the kernel: a `double*` is no `float*`
__global__ void kernel(int* data, int value) { *data = value; }

void fail(float* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data, 1); }

#elif CASE == 5
// EXPECT: gpuopt: a pointer to a kernel (__global__ function) is expected
// WRITTEN: occupancyConfig(data, 1000, 256)
// DO: name the kernel first: `occupancyConfig(kernel, items, block)`
void fail(int* data) { static_cast<void>(gpuopt::occupancyConfig(data, 1000, 256)); }

#elif CASE == 6
// EXPECT: gpuopt: a result returned to the host may have at most 4032 bytes
struct TooLarge {
  char bytes[4033];
};

void fail() { gpuopt::HostResult<TooLarge> result; }

#elif CASE == 7
// EXPECT: gpuopt: a result returned to the host must be trivially copyable
// WRITTEN: `reduce(in, n, op)` of a `std::string`
// DO: reduce indices or numbers, and make strings of them on the host
void fail() { gpuopt::HostResult<std::string> result; }

#elif CASE == 8
// EXPECT g++: no matches converting function 'kernel' to type
// EXPECT nvcc: no instance of function template
// WRITTEN: `launch(kernel, config, data)`, where `kernel` is a template
// DO: name the types: `launch(kernel<int>, config, data)`
template <class T>
__global__ void kernel(T* data) {
  *data = T{};
}

void fail(int* data) { gpuopt::launch(kernel, gpuopt::LaunchConfig{}, data); }

#endif
