/// Reports of what a GPU would leave undefined, and the names of kernels for them.
// SPDX-License-Identifier: MIT
#pragma once

#include "symbols.hpp"
#include "vector_types.hpp"

#include <cxxabi.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace gpuopt::emulation {
namespace detail {

/// The names of kernels by their addresses: those that were asked for, and how launches spell them.
struct SymbolNames {
  std::mutex mutex;
  std::map<const void*, std::string> names;
  std::map<const void*, const char*> spelled;
};

inline SymbolNames& symbolNames() {
  static SymbolNames* const instance = new SymbolNames;
  return *instance;
}

/// How a launch spells the name of a kernel, in case that it has no symbol.
inline void spellSymbol(const void* function, const char* name) {
  const std::lock_guard<std::mutex> lock(symbolNames().mutex);
  symbolNames().spelled.try_emplace(function, name);
}

/// Names a kernel whose own address is unknown.
inline void nameSymbol(const void* function, const char* name) {
  const std::lock_guard<std::mutex> lock(symbolNames().mutex);
  symbolNames().names.try_emplace(function, name);
}

/// The mangled name of a kernel, or else how a launch spells it; stays valid for ever.
inline const char* symbolName(const void* function) {
  SymbolNames& known = symbolNames();
  const std::lock_guard<std::mutex> lock(known.mutex);
  const auto [entry, isNew] = known.names.try_emplace(function);
  if (isNew) {
    const auto spelled = known.spelled.find(function);
    entry->second = readSymbol(function);
    if (entry->second.empty()) entry->second = spelled != known.spelled.end() ? spelled->second : "unnamed_kernel";
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
  if (std::strncmp(mangled, "_Z", 2) != 0) return mangled;  // "f" would be demangled to "float"
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(mangled, nullptr, nullptr, &status),
                                                        std::free);
  return withoutInlineNamespaces(status == 0 ? readable.get() : mangled);
}

/// A text as JSON has it.
inline std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(c));
      result += code;
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

/// What a report is about, for programs that read it.
struct ReportSubject {
  const char* kind = "error";
  std::string kernel{};
  std::vector<Site> lines{};  ///< where it happened, then what else takes part
};

struct Reports {
  std::mutex mutex;
  std::string last;
};

inline Reports& reports() {
  static Reports* const instance = new Reports;
  return *instance;
}

inline std::string jsonOf(const std::string& text, const ReportSubject& subject) {
  std::string lines;
  for (const Site& line : subject.lines)
    lines += (lines.empty() ? "" : ", ") + ("{\"file\": " + quoted(line.file)) +
             ", \"line\": " + std::to_string(line.line) + '}';
  return "{\"kind\": " + quoted(subject.kind) + ", \"kernel\": " + quoted(subject.kernel) + ", \"lines\": [" + lines +
         "], \"text\": " + quoted(text) + "}\n";
}

/// Appends a report to the file that GPUOPT_EMULATION_REPORT names, if any. Complete whenever the program ends.
inline bool appendToFile(const std::string& text, const ReportSubject& subject) {
  const char* const path = std::getenv("GPUOPT_EMULATION_REPORT");
  std::FILE* const file = path != nullptr && *path != '\0' ? std::fopen(path, "a") : nullptr;
  if (file == nullptr) return false;
  const std::string line = jsonOf(text, subject);
  const bool isWritten = std::fwrite(line.data(), 1, line.size(), file) == line.size();
  return std::fclose(file) == 0 && isWritten;
}

/// Prints a report, unless a file takes it, and keeps it for lastReport().
inline void report(const std::string& text, const ReportSubject& subject = {}) {
  const std::lock_guard<std::mutex> lock(reports().mutex);
  reports().last = text;
  if (!appendToFile(text, subject)) std::fprintf(stderr, "gpuopt emulation: %s\n", text.c_str());
}

inline std::string text(uint3 v) {
  std::ostringstream out;
  out << '(' << v.x << ", " << v.y << ", " << v.z << ')';
  return out.str();
}

inline std::string hexadecimal(unsigned value) {
  std::ostringstream out;
  out << "0x" << std::hex << value;
  return out.str();
}

/// "0-31, 40" for a sorted list of numbers.
inline std::string ranges(const std::vector<unsigned>& numbers) {
  std::ostringstream out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    out << (i == 0 ? "" : ", ") << numbers[i];
    if (last > i) out << '-' << numbers[last];
    i = last + 1;
  }
  return out.str();
}

}  // namespace detail

/// The text of the latest report of this process (empty: none yet).
inline std::string lastReport() {
  const std::lock_guard<std::mutex> lock(detail::reports().mutex);
  return detail::reports().last;
}

}  // namespace gpuopt::emulation
