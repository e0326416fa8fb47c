/// \file
/// A plan of a transposition in words.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/device/transpose/plan.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// 4 MiB, 1.5 GiB, 100 bytes: rounded down to a tenth.
inline std::string bytesInWords(std::size_t bytes) {
  const char* const units[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  unsigned unit = 0;
  while (unit < 4 && bytes >> 10 * (unit + 1) > 0) ++unit;
  const std::size_t tenths = unit == 0 ? 0 : (bytes >> 10 * (unit - 1)) % 1024 * 10 / 1024;
  const std::size_t whole = bytes >> 10 * unit;
  return tenths == 0 ? message({whole, units[unit]}) : message({whole, ".", tenths, units[unit]});
}

inline std::string amountInWords(TransposeReason::Unit unit, std::size_t amount) {
  using Unit = TransposeReason::Unit;
  switch (unit) {
    case Unit::bytes:
      return bytesInWords(amount);
    case Unit::elements:
      return message({amount, " elements"});
    case Unit::rows:
      return message({amount, " rows"});
    case Unit::columns:
      return message({amount, " columns"});
    default:
      return message({amount, " full tiles"});
  }
}

inline std::string reasonInWords(const TransposeReason& reason) {
  using Relation = TransposeReason::Relation;
  if (reason.unit == TransposeReason::Unit::none) return reason.text;
  const char* const relation = reason.relation == Relation::exceeds    ? " exceeds "
                               : reason.relation == Relation::isAtMost ? " at most "
                                                                       : " at least ";
  return message({reason.text, ", ", amountInWords(reason.unit, reason.value), relation,
                  amountInWords(reason.unit, reason.limit)});
}

// The kernel and the tile of a block.
inline std::string algorithmInWords(const TransposePlan& plan) {
  using Algorithm = TransposeAlgorithm;
  const std::string tile = message({plan.tileRows, " x ", plan.tileCols});
  switch (plan.algorithm) {
    case Algorithm::copy:
      return "copy";
    case Algorithm::smallTile:
      return message({"small tile ", tile});
    case Algorithm::permutedRun:
      return message({"runs of ", plan.run.matrices, " matrices by byte permutation"});
    case Algorithm::run:
      return message({"runs of ", plan.run.matrices, " matrices"});
    case Algorithm::columnPanel:
      return message({"column panels, up to ", tile});
    case Algorithm::skinny:
      return message({"skinny tile ", tile});
    case Algorithm::registers:
      return message({"registers ", tile});
    case Algorithm::sectorTile:
      return message({"sector-aligned tile ", tile});
    case Algorithm::threeByteTile:
      return message({"tile of 3-byte elements ", tile});
    case Algorithm::anyAlignment:
      return message({"staged rows, tile ", tile});
    default:
      return message({"tile ", tile});
  }
}

inline std::string planInWords(const TransposePlan& plan) {
  return message({algorithmInWords(plan), ", ", plan.threads, " threads: ", reasonInWords(plan.reason)});
}

}  // namespace detail
GPUOPT_NAMESPACE_END
