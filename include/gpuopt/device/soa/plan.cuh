/// \file
/// How structures become columns and back, and how functions of structures access columns: the only place that decides.
/// Pure host code.
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

// Blocks whose threads take `items` structures of `structBytes` bytes each.
template <class Plan>
void planLaunch(Plan& plan, unsigned items, std::size_t structBytes) {
  plan.items = items;
  plan.threads = convertThreads(items * structBytes);
  plan.blocks = ceilDivide(plan.request.n, std::size_t{plan.threads} * items);
}

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
  planLaunch(plan, request.areColumns ? convertItems(request.structBytes, request.areAligned) : 1, request.structBytes);
  return plan;
}

inline std::string structuresInWords(unsigned items) {
  return message({items, items == 1 ? " structure a thread" : " structures a thread"});
}

inline std::string planInWords(const ConvertPlan& plan) {
  const ConvertRequest& r = plan.request;
  const std::size_t structs = r.n * r.structBytes, members = r.n * r.memberBytes;
  return inWords({structuresInWords(plan.items), plan.reason, plan.blocks, plan.threads, r.isToSoa ? structs : members,
                  r.isToSoa ? members : structs});
}

// A function of every structure of a view, written to another one, to the same, or nowhere.
struct ColumnsRequest {
  std::size_t n = 0;
  std::size_t readBytes = 0;  // of a structure, without padding
  std::size_t writtenBytes = 0;
  std::size_t largestBytes = 1;  // of the structures of the views, with padding
  bool areColumns = false;       // contiguous ones, not tiles, in all views
  bool areAligned = false;       // as accesses by the widest words need
};
template <>
inline constexpr bool isPlan<ColumnsRequest> = true;

enum class ColumnsAlgorithm {
  nothing,
  words,     // a thread takes neighbouring structures, and accesses columns by wide words
  elements,  // a thread takes structures that are a block's threads apart, member by member
};

struct ColumnsPlan {
  ColumnsAlgorithm algorithm = ColumnsAlgorithm::nothing;
  const char* reason = "no structures";
  ColumnsRequest request{};
  unsigned items = 0;    // structures of a thread
  unsigned threads = 0;  // of a block
  std::size_t blocks = 0;
};
template <>
inline constexpr bool isPlan<ColumnsPlan> = true;

// Whether a thread's structures of the larger type fit into its registers.
constexpr bool fitRegisters(std::size_t largestBytes) {
  return convertItems(largestBytes, true) * largestBytes <= maxConvertLaneBytes;
}

inline ColumnsPlan planColumns(const ColumnsRequest& request) {
  ColumnsPlan plan;
  plan.request = request;
  if (request.n == 0) return plan;
  const bool fits = fitRegisters(request.largestBytes);
  plan.algorithm =
      request.areColumns && fits && request.areAligned ? ColumnsAlgorithm::words : ColumnsAlgorithm::elements;
  plan.reason = !request.areColumns  ? "the columns are not contiguous"
                : !fits              ? "a structure does not fit into a thread's registers"
                : request.areAligned ? "all columns begin at aligned addresses"
                                     : "a column does not begin at an aligned address";
  planLaunch(plan, convertItems(request.largestBytes, true), request.largestBytes);
  return plan;
}

inline std::string planInWords(const ColumnsPlan& plan) {
  const ColumnsRequest& r = plan.request;
  const char* kernel = plan.algorithm == ColumnsAlgorithm::words ? "words, " : "members, ";
  return inWords({kernel + structuresInWords(plan.items), plan.reason, plan.blocks, plan.threads, r.n * r.readBytes,
                  r.n * r.writtenBytes});
}

GPUOPT_DETAIL_END
