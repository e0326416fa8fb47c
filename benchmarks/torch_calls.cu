/// \file
/// gpuopt's calls for torch_bench.py, in a shared library: tensors come as pointers, the current stream too. Each
/// function returns 0, or 1 after printing what was wrong.
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/transpose.cuh>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>

namespace {

struct Product {
  __host__ __device__ float operator()(float a, float b) const { return a * b; }
};

// No exception leaves the library.
template <class Call>
int guarded(Call call) {
  try {
    call();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "torch_calls: %s\n", error.what());
    return 1;
  }
}

template <class T>
void transposeBatch(const T* in, std::size_t rows, std::size_t cols, std::size_t batch, T* out, cudaStream_t stream) {
  gpuopt::transpose(gpuopt::MatrixView<const T>{in, rows, cols, cols, batch, rows * cols},
                    gpuopt::MatrixView<T>{out, cols, rows, rows, batch, rows * cols}, stream);
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int sumAll(const float* in, std::size_t n, float* out, cudaStream_t stream) {
  return guarded([&] {
    static gpuopt::Workspace workspace;
    gpuopt::reduceInto(in, n, out, gpuopt::Plus{}, stream, &workspace);
  });
}

EXPORTED int sumRows(const float* in, std::size_t rows, std::size_t cols, float* out, cudaStream_t stream) {
  return guarded([&] { gpuopt::reduceRows(in, rows, cols, cols, out, gpuopt::Plus{}, stream); });
}

EXPORTED int transposeFloats(const float* in, std::size_t rows, std::size_t cols, std::size_t batch, float* out,
                             cudaStream_t stream) {
  return guarded([&] { transposeBatch(in, rows, cols, batch, out, stream); });
}

EXPORTED int transposeHalves(const std::uint16_t* in, std::size_t rows, std::size_t cols, std::size_t batch,
                             std::uint16_t* out, cudaStream_t stream) {
  return guarded([&] { transposeBatch(in, rows, cols, batch, out, stream); });
}

EXPORTED int multiply(const float* a, const float* b, std::size_t n, float* out, cudaStream_t stream) {
  return guarded([&] { gpuopt::transform(a, b, n, out, Product{}, stream); });
}
