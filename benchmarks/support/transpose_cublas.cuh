/// \file
/// cuBLAS as a peer: geam transposes matrices of its four types. Without cuBLAS there is no peer.
// SPDX-License-Identifier: MIT
#pragma once

#include "cublas.cuh"
#include "transpose_data.cuh"

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace bench {

#ifdef GPUOPT_BENCHMARK_CUBLAS

namespace detail {

inline cublasStatus_t geam(cublasHandle_t handle, int rows, int cols, float one, const float* in, int inLd, float zero,
                           float* out, int outLd) {
  return cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, in, inLd, &zero, out, outLd, out, outLd);
}

inline cublasStatus_t geam(cublasHandle_t handle, int rows, int cols, double one, const double* in, int inLd,
                           double zero, double* out, int outLd) {
  return cublasDgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, in, inLd, &zero, out, outLd, out, outLd);
}

inline cublasStatus_t geam(cublasHandle_t handle, int rows, int cols, cuComplex one, const cuComplex* in, int inLd,
                           cuComplex zero, cuComplex* out, int outLd) {
  return cublasCgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, in, inLd, &zero, out, outLd, out, outLd);
}

inline cublasStatus_t geam(cublasHandle_t handle, int rows, int cols, cuDoubleComplex one, const cuDoubleComplex* in,
                           int inLd, cuDoubleComplex zero, cuDoubleComplex* out, int outLd) {
  return cublasZgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one, in, inLd, &zero, out, outLd, out, outLd);
}

}  // namespace detail

class Cublas {
 public:
  explicit Cublas(cudaStream_t stream) : handle_(stream) {}

  /// What cuBLAS has for elements of T's size: nothing for batches and for most sizes.
  template <class T>
  std::vector<Candidate> transpositions(const T* in, T* out, const Shape& shape) const {
    constexpr std::size_t MOST = (std::numeric_limits<int>::max)();
    if (shape.batch > 1 || (std::max)({shape.rows, shape.cols, shape.inLd, shape.outLd}) > MOST) return {};
    if constexpr (sizeof(T) == sizeof(float))
      return {candidate("cublasSgeam", in, out, shape, 1.0f, 0.0f)};
    else if constexpr (sizeof(T) == sizeof(double))
      return {candidate("cublasDgeam", in, out, shape, 1.0, 0.0),
              candidate("cublasCgeam", in, out, shape, make_cuComplex(1, 0), make_cuComplex(0, 0))};
    else if constexpr (sizeof(T) == sizeof(cuDoubleComplex))
      return {candidate("cublasZgeam", in, out, shape, make_cuDoubleComplex(1, 0), make_cuDoubleComplex(0, 0))};
    else
      return {};
  }

 private:
  // cuBLAS counts columns first: our rows are its columns.
  template <class T, class S>
  Candidate candidate(const char* name, const T* in, T* out, const Shape& shape, S one, S zero) const {
    const auto call = [=, handle = handle_.get()] {
      checkCublas(detail::geam(handle, static_cast<int>(shape.rows), static_cast<int>(shape.cols), one,
                               reinterpret_cast<const S*>(in), static_cast<int>(shape.inLd), zero,
                               reinterpret_cast<S*>(out), static_cast<int>(shape.outLd)),
                  name);
    };
    return {name, call, nullptr};
  }

  CublasHandle handle_;
};

#else

class Cublas {
 public:
  explicit Cublas(cudaStream_t) {}

  template <class T>
  std::vector<Candidate> transpositions(const T*, T*, const Shape&) const {
    return {};
  }
};

#endif

}  // namespace bench
