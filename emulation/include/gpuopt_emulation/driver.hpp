/// What there is of the driver's interface, and how a program gets its functions from the runtime.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "memory.hpp"

#include <cstring>

using CUdeviceptr = unsigned long long;

enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1 };

enum CUpointer_attribute { CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11, CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12 };

/// The allocation or registration that holds an address; null and 0 if there is none. No other attributes are known.
inline CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                       CUdeviceptr pointer) {
  const auto range = gpuopt::emulation::detail::memory().range(reinterpret_cast<const void*>(pointer));
  for (unsigned i = 0; i < count; ++i) {
    if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
      std::memcpy(data[i], &range.first, sizeof range.first);
    else if (attributes[i] == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
      std::memcpy(data[i], &range.second, sizeof range.second);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

enum { cudaEnableDefault = 0, cudaEnableLegacyStream = 1, cudaEnablePerThreadDefaultStream = 2 };

enum cudaDriverEntryPointQueryResult {
  cudaDriverEntryPointSuccess = 0,
  cudaDriverEntryPointSymbolNotFound = 1,
  cudaDriverEntryPointVersionNotSufficent = 2
};

/// Like the runtime, it succeeds for a function that there is not: null, and the status says so.
inline cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned, unsigned long long,
                                                    cudaDriverEntryPointQueryResult* status = nullptr) {
  if (symbol == nullptr || function == nullptr) return gpuopt::emulation::detail::result(cudaErrorInvalidValue);
  const bool isKnown = std::strcmp(symbol, "cuPointerGetAttributes") == 0;
  *function = isKnown ? reinterpret_cast<void*>(cuPointerGetAttributes) : nullptr;
  if (status != nullptr) *status = isKnown ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
