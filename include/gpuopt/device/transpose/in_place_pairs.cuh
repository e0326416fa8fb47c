/// \file
/// The pairs of tiles that a square matrix exchanges when it is transposed in place, and in which order.
/// docs/transpose_in_place.md has the figures.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/device/transpose/in_place_elements.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// `batch` matrices of n x n elements.
template <class E>
struct SquareArgs {
  E* data;
  std::size_t n;
  std::size_t ld;
  std::size_t stride;
  std::size_t batch;

  __device__ ByteRange range() const {
    const auto end = reinterpret_cast<std::uintptr_t>(data + (batch - 1) * stride + (n - 1) * ld + n);
    return {reinterpret_cast<std::uintptr_t>(data), end};
  }
};

// Tile (row, col) with row <= col, which is exchanged with tile (col, row): itself on the diagonal.
struct TilePair {
  std::size_t matrix;
  std::size_t row;
  std::size_t col;
};

// The order of a matrix's pairs: in squares of `group` x `group` tiles, a power of two, or from `regions` equal parts
// of the order in turn.
struct TileOrder {
  unsigned group;
  unsigned regions;
};

// The pairs of a matrix by the number of the block. The tiles form groups; the triangle of group pairs is folded into a
// rectangle of groups / 2 rows, so that few blocks have no pair.
struct TileTriangle {
  unsigned tiles;  // along a side
  unsigned group;
  unsigned groups;  // along a side
  unsigned regions;
  std::size_t blocks;  // per matrix

  TileTriangle(std::size_t n, std::size_t tile, TileOrder order)
      : tiles(static_cast<unsigned>(ceilDivide(n, tile))), group(order.group), regions(order.regions) {
    while (group > 1 && group * 4 > tiles) group /= 2;
    groups = static_cast<unsigned>(ceilDivide(tiles, group));
    const std::size_t foldedRows = ceilDivide(groups, 2);
    blocks = foldedRows * (groups + 1 - groups % 2) * group * group;
  }

  __device__ TilePair pair() const {
    const unsigned matrix = blockIdx.x / static_cast<unsigned>(blocks);
    const unsigned number = inTurn(blockIdx.x - matrix * static_cast<unsigned>(blocks));
    const unsigned odd = groups % 2;
    const unsigned width = groups + 1 - odd;  // of the folded rectangle
    const unsigned inner = number % (group * group);
    const unsigned outer = number / (group * group);
    const unsigned x = outer % width;
    const unsigned y = outer / width;
    const bool isUnfolded = x + odd > y;
    const unsigned row = isUnfolded ? y : groups - 1 + odd - y;
    const unsigned col = isUnfolded ? x + odd - 1 : groups - 1 - x;
    return {matrix, row * group + inner / group, col * group + inner % group};
  }

  // Groups on the diagonal have pairs that come twice, groups at the edge have some outside of the matrix.
  __device__ bool contains(const TilePair& pair) const { return pair.row <= pair.col && pair.col < tiles; }

 private:
  // Takes one pair of each region in turn. The first regions have one pair more if the rest is not 0.
  __device__ unsigned inTurn(unsigned number) const {
    const unsigned length = static_cast<unsigned>(blocks) / regions;
    const unsigned rest = static_cast<unsigned>(blocks) % regions;
    const unsigned region = number % regions;
    return region * length + (region < rest ? region : rest) + number / regions;
  }
};

template <class E>
struct Squares : SquareArgs<E> {
  TileTriangle triangle;
};

// What one half of a block does: it moves the tile at (row, col) to (col, row). One half moves the tile above the
// diagonal, the other one the tile below.
template <class E, unsigned TILE>
struct TileMove {
  bool isLower;
  std::size_t row;
  std::size_t col;
  unsigned rows;
  unsigned cols;
  E* matrix;
  std::size_t ld;

  __device__ TileMove(const SquareArgs<E>& squares, const TilePair& pair, bool lower)
      : isLower(lower),
        row((lower ? pair.col : pair.row) * TILE),
        col((lower ? pair.row : pair.col) * TILE),
        rows(count(squares.n - row)),
        cols(count(squares.n - col)),
        matrix(squares.data + pair.matrix * squares.stride),
        ld(squares.ld) {}

  __device__ bool isFull() const { return rows == TILE && cols == TILE; }

 private:
  __device__ static unsigned count(std::size_t left) { return left < TILE ? static_cast<unsigned>(left) : TILE; }
};

GPUOPT_DETAIL_END
