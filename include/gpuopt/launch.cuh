/// \file
/// Launching your own kernels: configurations from occupancy queries, checked arguments, readable errors.
///
///     #include <gpuopt/launch.cuh>
///
///     __global__ void scale(float* data, std::size_t n, float factor) {
///       const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
///       const std::size_t first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
///       for (std::size_t i = first; i < n; i += threads) data[i] *= factor;
///     }
///
///     void scaleOnDevice(float* data, std::size_t n, cudaStream_t stream) {
///       if (n == 0) return;
///       const gpuopt::LaunchConfig config = gpuopt::occupancyConfig(scale, n, 256, 4, 0, stream);
///       gpuopt::launch(scale, config, data, n, 2.0f);
///     }
///
/// - occupancyConfig(kernel, items, BLOCK, itemsPerThread, sharedBytes, stream): as many blocks of BLOCK threads
///   as fill the device, but no more than the work needs. Cached: a repeated call costs well under 0.1 us.
/// - maxOccupancyConfig(kernel, items, itemsPerThread, sharedBytes, stream): the same with the block size of the
///   highest occupancy, at the same cost.
/// - explainOccupancy(kernel, block, sharedBytes): whether registers, shared memory, threads or blocks limit the
///   kernel; printable. Queries the runtime every time.
/// - launch(kernel, config, arguments...): launches the kernel, with the arguments converted to its parameters.
///   Costs as much as the runtime's own launch.
///
/// Requirements: a kernel whose grid may have fewer threads than items loops over them, as above. Host functions,
/// callable from any thread, for its current device; none waits for the device.
///
/// Errors: std::invalid_argument with the parameter and its value for what cannot run (an empty grid, 2048 threads, too
/// much shared memory), before anything runs; CudaError with the kernel for what the runtime refuses. An error that an
/// earlier, unrelated call left in the runtime is neither swallowed nor reported.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/launch_config.cuh>
#include <gpuopt/host/occupancy.cuh>
