// SPDX-License-Identifier: MIT
#include <gpuopt/window.cuh>

#if CASE == 1
// EXPECT: gpuopt::WindowRows: elements must have 1, 2, 4, 8 or 16 bytes, be aligned to their size, and be trivially copyable
// WRITTEN: `WindowRows<Rgb, 1>`, where `Rgb` has 3 bytes
// DO: a matrix of each channel (`transpose` of pixels to planes), or pixels of 4 bytes
struct Rgb {
  unsigned char r, g, b;
};

__global__ void fail(gpuopt::MatrixView<const Rgb> in) { gpuopt::WindowRows<Rgb, 1>(in, 0); }

#elif CASE == 2
// EXPECT: gpuopt::WindowRows: RADIUS must not be negative
__global__ void fail(gpuopt::MatrixView<const float> in) { gpuopt::WindowRows<float, -1>(in, 0); }

#elif CASE == 3
// EXPECT: gpuopt::WindowRows: COLUMNS must be a power of two
// DO: 4, or as many elements as fill 16 bytes
__global__ void fail(gpuopt::MatrixView<const float> in) { gpuopt::WindowRows<float, 1, 3>(in, 0); }

#elif CASE == 4
// EXPECT: gpuopt::WindowRows: AHEAD must be at least 1
__global__ void fail(gpuopt::MatrixView<const float> in) { gpuopt::WindowRows<float, 1, 4, 0>(in, 0); }

#endif
