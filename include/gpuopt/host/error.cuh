/// \file
/// CUDA runtime errors as exceptions.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

GPUOPT_TYPES_BEGIN

/// A CUDA runtime call failed.
///
/// what() reads "<call>: <error name>: <description>"; for a failed launch, the call has the kernel and its
/// configuration. Bad arguments to gpuopt's own functions throw std::invalid_argument instead.
class CudaError : public std::runtime_error {
 public:
  /// \param code the error code
  /// \param call the failed call
  CudaError(cudaError_t code, std::string call)
      : std::runtime_error(call + ": " + cudaGetErrorName(code) + ": " + cudaGetErrorString(code)),
        code_(code),
        call_(std::move(call)) {}

  /// The error code.
  cudaError_t code() const noexcept { return code_; }

  /// The failed call.
  const std::string& call() const noexcept { return call_; }

 private:
  cudaError_t code_;
  std::string call_;
};

GPUOPT_TYPES_END

GPUOPT_NAMESPACE_BEGIN
namespace detail {

/// Clears the runtime's last error if it is `code`, so that nobody finds a handled error. Another error stays: not
/// every failing call sets the last error.
GPUOPT_HIDDEN inline void forgetError(cudaError_t code) noexcept {
  if (code != cudaSuccess && cudaPeekAtLastError() == code) static_cast<void>(cudaGetLastError());
}

/// Throws CudaError and clears the runtime's last error.
[[noreturn]] GPUOPT_HIDDEN inline void throwCudaError(cudaError_t code, std::string call) {
  forgetError(code);
  throw CudaError(code, std::move(call));
}

/// Removes the inline namespaces of abi.cuh, which nobody wrote.
inline std::string withoutInlineNamespaces(std::string name) {
  for (std::size_t at = 0; (at = name.find("gpuopt::v", at)) != std::string::npos;) {
    at += sizeof "gpuopt::" - 1;
    if (name[at + 1] >= '0' && name[at + 1] <= '9') name.erase(at, name.find("::", at) + 2 - at);
  }
  return name;
}

/// The demangled name, or `name` itself if it is not a mangled one.
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

// A function whose name, as the compiler writes it, ends in [with T = int] or [T = int].
template <class T>
const char* nameOfFunctionFor() {
  return __PRETTY_FUNCTION__;
}

/// The name of a type without RTTI, as the compiler writes it.
template <class T>
std::string typeNameWithoutRtti() {
  const std::string function = nameOfFunctionFor<T>();
  const std::size_t begin = function.find("T = ") + 4;
  return withoutInlineNamespaces(function.substr(begin, function.rfind(']') - begin));
}

/// The name of a type.
template <class T>
std::string typeName() {
#ifdef __cpp_rtti
  return demangle(typeid(T).name());
#else
  return typeNameWithoutRtti<T>();
#endif
}

/// A kernel's name and parameter types. Slow, for messages only.
GPUOPT_HIDDEN inline std::string kernelName(const void* kernel) {
  const char* name = nullptr;
  const cudaError_t code = cudaFuncGetName(&name, kernel);
  if (code == cudaSuccess && name != nullptr) return demangle(name);
  forgetError(code);
  return "(unknown kernel)";
}

}  // namespace detail

/// Throws CudaError unless `code`, the result of `call`, is cudaSuccess.
///
/// On success the runtime's last error is untouched: an error of an earlier, unrelated call is neither swallowed nor
/// reported. Cost: one comparison.
GPUOPT_HIDDEN inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) detail::throwCudaError(code, call);
}

GPUOPT_NAMESPACE_END
