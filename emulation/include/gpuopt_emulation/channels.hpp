/// The elements of arrays and textures: one, two or four numbers of one type.
// SPDX-License-Identifier: MIT
#pragma once

#include "vector_types.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

enum cudaChannelFormatKind {
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindFloat = 2,
  cudaChannelFormatKindNone = 3
};
struct cudaChannelFormatDesc {
  int x, y, z, w;  ///< bits of each component
  cudaChannelFormatKind f;
};

inline cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

namespace gpuopt::emulation::detail {

template <class T, bool = std::is_arithmetic_v<T>>
struct ComponentOf {
  using Type = T;
};
template <class T>
struct ComponentOf<T, false> {
  using Type = decltype(T::x);
};
template <class T>
using Component = typename ComponentOf<T>::Type;

template <class T>
inline constexpr int componentCount = static_cast<int>(sizeof(T) / sizeof(Component<T>));

inline std::size_t elementBytes(const cudaChannelFormatDesc& channels) {
  return static_cast<std::size_t>(channels.x + channels.y + channels.z + channels.w) / 8;
}

/// Whether there are elements of this kind: one, two or four numbers of the same 8, 16 or 32 bits, no floats of 8.
inline bool isElement(const cudaChannelFormatDesc& channels) {
  const std::array<int, 4> bits{channels.x, channels.y, channels.z, channels.w};
  std::size_t count = 0;
  while (count < 4 && bits[count] != 0) ++count;
  for (std::size_t i = 0; i < 4; ++i)
    if (bits[i] != (i < count ? channels.x : 0)) return false;
  const bool isFloat = channels.f == cudaChannelFormatKindFloat;
  const bool isNumber =
      isFloat || channels.f == cudaChannelFormatKindSigned || channels.f == cudaChannelFormatKindUnsigned;
  const bool hasSize = channels.x == 32 || channels.x == 16 || (channels.x == 8 && !isFloat);
  return (count == 1 || count == 2 || count == 4) && isNumber && hasSize;
}

/// An element of a texture or surface, or a number of one. Profiles do not count it.
__attribute__((no_sanitize("thread"))) inline void copyElement(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

}  // namespace gpuopt::emulation::detail

/// For numbers, and vectors of two or four of them.
template <class T>
cudaChannelFormatDesc cudaCreateChannelDesc() {
  using Number = gpuopt::emulation::detail::Component<T>;
  constexpr int COUNT = gpuopt::emulation::detail::componentCount<T>, BITS = 8 * static_cast<int>(sizeof(Number));
  static_assert(COUNT != 3 && BITS <= 32, "a texture has one, two or four numbers of up to 32 bits");
  return {BITS, COUNT > 1 ? BITS : 0, COUNT > 2 ? BITS : 0, COUNT > 2 ? BITS : 0,
          std::is_floating_point_v<Number> ? cudaChannelFormatKindFloat
          : std::is_signed_v<Number>       ? cudaChannelFormatKindSigned
                                           : cudaChannelFormatKindUnsigned};
}

/// A float of 16 bits, and two and four of them. Textures deliver them as floats.
inline cudaChannelFormatDesc cudaCreateChannelDescHalf() { return {16, 0, 0, 0, cudaChannelFormatKindFloat}; }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf2() { return {16, 16, 0, 0, cudaChannelFormatKindFloat}; }
inline cudaChannelFormatDesc cudaCreateChannelDescHalf4() { return {16, 16, 16, 16, cudaChannelFormatKindFloat}; }
