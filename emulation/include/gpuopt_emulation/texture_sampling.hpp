/// What a texture delivers at a coordinate: addressing, filtering, conversion of integers to floats.
// SPDX-License-Identifier: MIT
#pragma once

#include "channels.hpp"
#include "small_float.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

enum cudaTextureAddressMode {
  cudaAddressModeWrap = 0,
  cudaAddressModeClamp = 1,
  cudaAddressModeMirror = 2,
  cudaAddressModeBorder = 3
};
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };

namespace gpuopt::emulation::detail {

struct Sampling {
  std::array<cudaTextureAddressMode, 3> address;
  cudaTextureFilterMode filter;
  cudaTextureReadMode read;
  bool isNormalized;  ///< coordinates from 0 to 1
  std::array<double, 4> border;
};

/// The numbers of an element. A double has every value of them.
using Texel = std::array<double, 4>;

template <class T>
double numberAt(const void* address) {
  T value;
  copyElement(&value, address, sizeof(T));
  return static_cast<double>(value);
}

struct Texture {
  const void* data;
  cudaChannelFormatDesc channels;
  std::array<std::size_t, 3> size;  ///< in elements; 1 for a dimension that there is not
  std::size_t pitch;                ///< bytes of a row
  Sampling sampling;

  Texel texel(std::size_t x, std::size_t y, std::size_t z) const {
    const auto* at = static_cast<const unsigned char*>(data) + (z * size[1] + y) * pitch + x * elementBytes(channels);
    const std::array<int, 4> bits{channels.x, channels.y, channels.z, channels.w};
    Texel result{};
    for (std::size_t i = 0; i < 4 && bits[i] > 0; at += bits[i] / 8, ++i) result[i] = number(at, bits[i]);
    return result;
  }

 private:
  double number(const void* address, int bits) const {
    if (channels.f == cudaChannelFormatKindFloat && bits == 16)
      return SmallFloat<5, 10>::decode(static_cast<unsigned short>(numberAt<std::uint16_t>(address)));
    if (channels.f == cudaChannelFormatKindFloat) return numberAt<float>(address);
    const bool isSigned = channels.f == cudaChannelFormatKindSigned;
    double value = 0;
    if (bits == 8)
      value = isSigned ? numberAt<std::int8_t>(address) : numberAt<std::uint8_t>(address);
    else if (bits == 16)
      value = isSigned ? numberAt<std::int16_t>(address) : numberAt<std::uint16_t>(address);
    else
      value = isSigned ? numberAt<std::int32_t>(address) : numberAt<std::uint32_t>(address);
    if (sampling.read == cudaReadModeElementType) return value;
    const double largest = std::ldexp(1.0, isSigned ? bits - 1 : bits) - 1;
    return (std::max)(value / largest, -1.0);
  }
};

/// The index of an element beyond the ends of a dimension; -1 is the border. Only normalised coordinates wrap and
/// mirror.
inline std::int64_t addressed(std::int64_t i, std::int64_t n, cudaTextureAddressMode mode, bool isNormalized) {
  if (mode == cudaAddressModeBorder) return i < 0 || i >= n ? -1 : i;
  if (mode == cudaAddressModeClamp || !isNormalized) return i < 0 ? 0 : i >= n ? n - 1 : i;
  const std::int64_t period = mode == cudaAddressModeWrap ? n : 2 * n;
  const std::int64_t within = (i % period + period) % period;
  return within < n ? within : period - 1 - within;
}

/// One coordinate: an element, or the two that it is between.
struct Axis {
  std::array<std::int64_t, 2> index;
  int fraction;  ///< of the way to the second, in 256ths
};

inline Axis axisAt(const Texture& texture, std::size_t dimension, float coordinate, bool isBetween) {
  const Sampling& sampling = texture.sampling;
  const auto n = static_cast<std::int64_t>(texture.size[dimension]);
  const auto mode = sampling.address[dimension];
  double position = sampling.isNormalized ? static_cast<double>(coordinate) * static_cast<double>(n) : coordinate;
  // A coordinate between two elements has eight bits for its fraction: 1.998 is 2.
  if (isBetween) position = std::floor((position - 0.5) * 256 + 0.5) / 256;
  // Far outside, and NaN, without overflow.
  position = position > -1e9 ? (std::min)(position, 1e9) : -1e9;
  const double below = std::floor(position);
  const auto first = static_cast<std::int64_t>(below);
  Axis axis{{addressed(first, n, mode, sampling.isNormalized), 0}, 0};
  if (!isBetween) return axis;
  axis.index[1] = addressed(first + 1, n, mode, sampling.isNormalized);
  // Beyond the centre of the last element, a clamped coordinate is at that centre.
  const bool isClamped = mode != cudaAddressModeBorder && (mode == cudaAddressModeClamp || !sampling.isNormalized);
  if (!isClamped || axis.index[0] != axis.index[1]) axis.fraction = static_cast<int>((position - below) * 256);
  return axis;
}

/// A weight for two elements, divided as the GPU does it: in whole 256ths. Halves go to the second or to the first.
inline std::array<int, 2> divided(int weight, int fraction, bool halfToSecond = true) {
  const int second = (weight * fraction + (halfToSecond ? 128 : 127)) / 256;
  return {weight - second, second};
}

/// The element at these indices, of which a negative one means the border.
inline Texel elementAt(const Texture& texture, std::int64_t x, std::int64_t y, std::int64_t z) {
  if (x < 0 || y < 0 || z < 0) return texture.sampling.border;
  return texture.texel(static_cast<std::size_t>(x), static_cast<std::size_t>(y), static_cast<std::size_t>(z));
}

/// The element at a coordinate of a plane, or between those around it. The order in which weights are divided decides
/// how they are rounded; this one, the halves, and the y of a line are what an H200 does.
template <std::size_t DIMENSIONS, std::size_t FILTERED = (DIMENSIONS == 1 ? 2 : DIMENSIONS)>
Texel sample(const Texture& texture, const std::array<float, 3>& at, std::int64_t plane = 0) {
  const bool isBetween = texture.sampling.filter == cudaFilterModeLinear;
  std::array<Axis, 3> axes{Axis{}, Axis{}, Axis{{plane, 0}, 0}};
  // A line is at y = 0, half-way to its border; one of several layers is not.
  for (std::size_t i = 0; i < FILTERED; ++i) axes[i] = axisAt(texture, i, i < DIMENSIONS ? at[i] : 0.0F, isBetween);
  Texel sum{};
  for (unsigned corner = 0; corner < 8; ++corner) {
    const std::size_t x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;
    const int ofPlane = divided(256, axes[2].fraction)[z], ofColumn = divided(ofPlane, axes[0].fraction)[x];
    const int weight = divided(ofColumn, axes[1].fraction, x == 1)[y];
    if (weight == 0) continue;
    const Texel value = elementAt(texture, axes[0].index[x], axes[1].index[y], axes[2].index[z]);
    for (std::size_t i = 0; i < 4; ++i) sum[i] += weight / 256.0 * value[i];
  }
  return sum;
}

/// One number of each of the four elements that a linear filter would take: below left, below right, above right, above
/// left, where "below" is the larger y.
inline Texel gather(const Texture& texture, float atX, float atY, std::size_t component) {
  const Axis x = axisAt(texture, 0, atX, true), y = axisAt(texture, 1, atY, true);
  const auto number = [&](std::size_t i, std::size_t j) {
    return elementAt(texture, x.index[i], y.index[j], 0)[component];
  };
  return {number(0, 1), number(1, 1), number(1, 0), number(0, 0)};
}

/// A number, or a vector of them.
template <class T>
T fromTexel(const Texel& texel) {
  using Number = Component<T>;
  std::array<Number, static_cast<std::size_t>(componentCount<T>)> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<Number>(texel[i]);
  T result;
  std::memcpy(static_cast<void*>(&result), numbers.data(), sizeof(T));
  return result;
}

}  // namespace gpuopt::emulation::detail
