/// The words of reports: threads, lines, and what memory an address is in.
// SPDX-License-Identifier: MIT
#pragma once

#include "shadow.hpp"

#include "../profile/frames.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace gpuopt::emulation::detail {

inline uint3 indexIn(dim3 size, std::uint64_t number) {
  const std::uint64_t x = size.x, y = size.y;
  return {static_cast<unsigned>(number % x), static_cast<unsigned>(number / x % y),
          static_cast<unsigned>(number / (x * y))};
}

inline const char* verb(AccessWay way, bool isEarlier) {
  switch (way) {
    case AccessWay::read:
    case AccessWay::volatileRead:
    case AccessWay::atomicRead:
      return isEarlier ? "read" : "reads";
    case AccessWay::atomicWrite:
      return isEarlier ? "updated atomically" : "updates atomically";
    case AccessWay::copy:
      return isEarlier ? "started a copy to it" : "starts a copy to it";
    default:
      return isEarlier ? "wrote" : "writes";
  }
}

inline std::string locationOf(const std::vector<SourceLine>& frames) {
  const SourceLine* const line = lineOf(frames);
  if (line == nullptr) return "an unknown line";
  std::string location = line->file + ':' + std::to_string(line->line);
  const auto inner = std::find_if(frames.begin(), frames.end(), [](const auto& f) { return !isSystemFile(f.file); });
  if (inner != frames.end() && &*inner != line)
    location += " (" + inner->file + ':' + std::to_string(inner->line) + ')';
  return location;
}

/// The names of an object's thread-local variables, which shared ones are.
class ThreadLocalNames {
 public:
  explicit ThreadLocalNames(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    Elf64_Ehdr header;
    if (content.size() < sizeof header) return;
    std::memcpy(&header, content.data(), sizeof header);
    const auto section = [&](std::size_t i) {
      Elf64_Shdr found{};
      const std::size_t at = header.e_shoff + i * sizeof found;
      if (at + sizeof found <= content.size()) std::memcpy(&found, content.data() + at, sizeof found);
      return found;
    };
    for (std::size_t i = 0; i < header.e_shnum; ++i)
      if (section(i).sh_type == SHT_SYMTAB) read(content, section(i), section(section(i).sh_link));
  }

  /// "tile + 12 bytes" for an offset in the segment; empty if it is in no variable.
  std::string at(std::uintptr_t offset) const {
    for (const Variable& variable : variables_)
      if (offset - variable.offset < variable.bytes)
        return demangled(variable.name.c_str()) + " + " + std::to_string(offset - variable.offset) + " bytes";
    return {};
  }

 private:
  struct Variable {
    std::uintptr_t offset, bytes;
    std::string name;
  };

  void read(const std::string& content, const Elf64_Shdr& symbols, const Elf64_Shdr& names) {
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, content.data() + symbols.sh_offset + at, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS)
        variables_.push_back({symbol.st_value, symbol.st_size, content.data() + names.sh_offset + symbol.st_name});
    }
  }

  std::vector<Variable> variables_;
};

/// "the shared variable tile + 12 bytes": an address of the block that runs on this thread.
inline std::string describeShared(std::uintptr_t address, const void* kernel) {
  const auto dynamic = reinterpret_cast<std::uintptr_t>(gpuoptDynamicShared);
  if (address - dynamic < SHARED_BYTES_OPTIN)
    return "dynamic shared memory + " + std::to_string(address - dynamic) + " bytes";
  const LoadedObject object = objectOf(kernel);
  static const auto* const names = new ThreadLocalNames(object.path);
  const std::string name = names->at(address - reinterpret_cast<std::uintptr_t>(object.threadLocal));
  return name.empty() ? "shared memory" : "the shared variable " + name;
}

/// A variable of the program: its demangled name and its bytes. Without a name if there is none at an address.
struct Variable {
  std::string name;
  std::uintptr_t begin = 0, bytes = 0;
};

inline Variable variableAt(std::uintptr_t address) {
  Variable variable;
  const auto visit = [](void* found, std::uintptr_t pc, const char* symbol, std::uintptr_t value, std::uintptr_t size) {
    if (symbol != nullptr && pc - value < size) *static_cast<Variable*>(found) = {demangled(symbol), value, size};
  };
  backtrace_syminfo(backtraceState(), address, visit, ignoreBacktraceError, &variable);
  return variable;
}

/// The same of global memory.
inline std::string describeGlobal(std::uintptr_t address) {
  const auto [begin, bytes] = memory().range(reinterpret_cast<const void*>(address));
  if (begin != nullptr)
    return "an allocation of " + std::to_string(bytes) + " bytes + " +
           std::to_string(address - reinterpret_cast<std::uintptr_t>(begin)) + " bytes";
  const Variable variable = variableAt(address);
  if (!variable.name.empty())
    return "the variable " + variable.name + " + " + std::to_string(address - variable.begin) + " bytes";
  return "memory" + memory().describeNeighbour(reinterpret_cast<const void*>(address));
}

}  // namespace gpuopt::emulation::detail
