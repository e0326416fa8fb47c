/// The shared memory of a block: thread-local storage of the worker that runs it, poisoned before each block.
// SPDX-License-Identifier: MIT
#pragma once

#include "limits.hpp"
#include "settings.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace gpuopt {

/// What `extern __shared__ unsigned char gpuoptDynamicShared[]` in namespace gpuopt refers to.
inline thread_local __align__(128) unsigned char gpuoptDynamicShared[emulation::SHARED_BYTES_OPTIN];

#ifndef __clang__
// g++ calls the initialisation function of a variable that is declared extern in a block even if there is
// none.
__attribute__((weak, used)) void initializeDynamicShared() __asm__("_ZTHN6gpuopt19gpuoptDynamicSharedE");
void initializeDynamicShared() {}
#endif

}  // namespace gpuopt

namespace gpuopt::emulation::detail {

/// The loaded object (program or shared library) that holds an address.
struct LoadedObject {
  std::string path;
  std::uintptr_t base = 0;
  unsigned char* threadLocal = nullptr;  ///< the calling thread's copy of the object's thread-local segment
  std::size_t threadLocalBytes = 0;
};

inline LoadedObject objectOf(const void* address) {
  struct Query {
    std::uintptr_t address;
    LoadedObject found;
  } query{reinterpret_cast<std::uintptr_t>(address), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        Query& wanted = *static_cast<Query*>(argument);
        bool holds = false;
        std::size_t threadLocalBytes = 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& header = info->dlpi_phdr[i];
          if (header.p_type == PT_LOAD && wanted.address - info->dlpi_addr - header.p_vaddr < header.p_memsz)
            holds = true;
          if (header.p_type == PT_TLS) threadLocalBytes = header.p_memsz;
        }
        if (!holds) return 0;
        const bool program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
        wanted.found = {program ? "/proc/self/exe" : info->dlpi_name, info->dlpi_addr,
                        static_cast<unsigned char*>(info->dlpi_tls_data), threadLocalBytes};
        return 1;
      },
      &query);
  return query.found;
}

/// One worker's shared memory. Static `__shared__` variables are in the thread-local segment of the object
/// that holds the kernel. The whole segment is poisoned; workers keep nothing else there from block to block. In a
/// statically linked program they do: it is not poisoned, and checks take all that kernels access there for shared.
class SharedMemory {
 public:
  /// Makes static and dynamic shared memory unwritten, and dynamic memory beyond `dynamicBytes` inaccessible.
  void poison(const void* kernel, std::size_t dynamicBytes, unsigned char byte) {
    if (kernel != kernel_) {
      kernel_ = kernel;
      findSegment();
    }
    const Address dynamic = address(gpuoptDynamicShared), dynamicEnd = dynamic + SHARED_BYTES_OPTIN;
    setAccessible(dynamicBytes);
    const bool dynamicInside = begin_ <= dynamic && dynamicEnd <= end_;
    fill(dynamic, dynamic + dynamicBytes, byte);
    if (holdsRuntimeState_) return;
    fill(begin_, dynamicInside ? dynamic : end_, byte);
    if (dynamicInside) fill(dynamicEnd, end_, byte);
  }

  /// The addresses of static shared variables, and of what else is thread-local; none if they are unknown.
  std::uintptr_t begin() const { return begin_; }
  std::uintptr_t end() const { return end_; }

 private:
  // Numbers, because the segment spans many objects.
  using Address = std::uintptr_t;

  static Address address(const void* pointer) { return reinterpret_cast<Address>(pointer); }

  static void fill(Address from, Address to, unsigned char byte) {
    std::memset(reinterpret_cast<void*>(from), byte, to - from);
  }

  static void setAccessible([[maybe_unused]] std::size_t bytes) {
#if GPUOPT_EMULATION_ASAN
    ASAN_UNPOISON_MEMORY_REGION(gpuoptDynamicShared, bytes);
    ASAN_POISON_MEMORY_REGION(gpuoptDynamicShared + bytes, SHARED_BYTES_OPTIN - bytes);
#endif
  }

  void findSegment() {
    const LoadedObject object = objectOf(kernel_);
    begin_ = address(object.threadLocal);
    end_ = begin_ + object.threadLocalBytes;
    if (object.threadLocal == nullptr) begin_ = end_ = 0;
    holdsRuntimeState_ = holdsRuntimeState(object);
  }

  /// In a statically linked program, the C and C++ runtimes and the sanitizers live in the same segment.
  bool holdsRuntimeState(const LoadedObject& object) const {
    const void* const sanitizer = dlsym(RTLD_DEFAULT, "__asan_init");
    return contains(&errno) || contains(abi::__cxa_get_globals()) ||
           (sanitizer != nullptr && objectOf(sanitizer).path == object.path);
  }

  bool contains(const void* pointer) const { return begin_ <= address(pointer) && address(pointer) < end_; }

  const void* kernel_ = nullptr;
  Address begin_ = 0;
  Address end_ = 0;
  bool holdsRuntimeState_ = false;
};

}  // namespace gpuopt::emulation::detail
