/// GPUOPT_CHECK_POINTERS: host memory, and arrays longer than their memory, are refused by name.
// SPDX-License-Identifier: MIT
#define GPUOPT_CHECK_POINTERS 1

#include "support/catch.hpp"
#include "support/device_array.cuh"

#include <gpuopt/launch.cuh>
#include <gpuopt/permute.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/soa.cuh>
#include <gpuopt/struct_io.cuh>
#include <gpuopt/transpose.cuh>

#include <stdexcept>
#include <string>
#include <vector>

namespace pointer_check_test {

using gpuopt::test::checkCuda;
using gpuopt::test::DeviceArray;

__device__ float variable[4];

struct Particle {
  float x, y;
};

struct Move {
  __host__ __device__ void operator()(Particle& p) const { p.x += p.y; }
};

// With HMM, or on Grace, kernels can read host memory.
bool isHostMemoryRefused() {
  return gpuopt::deviceAttribute(cudaDevAttrPageableMemoryAccess, gpuopt::currentDevice()) == 0;
}

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return "accepted";
}

std::string inHostMemory(const std::string& function, const std::string& parameter) {
  return "gpuopt::" + function + ": " + parameter +
         // WRITTEN pointer: `reduce(v.data(), n)`, where `v` is a `std::vector`, with `GPUOPT_CHECK_POINTERS`
         " is in host memory, which the device cannot access, or its memory was freed: use memory of cudaMalloc, "
         "cudaMallocManaged or cudaMallocHost";
}

TEST_CASE("permutations refuse host memory") {
  if (!isHostMemoryRefused()) return;
  std::vector<int> host(20);
  DeviceArray<int> device(20);
  CHECK(refusal([&] { gpuopt::permute(host.data(), device.data(), {4, 5}, {1, 0}); }) == inHostMemory("permute", "in"));
  CHECK(refusal([&] {
          gpuopt::permute(device.data(), host.data(), {4, 5}, {1, 0});
        }) == inHostMemory("permute", "out"));
}

TEST_CASE("reductions refuse host memory") {
  if (!isHostMemoryRefused()) return;
  std::vector<float> host(100, 1.0f);
  std::vector<int> hostOffsets = {0, 50, 100};
  DeviceArray<float> device(host), out(100);
  DeviceArray<int> offsets(hostOffsets);
  float* const x = host.data();
  CHECK(refusal([&] { static_cast<void>(gpuopt::reduce(x, 100)); }) == inHostMemory("reduce", "in"));
  CHECK(refusal([&] { static_cast<void>(gpuopt::dot(device.data(), x, 100)); }) == inHostMemory("dot", "in2"));
  CHECK(refusal([&] { gpuopt::reduceInto(device.data(), 100, x); }) == inHostMemory("reduceInto", "out"));
  CHECK(refusal([&] { gpuopt::reduceRows(x, 10, 10, 10, out.data()); }) == inHostMemory("reduceRows", "in"));
  CHECK(refusal([&] { gpuopt::reduceRows(device.data(), 10, 10, 10, x); }) == inHostMemory("reduceRows", "out"));
  CHECK(refusal([&] { gpuopt::reduceColumns(x, 10, 10, 10, out.data()); }) == inHostMemory("reduceColumns", "in"));
  CHECK(refusal([&] { gpuopt::reduceSegments(x, offsets.data(), 2, out.data()); }) ==
        inHostMemory("reduceSegments", "in"));
  CHECK(refusal([&] { gpuopt::reduceSegments(device.data(), hostOffsets.data(), 2, out.data()); }) ==
        inHostMemory("reduceSegments", "offsets"));
  CHECK(refusal([&] { gpuopt::reduceSegments(device.data(), offsets.data(), 2, x); }) ==
        inHostMemory("reduceSegments", "out"));
}

TEST_CASE("transpositions, structures and columns refuse host memory") {
  if (!isHostMemoryRefused()) return;
  std::vector<float> host(100, 1.0f);
  std::vector<Particle> particles(50);
  std::vector<int> indices(50, 0);
  DeviceArray<float> device(host), columns(host);
  DeviceArray<Particle> structs(particles), moved(50);
  float* const x = host.data();
  CHECK(refusal([&] { gpuopt::transpose(x, device.data(), 10, 10); }) == inHostMemory("transpose", "in"));
  CHECK(refusal([&] { gpuopt::transpose(device.data(), x, 10, 10); }) == inHostMemory("transpose", "out"));
  CHECK(refusal([&] { gpuopt::forEachStruct(particles.data(), 50, Move{}); }) == inHostMemory("forEach", "data"));
  CHECK(refusal([&] { gpuopt::gatherStructs(structs.data(), indices.data(), 50, moved.data()); }) ==
        inHostMemory("gatherStructs", "indices"));
  const gpuopt::SoaView<Particle> onHost(x, x + 50, 50), onDevice(columns.data(), columns.data() + 50, 50);
  CHECK(refusal([&] { gpuopt::toSoa(structs.data(), 50, onHost); }) == inHostMemory("toSoa", "column 0"));
  CHECK(refusal([&] { gpuopt::toAos(onDevice, particles.data()); }) == inHostMemory("toAos", "aos"));
  CHECK(refusal([&] { gpuopt::toSoaHost(particles.data(), 50, onHost); }) == "accepted");
}

TEST_CASE("managed, pinned and registered memory and device variables are accepted, whole or in part") {
  float *managed = nullptr, *pinned = nullptr;
  checkCuda(cudaMallocManaged(&managed, 400), "cudaMallocManaged");
  checkCuda(cudaMallocHost(&pinned, 400), "cudaMallocHost");
  std::vector<float> registered(10000);
  checkCuda(cudaHostRegister(registered.data(), 40000, cudaHostRegisterDefault), "cudaHostRegister");
  void* symbol = nullptr;
  checkCuda(cudaGetSymbolAddress(&symbol, variable), "cudaGetSymbolAddress");
  DeviceArray<float> device(std::vector<float>(100, 1.0f));
  for (float* const out : {managed, managed + 99, pinned, pinned + 99, registered.data() + 5000,
                           static_cast<float*>(symbol), static_cast<float*>(symbol) + 3})
    CHECK(refusal([&] { gpuopt::reduceInto(device.data() + 90, 10, out); }) == "accepted");
  CHECK((managed[99] == 10.0f && pinned[99] == 10.0f && registered[5000] == 10.0f));
  checkCuda(cudaHostUnregister(registered.data()), "cudaHostUnregister");
  checkCuda(cudaFreeHost(pinned), "cudaFreeHost");
  checkCuda(cudaFree(managed), "cudaFree");
}

TEST_CASE("an array may not reach beyond its memory") {
  if (!isHostMemoryRefused()) return;
  float* data = nullptr;
  checkCuda(cudaMalloc(&data, std::size_t{1} << 21), "cudaMalloc");
  checkCuda(cudaMemset(data, 0, std::size_t{1} << 21), "cudaMemset");
  const std::size_t tooMany = std::size_t{1} << 36;
  const auto begins = [](const std::string& text, const std::string& begin) {
    return text.substr(0, begin.size()) == begin;
  };
  CHECK(begins(refusal([&] { static_cast<void>(gpuopt::reduce(data, tooMany)); }),
               "gpuopt::reduce: in needs 274877906944 bytes, but its memory has "));
#ifdef GPUOPT_EMULATION  // GPUs leave no gap between allocations
  // WRITTEN pointer: `reduce(data, n)`, where n is too large, with `GPUOPT_CHECK_POINTERS`
  CHECK(refusal([&] { static_cast<void>(gpuopt::reduce(data, tooMany)); }) ==
        "gpuopt::reduce: in needs 274877906944 bytes, but its memory has 2097152");
  CHECK(refusal([&] { gpuopt::reduceInto(data, 10, data); }) == "accepted");
  CHECK(refusal([&] { static_cast<void>(gpuopt::reduce(data + 1, tooMany)); }) ==
        "gpuopt::reduce: in needs 274877906944 bytes, but its memory has 2097148");
  CHECK(refusal([&] { gpuopt::reduceRows(data, 8, 4, 4, data + (1 << 19) - 4); }) ==
        "gpuopt::reduceRows: out needs 32 bytes, but its memory has 16");
  float* large = nullptr;
  checkCuda(cudaMalloc(&large, (1 << 24) + 512), "cudaMalloc");
  CHECK(refusal([&] { static_cast<void>(gpuopt::reduce(large, tooMany)); }) ==
        "gpuopt::reduce: in needs 274877906944 bytes, but its memory has fewer");
  checkCuda(cudaFree(large), "cudaFree");
#endif
  checkCuda(cudaFree(data), "cudaFree");
}

TEST_CASE("freed memory is refused, and may be the cause") {
  if (!isHostMemoryRefused()) return;
  float* data = nullptr;
  checkCuda(cudaMalloc(&data, 1 << 21), "cudaMalloc");
  checkCuda(cudaFree(data), "cudaFree");
  CHECK(refusal([&] { static_cast<void>(gpuopt::reduce(data, 100)); }) == inHostMemory("reduce", "in"));
}

__global__ void copyValue(const float* in, float* out, int n) {
  if (n > 0) *out = *in;
}

TEST_CASE("launch refuses a kernel's pointers into host memory, but not null or the end of an array") {
  if (!isHostMemoryRefused()) return;
  float onHost[4] = {};
  DeviceArray<float> device(std::vector<float>(100, 1.0f)), out(1);
  gpuopt::LaunchConfig config;
  const auto launch = [&](const float* in, float* to, int n) {
    return refusal([&] { gpuopt::launch(copyValue, config, in, to, n); });
  };
  CHECK(launch(device.data(), out.data(), 1) == "accepted");
  CHECK(launch(nullptr, nullptr, 0) == "accepted");
  CHECK(launch(device.data() + 100, out.data() + 1, 0) == "accepted");
  CHECK(launch(onHost, out.data(), 1) == inHostMemory("launch", "argument 1 of the kernel"));
  // WRITTEN pointer: `launch(kernel, config, v.data())`, where `v` is a `std::vector`, with `GPUOPT_CHECK_POINTERS`
  CHECK(launch(device.data(), onHost, 1) ==
        "gpuopt::launch: argument 2 of the kernel is in host memory, which the device cannot access, or its memory was "
        "freed: use memory of cudaMalloc, cudaMallocManaged or cudaMallocHost");
}

TEST_CASE("more structures may be gathered than there are") {
  DeviceArray<Particle> few(std::vector<Particle>{{1, 2}, {3, 4}}), gathered(100);
  DeviceArray<int> indices(std::vector<int>(100, 1));
  CHECK(refusal([&] { gpuopt::gatherStructs(few.data(), indices.data(), 100, gathered.data()); }) == "accepted");
  CHECK(gathered.toHost()[99].x == 3.0f);
  std::vector<Particle> onHost(2);
  if (!isHostMemoryRefused()) return;
  CHECK(refusal([&] { gpuopt::gatherStructs(onHost.data(), indices.data(), 100, gathered.data()); }) ==
        inHostMemory("gatherStructs", "in"));
}

#ifndef GPUOPT_EMULATION
TEST_CASE("a stream can be captured while pointers are checked") {
  DeviceArray<float> device(std::vector<float>(100, 1.0f)), out(1);
  float host = 0;
  gpuopt::Workspace workspace;
  cudaStream_t stream = nullptr;
  checkCuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  checkCuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  gpuopt::reduceInto(device.data(), 100, out.data(), gpuopt::Plus{}, stream, &workspace);
  if (isHostMemoryRefused()) {
    CHECK_THROWS_AS(gpuopt::reduceInto(device.data(), 100, &host, gpuopt::Plus{}, stream, &workspace),
                    std::invalid_argument);
  }
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}
#endif

TEST_CASE("an empty array may be anywhere") {
  float host = 0;
  CHECK(gpuopt::reduce(&host, 0) == 0.0f);
  gpuopt::transpose(&host, &host, 0, 10);
}

}  // namespace pointer_check_test
