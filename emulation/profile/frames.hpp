/// From instructions to the lines of the source.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "gpuopt_emulation/source_line.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace gpuopt::emulation::detail {

inline std::string demangled(const char* name) {
  if (name == nullptr) return "";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                        std::free);
  return withoutInlineNamespaces(status == 0 ? readable.get() : name);
}

/// The lines that an instruction comes from: its own, then those that it is inlined into. `returnAddress` follows it.
inline std::vector<SourceLine> framesOf(std::uintptr_t returnAddress) {
  std::vector<SourceLine> frames;
  const auto visit = [](void* found, std::uintptr_t, const char* file, int line, const char* function) {
    if (file != nullptr) static_cast<std::vector<SourceLine>*>(found)->push_back({demangled(function), file, line});
    return 0;
  };
  backtrace_pcinfo(backtraceState(), returnAddress - 1, visit, ignoreBacktraceError, &frames);
  return frames;
}

inline bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/// Whether a file belongs to the compiler, Boost or the emulated device: no part of a kernel.
inline bool isSystemFile(const std::string& file) {
  return contains(file, "gpuopt_emulation/") || contains(file, "emulation/include/") ||
         contains(file, "emulation/check/") || contains(file, "emulation/profile/") ||
         contains(file, "/include/c++/") || contains(file, "include/boost/");
}

/// The innermost line that a user wrote; in the library if no user's line is known, as in its own kernels. Null if
/// there is only the system's.
inline const SourceLine* lineOf(const std::vector<SourceLine>& frames) {
  const auto isUsers = [](const SourceLine& frame) { return !isLibraryFile(frame.file); };
  const auto isKernels = [](const SourceLine& frame) { return !isSystemFile(frame.file); };
  auto found = std::find_if(frames.begin(), frames.end(), isUsers);
  if (found == frames.end()) found = std::find_if(frames.begin(), frames.end(), isKernels);
  return found == frames.end() ? nullptr : &*found;
}

}  // namespace gpuopt::emulation::detail
