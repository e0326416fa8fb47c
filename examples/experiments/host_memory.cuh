/// \file
/// Memory of the host, of every kind that a transfer may meet.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/error.cuh>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace experiments {

enum class HostMemory {
  pageable,       ///< what malloc gives: the driver copies it through a pinned buffer of its own
  pinned,         ///< stays where it is: the copy engine reads it directly
  writeCombined,  ///< pinned and not cached: quick to write, very slow for the host to read
  mapped          ///< pinned and in the device's address space: kernels access it without a copy
};

/// Memory of the host that frees itself.
class HostBuffer {
 public:
  HostBuffer(HostMemory kind, std::size_t bytes) : kind_(kind) {
    if (kind == HostMemory::pageable) {
      data_ = std::malloc(bytes);
      if (data_ == nullptr) throw std::bad_alloc();
    } else {
      const unsigned flags = kind == HostMemory::writeCombined ? cudaHostAllocWriteCombined
                             : kind == HostMemory::mapped      ? cudaHostAllocMapped
                                                               : cudaHostAllocDefault;
      gpuopt::check(cudaHostAlloc(&data_, bytes, flags), "cudaHostAlloc");
    }
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  ~HostBuffer() {
    if (kind_ == HostMemory::pageable)
      std::free(data_);
    else
      cudaFreeHost(data_);
  }

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

  /// The address for kernels; of mapped memory only.
  template <class T>
  T* onDevice() const {
    void* address = nullptr;
    gpuopt::check(cudaHostGetDevicePointer(&address, data_, 0), "cudaHostGetDevicePointer");
    return static_cast<T*>(address);
  }

 private:
  HostMemory kind_;
  void* data_ = nullptr;
};

/// What the host itself does with such memory: it writes n words, first, first + 1, ..., and adds up n words.
inline void writeWords(unsigned* words, std::size_t n, unsigned first) {
  for (std::size_t i = 0; i < n; ++i) words[i] = first + static_cast<unsigned>(i);
}

inline unsigned sumOfWords(const unsigned* words, std::size_t n) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += words[i];
  return sum;
}

}  // namespace experiments
