/// \file
/// The largest matrices that registers alone transpose, for elements of each size.
// SPDX-License-Identifier: MIT
#pragma once

#include "limit_tuner.cuh"

#include <gpuopt/device/transpose/launch.cuh>

#include <cmath>
#include <cstddef>
#include <vector>

namespace gpuopt::tune {

template <std::size_t SIZE>
using TransposedElement = detail::RawElement<SIZE, SIZE>;

// A square matrix of elements of SIZE bytes, about three quarters of the input, whose pitch is an odd multiple of 128
// bytes: all rows begin at 128-byte boundaries.
template <class Tile, std::size_t SIZE>
void transposeByTile(const unsigned char* in, std::size_t bytes, unsigned char* out, cudaStream_t stream) {
  using T = TransposedElement<SIZE>;
  constexpr std::size_t MULTIPLE = 128 / (SIZE < 16 ? SIZE : 8);
  const double area = 0.75 * static_cast<double>(bytes / SIZE);
  const std::size_t side = ((static_cast<std::size_t>(std::sqrt(area)) / MULTIPLE - 1) | 1) * MULTIPLE;
  const detail::TransposeProblem<T, T, Identity> problem{reinterpret_cast<const T*>(in),
                                                         reinterpret_cast<T*>(out),
                                                         side,
                                                         side,
                                                         side,
                                                         side,
                                                         1,
                                                         side * side,
                                                         side * side,
                                                         {}};
  detail::launchTile<Tile>(problem, 0, stream);
}

// The library's own limits for the current device, whatever file is loaded.
inline detail::TransposeTuning ownTuning() {
  const detail::TransposeProblem<float, float, Identity> any{nullptr, nullptr, 1, 1, 1, 1, 1, 1, 1, {}};
  detail::TransposeRequest request = detail::transposeRequest(any);
  request.registerBytes = 0;
  return detail::tuningOf(request);
}

template <std::size_t SIZE>
LimitJob registerJob(const detail::TransposeTuning& tuning) {
  using T = TransposedElement<SIZE>;
  return {detail::Tunable::registers, detail::logSizeOf(SIZE), detail::registerLimit(SIZE, tuning),
          transposeByTile<detail::RegisterTile<T, T>, SIZE>, transposeByTile<detail::VectorTileOf<T, T>, SIZE>};
}

inline std::vector<LimitJob> registerJobs() {
  const detail::TransposeTuning tuning = ownTuning();
  return {registerJob<1>(tuning), registerJob<2>(tuning), registerJob<4>(tuning), registerJob<8>(tuning),
          registerJob<16>(tuning)};
}

}  // namespace gpuopt::tune
