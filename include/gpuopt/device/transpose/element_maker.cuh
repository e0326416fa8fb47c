/// \file
/// Runs of small matrices element by element, for elements and words of at least four bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/run.cuh>

#include <cstdint>

GPUOPT_DETAIL_BEGIN

// Reads the input in the order of the output, and writes to global memory.
template <class Layout>
struct ElementMaker {
  using Shape = WalkShape;
  using Source = typename Layout::Source;
  using Result = typename Layout::Result;
  static constexpr int BLOCK = 1024;
  static constexpr int BLOCKS = 0;  // no limit to registers
  static constexpr bool STAGES_OUTPUT = false;

  SwizzledBytes input;

  __device__ explicit ElementMaker(const Shape& shape)
      : input{dynamicShared<unsigned char>(), {shape.swizzle, isWord<Source> ? Swizzle::VECTORS : 0}} {}

  // The first warp begins at a line of 128 bytes, so that every warp writes whole sectors.
  template <class In, class Out, class Function>
  __device__ void make(const MatrixRun<In, Out>& run, const Shape& shape, const Function& function) const {
    const auto results = reinterpret_cast<Result*>(run.out);
    const unsigned origin = misalignment(run.in);
    const int skipped = static_cast<int>(reinterpret_cast<std::uintptr_t>(results) % 128 / sizeof(Result));
    const int count = static_cast<int>(run.elements * Layout::COUNT);
    for (int i = static_cast<int>(threadIdx.x) - skipped; i < count; i += static_cast<int>(blockDim.x))
      if (i >= 0) {
        const unsigned source = RunWalk<Layout::COUNT>(shape, static_cast<unsigned>(i)).source;
        results[i] = function(
            *reinterpret_cast<const Source*>(input.at(origin + source * static_cast<unsigned>(sizeof(Source)))));
      }
  }
};

GPUOPT_DETAIL_END
