/// What the tests of races between streams share: two kernels, two streams, and arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include "kernels.cuh"

#include <cstddef>

/// The line of the function that begins behind it.
#define LINE_OF(name) constexpr int name = __LINE__

namespace gpuopt::test::check_streams {

constexpr unsigned COUNT = 64;
constexpr std::size_t BYTES = COUNT * sizeof(int);

LINE_OF(WRITE);
inline __global__ void writeAll(int* data, int value) { data[threadIdx.x] = value; }

LINE_OF(READ);
inline __global__ void copyAll(const int* in, int* out) { out[threadIdx.x] = in[threadIdx.x]; }

/// Two streams, an event, arrays of the device and one of the host.
struct Setting {
  explicit Setting(unsigned flags = cudaStreamNonBlocking) {
    checkCuda(cudaStreamCreateWithFlags(&first, flags), "cudaStreamCreateWithFlags");
    checkCuda(cudaStreamCreateWithFlags(&second, flags), "cudaStreamCreateWithFlags");
    checkCuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    checkCuda(cudaMallocHost(&pinned, BYTES), "cudaMallocHost");
    checkCuda(cudaMemset(data.data(), 0, BYTES), "cudaMemset");
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;
  ~Setting() {
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
    cudaEventDestroy(event);
    cudaFreeHost(pinned);
  }

  void write(cudaStream_t stream, int value = 1) const {
    launch(writeAll, config(stream), const_cast<int*>(data.data()), value);
  }
  void read(cudaStream_t stream) const {
    launch(copyAll, config(stream), static_cast<const int*>(data.data()), const_cast<int*>(out.data()));
  }
  void record(cudaStream_t stream) const { cudaEventRecord(event, stream); }
  void await(cudaStream_t stream) const { cudaStreamWaitEvent(stream, event); }
  void copyToHost(cudaStream_t stream) const {
    cudaMemcpyAsync(pinned, data.data(), BYTES, cudaMemcpyDeviceToHost, stream);
  }
  static constexpr int COPY = __LINE__;
  void copyToDevice(cudaStream_t stream) const {
    cudaMemcpyAsync(const_cast<int*>(data.data()), pinned, BYTES, cudaMemcpyHostToDevice, stream);
  }

  static LaunchConfig config(cudaStream_t stream) {
    LaunchConfig made;
    made.block = dim3(COUNT);
    made.stream = stream;
    return made;
  }

  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  DeviceArray<int> data{COUNT}, out{COUNT};
  int* pinned = nullptr;
};

}  // namespace gpuopt::test::check_streams
