/// \file
/// The blocks of the host's memory that a list names: at offsets, at multiples of their size, at pointers. Each finds
/// block i, and says what is wrong with it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/core/pointer_check.cuh>

#include <cstddef>
#include <initializer_list>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

inline unsigned char* byteAddress(const void* address) {
  return static_cast<unsigned char*>(const_cast<void*>(address));
}

// With GPUOPT_CHECK_POINTERS: the host can access the first byte and the last.
inline void requireBlock(const unsigned char* block, std::size_t bytes, std::initializer_list<MessagePart> name,
                         const char* function) {
  if (!hostCanAccess(block) || !hostCanAccess(block + bytes - 1))
    throwInvalid({function, ": the host cannot access the ", bytes, " bytes at ", message(name)});
}

// Of what a pointer points to, which may be void.
template <class T>
constexpr std::size_t alignmentOf() {
  if constexpr (std::is_void_v<T>)
    return 1;
  else
    return alignof(T);
}

// Blocks at offsets.
template <class Offset>
struct BlocksAtOffsets {
  unsigned char* host;
  std::size_t extent, alignment;
  const Offset* offsets;

  unsigned char* operator()(std::size_t i) const { return host + offsets[i]; }

  // Whether `count` blocks of one size are there, at a glance: false also where only the sum of their bits is too
  // large.
  bool areThere(std::size_t count, std::size_t bytes) const {
    std::size_t bits = 0;
    for (std::size_t i = 0; i < count; ++i) bits |= static_cast<std::size_t>(offsets[i]);
    return bytes <= extent && bits <= extent - bytes;
  }

  bool isThere(std::size_t i, std::size_t bytes) const {
    const auto offset = static_cast<std::size_t>(offsets[i]);
    return offset <= extent && bytes <= extent - offset;
  }

  void require(std::size_t i, std::size_t bytes, const char* function) const {
    const auto offset = static_cast<std::size_t>(offsets[i]);
    if (!isThere(i, bytes)) {
      requireSize(offset, {"offsets[", i, "]"}, function);
      throwInvalid({function, ": offsets[", i, "] is ", offset, ": the ", bytes,
                    " bytes there reach beyond the end of host, which has ", extent, " bytes"});
    }
    if (offset % alignment != 0)
      throwInvalid(
          {function, ": offsets[", i, "] (", offset, ") is no multiple of ", alignment,
           ", the alignment of host's elements: offsets are in bytes; of numbers of blocks call blockIndices"});
    requireBlock(host + offset, bytes, {"host + offsets[", i, "], which is ", offset}, function);
  }
};

// Blocks at multiples of their size.
template <class Index>
struct BlocksAtIndices {
  unsigned char* host;
  std::size_t extent;
  const Index* indices;
  std::size_t blockBytes;

  unsigned char* operator()(std::size_t i) const { return host + static_cast<std::size_t>(indices[i]) * blockBytes; }

  bool areThere(std::size_t count, std::size_t bytes) const {
    std::size_t bits = 0;
    for (std::size_t i = 0; i < count; ++i) bits |= static_cast<std::size_t>(indices[i]);
    return bits < extent / bytes;
  }

  bool isThere(std::size_t i, std::size_t bytes) const { return static_cast<std::size_t>(indices[i]) < extent / bytes; }

  void require(std::size_t i, std::size_t bytes, const char* function) const {
    const auto index = static_cast<std::size_t>(indices[i]);
    if (!isThere(i, bytes)) {
      requireSize(index, {"indices[", i, "]"}, function, bytes);
      throwInvalid({function, ": indices[", i, "] is ", index, ", but host has ", extent / bytes, " blocks of ", bytes,
                    " bytes"});
    }
    requireBlock((*this)(i), bytes, {"block ", index, ", which is indices[", i, "]"}, function);
  }
};

// Blocks at pointers.
template <class T>
struct BlocksAtPointers {
  T* const* blocks;

  unsigned char* operator()(std::size_t i) const { return byteAddress(blocks[i]); }

  bool areThere(std::size_t count, std::size_t) const {
    bool areAll = true;
    for (std::size_t i = 0; i < count; ++i) areAll &= blocks[i] != nullptr;
    return areAll;
  }

  bool isThere(std::size_t i, std::size_t) const { return blocks[i] != nullptr; }

  void require(std::size_t i, std::size_t bytes, const char* function) const {
    if (!isThere(i, bytes)) throwInvalid({function, ": blocks[", i, "] is null"});
    requireBlock(byteAddress(blocks[i]), bytes, {"blocks[", i, "]"}, function);
  }
};

GPUOPT_DETAIL_END
