/// \file
/// The steps of convolution and stencil, and their launches.
// SPDX-License-Identifier: MIT
#pragma once

#include "reuse_ahead.cuh"

namespace experiments {

inline unsigned blocksFor(int size, unsigned each) {
  return static_cast<unsigned>(ceilDivide(static_cast<unsigned>(size), each));
}

struct ConvolutionStep {
  const char* name;
  void (*kernel)(const float*, float*, Picture, Filter);
  unsigned columns, rows;  ///< of a block
};

inline constexpr ConvolutionStep convolutionSteps[] = {
    {"25 loads", convolveDirectly, filterBlockX, filterBlockY},
    {"tile with a halo", convolveTile, filterBlockX, filterBlockY},
    {"window in registers", convolveWindow, filterBlockX* filterBlockY, windowRows},
    {"and 4 columns a thread", convolveVectors, 4 * filterBlockX* filterBlockY, windowRows},
    {"rows loaded ahead", convolveAhead, 4 * aheadBlock, aheadRows}};

inline void launchConvolution(const ConvolutionStep& step, const float* in, float* out, Picture size,
                              const Filter& filter) {
  gpuopt::LaunchConfig config;
  config.grid = dim3(blocksFor(size.width, step.columns), blocksFor(size.height, step.rows));
  config.block = dim3(filterBlockX, filterBlockY);
  gpuopt::launch(step.kernel, config, in, out, size, filter);
}

struct StencilStep {
  const char* name;
  void (*kernel)(const float*, float*, Volume);
  unsigned columns, rows, planes;  ///< of a block
};

inline constexpr StencilStep stencilSteps[] = {
    {"7 loads", stencilDirectly, volumeBlockX, volumeBlockY, 1},
    {"3 planes in registers", stencilPlanes, volumeBlockX, volumeBlockY, volumePlanes},
    {"and tiles with a halo", stencilTiles, volumeBlockX, volumeBlockY, volumePlanes},
    {"without tiles, 4 columns a thread", stencilVectors, 4 * volumeBlockX, volumeBlockY, volumePlanes},
    {"2 rows, planes loaded ahead", stencilAhead, 4 * volumeBlockX, rowsTogether* volumeBlockY, aheadPlanes}};

inline void launchStencil(const StencilStep& step, const float* in, float* out, Volume size) {
  gpuopt::LaunchConfig config;
  config.grid =
      dim3(blocksFor(size.width, step.columns), blocksFor(size.height, step.rows), blocksFor(size.depth, step.planes));
  config.block = dim3(volumeBlockX, volumeBlockY);
  gpuopt::launch(step.kernel, config, in, out, size);
}

}  // namespace experiments
