/// \file
/// gpuopt's calls for torch_bench.py, in a shared library: tensors come as pointers, the current stream too. Each
/// function returns 0, or 1 after printing what was wrong.
// SPDX-License-Identifier: MIT
#include <gpuopt/map.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/rows_add.cuh>
#include <gpuopt/rows_combine.cuh>
#include <gpuopt/rows_gather.cuh>
#include <gpuopt/rows_scan.cuh>
#include <gpuopt/transpose.cuh>

#include <cuda_fp16.h>

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

template <gpuopt::RowAddition ADDITION, class T>
int addTo(const T* in, const std::int64_t* indices, std::size_t n, std::size_t cols, std::size_t rows, T* out,
          cudaStream_t stream) {
  return guarded([&] {
    gpuopt::addRows<ADDITION>(gpuopt::MatrixView<const T>{in, n, cols}, indices, n,
                              gpuopt::MatrixView<T>{out, rows, cols}, stream);
  });
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

EXPORTED int argMaxRows(const float* in, std::size_t rows, std::size_t cols, gpuopt::ArgResult<float>* out,
                        cudaStream_t stream) {
  return guarded([&] { gpuopt::argMaxRows(in, rows, cols, out, stream); });
}

EXPORTED int scanRows(const float* in, std::size_t rows, std::size_t cols, float* out, cudaStream_t stream) {
  return guarded([&] { gpuopt::inclusiveScanRows(in, out, rows, cols, gpuopt::Plus{}, stream); });
}

EXPORTED int scanColumns(const float* in, std::size_t rows, std::size_t cols, float* out, cudaStream_t stream) {
  return guarded([&] { gpuopt::inclusiveScanColumns(in, out, rows, cols, gpuopt::Plus{}, stream); });
}

EXPORTED int addRowsFloats(const float* in, const std::int64_t* indices, std::size_t n, std::size_t cols,
                           std::size_t rows, float* out, cudaStream_t stream) {
  return addTo<gpuopt::RowAddition::deterministic>(in, indices, n, cols, rows, out, stream);
}

EXPORTED int addRowsHalves(const __half* in, const std::int64_t* indices, std::size_t n, std::size_t cols,
                           std::size_t rows, __half* out, cudaStream_t stream) {
  return addTo<gpuopt::RowAddition::deterministic>(in, indices, n, cols, rows, out, stream);
}

EXPORTED int addAtomicallyFloats(const float* in, const std::int64_t* indices, std::size_t n, std::size_t cols,
                                 std::size_t rows, float* out, cudaStream_t stream) {
  return addTo<gpuopt::RowAddition::atomic>(in, indices, n, cols, rows, out, stream);
}

EXPORTED int addAtomicallyHalves(const __half* in, const std::int64_t* indices, std::size_t n, std::size_t cols,
                                 std::size_t rows, __half* out, cudaStream_t stream) {
  return addTo<gpuopt::RowAddition::atomic>(in, indices, n, cols, rows, out, stream);
}

EXPORTED int gatherRows(const float* in, const std::int64_t* indices, std::size_t n, std::size_t cols, float* out,
                        cudaStream_t stream) {
  return guarded([&] {
    gpuopt::gatherRows(gpuopt::MatrixView<const float>{in, n, cols}, indices, n,
                       gpuopt::MatrixView<float>{out, n, cols}, stream);
  });
}

EXPORTED int scatterRows(const float* in, const std::int64_t* indices, std::size_t n, std::size_t cols, float* out,
                         cudaStream_t stream) {
  return guarded([&] {
    gpuopt::scatterRows(gpuopt::MatrixView<const float>{in, n, cols}, indices, n,
                        gpuopt::MatrixView<float>{out, n, cols}, stream);
  });
}

EXPORTED int combineRows(const float* in, const std::int64_t* indices, const float* weights, std::size_t n,
                         std::size_t k, std::size_t cols, float* out, cudaStream_t stream) {
  return guarded([&] {
    gpuopt::combineRows(gpuopt::MatrixView<const float>{in, n, cols}, indices, weights, k,
                        gpuopt::MatrixView<float>{out, n / k, cols}, stream);
  });
}
