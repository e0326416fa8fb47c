/// \file
/// A plan of a permutation in words.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/permute/plan.cuh>

#include <cstddef>
#include <iterator>
#include <string>

GPUOPT_DETAIL_BEGIN

inline const char* nameOf(PermuteAlgorithm algorithm) {
  constexpr const char* names[] = {"nothing", "transpose", "matrix tile", "tile of runs", "elements"};
  static_assert(std::size(names) == static_cast<std::size_t>(PermuteAlgorithm::elements) + 1);
  return names[static_cast<std::size_t>(algorithm)];
}

// The axes that remain, the slowest of the output first: extent, and strides of both tensors.
inline std::string axesInWords(const PermuteRequest& request) {
  std::string text;
  for (unsigned k = request.rank; k-- > 0;)
    text += message(
        {text.empty() ? "" : ", ", request.axis[k].extent, " (", request.axis[k].in, " to ", request.axis[k].out, ")"});
  return text;
}

// The kernel with what a block takes, the reason with the canonical form, and the bytes to move; of a matrix those are
// in the words of its own plan.
inline std::string planInWords(const PermuteKernelPlan& plan) {
  const PermuteRequest& request = plan.request;
  if (plan.algorithm == PermuteAlgorithm::nothing) return inWords({"", plan.reason});
  Explanation words{nameOf(plan.algorithm),
                    message({plan.reason, "; words of ", request.inBytes, " bytes along ", axesInWords(request)})};
  if (plan.algorithm == PermuteAlgorithm::tile) {
    words.kernel +=
        message({", ", std::size_t{plan.tile.parts} * plan.tile.inRows, " rows of ", plan.tile.inRowBytes, " bytes to ",
                 std::size_t{plan.tile.parts} * plan.tile.outRows, " of ", plan.tile.outRowElements * request.outBytes,
                 ", sectors read ", plan.readPercent, " %, written ", plan.writtenPercent, " % of the least"});
    words.blocks = plan.blocks;
    words.threads = permuteThreads;
  }
  words.hasLength = plan.algorithm != PermuteAlgorithm::transpose;
  words.readBytes = request.elements() * request.inBytes;
  words.writtenBytes = request.elements() * request.outBytes;
  return inWords(words);
}

GPUOPT_DETAIL_END
