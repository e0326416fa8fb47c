/// \file
/// Windows for your own kernels: stencils, convolutions and filters of matrices that read each element once.
///
///     #include <gpuopt/window.cuh>
///
///     __global__ void laplacian(gpuopt::MatrixView<const float> in, gpuopt::MatrixView<float> out) {
///       const int x = 4 * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);  // four columns a thread
///       const int first = 56 * static_cast<int>(blockIdx.y), last = min(first + 56, static_cast<int>(in.rows));
///       if (x >= static_cast<int>(in.cols)) return;
///       const gpuopt::Window2D<float, 1> window(in, x);
///       window.forEach(first, last, [&](const auto& at, int y) {
///         float results[4];
///         for (int k = 0; k < 4; ++k) results[k] = at(-1, k) + at(1, k) + at(0, k - 1) + at(0, k + 1) - 4 * at(0, k);
///         gpuopt::storeColumns(out, x, y, results);
///       });
///     }
///
/// - Window2D<T, RADIUS>: all neighbours at once, in registers.
/// - WindowRows<T, RADIUS>: one row after the other, for sums; fewer registers.
/// - storeColumns: the results of a thread's columns, in one access.
///
/// Give a block more rows than the window is high, since two neighbouring blocks both read 2 * RADIUS rows, but few
/// enough that the blocks fill the GPU. docs/experiments/reuse.md measures a kernel of this form beside tiles in shared
/// memory.
///
/// For device code alone: nothing is launched, and nothing is thrown.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/thread/window.cuh>
