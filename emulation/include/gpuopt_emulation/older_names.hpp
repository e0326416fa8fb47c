/// Functions that CUDA has removed, and that programs written for its older versions still call.
// SPDX-License-Identifier: MIT
#pragma once

#include "device.hpp"
#include "preferences.hpp"

inline cudaError_t cudaThreadSynchronize() { return cudaDeviceSynchronize(); }
inline cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
inline cudaError_t cudaThreadSetLimit(cudaLimit limit, std::size_t value) { return cudaDeviceSetLimit(limit, value); }
inline cudaError_t cudaThreadGetLimit(std::size_t* value, cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache cache) { return cudaDeviceSetCacheConfig(cache); }
inline cudaError_t cudaThreadGetCacheConfig(cudaFuncCache* cache) { return cudaDeviceGetCacheConfig(cache); }
