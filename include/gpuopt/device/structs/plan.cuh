/// \file
/// Which kernel maps the elements of arrays, and which words move indexed structures: the only place that decides. Pure
/// host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/structs/tuning.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <cstdint>
#include <string>

GPUOPT_DETAIL_BEGIN

// Threads of a block, and the elements of each array that it takes.
struct StructsBlock {
  unsigned threads = 0;
  unsigned elements = 0;
};

// A function of every element of one to four arrays, some of them read, one written.
struct StructsRequest {
  std::size_t n = 0;
  std::size_t readBytes = 0;  // of an element of every array that is read from memory
  std::size_t writtenBytes = 0;
  bool fillWords = false;   // a thread's elements of each array can be one word
  bool areAligned = false;  // and those words begin at multiples of their size
  bool readsIterator = false;
  bool areStaged = false;  // the kernel of tiles uses shared memory
  StructsBlock words{};
  StructsBlock tiles{};
};
template <>
inline constexpr bool isPlan<StructsRequest> = true;

enum class StructsAlgorithm {
  nothing,  // no elements
  words,    // each thread accesses each array by words
  tiles,    // StructTransferPolicy says how structures move, mostly through tiles in shared memory
};

struct StructsPlan {
  StructsAlgorithm algorithm = StructsAlgorithm::nothing;
  const char* reason = "no elements";
  StructsRequest request{};
  StructsBlock block{};
  std::size_t blocks = 0;
};
template <>
inline constexpr bool isPlan<StructsPlan> = true;

inline StructsPlan planStructs(const StructsRequest& request) {
  StructsPlan plan;
  plan.request = request;
  if (request.n == 0) return plan;
  const bool areWords = request.fillWords && request.areAligned && !request.readsIterator;
  plan.algorithm = areWords ? StructsAlgorithm::words : StructsAlgorithm::tiles;
  plan.reason = areWords                ? "elements of all arrays fill aligned words"
                : request.readsIterator ? "the input is an iterator"
                : request.fillWords     ? "an array does not begin at a multiple of a thread's word"
                                        : "elements do not fill words of up to 16 bytes";
  plan.block = areWords ? request.words : request.tiles;
  plan.blocks = ceilDivide(request.n, plan.block.elements);
  return plan;
}

inline std::string planInWords(const StructsPlan& plan) {
  const StructsRequest& r = plan.request;
  const char* kernel = plan.algorithm == StructsAlgorithm::words ? "words"
                       : r.areStaged                             ? "tiles in shared memory"
                                                                 : "elements";
  return inWords({message({kernel, ", ", plan.block.elements, " elements a block"}), plan.reason, plan.blocks,
                  plan.block.threads, r.n * r.readBytes, r.n * r.writtenBytes});
}

// A function of every element of a matrix that is read, and of one that is written.
struct StructsMatrixRequest {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t inLd = 0;
  std::size_t outLd = 0;
  std::size_t readBytes = 0;  // of an element
  std::size_t writtenBytes = 0;
};
template <>
inline constexpr bool isPlan<StructsMatrixRequest> = true;

enum class StructsMatrixAlgorithm {
  nothing,
  array,    // without gaps: planned as an array
  pitched,  // each thread takes elements that are a block's threads apart, and computes their rows
};

struct StructsMatrixPlan {
  StructsMatrixAlgorithm algorithm = StructsMatrixAlgorithm::nothing;
  const char* reason = "no elements";
  StructsMatrixRequest request{};
  std::size_t blocks = 0;  // of pitched rows
};
template <>
inline constexpr bool isPlan<StructsMatrixPlan> = true;

inline StructsMatrixPlan planStructsMatrix(const StructsMatrixRequest& r) {
  const std::size_t n = r.rows * r.cols;
  if (n == 0) return {StructsMatrixAlgorithm::nothing, "no elements", r, 0};
  if (r.rows == 1 || (r.inLd == r.cols && r.outLd == r.cols))
    return {StructsMatrixAlgorithm::array, "there are no gaps between rows", r, 0};
  return {StructsMatrixAlgorithm::pitched, "there are gaps between rows", r,
          ceilDivide(n, std::size_t{pitchedBlock * pitchedItems})};
}

inline std::string planInWords(const StructsMatrixPlan& plan) {
  const StructsMatrixRequest& r = plan.request;
  const std::size_t n = r.rows * r.cols;
  if (plan.algorithm == StructsMatrixAlgorithm::nothing) return inWords({"", plan.reason});
  if (plan.algorithm == StructsMatrixAlgorithm::array)
    return inWords({"as an array", plan.reason, 0, 0, n * r.readBytes, n * r.writtenBytes});
  return inWords({message({"elements of rows, ", pitchedItems, " a thread"}), plan.reason, plan.blocks, pitchedBlock,
                  n * r.readBytes, n * r.writtenBytes});
}

// n structures, gathered or scattered by indices.
struct MoveStructsRequest {
  std::uintptr_t in = 0;
  std::uintptr_t out = 0;
  std::size_t n = 0;
  std::size_t structBytes = 0;
  std::size_t indexBytes = 0;
};
template <>
inline constexpr bool isPlan<MoveStructsRequest> = true;

struct MoveStructsPlan {
  MoveStructsRequest request{};
  std::size_t wordBytes = 0;  // 1, 2, 4, 8 or 16: neighbouring threads move neighbouring words
  std::size_t words = 0;      // of a structure
  std::size_t blocks = 0;
};
template <>
inline constexpr bool isPlan<MoveStructsPlan> = true;

inline MoveStructsPlan planMoveStructs(const MoveStructsRequest& r) {
  const std::size_t wordBytes = powerOfTwoIn(r.in | r.out | r.structBytes | 16);
  const std::size_t words = r.structBytes / wordBytes;
  return {r, wordBytes, words, ceilDivide(r.n * words, indexedBlock * indexedLoadsInFlight)};
}

inline std::string planInWords(const MoveStructsPlan& plan) {
  const MoveStructsRequest& r = plan.request;
  if (r.n == 0) return inWords({"", "no structures"});
  const bool isWidest = plan.wordBytes == powerOfTwoIn(r.structBytes | 16);
  return inWords({message({plan.words, plan.words == 1 ? " word of " : " words of ", plan.wordBytes,
                           " bytes a structure, ", indexedLoadsInFlight, " a thread"}),
                  isWidest ? "the widest words that divide a structure" : "the addresses are multiples of no more",
                  plan.blocks, indexedBlock, r.n * (r.structBytes + r.indexBytes), r.n * r.structBytes});
}

GPUOPT_DETAIL_END
