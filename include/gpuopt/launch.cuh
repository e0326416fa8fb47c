/// \file
/// Launching one's own kernels: configurations through the occupancy queries, checked arguments, readable
/// errors.
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
/// - occupancyConfig(kernel, items, BLOCK, itemsPerThread, sharedBytes, stream): as many blocks of BLOCK
///   threads as fill the device, never more than the work needs. Well under 0.1 us when asked again.
/// - maxOccupancyConfig(kernel, items, itemsPerThread, sharedBytes, stream): the same with the block size
///   of the highest occupancy. Costs as much.
/// - explainOccupancy(kernel, block, sharedBytes): which of registers, shared memory, threads and blocks
///   limit the kernel; printable. Asks the runtime every time.
/// - launch(kernel, config, arguments...): queues the launch, with the arguments converted to the kernel's
///   parameters. Costs what the runtime's own launch does.
///
/// Requirements: a kernel whose grid may be smaller than its items loops over them, as above. All functions
/// are called by the host, from any thread, for its current device; none of them waits for the device.
///
/// Errors: std::invalid_argument for what cannot run (an empty grid, 2048 threads, more shared memory than
/// the device has), naming the parameter and the values, before anything runs; CudaError for what the
/// runtime refuses, naming the kernel. An error that an earlier, unrelated call left in the runtime is
/// neither swallowed nor reported.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/host/launch_config.cuh>
#include <gpuopt/host/occupancy.cuh>
