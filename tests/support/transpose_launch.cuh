/// What the tests of single kernels of the transposition share: shapes, and the check of a launch against a
/// serial transposition, gaps and guards included.
// SPDX-License-Identifier: MIT
#pragma once

#include "any_bits.cuh"
#include "catch.hpp"
#include "device_array.cuh"
#include "portion.hpp"

#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/device/transpose/plan.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tuning.cuh>

#include <cstddef>
#include <vector>

namespace gpuopt::test {

/// A batch of matrices; all distances in elements.
struct TransposeShape {
  std::size_t rows;
  std::size_t cols;
  std::size_t inLd;
  std::size_t outLd;
  std::size_t batch = 1;
  std::size_t inStride = 0;
  std::size_t outStride = 0;

  static TransposeShape dense(std::size_t rows, std::size_t cols, std::size_t batch = 1) {
    return {rows, cols, cols, rows, batch, rows * cols, rows * cols};
  }

  /// Rows of both matrices begin at multiples of `in` and `out` elements; `gap` rows lie between matrices.
  static TransposeShape pitched(std::size_t rows, std::size_t cols, std::size_t in, std::size_t out,
                                std::size_t batch = 1, std::size_t gap = 0) {
    const std::size_t inLd = (cols + in - 1) / in * in;
    const std::size_t outLd = (rows + out - 1) / out * out;
    return {rows, cols, inLd, outLd, batch, (rows + gap) * inLd, (cols + gap) * outLd};
  }

  std::size_t inSize() const { return (batch - 1) * inStride + (rows - 1) * inLd + cols; }
  std::size_t outSize() const { return (batch - 1) * outStride + (cols - 1) * outLd + rows; }
};

/// What `out` holds after the transposition, if it holds `out` before.
template <class In, class Out, class Function>
std::vector<Out> transposeSerially(const TransposeShape& shape, const std::vector<In>& in, std::vector<Out> out,
                                   Function function) {
  for (std::size_t b = 0; b < shape.batch; ++b)
    for (std::size_t r = 0; r < shape.rows; ++r)
      for (std::size_t c = 0; c < shape.cols; ++c)
        out[b * shape.outStride + c * shape.outLd + r] = function(in[b * shape.inStride + r * shape.inLd + c]);
  return out;
}

/// Checks launch(problem) on matrices that begin so many elements off alignment.
template <class In, class Out, class Function, class Launch>
void checkTranspose(const TransposeShape& shape, Function function, Launch launch, std::size_t inOffset = 0,
                    std::size_t outOffset = 0) {
  if (!runsNextCase()) return;
  CAPTURE(sizeof(In), sizeof(Out), alignof(In), shape.rows, shape.cols, shape.inLd, shape.outLd, shape.batch, inOffset,
          outOffset);
  const std::vector<In> source = indexCoded<In>(shape.inSize());
  const DeviceArray<In> in(source, inOffset);
  DeviceArray<Out> out(shape.outSize(), outOffset);
  const std::vector<Out> expected = transposeSerially(shape, source, out.toHost(), function);
  launch(detail::TransposeProblem<In, Out, Function>{in.data(), out.data(), shape.rows, shape.cols, shape.inLd,
                                                     shape.outLd, shape.batch, shape.inStride, shape.outStride,
                                                     function});
  CHECK(sameBytes(out.toHost(), expected));
}

/// A tuning by which no matrix is small and no batch a run: what is left are the kernels for large matrices.
inline detail::TransposeTuning largeTuning() {
  detail::TransposeTuning tuning;
  tuning.smallElements = tuning.smallElementsOf2Or4Bytes = tuning.smallElementsOf16Bytes = 0;
  tuning.smallAlignedElements = tuning.smallSkinnyElements = 0;
  tuning.evenRunBytes = 0;
  tuning.minBatch = ~std::size_t{0};
  return tuning;
}

/// The plan for a problem whose elements move at the alignment of their type, although their addresses may be
/// better aligned.
template <class In, class Out, class Function>
detail::TransposePlan planByType(const detail::TransposeProblem<In, Out, Function>& problem,
                                 const detail::TransposeTuning& tuning) {
  detail::TransposeRequest request = detail::transposeRequest(problem);
  if (alignof(In) < detail::widestWord<sizeof(In)>) request.in += alignof(In);
  return detail::planTranspose(request, tuning);
}

/// Launches the kernel that the plan chooses, which must be the one expected.
struct LaunchPlanned {
  detail::TransposeTuning tuning;
  detail::TransposeAlgorithm expected;

  template <class Problem>
  void operator()(const Problem& problem) const {
    const detail::TransposePlan plan = planByType(problem, tuning);
    REQUIRE(static_cast<int>(plan.algorithm) == static_cast<int>(expected));
    detail::launchTranspose(problem, plan, nullptr);
  }
};

}  // namespace gpuopt::test
