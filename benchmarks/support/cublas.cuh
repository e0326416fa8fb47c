/// \file
/// A handle of cuBLAS on a stream, where there is cuBLAS.
// SPDX-License-Identifier: MIT
#pragma once

#ifdef GPUOPT_BENCHMARK_CUBLAS
#include <cublas_v2.h>

#include <stdexcept>
#include <string>

namespace bench {

inline void checkCublas(cublasStatus_t status, const std::string& call) {
  if (status != CUBLAS_STATUS_SUCCESS) throw std::runtime_error(call + ": " + cublasGetStatusString(status));
}

class CublasHandle {
 public:
  explicit CublasHandle(cudaStream_t stream) {
    checkCublas(cublasCreate(&handle_), "cublasCreate");
    checkCublas(cublasSetStream(handle_, stream), "cublasSetStream");
  }
  CublasHandle(const CublasHandle&) = delete;
  CublasHandle& operator=(const CublasHandle&) = delete;
  ~CublasHandle() { cublasDestroy(handle_); }

  cublasHandle_t get() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

}  // namespace bench
#endif
