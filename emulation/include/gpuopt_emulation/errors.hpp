/// Error codes, their texts, and the calling thread's last error.
// SPDX-License-Identifier: MIT
#pragma once

#include "report.hpp"
#include "runtime_types.hpp"

#include <string>

namespace gpuopt::emulation::detail {

inline thread_local cudaError_t lastError = cudaSuccess;

/// Returns a code as the result of a runtime call, which also makes a failure the last error.
inline cudaError_t result(cudaError_t code) {
  if (code != cudaSuccess) lastError = code;
  return code;
}

inline cudaError_t resultIf(bool isValid, cudaError_t otherwise = cudaErrorInvalidValue) {
  return result(isValid ? cudaSuccess : otherwise);
}

/// Fails with a report of what the caller did wrong.
inline cudaError_t failure(cudaError_t code, const std::string& what) {
  report(what);
  return result(code);
}

}  // namespace gpuopt::emulation::detail

inline cudaError_t cudaPeekAtLastError() { return gpuopt::emulation::detail::lastError; }

inline cudaError_t cudaGetLastError() {
  const cudaError_t code = cudaPeekAtLastError();
  gpuopt::emulation::detail::lastError = cudaSuccess;
  return code;
}

inline const char* cudaGetErrorName(cudaError_t code) {
  switch (code) {
#define GPUOPT_EMULATION_CASE(name, value, text) \
  case name:                                     \
    return #name;
    GPUOPT_EMULATION_ERRORS(GPUOPT_EMULATION_CASE)
#undef GPUOPT_EMULATION_CASE
  }
  return "unrecognized error code";
}

inline const char* cudaGetErrorString(cudaError_t code) {
  switch (code) {
#define GPUOPT_EMULATION_CASE(name, value, text) \
  case name:                                     \
    return text;
    GPUOPT_EMULATION_ERRORS(GPUOPT_EMULATION_CASE)
#undef GPUOPT_EMULATION_CASE
  }
  return "unrecognized error code";
}
