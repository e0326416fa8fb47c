/// Copies to and from parts of arrays, and what the emulated device reports of arrays and surfaces. What textures and
/// surfaces deliver is tested in tests/textures.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

namespace array_test {

constexpr int WIDTH = 7, HEIGHT = 5;

TEST_CASE("copies to and from parts of an array") {
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  REQUIRE(cudaMallocArray(&array, &channels, WIDTH, HEIGHT) == cudaSuccess);
  std::vector<int> values(WIDTH * HEIGHT, 0), part{1, 2, 3, 4, 5, 6}, read(4);
  const std::size_t row = WIDTH * sizeof(int);
  REQUIRE(cudaMemcpy2DToArray(array, 0, 0, values.data(), row, row, HEIGHT, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpy2DToArrayAsync(array, 8, 1, part.data(), 12, 12, 2, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpy2DFromArray(read.data(), 8, array, 12, 1, 8, 2, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(read == std::vector<int>{2, 3, 5, 6});
  REQUIRE(cudaMemcpy2DFromArray(values.data(), row, array, 0, 0, row, HEIGHT, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK((values[8] == 0 && values[9] == 1 && values[11] == 3 && values[12] == 0 && values[18] == 6));
  REQUIRE(cudaMemcpyToArray(array, 20, 2, part.data(), 24, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpyFromArray(read.data(), array, 24, 2, 16, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(read == std::vector<int>{2, 3, 4, 5});
  CHECK(cudaMemcpyToArray(array, 24, 4, part.data(), 8, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy2DToArray(array, 20, 0, part.data(), 12, 12, 2, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(gpuopt::emulation::lastReport() == "a copy reaches beyond an array of 5 rows of 28 bytes");
  CHECK(cudaMemcpy2DToArray(array, 0, 4, part.data(), 12, 12, 2, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  cudaGetLastError();
  REQUIRE(cudaFreeArray(array) == cudaSuccess);
}

constexpr int WRITING_LINE = __LINE__ + 1;
__global__ void writeElement(cudaSurfaceObject_t surface, int x, int y) { surf2Dwrite(7, surface, x, y); }

TEST_CASE("accesses outside of a surface, or at a part of an element, end the kernel") {
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<int>();
  cudaArray_t array = nullptr;
  REQUIRE(cudaMallocArray(&array, &channels, WIDTH, HEIGHT, cudaArraySurfaceLoadStore) == cudaSuccess);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
  const auto said = [](const std::string& what) {
    return gpuopt::emulation::lastReport().find(what + " a surface of 28 bytes, 5 rows and 1 planes") !=
           std::string::npos;
  };
  CHECK(launch(writeElement, dim3(1), dim3(1), surface, 4 * (WIDTH - 1), HEIGHT - 1) == cudaSuccess);
  CHECK(launch(writeElement, dim3(1), dim3(1), surface, 4 * WIDTH, 1) == cudaErrorLaunchFailure);
  CHECK(said("array_test.cu:" + std::to_string(WRITING_LINE) + ": an access to byte 28, row 1, plane 0 is outside of"));
  CHECK(launch(writeElement, dim3(1), dim3(1), surface, 0, -1) == cudaErrorLaunchFailure);
  CHECK(said("an access to byte 0, row -1, plane 0 is outside of"));
  CHECK(launch(writeElement, dim3(1), dim3(1), surface, 6, 2) == cudaErrorLaunchFailure);
  CHECK(said("an access to byte 6, row 2, plane 0 is not aligned to its size in"));
  cudaGetLastError();
  REQUIRE(cudaDestroySurfaceObject(surface) == cudaSuccess);
  REQUIRE(cudaFreeArray(array) == cudaSuccess);
}

TEST_CASE("arrays and surfaces that the emulated device refuses") {
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  cudaArray_t array = nullptr;
  CHECK(cudaMalloc3DArray(&array, &channels, make_cudaExtent(4, 4, 6), cudaArrayCubemap) == cudaErrorNotSupported);
  CHECK(gpuopt::emulation::lastReport() == "the emulated device has no cube maps and no sparse arrays");
  REQUIRE(cudaMallocArray(&array, &channels, WIDTH) == cudaSuccess);
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource) == cudaErrorInvalidValue);
  CHECK(gpuopt::emulation::lastReport() ==
        "a surface needs an array that was allocated with cudaArraySurfaceLoadStore");
  cudaGetLastError();
  REQUIRE(cudaFreeArray(array) == cudaSuccess);
}

}  // namespace array_test
