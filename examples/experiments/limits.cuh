/// \file
/// What bounds a program: the speeds that a device may have at most, work by its length, and what remains on the host.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"
#include "host_memory.cuh"
#include "worked.cuh"

#include <gpuopt/map.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/transfer.cuh>
#include <gpuopt/transfer_pipeline.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace experiments {

// -------------------------------------------------------------------------------------------- speeds

/// Bytes a second of memory that transfers two words of its bus in a cycle of its clock.
constexpr double theoreticalBandwidth(double clockHertz, int busBits) { return 2 * clockHertz * busBits / 8; }

/// Lanes for floats of a multiprocessor: CUDA C++ Programming Guide, "Arithmetic Instructions".
constexpr int floatLanes(int capability) {
  const bool hasHalf = capability == 60 || (capability >= 70 && capability <= 80);
  return hasHalf ? 64 : 128;
}

/// Fused multiply-adds are two operations.
constexpr double theoreticalFlops(double clockHertz, int multiprocessors, int lanes) {
  return 2.0 * clockHertz * multiprocessors * lanes;
}

/// The roofline: what a program with so many operations a byte can reach.
constexpr double roofline(double flopsPerByte, double flops, double bandwidth) {
  return flopsPerByte * bandwidth < flops ? flopsPerByte * bandwidth : flops;
}

/// COUNT multiply-adds of an element, each of which needs the one before.
template <int COUNT>
struct MultiplyAdds {
  __host__ __device__ float operator()(float x) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) x = fmaf(x, 0.5F, 0.25F);
    return x;
  }
};

// ----------------------------------------------------------------------------------- a program's parts

/// A program: data is made, worked on, and added up. Who does which part.
enum class Parts {
  host,          ///< all of it by one thread
  memcpy,        ///< the work by the device, with cudaMemcpy before and after
  transfers,     ///< the same with upload and download
  streamed,      ///< the work by streamTransform
  sumOnDevice,   ///< work and sum: the results do not come back
  dataOnDevice,  ///< everything: the data is made where it is used
};

/// The program's memory: both ends on the host, which is pageable as containers are, and on the device.
struct ProgramData {
  unsigned *in, *out, *deviceIn, *deviceOut;
  std::size_t n;
  unsigned rounds;
};

/// What the host does in any case: the shares of the program that no device makes faster.
inline void makeOnHost(const ProgramData& data) { writeWords(data.in, data.n, 1); }
inline unsigned sumOnHost(const ProgramData& data) { return sumOfWords(data.out, data.n); }

/// Element i of the data, for the device.
struct ElementOf {
  unsigned rounds;
  __device__ unsigned operator()(unsigned, std::size_t i) const { return worked(static_cast<unsigned>(i) + 1, rounds); }
};

/// The middle of the program, from data on the host to results on the host.
inline void doWork(Parts parts, const ProgramData& data) {
  const std::size_t bytes = data.n * sizeof(unsigned);
  const Worked worked{data.rounds};
  switch (parts) {
    case Parts::memcpy:
      gpuopt::check(cudaMemcpy(data.deviceIn, data.in, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
      gpuopt::transform(data.deviceIn, data.n, data.deviceOut, worked);
      gpuopt::check(cudaMemcpy(data.out, data.deviceOut, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
      break;
    case Parts::transfers:
      gpuopt::upload(data.in, data.n, data.deviceIn);
      gpuopt::transform(data.deviceIn, data.n, data.deviceOut, worked);
      gpuopt::download(data.deviceOut, data.n, data.out);
      break;
    case Parts::streamed:
      gpuopt::streamTransform(data.in, data.n, data.out, worked);
      break;
    default:
      workOnHost(data.in, data.out, data.n, data.rounds);
  }
}

/// The program's result, by whatever parts the device does.
inline unsigned runProgram(Parts parts, const ProgramData& data) {
  if (parts == Parts::dataOnDevice) {
    gpuopt::transform(data.deviceIn, data.n, data.deviceOut, ElementOf{data.rounds});
    return gpuopt::reduce(data.deviceOut, data.n);
  }
  makeOnHost(data);
  if (parts == Parts::sumOnDevice) {
    gpuopt::upload(data.in, data.n, data.deviceIn);
    gpuopt::transform(data.deviceIn, data.n, data.deviceOut, Worked{data.rounds});
    return gpuopt::reduce(data.deviceOut, data.n);
  }
  doWork(parts, data);
  return sumOnHost(data);
}

// ------------------------------------------------------------------------------------ little parallelism

/// The threads of one block do all the work.
__global__ void workInBlock(const unsigned* in, unsigned* out, std::size_t n, unsigned rounds) {
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) out[i] = worked(in[i], rounds);
}

inline void launchWorkInBlock(const unsigned* in, unsigned* out, std::size_t n, unsigned threads, unsigned rounds) {
  gpuopt::launch(workInBlock, gridFor(threads, threads), in, out, n, rounds);
}

/// The host does it instead: the data comes to `buffer`, of n words, and goes back.
inline void workBetweenCopies(const unsigned* in, unsigned* out, unsigned* buffer, std::size_t n, unsigned rounds) {
  const std::size_t bytes = n * sizeof(unsigned);
  gpuopt::check(cudaMemcpy(buffer, in, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  workOnHost(buffer, buffer, n, rounds);
  gpuopt::check(cudaMemcpy(out, buffer, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

// ------------------------------------------------------------------------- recompute, load, or transfer

/// An element and what belongs to it: computed from its index, or loaded from a table of what was computed before.
struct WithComputed {
  unsigned rounds;
  __device__ unsigned operator()(unsigned x, std::size_t i) const {
    return x ^ worked(static_cast<unsigned>(i), rounds);
  }
};
struct WithLoaded {
  __device__ unsigned operator()(unsigned x, unsigned belonging) const { return x ^ belonging; }
};

}  // namespace experiments
