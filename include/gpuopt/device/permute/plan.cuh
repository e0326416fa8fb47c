/// \file
/// Which kernel permutes the axes of a tensor, and why: the only place that decides. Pure host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/permute/plan_tile.cuh>
#include <gpuopt/device/permute/problem.cuh>
#include <gpuopt/device/permute/tuning.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

GPUOPT_DETAIL_BEGIN

enum class PermuteAlgorithm {
  nothing,     // no elements
  transpose,   // a matrix, or a batch of matrices
  matrixTile,  // aligned matrices along several other axes
  tile,        // runs of several axes
  elements,    // words one by one
};

// A batch of matrices of the elements as the caller has them.
struct PermuteMatrix {
  std::size_t rows = 0;  // 0: the permutation is none
  std::size_t cols = 0;
  std::size_t inLd = 0;
  std::size_t outLd = 0;
  std::size_t batch = 1;
  std::size_t inStride = 0;
  std::size_t outStride = 0;
};

struct PermuteKernelPlan {
  PermuteAlgorithm algorithm = PermuteAlgorithm::nothing;
  const char* reason = "no elements";
  PermuteRequest request{};  // canonical; with elements as words, except for matrices
  PermuteMatrix matrix{};
  bool isSmall = false;  // a thread for each word
  unsigned inAxis = 0;   // along which elements of the input are neighbours
  PermuteTilePlan tile{};
  std::ptrdiff_t inOffset = 0;  // bytes from the first element of the input to where the tiles count from
  std::size_t blocks = 0;
  std::size_t sharedBytes = 0;
  std::size_t readPercent = 100;  // sectors that tiles touch, of those that the elements fill
  std::size_t writtenPercent = 100;
};
template <>
inline constexpr bool isPlan<PermuteKernelPlan> = true;

class PermutePlanner {
  using Algorithm = PermuteAlgorithm;

 public:
  PermutePlanner(PermuteKernelPlan& plan, const PermuteTuning& tuning, const PermuteDevice& device)
      : plan_(plan), r_(plan.request), tuning_(tuning), device_(device) {}

  void plan() {
    if (r_.elements() == 0) return;
    PermuteCanonicalizer canonicalizer(r_);
    canonicalizer.mergeAxes();
    if (fitsMatrix()) return choose(Algorithm::transpose, "two groups of axes change places");
    canonicalizer.makeWords();
    if (r_.rank > permuteRank) throwInvalid({"gpuopt::permute: ", r_.rank, " axes cannot be merged into 32"});
    plan_.isSmall = r_.elements() <= tuning_.smallElements;
    if (plan_.isSmall) return choose(Algorithm::elements, "a small tensor");
    if (keepsVectors()) return choose(Algorithm::elements, "both tensors keep runs of 16 bytes");
    if (fitsMatrixTile()) return choose(Algorithm::matrixTile, "both tensors have long aligned runs along one axis");
    if (fitsTile()) return;
    choose(Algorithm::elements, "neighbours of one tensor are no neighbours in either");
  }

 private:
  void choose(Algorithm algorithm, const char* reason) {
    plan_.algorithm = algorithm;
    plan_.reason = reason;
  }

  // The first axis along which the input has neighbours; the rank if there is none.
  unsigned findInAxis() const {
    unsigned k = 0;
    while (k < r_.rank && r_.axis[k].in != 1) ++k;
    return k;
  }

  static std::size_t unsignedOf(std::ptrdiff_t stride) { return static_cast<std::size_t>(stride); }

  bool fitsMatrix() {
    const unsigned in = findInAxis();
    PermuteMatrix& m = plan_.matrix;
    if (r_.rank == 0) {
      m = {1, 1, 1, 1, 1, 1, 1};
    } else if (r_.rank == 1) {
      const PermuteAxis& axis = r_.axis[0];
      if (axis.in == 1)
        m = {1, axis.extent, axis.extent, unsignedOf(axis.out), 1, 0, 0};
      else if (axis.out == 1 && axis.in > 0)
        m = {axis.extent, 1, unsignedOf(axis.in), axis.extent, 1, 0, 0};
    } else if (r_.rank <= 3 && in > 0 && in < r_.rank && r_.axis[0].out == 1) {
      m = matrixAlong(in);
    }
    if (m.rows != 0 && m.batch == 1) m.inStride = m.rows * m.inLd, m.outStride = m.cols * m.outLd;
    return m.rows != 0;
  }

  // Rows along the first axis, columns along `in`, matrices along the third axis, if there is one.
  PermuteMatrix matrixAlong(unsigned in) const {
    const PermuteAxis& rows = r_.axis[0];
    const PermuteAxis& cols = r_.axis[in];
    PermuteMatrix m{rows.extent, cols.extent, unsignedOf(rows.in), unsignedOf(cols.out)};
    if (rows.in < 0 || m.inLd < m.cols || m.outLd < m.rows) return {};
    if (r_.rank == 2) return m;
    const PermuteAxis& batch = r_.axis[3 - in];
    if (batch.in < 0) return {};
    m.batch = batch.extent;
    m.inStride = unsignedOf(batch.in);
    m.outStride = unsignedOf(batch.out);
    const std::size_t area = m.rows * m.cols;
    const bool isDense = m.inStride == area && m.outStride == area && m.inLd == m.cols && m.outLd == m.rows;
    return isDense ? m : PermuteMatrix{};
  }

  bool keepsVectors() const {
    return r_.onlyMoves && r_.inBytes == 16 && r_.axis[0].in == 1 && r_.axis[0].out == 1 &&
           r_.axis[0].extent * 16 >= tuning_.keptBytes;
  }

  static bool isPowerOfTwoWord(unsigned bytes) { return bytes <= 16 && (bytes & (bytes - 1)) == 0; }

  bool fitsMatrixTile() {
    const unsigned in = plan_.inAxis = findInAxis();
    if (in == 0 || in >= r_.rank || r_.axis[0].out != 1 || r_.axis[0].in < 0) return false;
    if (!isPowerOfTwoWord(r_.inBytes) || !isPowerOfTwoWord(r_.outBytes)) return false;
    if (r_.axis[0].extent * r_.outBytes < tuning_.matrixTileRunBytes) return false;
    if (r_.axis[in].extent * r_.inBytes < tuning_.matrixTileRunBytes) return false;
    if (!fillsTiles(r_.axis[0].extent, r_.axis[in].extent)) return false;
    std::uintptr_t all = r_.in | r_.out;
    for (unsigned k = 0; k < r_.rank; ++k) {
      if (k != in) all |= unsignedOf(r_.axis[k].in) * r_.inBytes;
      if (k != 0) all |= unsignedOf(r_.axis[k].out) * r_.outBytes;
    }
    return all % 16 == 0;
  }

  bool fillsTiles(std::size_t rows, std::size_t cols) const {
    const TransposeTileShape tile = vectorTileShape(r_.inBytes, r_.outBytes);
    return rows * cols * 100 >= roundUp(rows, tile.rows) * roundUp(cols, tile.cols) * tuning_.matrixTileFill;
  }

  // Splits the axis along which the input has neighbours, if few elements come before it in the output: with all of it
  // in the output's rows, tiles would have few rows, of thousands of elements.
  void splitLongRows() {
    const unsigned in = plan_.inAxis;
    if (in == 0 || in >= r_.rank) return;
    std::size_t before = 1;
    for (unsigned k = 0; k < in; ++k) {
      if (r_.axis[k].out != static_cast<std::ptrdiff_t>(before)) return;
      before *= r_.axis[k].extent;
    }
    const PermuteAxis axis = r_.axis[in];
    const std::size_t maxPart = tuning_.runBytes[5] * 8 / 5 / (before * r_.outBytes);
    if (axis.out != static_cast<std::ptrdiff_t>(before) || axis.extent <= maxPart) return;
    if (tuning_.fillsSectors(before * r_.outBytes) || r_.rank == permuteRank) return;
    std::size_t part = maxPart;
    while (axis.extent % part != 0) --part;
    if (part == 1) return;
    for (unsigned k = r_.rank++; k > in; --k) r_.axis[k] = r_.axis[k - 1];
    const auto step = static_cast<std::ptrdiff_t>(part);
    r_.axis[in].extent = part;
    r_.axis[in + 1] = {axis.extent / part, axis.in * step, axis.out * step};
  }

  bool fitsTile() {
    splitLongRows();
    PermuteTilePlanner planner(r_, tuning_, device_);
    if (!planner.plan()) return false;
    plan_.tile = planner.shape();
    plan_.inOffset = planner.inOffset();
    plan_.blocks = planner.blocks();
    plan_.sharedBytes = planner.sharedBytes();
    plan_.readPercent = planner.sectorPercent(true);
    plan_.writtenPercent = planner.sectorPercent(false);
    choose(Algorithm::tile, "runs of several axes");
    return true;
  }

  PermuteKernelPlan& plan_;
  PermuteRequest& r_;
  const PermuteTuning& tuning_;
  const PermuteDevice& device_;
};

inline void planPermute(PermuteKernelPlan& plan, const PermuteTuning& tuning, const PermuteDevice& device) {
  PermutePlanner(plan, tuning, device).plan();
}

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
