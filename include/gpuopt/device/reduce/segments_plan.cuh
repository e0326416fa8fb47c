/// \file
/// How segments are divided among warps. Pure host code. Where segments begin and end is known on the device alone: the
/// kernel decides by their mean length whether lanes, warps or blocks take them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/plan.cuh>
#include <gpuopt/host/workspace.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

struct ReduceSegmentsRequest {
  std::size_t segments = 0;
  std::size_t elementBytes = 1;
  std::size_t offsetBytes = 1;
  std::size_t partialBytes = 1;
  std::size_t resultBytes = 0;
};
template <>
inline constexpr bool isPlan<ReduceSegmentsRequest> = true;

struct ReduceSegmentsPlan {
  ReduceSegmentsRequest request{};
  std::size_t warps = 0;         // that share elements and ends of segments
  std::size_t longElements = 0;  // mean length from which blocks share them
  ReduceGrid grid{};
};
template <>
inline constexpr bool isPlan<ReduceSegmentsPlan> = true;

template <class Policy>
ReduceSegmentsPlan planReduceSegments(const ReduceSegmentsRequest& request) {
  ReduceSegmentsPlan plan{request};
  if (request.segments == 0) return plan;
  const std::size_t max =
      smallerOf(Workspace::capacity / (2 * request.partialBytes), std::size_t{Workspace::counterCount});
  plan.warps = smallerOf(Policy::warps, max);
  plan.longElements = ceilDivide(Policy::blockBytes, request.elementBytes);
  plan.grid = {Policy::BLOCK, ceilDivide(plan.warps, Policy::BLOCK / 32), true};
  return plan;
}

inline std::string planInWords(const ReduceSegmentsPlan& plan) {
  const ReduceSegmentsRequest& r = plan.request;
  if (r.segments == 0) return inWords({"", "no segments"});
  return inWords({message({plan.warps, " warps"}),
                  message({"elements and ends of segments are divided evenly, among blocks if segments have ",
                           plan.longElements, " elements on average"}),
                  plan.grid.blocks, plan.grid.threads, (r.segments + 1) * r.offsetBytes, r.segments * r.resultBytes,
                  " and all elements"});
}

GPUOPT_DETAIL_END
