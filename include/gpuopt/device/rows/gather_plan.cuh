/// \file
/// How rows are gathered and scattered: in numbers, and in words.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/rows/tuning.cuh>
#include <gpuopt/device/rows/vectors.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <cstdint>
#include <string>

GPUOPT_DETAIL_BEGIN

// n rows of cols elements, moved from one matrix to another. Leading dimensions count elements.
struct MoveRowsRequest {
  std::uintptr_t in;
  std::uintptr_t out;
  std::size_t n;
  std::size_t cols;
  std::size_t inLd;
  std::size_t outLd;
  std::size_t inBytes;  // of an element
  std::size_t outBytes;
  std::size_t indexBytes;
  bool onlyMoves;  // without a function: both sides have one type
  bool scatters;
};
template <>
inline constexpr bool isPlan<MoveRowsRequest> = true;

enum class MoveRowsAlgorithm {
  nothing,
  words,    // of both sides
  shifted,  // vectors of the output, made of two of the input
};

// The same rows of packs, which are words or the elements that fill one.
struct MoveRowsPlan {
  std::size_t cols = 0;  // packs of a row
  std::size_t inLd = 0;
  std::size_t outLd = 0;
  std::size_t inBytes = 0;  // of a pack
  std::size_t outBytes = 0;
  unsigned elements = 1;  // of a pack, for a function
  MoveRowsAlgorithm algorithm = MoveRowsAlgorithm::nothing;
  unsigned loads = 0;  // packs of a thread, or vectors if shifted
  std::size_t blocks = 0;
  const char* reason = "no elements";
  MoveRowsRequest request{};
};
template <>
inline constexpr bool isPlan<MoveRowsPlan> = true;

inline MoveRowsPlan planMoveRows(const MoveRowsRequest& r, const MoveRowsTuning& tuning = {}) {
  MoveRowsPlan plan{r.cols, r.inLd, r.outLd, r.inBytes, r.outBytes};
  if (r.n == 0 || r.cols == 0) return plan;
  const std::size_t inAlignment = packAlignment(r.in, r.cols, r.inLd, r.inBytes);
  const std::size_t outAlignment = packAlignment(r.out, r.cols, r.outLd, r.outBytes);
  if (r.onlyMoves) {
    const std::size_t word = smallerOf(inAlignment, outAlignment);
    plan = {r.cols * r.inBytes / word, r.inLd * r.inBytes / word, r.outLd * r.outBytes / word, word, word};
  } else if (const unsigned n = widePack(r.inBytes, r.outBytes);
             inAlignment >= n * r.inBytes && outAlignment >= n * r.outBytes) {
    plan = {r.cols / n, r.inLd / n, r.outLd / n, n * r.inBytes, n * r.outBytes, n};
  }
  const bool isLong = r.cols * r.inBytes >= (r.scatters ? tuning.shiftedScatterBytes : tuning.shiftedGatherBytes);
  const bool isShifted = r.onlyMoves && isLong && plan.inBytes <= tuning.shiftedWordBytes;
  plan.request = r;
  plan.algorithm = isShifted ? MoveRowsAlgorithm::shifted : MoveRowsAlgorithm::words;
  const std::size_t items = r.n * (isShifted ? vectorsOfShiftedRow(r.cols * r.inBytes) : plan.cols);
  plan.loads = items <= tuning.fewWords ? moveFewRowsLoads
               : isShifted              ? shiftedRowsLoads
                                        : moveRowsLoads(largerOf(plan.inBytes, plan.outBytes));
  plan.blocks = ceilDivide(items, std::size_t{moveRowsBlock} * plan.loads);
  plan.reason = isShifted ? "rows are long, and their words are shorter than vectors"
                : largerOf(plan.inBytes, plan.outBytes) >= 16
                    ? "words of 16 bytes divide addresses, rows and leading dimensions"
                    : "words of 16 bytes do not divide addresses, rows and leading dimensions";
  return plan;
}

inline std::string planInWords(const MoveRowsPlan& plan) {
  const MoveRowsRequest& r = plan.request;
  if (plan.algorithm == MoveRowsAlgorithm::nothing) return inWords({"", plan.reason});
  const bool isShifted = plan.algorithm == MoveRowsAlgorithm::shifted;
  const std::string words = plan.inBytes == plan.outBytes ? message({plan.inBytes, " bytes"})
                                                          : message({plan.inBytes, " bytes to ", plan.outBytes});
  return inWords({message({plan.cols, plan.cols == 1 ? " word of " : " words of ", words, " a row, moved as ",
                           isShifted ? "shifted vectors of 16 bytes, " : "words, ", plan.loads, " a thread"}),
                  plan.reason, plan.blocks, moveRowsBlock, r.n * (r.cols * r.inBytes + r.indexBytes),
                  r.n * r.cols * r.outBytes});
}

GPUOPT_DETAIL_END
