/// The tiles of the library in shared memory, proven free of bank conflicts by the functions that compute
/// the indices of their elements, for the accesses of the threads that use them. At run time: g++ takes
/// long to evaluate them, a sixth of what the folder takes.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"

#include <gpuopt/access.cuh>
#include <gpuopt/block/transpose.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/in_place_tiles.cuh>
#include <gpuopt/device/transpose/in_place_tuning.cuh>
#include <gpuopt/device/transpose/three_byte_tile.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/warp/struct_tile.cuh>

#include <initializer_list>

namespace tile_banks_test {

using gpuopt::globalAccess;
using gpuopt::LaneMask;
using gpuopt::sharedAccess;
using gpuopt::detail::largerOf;
using gpuopt::detail::RawElement;
using gpuopt::detail::RegisterSquare;
using gpuopt::detail::SwizzledColumns;
using gpuopt::detail::VectorSwizzle;
using gpuopt::detail::Word;
using gpuopt::detail::WordPairTile;

// The degree of the worst conflict if threads 0 to `threads` - 1 access one T each, at index(thread). Thread
// numbers beyond the block stand for later accesses of its threads.
template <class T, class Index>
constexpr unsigned worstDegree(unsigned threads, const Index& index) {
  unsigned worst = 0;
  for (unsigned first = 0; first < threads; first += 32) {
    const auto inWarp = [&](unsigned lane) { return index(first + lane); };
    worst = largerOf(worst, sharedAccess<T>(inWarp, LaneMask::first(threads - first)).degree);
  }
  return worst;
}

// --- VectorTile: elements of IN bytes become elements of OUT bytes.

template <unsigned IN, unsigned OUT, unsigned ROWS, unsigned COLS = ROWS>
struct VectorAccess {
  using Square = RegisterSquare<Word<IN>, Word<OUT>>;
  static constexpr unsigned VECTORS = ROWS / Square::ROWS;  // of a column
  static constexpr unsigned SQUARES = COLS / Square::COLS;  // side by side
  using Columns = SwizzledColumns<16, VECTORS, Square::COLS, SQUARES>;

  // Neighbouring threads write a column each of squares side by side, and read vectors of a column.
  static constexpr unsigned degree() {
    unsigned worst =
        worstDegree<uint4>(COLS * VECTORS, [](unsigned t) { return Columns::index(t / VECTORS, t % VECTORS); });
    for (unsigned c = 0; c < Square::COLS; ++c)
      worst = largerOf(worst, worstDegree<uint4>(SQUARES * VECTORS, [c](unsigned t) {
                         return Columns::index(t % SQUARES * Square::COLS + c, t / SQUARES);
                       }));
    return worst;
  }

  // Whether every byte of the sectors that move is used, if rows begin at sector boundaries.
  static constexpr bool usesAll() {
    constexpr unsigned LD = 4096 + 32;
    const auto in = globalAccess<16>(
        [](unsigned t) { return (t / SQUARES * Square::ROWS * LD + t % SQUARES * Square::COLS) * IN; });
    const auto out = globalAccess<16>([](unsigned t) { return (t / VECTORS * LD + t % VECTORS * Square::ROWS) * OUT; });
    return in.utilisation() == 1 && out.utilisation() == 1;
  }
};

template <unsigned IN, unsigned OUT>
using TileAccess =
    VectorAccess<IN, OUT, gpuopt::detail::vectorTileShape(IN, OUT).rows, gpuopt::detail::vectorTileShape(IN, OUT).cols>;

template <unsigned SIZE>
constexpr bool vectorsAreFree() {
  return VectorAccess<SIZE, SIZE, 16>::degree() == 1 && VectorAccess<SIZE, SIZE, 32>::degree() == 1;
}

// --- ElementTile: words of WORD bytes, by row and by column.

template <unsigned WORD, unsigned TILE>
constexpr unsigned elementDegree() {
  constexpr unsigned PACKED = 4 / WORD;
  using Columns = SwizzledColumns<4, TILE / PACKED, 1, TILE>;
  const auto index = [](unsigned row, unsigned col) {
    return Columns::index(col, row / PACKED) * PACKED + row % PACKED;
  };
  return largerOf(worstDegree<Word<WORD>>(TILE * TILE, [&](unsigned t) { return index(t / TILE, t % TILE); }),
                  worstDegree<Word<WORD>>(TILE * TILE, [&](unsigned t) { return index(t % TILE, t / TILE); }));
}

// --- ThreeByteTile: neighbouring threads write words of columns that are COLS apart, and read vectors of a
// column.

constexpr unsigned tripleDegree() {
  using Tile = gpuopt::detail::ThreeByteTile;
  using Block = gpuopt::detail::ThreeByteBlock;
  unsigned worst = worstDegree<uint4>(Tile::VECTORS * Tile::TILE, [](unsigned t) {
    return Tile::Columns::index(t / Tile::VECTORS, t % Tile::VECTORS);
  });
  for (unsigned w = 0; w < Block::WORDS; ++w)
    worst = largerOf(worst, worstDegree<unsigned>(Tile::THREADS, [w](unsigned t) {
                       const unsigned word = t / Tile::SQUARES * Block::WORDS + w;
                       return Tile::Columns::index(t % Tile::SQUARES * Block::COLS, word / 4) * 4 + word % 4;
                     }));
  return worst;
}

using Degree = unsigned (*)();

void checkDegrees(unsigned tile, std::initializer_list<Degree> degrees) {
  int number = 0;
  for (const Degree degree : degrees) {
    CAPTURE(tile, number);
    CHECK(degree() == 1);
    ++number;
  }
}

template <unsigned TILE>
void checkTile() {
  checkDegrees(TILE, {elementDegree<1, TILE>, elementDegree<2, TILE>, elementDegree<4, TILE>});
  checkDegrees(TILE,
               {VectorAccess<2, 2, TILE>::degree, VectorAccess<2, 4, TILE>::degree, VectorAccess<4, 4, TILE>::degree,
                VectorAccess<4, 2, TILE>::degree, VectorAccess<8, 8, TILE>::degree, VectorAccess<8, 4, TILE>::degree,
                VectorAccess<16, 16, TILE>::degree, VectorAccess<16, 4, TILE>::degree});
  if constexpr (TILE >= 16)
    checkDegrees(
        TILE, {VectorAccess<1, 1, TILE>::degree, VectorAccess<1, 2, TILE>::degree, VectorAccess<1, 8, TILE>::degree});
}

// --- WordPairTile: neighbouring threads write the words of a row, and read those of a column. All other
// rows and columns are shifted copies of these.

template <unsigned SIZE, unsigned TILE_BYTES>
struct WordAccess {
  using Tile = WordPairTile<RawElement<SIZE, SIZE % 4 == 0 ? 4 : SIZE>, TILE_BYTES>;
  static constexpr unsigned WORDS = Tile::WORDS;
  static constexpr unsigned PACKED = SIZE < 4 ? 4 / SIZE : 1;
  static constexpr unsigned ELEMENT = SIZE < 4 ? 1 : SIZE / 4;
  static constexpr unsigned LINES = 2;

  static constexpr unsigned begin(unsigned col) { return col * Tile::PITCH + (SIZE % 4 == 0 ? 0 : col / 32); }

  static constexpr unsigned writing() {
    unsigned worst = 0;
    for (unsigned k = 0; k < PACKED; ++k)
      worst = largerOf(worst, worstDegree<unsigned>(LINES * WORDS, [k](unsigned t) {
                         const unsigned line = t / WORDS, word = t % WORDS;
                         return begin(word / ELEMENT * PACKED + k) + line * ELEMENT + word % ELEMENT;
                       }));
    return worst;
  }

  static constexpr unsigned reading() {
    return worstDegree<unsigned>(LINES * WORDS, [](unsigned t) { return begin(t / WORDS) + t % WORDS; });
  }

  static constexpr bool isFree() { return writing() == 1 && reading() == 1; }
};

template <unsigned TILE_BYTES>
constexpr bool wordTilesAreFree() {
  return WordAccess<1, TILE_BYTES>::isFree() && WordAccess<2, TILE_BYTES>::isFree() &&
         WordAccess<4, TILE_BYTES>::isFree() && WordAccess<8, TILE_BYTES>::isFree() &&
         WordAccess<12, TILE_BYTES>::isFree() && WordAccess<16, TILE_BYTES>::isFree();
}

// --- WarpTile: lanes take their own parts, and neighbouring chunks or words of the whole. It may begin half
// a sector later.

template <unsigned LANE_BYTES>
constexpr unsigned warpTileDegree() {
  using Swizzle = VectorSwizzle<LANE_BYTES>;
  constexpr unsigned UNIT = gpuopt::detail::widestWord<LANE_BYTES>;
  unsigned worst = worstDegree<unsigned>(8 * LANE_BYTES, [](unsigned w) { return 4 * Swizzle::index(w / 4) + w % 4; });
  for (const unsigned begin : {0u, 1u})
    worst =
        largerOf(worst, worstDegree<uint4>(2 * LANE_BYTES, [begin](unsigned c) { return begin + Swizzle::index(c); }));
  for (unsigned i = 0; i < LANE_BYTES / UNIT; ++i)
    worst = largerOf(worst, worstDegree<Word<UNIT>>(32, [i](unsigned lane) {
                       return UNIT == 16 ? Swizzle::indexInLane(lane, i) : lane * (LANE_BYTES / UNIT) + i;
                     }));
  return worst;
}

template <unsigned... LANE_BYTES>
constexpr bool warpTilesAreFree() {
  return ((warpTileDegree<LANE_BYTES>() == 1) && ...);
}

TEST_CASE("tiles of vectors have no bank conflicts and waste nothing of global memory") {
  CHECK(vectorsAreFree<1>());
  CHECK(vectorsAreFree<2>());
  CHECK(vectorsAreFree<4>());
  CHECK(vectorsAreFree<8>());
  CHECK(vectorsAreFree<16>());
  CHECK(TileAccess<1, 1>::degree() == 1);
  CHECK(TileAccess<2, 2>::degree() == 1);
  CHECK(TileAccess<4, 2>::degree() == 1);
  CHECK(TileAccess<1, 4>::degree() == 1);
  CHECK(TileAccess<8, 4>::degree() == 1);
  CHECK(TileAccess<4, 16>::degree() == 1);
  CHECK((TileAccess<1, 1>::usesAll() && TileAccess<2, 2>::usesAll() && TileAccess<4, 4>::usesAll()));
  CHECK((TileAccess<8, 8>::usesAll() && TileAccess<16, 16>::usesAll() && TileAccess<8, 4>::usesAll()));
}

TEST_CASE("TransposeTile has no bank conflicts, whatever its size") {
  checkTile<8>();
  checkTile<16>();
  checkTile<32>();
  checkTile<64>();
  checkTile<128>();
}

TEST_CASE("tiles of elements have no bank conflicts") {
  CHECK(elementDegree<1, 32>() == 1);
  CHECK(elementDegree<2, 32>() == 1);
  CHECK(elementDegree<4, 32>() == 1);
  CHECK(elementDegree<4, 64>() == 1);
}

TEST_CASE("tiles of elements of three bytes have no bank conflicts") { CHECK(tripleDegree() == 1); }

TEST_CASE("tiles of any alignment have no bank conflicts") {
  CHECK(wordTilesAreFree<gpuopt::detail::SquareTuningSm90::wordTileBytes>());
}

TEST_CASE("warps' tiles of structures have no bank conflicts") {
  CHECK(warpTilesAreFree<4, 8, 12, 16, 20, 24, 28, 32>());
  CHECK(warpTilesAreFree<36, 40, 48, 60, 64, 72, 80, 96>());
  CHECK(warpTilesAreFree<112, 124, 128, 160, 192, 224, 256, 384>());
}

}  // namespace tile_banks_test
