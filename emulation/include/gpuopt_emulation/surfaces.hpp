/// Surface objects: arrays that kernels read and write by index. The first coordinate is in bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include "arrays.hpp"
#include "collectives.hpp"
#include "errors.hpp"
#include "textures.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

using cudaSurfaceObject_t = unsigned long long;

/// What becomes of accesses outside: reads are zero and writes are left out; the nearest element; or the kernel fails.
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };

inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* surface, const cudaResourceDesc* resource) {
  namespace emulated = gpuopt::emulation::detail;
  cudaArray* const array = resource->resType == cudaResourceTypeArray ? resource->res.array.array : nullptr;
  if (array == nullptr || (array->flags & cudaArraySurfaceLoadStore) == 0)
    return emulated::failure(cudaErrorInvalidValue,
                             "a surface needs an array that was allocated with cudaArraySurfaceLoadStore");
  *surface = reinterpret_cast<std::uintptr_t>(array);
  return cudaSuccess;
}

inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t) { return cudaSuccess; }

// The last parameter of what can fail; a caller leaves it out.
#define GPUOPT_EMULATION_SITE gpuopt::emulation::detail::Site site = gpuopt::emulation::detail::Site::here()

namespace gpuopt::emulation::detail {

struct SurfaceIndex {
  int x, y, z;  ///< x is in bytes
};
inline SurfaceIndex surfaceIndex(int x, int y, int z) { return {x, y, z}; }

/// Ends the kernel with a report.
[[noreturn]] inline void failInSurface(const cudaArray& array, SurfaceIndex at, const char* what, Site site) {
  const Lane& lane = callingLane("a surface");
  lane.block->failInLane(lane,
                         "an access to byte " + std::to_string(at.x) + ", row " + std::to_string(at.y) + ", plane " +
                             std::to_string(at.z) + " " + what + " a surface of " + std::to_string(array.rowBytes()) +
                             " bytes, " + std::to_string(array.height) + " rows and " + std::to_string(array.depth) +
                             " planes",
                         site);
}

/// The address of `bytes` of a surface; null where an access is left out.
inline unsigned char* surfaceBytes(cudaSurfaceObject_t surface, SurfaceIndex at, int bytes,
                                   cudaSurfaceBoundaryMode mode, Site site) {
  const cudaArray& array = *reinterpret_cast<const cudaArray*>(surface);
  const int lastX = static_cast<int>(array.rowBytes()) - bytes, lastY = static_cast<int>(array.height) - 1,
            lastZ = static_cast<int>(array.depth) - 1;
  if (at.x % bytes != 0) failInSurface(array, at, "is not aligned to its size in", site);
  const SurfaceIndex inside{(std::min)((std::max)(at.x, 0), lastX), (std::min)((std::max)(at.y, 0), lastY),
                            (std::min)((std::max)(at.z, 0), lastZ)};
  const bool isInside = inside.x == at.x && inside.y == at.y && inside.z == at.z;
  if (!isInside && mode == cudaBoundaryModeTrap) failInSurface(array, at, "is outside of", site);
  if (!isInside && mode == cudaBoundaryModeZero) return nullptr;
  const std::size_t row = static_cast<std::size_t>(inside.z) * array.height + static_cast<std::size_t>(inside.y);
  return array.data + row * array.rowBytes() + static_cast<std::size_t>(inside.x);
}

template <class T>
T readSurface(cudaSurfaceObject_t surface, SurfaceIndex at, cudaSurfaceBoundaryMode mode, Site site) {
  T value{};
  const unsigned char* const from = surfaceBytes(surface, at, sizeof(T), mode, site);
  if (from != nullptr) copyElement(&value, from, sizeof(T));
  return value;
}

template <class T>
void writeSurface(const T& value, cudaSurfaceObject_t surface, SurfaceIndex at, cudaSurfaceBoundaryMode mode,
                  Site site) {
  unsigned char* const to = surfaceBytes(surface, at, sizeof(T), mode, site);
  if (to != nullptr) copyElement(to, &value, sizeof(T));
}

}  // namespace gpuopt::emulation::detail

// The reads that return a value, those to a variable of the caller, and the writes.
#define GPUOPT_EMULATION_SURFACE(name, index, ...)                                                                     \
  template <class T>                                                                                                   \
  T name##read(cudaSurfaceObject_t surface, __VA_ARGS__, cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap,          \
               GPUOPT_EMULATION_SITE) {                                                                                \
    return gpuopt::emulation::detail::readSurface<T>(surface, gpuopt::emulation::detail::surfaceIndex index, mode,     \
                                                     site);                                                            \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  void name##read(T* to, cudaSurfaceObject_t surface, __VA_ARGS__,                                                     \
                  cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, GPUOPT_EMULATION_SITE) {                        \
    *to =                                                                                                              \
        gpuopt::emulation::detail::readSurface<T>(surface, gpuopt::emulation::detail::surfaceIndex index, mode, site); \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  void name##write(T value, cudaSurfaceObject_t surface, __VA_ARGS__,                                                  \
                   cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap, GPUOPT_EMULATION_SITE) {                       \
    gpuopt::emulation::detail::writeSurface(value, surface, gpuopt::emulation::detail::surfaceIndex index, mode,       \
                                            site);                                                                     \
  }

GPUOPT_EMULATION_SURFACE(surf1D, (x, 0, 0), int x)
GPUOPT_EMULATION_SURFACE(surf2D, (x, y, 0), int x, int y)
GPUOPT_EMULATION_SURFACE(surf3D, (x, y, z), int x, int y, int z)
GPUOPT_EMULATION_SURFACE(surf1DLayered, (x, 0, layer), int x, int layer)
GPUOPT_EMULATION_SURFACE(surf2DLayered, (x, y, layer), int x, int y, int layer)

#undef GPUOPT_EMULATION_SURFACE
#undef GPUOPT_EMULATION_SITE
