/// \file
/// Environments for CUB: a stream, temporary storage that is there beforehand, and what a result may depend on. The
/// functions with environments came with CCCL 3.1 to 3.5.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda/version>

#define GPUOPT_BENCHMARK_CUB_ENVIRONMENTS (CCCL_VERSION >= 3005000)

#if GPUOPT_BENCHMARK_CUB_ENVIRONMENTS
#include <cuda/execution>
#include <cuda/memory_resource>
#include <cuda/std/execution>
#include <cuda/stream_ref>

#include <cstddef>
#include <new>

namespace bench {

/// Memory for one call at a time: CUB allocates nothing in it, as where it is passed its temporary storage.
class ReadyMemory {
 public:
  ReadyMemory(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}

  void* allocate(cuda::stream_ref, std::size_t bytes, std::size_t alignment) { return allocate_sync(bytes, alignment); }
  void deallocate(cuda::stream_ref, void*, std::size_t, std::size_t) noexcept {}
  void* allocate_sync(std::size_t bytes, std::size_t) {
    if (bytes > bytes_) throw std::bad_alloc();  // which CUB returns as cudaErrorMemoryAllocation
    return data_;
  }
  void deallocate_sync(void*, std::size_t, std::size_t) noexcept {}

  friend bool operator==(const ReadyMemory& a, const ReadyMemory& b) { return a.data_ == b.data_; }
  friend bool operator!=(const ReadyMemory& a, const ReadyMemory& b) { return !(a == b); }
  friend void get_property(const ReadyMemory&, cuda::mr::device_accessible) noexcept {}

 private:
  void* data_;
  std::size_t bytes_;
};

/// \param determinism such as cuda::execution::determinism::gpu_to_gpu
template <class Determinism>
auto cubEnvironment(cudaStream_t stream, const ReadyMemory& memory, Determinism determinism) {
  return cuda::std::execution::env{cuda::stream_ref{stream},
                                   cuda::std::execution::prop{cuda::mr::get_memory_resource, memory},
                                   cuda::execution::require(determinism)};
}

}  // namespace bench
#endif
