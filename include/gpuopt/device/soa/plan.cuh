/// \file
/// How structures become columns and back: the only place that decides. Pure host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/structs/tuning.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

struct ConvertRequest {
  std::size_t n = 0;
  std::size_t structBytes = 1;
  std::size_t memberBytes = 1;  // of a structure, without padding
  bool isToSoa = false;
  bool areColumns = false;  // contiguous ones, not tiles
  bool areAligned = false;  // as accesses by the widest words need
};
template <>
inline constexpr bool isPlan<ConvertRequest> = true;

enum class ConvertAlgorithm {
  nothing,
  alignedColumns,  // a thread takes some structures, and accesses columns by wide words
  anyColumns,      // the same by words of each member's alignment
  layout,          // a thread takes one structure, of any layout
};

struct ConvertPlan {
  ConvertAlgorithm algorithm = ConvertAlgorithm::nothing;
  const char* reason = "no structures";
  ConvertRequest request{};
  unsigned items = 0;    // structures of a thread
  unsigned threads = 0;  // of a block
  std::size_t blocks = 0;
};
template <>
inline constexpr bool isPlan<ConvertPlan> = true;

inline ConvertPlan planConvert(const ConvertRequest& request) {
  ConvertPlan plan;
  plan.request = request;
  if (request.n == 0) return plan;
  plan.algorithm = !request.areColumns  ? ConvertAlgorithm::layout
                   : request.areAligned ? ConvertAlgorithm::alignedColumns
                                        : ConvertAlgorithm::anyColumns;
  plan.reason = !request.areColumns  ? "the columns are not contiguous"
                : request.areAligned ? "all columns begin at aligned addresses"
                                     : "a column does not begin at an aligned address";
  plan.items = request.areColumns ? convertItems(request.structBytes, request.areAligned) : 1;
  plan.threads = convertThreads(plan.items * request.structBytes);
  plan.blocks = ceilDivide(request.n, std::size_t{plan.threads} * plan.items);
  return plan;
}

inline std::string planInWords(const ConvertPlan& plan) {
  const ConvertRequest& r = plan.request;
  const std::size_t structs = r.n * r.structBytes, members = r.n * r.memberBytes;
  return inWords({message({plan.items, plan.items == 1 ? " structure a thread" : " structures a thread"}), plan.reason,
                  plan.blocks, plan.threads, r.isToSoa ? structs : members, r.isToSoa ? members : structs});
}

GPUOPT_DETAIL_END
