/// What the tests of the emulated device share: memory for both sides, launches, and the three lane orders.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

/// An array that host and kernels read and write.
template <class T>
class Managed {
 public:
  explicit Managed(std::size_t n) : size_(n) { cudaMallocManaged(&data_, n * sizeof(T)); }
  Managed(std::size_t n, T value) : Managed(n) {
    for (std::size_t i = 0; i < n; ++i) data_[i] = value;
  }
  Managed(const Managed&) = delete;
  Managed& operator=(const Managed&) = delete;
  ~Managed() { cudaFree(data_); }

  T* data() { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  std::vector<T> values() const { return std::vector<T>(data_, data_ + size_); }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

/// Launches a kernel with dynamic shared memory and returns the launch's code.
template <class... Parameters, class... Arguments>
cudaError_t launchShared(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t sharedBytes,
                         Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = sharedBytes;
  return cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
}

template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, Arguments&&... arguments) {
  return launchShared(kernel, grid, block, 0, std::forward<Arguments>(arguments)...);
}

inline constexpr gpuopt::emulation::LaneOrder allOrders[] = {gpuopt::emulation::LaneOrder::forward,
                                                             gpuopt::emulation::LaneOrder::backward,
                                                             gpuopt::emulation::LaneOrder::random};

/// Sets a lane order until the end of the scope.
class OrderScope {
 public:
  explicit OrderScope(gpuopt::emulation::LaneOrder order, std::uint64_t seed = 1,
                      gpuopt::emulation::BlockOrder blocks = gpuopt::emulation::BlockOrder::byNumber)
      : before_(gpuopt::emulation::schedule()) {
    gpuopt::emulation::setLaneOrder(order, seed, blocks);
  }
  OrderScope(const OrderScope&) = delete;
  OrderScope& operator=(const OrderScope&) = delete;
  ~OrderScope() { gpuopt::emulation::setLaneOrder(before_.order, before_.seed, before_.blocks); }

 private:
  gpuopt::emulation::Schedule before_;
};

/// Defers the work of streams until the end of the scope.
class DeferredScope {
 public:
  DeferredScope() : before_(gpuopt::emulation::queueMode()) {
    gpuopt::emulation::setQueueMode(gpuopt::emulation::QueueMode::deferred);
  }
  DeferredScope(const DeferredScope&) = delete;
  DeferredScope& operator=(const DeferredScope&) = delete;
  ~DeferredScope() { gpuopt::emulation::setQueueMode(before_); }

 private:
  gpuopt::emulation::QueueMode before_;
};

/// Lets kernels go on whose threads leave before a collective, until the end of the scope: the tests make that an
/// error.
class LenientScope {
 public:
  LenientScope() : before_(gpuopt::emulation::exitedThreads()) {
    gpuopt::emulation::setExitedThreads(gpuopt::emulation::ExitedThreads::warning);
  }
  LenientScope(const LenientScope&) = delete;
  LenientScope& operator=(const LenientScope&) = delete;
  ~LenientScope() { gpuopt::emulation::setExitedThreads(before_); }

 private:
  gpuopt::emulation::ExitedThreads before_;
};

/// In how many of the three lane orders `isRight()` holds.
template <class IsRight>
int ordersInWhich(IsRight isRight) {
  int count = 0;
  for (const auto order : allOrders) {
    const OrderScope scope(order);
    count += isRight() ? 1 : 0;
  }
  return count;
}

/// A number of devices until the end of the scope, which ends on device 0.
class DeviceCountScope {
 public:
  explicit DeviceCountScope(int count) : before_(gpuopt::emulation::deviceCount()) {
    gpuopt::emulation::setDeviceCount(count);
  }
  DeviceCountScope(const DeviceCountScope&) = delete;
  DeviceCountScope& operator=(const DeviceCountScope&) = delete;
  ~DeviceCountScope() {
    cudaSetDevice(0);
    gpuopt::emulation::setDeviceCount(before_);
  }

 private:
  int before_;
};

/// Calls work(device) in a thread for each device, and returns how many of them returned true.
inline int onDevices(int count, const std::function<bool(int)>& work) {
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int device = 0; device < count; ++device)
    threads.emplace_back([&, device] { right += cudaSetDevice(device) == cudaSuccess && work(device) ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  return right;
}
