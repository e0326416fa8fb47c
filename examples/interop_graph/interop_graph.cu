/// \file
/// A CUDA graph that replays a pipeline of gpuopt's calls: colours become grey, the greatest grey is looked
/// for, and the picture is transposed and scaled by it. The launches are set up once, for all frames.
// SPDX-License-Identifier: MIT
#include "capture.cuh"
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/reduce.cuh>
#include <gpuopt/struct_io.cuh>
#include <gpuopt/transpose.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

struct Rgb {
  std::uint8_t r, g, b;
};

struct ToGrey {
  __host__ __device__ float operator()(const Rgb& x) const { return static_cast<float>(x.r + x.g + x.b); }
};

// Divides by what an earlier call leaves on the device: nothing goes through the host.
struct Scale {
  const float* greatest;
  __host__ __device__ float operator()(float x) const { return x / *greatest; }
};

bool run() {
  const std::size_t rows = 301, cols = 205, n = rows * cols;
  const DeviceArray<Rgb> frame(n);
  const DeviceArray<float> grey(n), greatest(1), out(n);
  const cudaStream_t stream = cudaStreamPerThread;
  gpuopt::Workspace workspace(stream);  // must live as long as the graph

  const cudaGraphExec_t pipeline = capture(stream, [&] {
    gpuopt::transform(frame.data(), n, grey.data(), ToGrey{}, stream);
    gpuopt::reduceInto(grey.data(), n, greatest.data(), gpuopt::Maximum{}, stream, &workspace);
    gpuopt::transpose(grey.data(), out.data(), rows, cols, Scale{greatest.data()}, stream);
  });

  std::vector<Rgb> picture(n);
  std::vector<float> found(n), expected(n);
  bool right = true;
  for (unsigned number = 1; number <= 3; ++number) {
    const auto value = [=](std::size_t i) { return static_cast<std::uint8_t>(i * 7919 * number % 251 / number); };
    for (std::size_t i = 0; i < n; ++i) picture[i] = {value(i), value(i + 1), value(2 * i)};
    gpuopt::check(cudaMemcpyAsync(frame.data(), picture.data(), n * sizeof(Rgb), cudaMemcpyHostToDevice, stream),
                  "cudaMemcpyAsync");
    gpuopt::check(cudaGraphLaunch(pipeline, stream), "cudaGraphLaunch");
    gpuopt::check(cudaMemcpyAsync(found.data(), out.data(), n * sizeof(float), cudaMemcpyDeviceToHost, stream),
                  "cudaMemcpyAsync");
    gpuopt::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");

    float largest = 0;
    for (const Rgb& pixel : picture) largest = (std::max)(largest, ToGrey{}(pixel));
    for (std::size_t i = 0; i < n; ++i) expected[i % cols * rows + i / cols] = ToGrey{}(picture[i]) / largest;
    std::printf("frame %u, greatest grey %g: %s\n", number, largest, found == expected ? "ok" : "WRONG");
    right = right && found == expected;
  }
  gpuopt::check(cudaGraphExecDestroy(pipeline), "cudaGraphExecDestroy");
  return right;
}

int main() { return exitStatusOf("interop_graph", run); }
