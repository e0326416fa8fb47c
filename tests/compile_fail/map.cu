// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>
#include <gpuopt/soa.cuh>

#include <functional>
#include <vector>

#if CASE == 1
// EXPECT: gpuopt::transform: the elements of out are const
struct Twice {
  __device__ float operator()(float x) const { return 2 * x; }
};

void fail(const float* in, const float* out) { gpuopt::transform(in, 3, out, Twice{}); }

#elif CASE == 2
// EXPECT: gpuopt::forEach: the function must take an element of data, alone or with its index
struct OfOther {
  __device__ void operator()(double2&) const {}
};

void fail(float* data) { gpuopt::forEach(data, 3, OfOther{}); }

#elif CASE == 3
// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// DO: `[] __device__ (float& v) { v = 0; }`; nvcc needs `--extended-lambda`
// WRITTEN: `forEach(x, 3, [](float& v) { v = 0; })`
void fail(float* x) {
  gpuopt::forEach(x, 3, [](float& v) { v = 0; });
}

#elif CASE == 4
// EXPECT: gpuopt::forEach: data must be a pointer, or Thrust's iterator of memory
struct Zero {
  __device__ void operator()(float& x) const { x = 0; }
};

void fail(std::vector<float>& data) { gpuopt::forEach(data.begin(), 3, Zero{}); }

#elif CASE == 5
// EXPECT: gpuopt::forEach: these arguments fit no form of it: it takes (data, n, f), (first, last, f), or a container or MatrixView and f, then a stream
// DO: the function is the third argument
void fail(float* data) { gpuopt::forEach(data, 3); }

#elif CASE == 6
// EXPECT: gpuopt::forEach: the call operator of the function must be const
// WRITTEN: `forEach(data, 3, [step = 1.0f] __device__(float& x) mutable { x += step++; })`
// DO: compute from the index, which may be a second parameter: elements come in no order
struct Step {
  float step;
  __device__ void operator()(float& x) { x += step++; }
};

void fail(float* data) { gpuopt::forEach(data, 3, Step{1.0f}); }

#elif CASE == 7
// EXPECT: gpuopt::forEach: the function takes an element by value or as const, so it changes nothing: take a reference, or pass const elements to only read them
// WRITTEN: `forEach(data, 3, f)`, where f takes a `float`
// DO: `[] __device__(float& x) { x += 1; }`; to only read, pass a `const float*`
struct Increment {
  __device__ void operator()(float x) const { x += 1; }
};

void fail(float* data) { gpuopt::forEach(data, 3, Increment{}); }

#elif CASE == 8
// EXPECT: gpuopt::transform: the function must take an element of in, alone or with its index, and return one of out
// WRITTEN: `transform(in, n, out, f)`, where the result does not convert to the type of `out`
struct ToPointer {
  __device__ const float* operator()(const float& x) const { return &x; }
};

void fail(const float* in, float* out) { gpuopt::transform(in, 3, out, ToPointer{}); }

#elif CASE == 9
// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `transform(x, 3, out, [](float v) { return 2 * v; })`
void fail(const float* x, float* out) {
  gpuopt::transform(x, 3, out, [](float v) { return 2 * v; });
}

#elif CASE == 10
// EXPECT: gpuopt::transform: out must be a pointer, or Thrust's iterator of memory
// WRITTEN: `transform(in, n, out.begin(), f)` to a `std::vector`
// DO: `thrust::device_vector`, or a device pointer
struct Twice {
  __device__ float operator()(float x) const { return 2 * x; }
};

void fail(const float* in, std::vector<float>& out) { gpuopt::transform(in, 3, out.begin(), Twice{}); }

#elif CASE == 11
// EXPECT: gpuopt::transform: the call operator of the function must be const
// WRITTEN: `transform(in, n, out, f)`, where `f` counts its calls
// DO: `const` after the parameters of `operator()`; count through a pointer
struct Count {
  int calls = 0;
  __device__ float operator()(float x) { return x + static_cast<float>(++calls); }
};

void fail(const float* in, float* out) { gpuopt::transform(in, 3, out, Count{}); }

#elif CASE == 12
// EXPECT: gpuopt::transform: the elements of out are const
struct Add {
  __device__ float operator()(float x, float y) const { return x + y; }
};

void fail(const float* in, const float* out) { gpuopt::transform(in, in, 3, out, Add{}); }

#elif CASE == 13
// EXPECT: gpuopt::transform: the function must take an element of in1 and one of in2, alone or with their index, and return one of out
// WRITTEN: `transform(a, b, n, out, f)`, where `f` takes one element
// DO: two parameters
struct Negate {
  __device__ float operator()(float x) const { return -x; }
};

void fail(const float* in, float* out) { gpuopt::transform(in, in, 3, out, Negate{}); }

#elif CASE == 14
// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `transform(x, x, 3, out, [](float a, float b) { return a * b; })`
void fail(const float* x, float* out) {
  gpuopt::transform(x, x, 3, out, [](float a, float b) { return a * b; });
}

#elif CASE == 15
// EXPECT: gpuopt::transform: in1, in2 and out must be pointers, or Thrust's iterators of memory
struct Add {
  __device__ float operator()(float x, float y) const { return x + y; }
};

void fail(const float* in, std::vector<float>& other, float* out) {
  gpuopt::transform(in, other.begin(), 3, out, Add{});
}

#elif CASE == 16
// EXPECT: gpuopt::transform: the call operator of the function must be const
struct Add {
  float sum = 0;
  __device__ float operator()(float x, float y) { return sum += x + y; }
};

void fail(const float* in, float* out) { gpuopt::transform(in, in, 3, out, Add{}); }

#elif CASE == 17
// EXPECT: gpuopt: function objects of the standard library are host code: write a lambda for the device
void fail(const float* x, float* out) { gpuopt::transform(x, 3, out, std::negate<>{}); }

#elif CASE == 18
// EXPECT: gpuopt::transform: these arguments fit no form of it: it takes (in, n, out, f), (in1, in2, n, out, f)
// DO: the function comes last, before the stream
void fail(const float* in, float* out) { gpuopt::transform(in, 3, out); }

#elif CASE == 19
// EXPECT: gpuopt::transform: the elements of out are const
void fail(gpuopt::MatrixView<float> in, gpuopt::MatrixView<const float> out) { transform(in, out, gpuopt::Identity{}); }

#elif CASE == 20
// EXPECT: gpuopt::forEach: the function must take an element of the matrix, alone or with its row and column, by a const call operator
// WRITTEN: `forEach(MatrixView{data, 4, 4}, f)`, where f takes an element and its index
// DO: `[] __device__(float& x, std::size_t row, std::size_t col) {…}`
struct SetIndex {
  __device__ void operator()(float& x, std::size_t i) const { x = static_cast<float>(i); }
};

void fail(float* data) { gpuopt::forEach(gpuopt::MatrixView{data, 4, 4}, SetIndex{}); }

#elif CASE == 21
// EXPECT: gpuopt::transform: the function must take an element of the matrix, alone or with its row and column, and return one of out, by a const call operator
// WRITTEN: `transform(MatrixView{in, 4, 4}, MatrixView{out, 4, 4}, f)`, where f takes an element and its index
struct AddIndex {
  __device__ float operator()(float x, std::size_t i) const { return x + static_cast<float>(i); }
};

void fail(float* data) {
  gpuopt::transform(gpuopt::MatrixView{data, 4, 4}, gpuopt::MatrixView{data, 4, 4}, AddIndex{});
}

#elif CASE == 22
// EXPECT: gpuopt::forEach: the function takes an element of the matrix by value or as const, so it changes nothing: take a reference, or pass const elements to only read them
// WRITTEN: `forEach(MatrixView{data, 4, 4}, f)`, where f takes a `float`
struct Increment {
  __device__ void operator()(float x) const { x += 1; }
};

void fail(float* data) { gpuopt::forEach(gpuopt::MatrixView{data, 4, 4}, Increment{}); }

#elif CASE == 23
// EXPECT: gpuopt::transform: the function must take an element of each of the three inputs, alone or with their index, and return one of out, by a const call operator
// WRITTEN: `transform(a, b, c, n, out, f)`, where f takes two elements
struct Add {
  __device__ float operator()(float x, float y) const { return x + y; }
};

void fail(const float* a, float* out) { gpuopt::transform(a, a, a, 3, out, Add{}); }

#elif CASE == 24
// EXPECT: gpuopt::transform: in1, in2, in3 and out must be pointers, or Thrust's iterators of memory
struct Sum {
  __device__ float operator()(float x, float y, float z) const { return x + y + z; }
};

void fail(std::vector<float>& a, float* out) { gpuopt::transform(a.begin(), out, out, 3, out, Sum{}); }

#endif
