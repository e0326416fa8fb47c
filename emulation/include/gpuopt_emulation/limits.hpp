/// What the emulated device says of itself: the limits of a present-day GPU, but a compute capability that
/// makes libraries take their portable paths.
// SPDX-License-Identifier: MIT
#pragma once

#include "language.hpp"

#include <cstddef>

namespace gpuopt::emulation {

inline constexpr char DEVICE_NAME[] = "gpuopt emulated device";
inline constexpr int COMPUTE_CAPABILITY_MAJOR = 7;
inline constexpr int COMPUTE_CAPABILITY_MINOR = 5;
inline constexpr int RUNTIME_VERSION = CUDART_VERSION;

inline constexpr unsigned WARP_LANES = 32;
inline constexpr unsigned MAX_BLOCK_THREADS = 1024;
inline constexpr unsigned MAX_BLOCK_X = 1024, MAX_BLOCK_Y = 1024, MAX_BLOCK_Z = 64;
inline constexpr unsigned MAX_GRID_X = 2147483647, MAX_GRID_Y = 65535, MAX_GRID_Z = 65535;

inline constexpr std::size_t SHARED_BYTES = 48 * 1024;
inline constexpr std::size_t SHARED_BYTES_OPTIN = 227 * 1024;
inline constexpr std::size_t SHARED_BYTES_RESERVED = 1024;
inline constexpr std::size_t SHARED_BYTES_PER_MULTIPROCESSOR = 228 * 1024;

inline constexpr int MULTIPROCESSORS = 4;
inline constexpr int BLOCKS_PER_MULTIPROCESSOR = 32;
inline constexpr int THREADS_PER_MULTIPROCESSOR = 2048;
inline constexpr int REGISTERS_PER_MULTIPROCESSOR = 65536;
inline constexpr int REGISTERS_PER_THREAD = 32;        // a plausible constant: what a kernel needs is nvcc's to say
inline constexpr std::size_t TEXTURE_ALIGNMENT = 256;  // a GPU may ask for 512
// Elements that textures and arrays may have, as the programming guide's table of compute capabilities says.
inline constexpr int MAX_TEXTURE_1D = 131072, MAX_TEXTURE_LINEAR = 1 << 28, MAX_SURFACE_1D = 32768;
inline constexpr int MAX_TEXTURE_2D_WIDTH = 131072, MAX_TEXTURE_2D_HEIGHT = 65536, MAX_TEXTURE_GATHER = 32768;
inline constexpr int MAX_TEXTURE_3D = 16384, MAX_TEXTURE_LAYER = 32768, MAX_TEXTURE_LAYERS = 2048;
inline constexpr int CLOCK_KHZ = 1000000;
inline constexpr int L2_BYTES = 50 * 1024 * 1024;

}  // namespace gpuopt::emulation
