// SPDX-License-Identifier: MIT
#include "mdspan.hpp"

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/thread/transpose.cuh>
#include <gpuopt/transpose.cuh>

#include <functional>
#include <string>
#include <vector>

#if CASE == 1
// EXPECT: gpuopt::transpose: the elements of out are const: in comes before out
// DO: the input comes first
void fail(const float* in, gpuopt::MatrixView<const float> out) {
  gpuopt::transpose(gpuopt::MatrixView{in, 3, 4}, out);
}

#elif CASE == 2
// EXPECT: gpuopt::transpose: the function must take an element of in and return one of out
// DO: one parameter, and a const call operator
struct OfTwo {
  __device__ float operator()(float x, float y) const { return x + y; }
};

void fail(const float* in, float* out) { gpuopt::transpose(in, out, 3, 4, OfTwo{}); }

#elif CASE == 3
// EXPECT: gpuopt: the elements of a std::vector, std::array or std::string are in the host's memory
// WRITTEN: `transpose(v, out, rows, cols)` of a `std::vector`
// DO: copy them to the device first
void fail(const std::vector<float>& in, float* out) { gpuopt::transpose(in, out, 3, 4); }

#elif CASE == 4
// EXPECT: gpuopt::transposeInPlace: the elements of data are const
void fail(const float* data) { gpuopt::transposeInPlace(data, 3, 3); }

#elif CASE == 5
// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `transpose(in, out, 3, 4, [](float v) { return 2 * v; })`
void fail(const float* in, float* out) {
  gpuopt::transpose(in, out, 3, 4, [](float v) { return 2 * v; });
}

#elif CASE == 6
// EXPECT: gpuopt: the accessor of an mdspan must give access to the elements themselves
// WRITTEN: `transpose(in, out)` of mdspans with a scaling accessor
// DO: pass the plain mdspan, and scale in a function on the way
using Scaled = Mdspan<2, true, float>;

void fail(Scaled in, Scaled out) { gpuopt::transpose(in, out); }

#elif CASE == 7
// EXPECT: gpuopt: the layout of an mdspan must have strides
// WRITTEN: `transpose(in, out)` of mdspans with a layout of your own
// DO: pass `MatrixView`s made of pointers and strides
using SoaTiles = Mdspan<2, false, float&>;

void fail(SoaTiles in, SoaTiles out) { gpuopt::transpose(in, out); }

#elif CASE == 8
// EXPECT: gpuopt: an mdspan must have two extents, or three for a batch
// WRITTEN: `transpose(in, out)` of mdspans with one extent
using Vector = Mdspan<1, true, float&>;

void fail(Vector in, Vector out) { gpuopt::transpose(in, out); }

#elif CASE == 9
// EXPECT: gpuopt::transpose: the call operator of the function must be const
// WRITTEN: `transpose(in, out, rows, cols, f)`, where `f` counts its calls
// DO: `const` after the parameters of `operator()`; count through a pointer
struct Count {
  int calls = 0;
  __device__ float operator()(float x) { return x + static_cast<float>(++calls); }
};

void fail(const float* in, float* out) { gpuopt::transpose(in, out, 3, 4, Count{}); }

#elif CASE == 10
// EXPECT: gpuopt::transpose: the function must take an element of in and return one of out
struct Address {
  __device__ const float* operator()(const float& x) const { return &x; }
};

void fail(const float* in, float* out) { gpuopt::transpose(in, out, 3, 4, Address{}); }

#elif CASE == 11
// EXPECT: gpuopt: elements of more than 128 bytes cannot be transposed
// WRITTEN: `transpose(in, out, rows, cols)` of structures of 129 bytes
struct Large {
  char bytes[129];
};

void fail(const Large* in, Large* out) { gpuopt::transpose(in, out, 3, 4); }

#elif CASE == 12
// EXPECT: gpuopt: function objects of the standard library are host code: write a lambda for the device
void fail(const float* in, float* out) { gpuopt::transpose(in, out, 3, 4, std::negate<>{}); }

#elif CASE == 13
// EXPECT: gpuopt: a number is not a stream
// DO: nothing, or `nullptr`, for the default stream
void fail(const float* in, float* out) { gpuopt::transpose(in, out, 3, 4, 0); }

#elif CASE == 14
// EXPECT: gpuopt: only trivially copyable elements can be transposed
// WRITTEN: `transpose(in, out, rows, cols)` of `std::string`s
// DO: transpose indices or pointers
void fail(const std::string* in, std::string* out) { gpuopt::transpose(in, out, 3, 4); }

#elif CASE == 15
// EXPECT: gpuopt::transpose: in and out have elements of different types: pass a function
// DO: `transpose(in, out, rows, cols, [] __device__(int x) { return float(x); })`
void fail(const float* in, double* out) { gpuopt::transpose(in, out, 3, 4); }

#elif CASE == 16
// EXPECT: gpuopt::TransposeTile: ALIGNED needs elements of 1, 2, 4, 8 or 16 bytes, TILE of which fill a 16-byte vector
struct Point {
  float x, y, z;
};

template class gpuopt::TransposeTile<Point, Point, 32, 8, true>;

#elif CASE == 17
// EXPECT: gpuopt::TransposeTile: the elements must be trivially copyable
struct Owner {
  ~Owner() {}
  int value;
};

template class gpuopt::TransposeTile<Owner, Owner, 32, 8>;

#elif CASE == 18
// EXPECT: gpuopt::TransposeTile: TILE x TILE elements exceed the 227 KB of shared memory of a block
template class gpuopt::TransposeTile<float, float, 256, 2>;

#elif CASE == 19
// EXPECT: gpuopt::transposeTile: TILE x TILE elements exceed 48 KB: pass dynamic shared memory
__global__ void fail(const float* in, float* out) { gpuopt::transposeTile<128, 8>(in, 128, out, 128); }

#elif CASE == 20
// EXPECT: gpuopt::TransposeTile: TILE must be a power of two from 8 to 256
template class gpuopt::TransposeTile<float, float, 48, 4>;

#elif CASE == 21
// EXPECT: gpuopt::TransposeTile: SIDE must be a power of two from 1 to TILE
template class gpuopt::TransposeTile<float, float, 64, 6>;

#elif CASE == 22
// EXPECT: gpuopt::TransposeTile: TILE must be a power of two from 8 to 256
void fail(const gpuopt::detail::TransposeProblem<float, float, gpuopt::Identity>& problem) {
  gpuopt::detail::launchTile<gpuopt::detail::SquareTile<float, float, 48, 4>>(problem, 0, nullptr);
}

#elif CASE == 23
// EXPECT: gpuopt::TransposeTile: a block has TILE x SIDE threads, which must be 32 to 1024
template class gpuopt::TransposeTile<float, float, 64, 32>;

#elif CASE == 24
// EXPECT: gpuopt::transposeVectors: SIZE must be 1, 2, 4, 8 or 16 bytes
__device__ void fail(uint4 (&vectors)[5]) { gpuopt::transposeVectors<3>(vectors); }

#endif
