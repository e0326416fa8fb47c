/// \file
/// The tile for 3-byte elements whose rows begin at 16-byte boundaries: 16-byte accesses on both sides.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/transpose.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

using ThreeByteElement = RawElement<3, 1>;

// The elements that one thread transposes: it loads three vectors of each of four rows. Four elements of a column are
// three full words.
struct ThreeByteBlock {
  static constexpr unsigned ROWS = 4;
  static constexpr unsigned COLS = 16;
  static constexpr unsigned WORDS = 3;  // of a column

  uint4 rows[ROWS][3];

  __device__ void load(const ThreeByteElement* in, std::size_t ld) {
#pragma unroll
    for (unsigned r = 0; r < ROWS; ++r, in += ld)
#pragma unroll
      for (unsigned v = 0; v < 3; ++v) rows[r][v] = loadRowVector<true>(reinterpret_cast<const uint4*>(in) + v);
  }

  // Moves each element into one word. An element that is in one already stays at its byte, 0 or 1.
  __device__ static void column(const unsigned (&words)[ROWS][COLS * 3 / 4], unsigned col, unsigned (&result)[WORDS]) {
    const unsigned word = col * 3 / 4;
    const unsigned byte = col * 3 % 4;
    unsigned elements[ROWS];
#pragma unroll
    for (unsigned r = 0; r < ROWS; ++r)
      elements[r] =
          byte < 2 ? words[r][word] : __byte_perm(words[r][word], words[r][word + 1], byte == 2 ? 0x5432 : 0x6543);
    const unsigned byteOne = byte == 1 ? 0x1111 : 0;  // added to selectors
    result[0] = __byte_perm(elements[0], elements[1], 0x4210 + byteOne);
    result[1] = __byte_perm(elements[1], elements[2], 0x5421 + byteOne);
    result[2] = __byte_perm(elements[2], elements[3], 0x6542 + byteOne);
  }
};

// 0.94 of the best copy, rows staged for any alignment 0.75 (benchmarks/results/transpose_tuning.csv).
class ThreeByteTile {
  using Block = ThreeByteBlock;

 public:
  static constexpr unsigned TILE = threeByteTileShape.rows;
  static constexpr unsigned ROWS = TILE;
  static constexpr unsigned COLS = TILE;
  static constexpr unsigned THREADS = TILE / Block::ROWS * (TILE / Block::COLS);
  static constexpr int BLOCKS = 4;                         // per multiprocessor
  static constexpr unsigned VECTORS = TILE * 3 / 16;       // of a column
  static constexpr unsigned SQUARES = TILE / Block::COLS;  // side by side
  using Columns = SwizzledColumns<16, VECTORS, Block::COLS, SQUARES>;

  struct Storage {
    uint4 vectors[VECTORS * TILE];
  };

  __device__ explicit ThreeByteTile(Storage& storage) : vectors_(storage.vectors), thread_(threadIdx.x) {}

  __device__ void load(const ThreeByteElement* in, std::size_t ld, unsigned rows, unsigned cols, Identity) const {
    visitEdges<Block::ROWS, Block::COLS, TILE, THREADS>(rows, cols, thread_, [&](unsigned r, unsigned c) {
      for (unsigned b = 0; b < 3; ++b) *at(c, r * 3 + b) = in[r * ld + c].word[b];
    });
    const unsigned row = thread_ / SQUARES * Block::ROWS;
    const unsigned col = thread_ % SQUARES * Block::COLS;
    if (row + Block::ROWS > rows || col + Block::COLS > cols) return;
    Block block;
    block.load(in + row * ld + col, ld);
    storeTransposed(block, row, col);
  }

  __device__ void store(ThreeByteElement* out, std::size_t ld, unsigned rows, unsigned cols) const {
    constexpr unsigned LOADS_IN_FLIGHT = 4;
    static_assert(TILE * VECTORS % (LOADS_IN_FLIGHT * THREADS) == 0);
    const auto addressOf = [&](unsigned col, unsigned byte) {
      return reinterpret_cast<unsigned char*>(out + col * ld) + byte;
    };
#pragma unroll 1
    for (unsigned first = thread_; first < TILE * VECTORS; first += LOADS_IN_FLIGHT * THREADS) {
      uint4 vectors[LOADS_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        vectors[i] = vectors_[Columns::index((first + i * THREADS) / VECTORS, (first + i * THREADS) % VECTORS)];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i) {
        const unsigned col = (first + i * THREADS) / VECTORS;
        const unsigned byte = (first + i * THREADS) % VECTORS * 16;
        if (col < cols && byte + 16 <= rows * 3) storeVector(addressOf(col, byte), vectors[i]);
      }
    }
    const unsigned begin = rows * 3 / 16 * 16;  // after the last full vector
    for (unsigned i = thread_; i < (rows * 3 - begin) * cols; i += THREADS)
      *addressOf(i % cols, begin + i / cols) = *at(i % cols, begin + i / cols);
  }

 private:
  // All columns of the block have the same swizzle, so three addresses are enough.
  __device__ void storeTransposed(const Block& block, unsigned row, unsigned col) const {
    unsigned words[Block::ROWS][Block::COLS * 3 / 4];
    __builtin_memcpy(words, block.rows, sizeof(words));
    unsigned* addresses[Block::WORDS];
#pragma unroll
    for (unsigned w = 0; w < Block::WORDS; ++w) addresses[w] = reinterpret_cast<unsigned*>(at(col, row * 3 + 4 * w));
#pragma unroll
    for (unsigned c = 0; c < Block::COLS; ++c) {
      unsigned column[Block::WORDS];
      Block::column(words, c, column);
#pragma unroll
      for (unsigned w = 0; w < Block::WORDS; ++w) addresses[w][c * VECTORS * 4] = column[w];
    }
  }

  __device__ unsigned char* at(unsigned col, unsigned byte) const {
    return reinterpret_cast<unsigned char*>(vectors_ + Columns::index(col, byte / 16)) + byte % 16;
  }

  uint4* vectors_;
  unsigned thread_;
};

GPUOPT_DETAIL_END
