/// \file
/// Where the blocks of a matrix are: block (from, to) is what rank `from` has of the slab of rank `to`.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/distributed/parts.cuh>
#include <gpuopt/distributed_types.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// Rows of the output, from `begin` to `end`, of a block.
struct RowRange {
  std::size_t begin, end;

  std::size_t size() const { return end - begin; }
};

// What becomes of slabs of rows: slabs of rows of the transpose, or slabs of columns; or of those slabs of rows again.
enum class SlabMove { transpose, toColumns, toRows };

// Distances count elements, of In or Out. The rows of a block count in its output: they are columns of the input if the
// matrix is transposed. Packed, a block is a dense batch of matrices whose rows begin at 16-byte boundaries.
template <class In, class Out, SlabMove MOVE>
struct SlabLayout {
  static constexpr bool TRANSPOSES = MOVE == SlabMove::transpose;

  distributed::Slabs rows;
  distributed::Slabs cols;
  std::size_t batch;
  std::size_t inLd, inStride;
  std::size_t outLd, outStride;

  // Rows and columns of the matrix that are in a block.
  std::size_t matrixRows(int from, int to) const { return rows.size(MOVE == SlabMove::toRows ? to : from); }
  std::size_t matrixCols(int from, int to) const { return cols.size(MOVE == SlabMove::toRows ? from : to); }

  std::size_t blockRows(int from, int to) const { return TRANSPOSES ? matrixCols(from, to) : matrixRows(from, to); }
  std::size_t blockCols(int from, int to) const { return TRANSPOSES ? matrixRows(from, to) : matrixCols(from, to); }
  bool isEmpty(int from, int to) const { return matrixRows(from, to) == 0 || matrixCols(from, to) == 0 || batch == 0; }
  std::size_t packedLd(int from, int to) const {
    return roundUp(blockCols(from, to), 16 / greatestCommonDivisor(sizeof(Out), 16));
  }
  std::size_t packedSize(int from, int to) const { return batch * blockRows(from, to) * packedLd(from, to); }

  // A chunk of a block, which may have no rows.
  RowRange range(int from, int to, unsigned chunk = 0, unsigned chunks = 1) const {
    const std::size_t all = blockRows(from, to), each = ceilDivide(all, chunks);
    return {smallerOf(all, chunk * each), smallerOf(all, (chunk + 1) * each)};
  }

  // Rows of a block: from the slab of rank `from` to that of rank `to`.
  MatrixPart<In, Out> part(const In* in, Out* out, int from, int to, RowRange range) const {
    MatrixPart<In, Out> part = source(in, from, to, range);
    part.out = target(out, from, range);
    part.outLd = outLd;
    part.outStride = outStride;
    return part;
  }

  // From the slab to packed rows.
  MatrixPart<In, Out> packing(const In* in, Out* packed, int from, int to, RowRange range) const {
    MatrixPart<In, Out> part = source(in, from, to, range);
    part.out = packed;
    part.outLd = packedLd(from, to);
    part.outStride = range.size() * part.outLd;
    return part;
  }

  // From packed rows to the slab.
  MatrixPart<Out, Out> unpacking(const Out* packed, Out* out, int from, int to, RowRange range) const {
    const std::size_t ld = packedLd(from, to);
    return {packed, target(out, from, range), range.size(), blockCols(from, to), ld,
            outLd,  range.size() * ld,        outStride};
  }

 private:
  MatrixPart<In, Out> source(const In* in, int from, int to, RowRange range) const {
    const In* const block = in + (MOVE == SlabMove::toRows ? rows.first(to) * inLd : cols.first(to));
    if (TRANSPOSES) return {block + range.begin, nullptr, matrixRows(from, to), range.size(), inLd, 0, inStride, 0};
    return {block + range.begin * inLd, nullptr, range.size(), matrixCols(from, to), inLd, 0, inStride, 0};
  }
  Out* target(Out* out, int from, RowRange range) const {
    const std::size_t block = MOVE == SlabMove::toRows ? cols.first(from) : rows.first(from);
    return out + (MOVE == SlabMove::toColumns ? block * outLd : block) + range.begin * outLd;
  }
};

GPUOPT_DETAIL_END
