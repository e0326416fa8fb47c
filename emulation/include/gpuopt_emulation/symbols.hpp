/// Names of kernels and lines of callers for reports, from libbacktrace, which comes with g++.
///
/// They need GPUOPT_EMULATION_BACKTRACE, -lbacktrace, and -g for the lines. Without it, a kernel has a name
/// only if the program exports it (-rdynamic), and a report names the call of the barrier or warp collective
/// itself.
// SPDX-License-Identifier: MIT
#pragma once

#ifdef GPUOPT_EMULATION_BACKTRACE
#include <backtrace.h>
#else
#include <dlfcn.h>
#endif

#include <cstdint>
#include <string>

namespace gpuopt::emulation::detail {

/// A place in the source. As a default argument, `Site::here()` is the place of the call.
struct Site {
  const char* file = "";
  int line = 0;
  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) { return {file, line}; }
};

inline std::string text(Site site) { return std::string(site.file) + ":" + std::to_string(site.line); }

/// Whether a file belongs to gpuopt, the emulated device, or the libraries below them (glibc calls handlers of
/// signals).
inline bool isLibraryFile(const std::string& file) {
  for (const char* folder : {"include/gpuopt/", "gpuopt_emulation/", "emulation/include/", "emulation/check/",
                             "emulation/profile/", "include/c++/", "include/boost/", "/sysdeps/"})
    if (file.find(folder) != std::string::npos) return true;
  return false;
}

#ifdef GPUOPT_EMULATION_BACKTRACE

inline void ignoreBacktraceError(void*, const char*, int) {}

// One for all threads. Thread-local state would be poisoned with the shared memory.
inline backtrace_state* backtraceState() {
  static backtrace_state* const state = backtrace_create_state(nullptr, 1, ignoreBacktraceError, nullptr);
  return state;
}

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
  backtrace_syminfo(backtraceState(), reinterpret_cast<std::uintptr_t>(function), visit, ignoreBacktraceError, &name);
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

}  // namespace gpuopt::emulation::detail
