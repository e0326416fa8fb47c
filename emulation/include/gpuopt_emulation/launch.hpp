/// Kernel launches and the attributes of kernels.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "limits.hpp"
#include "occupancy.hpp"
#include "queue.hpp"
#include "workers.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

/// What programs have set for their kernels.
struct KernelLimits {
  std::mutex mutex;
  std::map<const void*, std::size_t> dynamicBytes;
  std::map<const void*, int> carveout;  // changes nothing here, and is remembered
};

inline KernelLimits& kernelLimits() {
  static KernelLimits* const instance = new KernelLimits;
  return *instance;
}

inline std::size_t dynamicSharedLimit(const void* kernel) {
  KernelLimits& limits = kernelLimits();
  const std::lock_guard<std::mutex> lock(limits.mutex);
  const auto found = limits.dynamicBytes.find(kernel);
  return found == limits.dynamicBytes.end() ? SHARED_BYTES : found->second;
}

/// For a kernel whose own limit is unknown: as much as the device has.
inline void raiseDynamicSharedLimit(const void* kernel) {
  KernelLimits& limits = kernelLimits();
  const std::lock_guard<std::mutex> lock(limits.mutex);
  limits.dynamicBytes.try_emplace(kernel, SHARED_BYTES_OPTIN);
}

/// The share of the on-chip memory that is to be shared memory, in per cent; -1 if not set.
inline int preferredCarveout(const void* kernel) {
  KernelLimits& limits = kernelLimits();
  const std::lock_guard<std::mutex> lock(limits.mutex);
  const auto found = limits.carveout.find(kernel);
  return found == limits.carveout.end() ? -1 : found->second;
}

inline bool isWithin(dim3 size, unsigned x, unsigned y, unsigned z) {
  return size.x > 0 && size.y > 0 && size.z > 0 && size.x <= x && size.y <= y && size.z <= z;
}

inline std::uint64_t blockCount(dim3 grid) { return std::uint64_t{grid.x} * grid.y * grid.z; }

inline bool isCooperative(const cudaLaunchConfig_t& config) {
  return std::any_of(config.attrs, config.attrs + config.numAttrs, [](const cudaLaunchAttribute& attribute) {
    return attribute.id == cudaLaunchAttributeCooperative && attribute.val.cooperative != 0;
  });
}

/// Zero, or more than the device has, of anything.
inline cudaError_t checkLaunch(const cudaLaunchConfig_t& config, const void* kernel) {
  const auto refuse = [kernel](cudaError_t code, const std::string& why) {
    return failure(code, "launch of " + kernelName(kernel) + ": " + why);
  };
  const dim3 block = config.blockDim, grid = config.gridDim;
  if (!isWithin(block, MAX_BLOCK_X, MAX_BLOCK_Y, MAX_BLOCK_Z) || block.x * block.y * block.z > MAX_BLOCK_THREADS)
    return refuse(cudaErrorInvalidConfiguration,
                  "block size " + text(block) + " is not within 1 to (1024, 1024, 64) and 1024 threads");
  if (!isWithin(grid, MAX_GRID_X, MAX_GRID_Y, MAX_GRID_Z))
    return refuse(cudaErrorInvalidConfiguration,
                  "grid " + text(grid) + " is not within 1 to (2147483647, 65535, 65535)");
  const std::size_t limit = dynamicSharedLimit(kernel);
  if (config.dynamicSmemBytes > limit)
    return refuse(cudaErrorInvalidValue, std::to_string(config.dynamicSmemBytes) +
                                             " bytes of dynamic shared memory exceed the kernel's limit of " +
                                             std::to_string(limit) + " (cudaFuncAttributeMaxDynamicSharedMemorySize)");
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    const auto& cluster = attribute.val.clusterDim;
    if (attribute.id == cudaLaunchAttributeClusterDimension && cluster.x * cluster.y * cluster.z > 1)
      return refuse(cudaErrorNotSupported, "the emulated device has no clusters");
  }
  const int together =
      MULTIPROCESSORS * activeBlocks(static_cast<int>(block.x * block.y * block.z), config.dynamicSmemBytes);
  if (isCooperative(config) && blockCount(grid) > static_cast<std::uint64_t>(together))
    return refuse(cudaErrorCooperativeLaunchTooLarge, "of a cooperative launch the device holds " +
                                                          std::to_string(together) + " blocks, and the grid has " +
                                                          std::to_string(blockCount(grid)));
  return cudaSuccess;
}

/// Appends what a kernel's argument points to, if it is a pointer to objects.
template <class T>
void addPointer(std::vector<PointerArgument>& pointers, const T& argument) {
  using Pointee = std::remove_pointer_t<T>;
  if constexpr (std::is_pointer_v<T> && std::is_object_v<Pointee>)
    pointers.push_back({const_cast<const void*>(static_cast<const volatile void*>(argument)), alignof(Pointee),
                        currentLane == nullptr});
}

/// Runs a kernel, and then those that its threads have launched.
inline cudaError_t runKernel(const void* kernel, dim3 grid, dim3 block, std::size_t sharedBytes,
                             void (*body)(const void*), const void* arguments, Schedule order,
                             const std::vector<PointerArgument>& pointers, bool isCooperative) {
  GridBarrier barrier(blockCount(grid));
  Launch launch{kernel, grid, block, sharedBytes, body, arguments, order, blockCount(grid), pointers};
  if (isCooperative) launch.barrier = &barrier;
  memory().findDamage(nullptr);
  Workers::run(launch);
  memory().findDamage(kernel);
  cudaError_t code = launch.failed ? reported(launch.code) : cudaSuccess;
  for (std::size_t i = 0; i < launch.children.size() && code == cudaSuccess; ++i) code = launch.children[i]();
  return code;
}

/// A kernel that a thread of a kernel launches runs when that one has ended, before its stream goes on: threads may not
/// wait for kernels that they launch, and each stream of the device is in order.
inline cudaError_t launchFromKernel(const cudaLaunchConfig_t& config, const void* kernel, void (*body)(const void*),
                                    const std::shared_ptr<const void>& arguments,
                                    const std::vector<PointerArgument>& pointers) {
  currentLane->block->launchLater(
      [=, grid = config.gridDim, block = config.blockDim, sharedBytes = config.dynamicSmemBytes, order = schedule()] {
        return runKernel(kernel, grid, block, sharedBytes, body, arguments.get(), order, pointers, false);
      });
  return cudaSuccess;
}

/// `arguments` are the launch's own copies.
inline cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel, void (*body)(const void*),
                          const std::shared_ptr<const void>& arguments, const std::vector<PointerArgument>& pointers) {
  const cudaError_t code = checkLaunch(config, kernel);
  if (code != cudaSuccess) return code;
  if (currentLane != nullptr) return launchFromKernel(config, kernel, body, arguments, pointers);
  if (isDestroyed(config.stream)) return destroyedStream("launch of " + kernelName(kernel));
  const int device = deviceOf(config.stream);
  if (device != currentDevice)
    return failure(cudaErrorInvalidResourceHandle, "launch of " + kernelName(kernel) + ": the stream is of device " +
                                                       std::to_string(device) + ", the current device is " +
                                                       std::to_string(currentDevice));
  const auto run = [=, inOrder = kernelOrder(config.stream), order = schedule(), grid = config.gridDim,
                    block = config.blockDim, sharedBytes = config.dynamicSmemBytes,
                    cooperative = isCooperative(config)] {
    const std::lock_guard<std::mutex> oneOfStream(*inOrder);
    return runKernel(kernel, grid, block, sharedBytes, body, arguments.get(), order, pointers, cooperative);
  };
  return submitAs(cudaGraphNodeTypeKernel, config.stream, run);
}

/// A kernel's address as the runtime's untyped functions take it.
template <class... Parameters>
const void* kernelAddress(void (*kernel)(Parameters...)) {
  return reinterpret_cast<const void*>(kernel);
}
inline const void* kernelAddress(const void* kernel) { return kernel; }

/// A call of a kernel, a closure whose type nobody knows any more: programs have thousands of kernels, and a compiler
/// takes long for a std::shared_ptr of each type.
struct KeptCall {
  void (*body)(const void*);
  std::shared_ptr<const void> arguments;
};

inline void freeCall(const void* kept) { ::operator delete(const_cast<void*>(kept)); }

template <class Call>
KeptCall keepCall(const Call& call) {
  void (*const body)(const void*) = [](const void* kept) { (*static_cast<const Call*>(kept))(); };
  void (*remove)(const void*) = freeCall;
  if constexpr (!std::is_trivially_destructible_v<Call> || alignof(Call) > __STDCPP_DEFAULT_NEW_ALIGNMENT__)
    remove = [](const void* kept) { delete static_cast<const Call*>(kept); };
  return {body, std::shared_ptr<const void>(static_cast<const void*>(new Call(call)), remove)};
}

/// Launches a kernel with its own copies of the arguments.
template <class... Parameters>
cudaError_t launchCopied(const cudaLaunchConfig_t& config, void (*kernel)(Parameters...), Parameters... arguments) {
  std::vector<PointerArgument> pointers;
  if (launchObserver != nullptr) (addPointer(pointers, arguments), ...);  // nobody else asks for them
  const KeptCall kept = keepCall([kernel, arguments...] { kernel(arguments...); });
  return launch(config, kernelAddress(kernel), kept.body, kept.arguments, pointers);
}

}  // namespace gpuopt::emulation::detail

// --------------------------------------------------------------------------------------- launching

/// A fault is reported and gives cudaErrorLaunchFailure, for this launch alone; a deferred launch gives it to whoever
/// waits for it.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  namespace emulated = gpuopt::emulation::detail;
  if (kernel == nullptr) return emulated::result(cudaErrorInvalidDeviceFunction);
  static_assert((std::is_constructible_v<Parameters, Arguments> && ...),
                "cudaLaunchKernelEx: an argument does not convert to the type of the kernel's parameter");
  return emulated::launchCopied(*config, kernel, static_cast<Parameters>(std::forward<Arguments>(arguments))...);
}

// --------------------------------------------------------------------------- attributes of kernels

template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  namespace emulated = gpuopt::emulation;
  if (kernel == nullptr) return emulated::detail::result(cudaErrorInvalidDeviceFunction);
  const bool isCarveout = attribute == cudaFuncAttributePreferredSharedMemoryCarveout;
  if (!isCarveout && attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (isCarveout ? value < -1 || value > 100
                 : value < 0 || static_cast<std::size_t>(value) > emulated::SHARED_BYTES_OPTIN)
    return emulated::detail::result(cudaErrorInvalidValue);
  const void* const address = emulated::detail::kernelAddress(kernel);
  emulated::detail::KernelLimits& limits = emulated::detail::kernelLimits();
  const std::lock_guard<std::mutex> lock(limits.mutex);
  if (isCarveout)
    limits.carveout[address] = value;
  else
    limits.dynamicBytes[address] = static_cast<std::size_t>(value);
  static_cast<void>(cudaGetLastError());  // as the runtime does: an earlier error is lost
  return cudaSuccess;
}

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel) {
  namespace emulated = gpuopt::emulation;
  if (kernel == nullptr) return emulated::detail::result(cudaErrorInvalidDeviceFunction);
  constexpr int VERSION = 10 * emulated::COMPUTE_CAPABILITY_MAJOR + emulated::COMPUTE_CAPABILITY_MINOR;
  *attributes = {};
  attributes->maxThreadsPerBlock = static_cast<int>(emulated::MAX_BLOCK_THREADS);
  attributes->numRegs = emulated::REGISTERS_PER_THREAD;
  attributes->ptxVersion = attributes->binaryVersion = VERSION;
  attributes->maxDynamicSharedSizeBytes =
      static_cast<int>(emulated::detail::dynamicSharedLimit(emulated::detail::kernelAddress(kernel)));
  attributes->preferredShmemCarveout = emulated::detail::preferredCarveout(emulated::detail::kernelAddress(kernel));
  return cudaSuccess;
}

/// The kernel's mangled name, as long as the program is not stripped.
template <class Kernel>
cudaError_t cudaFuncGetName(const char** name, Kernel* kernel) {
  namespace emulated = gpuopt::emulation::detail;
  if (kernel == nullptr) return emulated::result(cudaErrorInvalidDeviceFunction);
  *name = emulated::symbolName(emulated::kernelAddress(kernel));
  return cudaSuccess;
}
