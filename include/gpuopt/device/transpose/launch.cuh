/// \file
/// The choice of the kernel that transposes.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transpose/batch.cuh>
#include <gpuopt/device/transpose/narrow.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/small.cuh>
#include <gpuopt/device/transpose/staged.cuh>
#include <gpuopt/device/transpose/tiles.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Launches the fastest kernel that fits. A small matrix is divided among many blocks, whatever its shape.
// Contiguous batches come before narrow matrices: what looks like many tiny ones is one long array to them.
template <class Problem>
void launchTransposeKernel(const Problem& problem, cudaStream_t stream) {
  if (smallFits(problem))
    launchTransposeSmall(problem, stream);
  else if (batchFits(problem))
    launchTransposeBatch(problem, stream);
  else if (narrowFits(problem))
    launchTransposeNarrow(problem, stream);
  else if (tilesFits(problem))
    launchTransposeTiles(problem, stream);
  else if (triplesFit(problem))
    launchTransposeTriples(problem, stream);
  else
    launchTransposeStaged(problem, stream);
}

// The same problem on raw bytes: types of one size and alignment share their kernels.
template <std::size_t ALIGN, class T>
TransposeProblem<RawElement<sizeof(T), ALIGN>, RawElement<sizeof(T), ALIGN>, Identity> rawProblem(
    const TransposeProblem<T, T, Identity>& problem) {
  using Raw = RawElement<sizeof(T), ALIGN>;
  return {reinterpret_cast<const Raw*>(problem.in),
          reinterpret_cast<Raw*>(problem.out),
          problem.rows,
          problem.cols,
          problem.inLd,
          problem.outLd,
          problem.batch,
          problem.inStride,
          problem.outStride,
          Identity{}};
}

// rows, cols and batch are not 0.
template <class In, class Out, class Function>
void launchTranspose(const TransposeProblem<In, Out, Function>& problem, cudaStream_t stream) {
  if constexpr (std::is_same_v<Function, Identity> && std::is_same_v<In, Out>) {
    constexpr std::size_t WIDEST = widestWord<sizeof(In)>;
    constexpr std::size_t ALIGN = leastAlignment<In>;
    // Structures are often better aligned than their type says.
    if (ALIGN == WIDEST || rowsAlignedTo(problem, WIDEST))
      launchTransposeKernel(rawProblem<WIDEST>(problem), stream);
    else
      launchTransposeKernel(rawProblem<ALIGN>(problem), stream);
  } else {
    launchTransposeKernel(problem, stream);
  }
}

}  // namespace detail
GPUOPT_NAMESPACE_END
