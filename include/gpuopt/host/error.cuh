/// \file
/// Errors of the CUDA runtime as exceptions.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

GPUOPT_TYPES_BEGIN

/// A call of the CUDA runtime failed.
///
/// what() reads "<call>: <name of the error>: <its description>"; a failed launch's call names the kernel
/// and its configuration. Bad arguments of gpuopt's own functions are std::invalid_argument instead.
class CudaError : public std::runtime_error {
 public:
  /// \param code what the runtime returned
  /// \param call the call that returned it
  CudaError(cudaError_t code, std::string call)
      : std::runtime_error(call + ": " + cudaGetErrorName(code) + ": " + cudaGetErrorString(code)),
        code_(code),
        call_(std::move(call)) {}

  /// What the runtime returned.
  cudaError_t code() const noexcept { return code_; }

  /// The call that returned it.
  const std::string& call() const noexcept { return call_; }

 private:
  cudaError_t code_;
  std::string call_;
};

GPUOPT_TYPES_END

GPUOPT_NAMESPACE_BEGIN
namespace detail {

/// Takes a failed call's error out of the runtime's "last error", where nobody else shall find it. An
/// earlier one stays: not every call that fails leaves its error there.
GPUOPT_HIDDEN inline void forgetError(cudaError_t code) noexcept {
  if (cudaPeekAtLastError() == code) static_cast<void>(cudaGetLastError());
}

/// Throws CudaError, which alone reports the failed call from then on.
[[noreturn]] GPUOPT_HIDDEN inline void throwCudaError(cudaError_t code, std::string call) {
  forgetError(code);
  throw CudaError(code, std::move(call));
}

}  // namespace detail

/// Throws CudaError unless `code`, what `call` returned, is cudaSuccess.
///
/// A successful call leaves the runtime's last error alone: one that an earlier, unrelated call left there
/// is neither swallowed nor reported. Cost: one comparison.
GPUOPT_HIDDEN inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) detail::throwCudaError(code, call);
}

namespace detail {

/// Without the inline namespaces of abi.cuh, which the reader of a message did not write.
inline std::string withoutInlineNamespaces(std::string name) {
  for (std::size_t at = 0; (at = name.find("gpuopt::v", at)) != std::string::npos;) {
    at += sizeof "gpuopt::" - 1;
    if (name[at + 1] >= '0' && name[at + 1] <= '9') name.erase(at, name.find("::", at) + 2 - at);
  }
  return name;
}

/// The readable form of a mangled name; the name itself where it cannot be demangled.
inline std::string demangle(const char* name) {
#if __has_include(<cxxabi.h>)
  int status = 0;
  if (char* readable = abi::__cxa_demangle(name, nullptr, nullptr, &status)) {
    std::string copy = readable;
    std::free(readable);
    return withoutInlineNamespaces(std::move(copy));
  }
#endif
  return name;
}

/// The name of a kernel with its parameter types, for error messages only (slow).
GPUOPT_HIDDEN inline std::string kernelName(const void* kernel) {
  const char* name = nullptr;
  const cudaError_t code = cudaFuncGetName(&name, kernel);
  if (code == cudaSuccess && name != nullptr) return demangle(name);
  forgetError(code);
  return "(unknown kernel)";
}

}  // namespace detail
GPUOPT_NAMESPACE_END
