/// \file
/// A plan of a transposition in words.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/transpose/plan.cuh>

#include <cstddef>
#include <iterator>
#include <string>

GPUOPT_DETAIL_BEGIN

// 4 MiB, 1.5 GiB, 100 bytes: rounded down to a tenth.
inline std::string bytesInWords(std::size_t bytes) {
  const char* const units[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  unsigned unit = 0;
  while (unit < 4 && bytes >> 10 * (unit + 1) > 0) ++unit;
  const std::size_t tenths = unit == 0 ? 0 : (bytes >> 10 * (unit - 1)) % 1024 * 10 / 1024;
  const std::size_t whole = bytes >> 10 * unit;
  return tenths == 0 ? message({whole, units[unit]}) : message({whole, ".", tenths, units[unit]});
}

inline std::string reasonInWords(const TransposeReason& reason) {
  using Unit = TransposeReason::Unit;
  using Relation = TransposeReason::Relation;
  const std::string text = reason.also == nullptr ? reason.text : message({reason.text, ", ", reason.also});
  if (reason.unit == Unit::none) return text;
  const char* const relation = reason.relation == Relation::exceeds    ? " exceeds "
                               : reason.relation == Relation::isAtMost ? " at most "
                                                                       : " at least ";
  if (reason.unit == Unit::bytes)
    return message({text, ", ", bytesInWords(reason.value), relation, bytesInWords(reason.limit)});
  const char* const unit = reason.unit == Unit::elements  ? " elements"
                           : reason.unit == Unit::rows    ? " rows"
                           : reason.unit == Unit::columns ? " columns"
                                                          : " full tiles";
  return message({text, ", ", reason.value, unit, relation, reason.limit});
}

inline const char* nameOf(TransposeAlgorithm algorithm) {
  constexpr const char* names[] = {// in the order of TransposeAlgorithm
                                   "nothing",     "copy",          "small tile",      "permuted runs",
                                   "runs",        "column panels", "skinny tile",     "registers",
                                   "sector tile", "tile",          "three-byte tile", "staged tile"};
  static_assert(std::size(names) == static_cast<std::size_t>(TransposeAlgorithm::stagedTile) + 1);
  return names[static_cast<std::size_t>(algorithm)];
}

// The kernel with what a block takes, the reason, and the bytes to move.
inline std::string planInWords(const TransposePlan& plan) {
  const TransposeRequest& r = plan.request;
  std::string kernel = nameOf(plan.algorithm);
  if (plan.run.matrices > 0)
    kernel += message({" of ", plan.run.matrices, " matrices"});
  else if (plan.tileCols > 0)
    kernel += message({" ", plan.tileRows, " x ", plan.tileCols});
  const std::size_t elements = r.rows * r.cols * r.batch;
  return inWords({kernel, reasonInWords(plan.reason), 0, plan.threads, elements * r.inBytes, elements * r.outBytes});
}

GPUOPT_DETAIL_END
