/// Reports of what a GPU would leave undefined, and the names of kernels for them.
// SPDX-License-Identifier: MIT
#pragma once

#include "vector_types.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace gpuopt::emulation {
namespace detail {

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

template <class T>
std::vector<T> readTable(std::ifstream& file, std::uint64_t offset, std::uint64_t bytes) {
  std::vector<T> table(bytes / sizeof(T));
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(table.data()), static_cast<std::streamsize>(table.size() * sizeof(T)));
  return table;
}

/// The linker's name of the function at an address, read from the object's symbol table: dladdr() knows
/// exported symbols only, and a program exports none. Empty if the object is stripped.
inline std::string readSymbol(const void* function) {
  const LoadedObject object = objectOf(function);
  std::ifstream file(object.path, std::ios::binary);
  ElfW(Ehdr) header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  const auto sections = readTable<ElfW(Shdr)>(file, header.e_shoff, header.e_shnum * sizeof(ElfW(Shdr)));
  for (const auto& section : sections) {
    if (!file || (section.sh_type != SHT_SYMTAB && section.sh_type != SHT_DYNSYM)) continue;
    const auto& strings = sections[section.sh_link];
    const auto names = readTable<char>(file, strings.sh_offset, strings.sh_size);
    for (const auto& symbol : readTable<ElfW(Sym)>(file, section.sh_offset, section.sh_size)) {
      const bool isFunction = (symbol.st_info & 0xF) == STT_FUNC;
      if (isFunction && object.base + symbol.st_value == reinterpret_cast<std::uintptr_t>(function))
        return names.data() + symbol.st_name;
    }
  }
  return {};
}

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

struct Reports {
  std::mutex mutex;
  std::string last;
};

inline Reports& reports() {
  static Reports* const instance = new Reports;
  return *instance;
}

/// Prints a report and keeps it for lastReport().
inline void report(const std::string& text) {
  const std::lock_guard<std::mutex> lock(reports().mutex);
  reports().last = text;
  std::fprintf(stderr, "gpuopt emulation: %s\n", text.c_str());
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
