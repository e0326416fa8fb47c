/// Names of kernels and lines of callers for reports, from libbacktrace, which comes with g++.
///
/// They need GPUOPT_EMULATION_BACKTRACE, -lbacktrace, and -g for the lines. Without it, a kernel has a name
/// only if the program exports it (-rdynamic), and a report names the call of the barrier or warp collective
/// itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <cxxabi.h>
#include <dlfcn.h>
#ifdef GPUOPT_EMULATION_BACKTRACE
#include <backtrace.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace gpuopt::emulation::detail {

/// A place in the source. As a default argument, `Site::here()` is the place of the call.
struct Site {
  const char* file = "";
  int line = 0;
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

inline std::string text(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }

/// Whether a file belongs to gpuopt, the emulated device, or the libraries below them.
inline bool isLibraryFile(const std::string& file) {
  for (const char* folder : {"include/gpuopt/", "gpuopt_emulation/", "include/c++/", "include/boost/"})
    if (file.find(folder) != std::string::npos) return true;
  return false;
}

#ifdef GPUOPT_EMULATION_BACKTRACE

// One for all threads. Thread-local state would be poisoned with the shared memory.
inline backtrace_state* backtraceState() {
  static backtrace_state* const state = backtrace_create_state(nullptr, 1, nullptr, nullptr);
  return state;
}

inline void ignoreBacktraceError(void*, const char*, int) {}

/// The innermost caller outside of the libraries; `otherwise` if there is none.
inline Site callerOutsideLibraries(Site otherwise) {
  const auto visit = [](void* found, std::uintptr_t, const char* file, int line, const char*) {
    if (file == nullptr || isLibraryFile(file)) return 0;
    *static_cast<Site*>(found) = {file, line};
    return 1;  // ends the walk
  };
  backtrace_full(backtraceState(), 0, visit, ignoreBacktraceError, &otherwise);
  return otherwise;
}

/// The mangled name of a function; empty if it is unknown.
inline std::string readSymbol(const void* function) {
  std::string name;
  const auto visit = [](void* found, std::uintptr_t, const char* symbol, std::uintptr_t, std::uintptr_t) {
    if (symbol != nullptr) *static_cast<std::string*>(found) = symbol;
  };
  backtrace_syminfo(backtraceState(), reinterpret_cast<std::uintptr_t>(function), visit, ignoreBacktraceError,
                    &name);
  return name;
}

#else

inline Site callerOutsideLibraries(Site otherwise) { return otherwise; }

inline std::string readSymbol(const void* function) {
  Dl_info info{};
  const bool isFound = dladdr(function, &info) != 0 && info.dli_saddr == function;
  return isFound && info.dli_sname != nullptr ? info.dli_sname : "";
}

#endif

/// Where the user's code called what waits or fails at `site`.
inline Site userSite(Site site) { return isLibraryFile(site.file) ? callerOutsideLibraries(site) : site; }

/// The mangled name of a kernel; stays valid for ever.
inline const char* symbolName(const void* function) {
  static std::mutex& mutex = *new std::mutex;
  static auto& names = *new std::map<const void*, std::string>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto [entry, isNew] = names.try_emplace(function);
  if (isNew) {
    entry->second = readSymbol(function);
    if (entry->second.empty()) entry->second = "unnamed_kernel";
  }
  return entry->second.c_str();
}

/// A demangled name without the library's inline namespaces: gpuopt::v0_1_0_emulated::launch.
inline std::string withoutInlineNamespaces(std::string name) {
  for (std::size_t at = 0; (at = name.find("gpuopt::v", at)) != std::string::npos;) {
    at += sizeof "gpuopt::" - 1;
    if (name[at + 1] >= '0' && name[at + 1] <= '9') name.erase(at, name.find("::", at) + 2 - at);
  }
  return name;
}

/// The name of a kernel as a reader of its source knows it.
inline std::string kernelName(const void* function) {
  const char* mangled = symbolName(function);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return withoutInlineNamespaces(status == 0 ? readable.get() : mangled);
}

}  // namespace gpuopt::emulation::detail
