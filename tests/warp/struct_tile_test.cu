/// A warp's tile: its swizzle is a permutation, and every byte reaches its lane and returns to memory.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/struct_data.cuh"

#include <gpuopt/block/shared.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/warp/shuffle.cuh>
#include <gpuopt/warp/struct_tile.cuh>

#include <cstddef>
#include <vector>

namespace struct_tile_test {

using namespace gpuopt::test;
using gpuopt::detail::VectorSwizzle;
using gpuopt::detail::WarpTile;

constexpr unsigned THREADS = 64;
constexpr unsigned char CHANGE = 0x3C;

// Whether the swizzle is a permutation. tests/device/transpose/tile_banks_test.cu checks bank conflicts.
template <unsigned LANE_BYTES>
constexpr bool permutes() {
  using Swizzle = VectorSwizzle<LANE_BYTES>;
  constexpr unsigned VECTORS = 2 * LANE_BYTES, LANE_VECTORS = LANE_BYTES / 16;
  bool taken[VECTORS] = {};
  for (unsigned c = 0; c < VECTORS; ++c) {
    if (Swizzle::index(c) >= VECTORS || taken[Swizzle::index(c)]) return false;
    if (Swizzle::index(c) != Swizzle::indexInLane(c / LANE_VECTORS, c % LANE_VECTORS)) return false;
    if (Swizzle::index(c) != Swizzle::indexInRow(c / 32, c % 32)) return false;
    taken[Swizzle::index(c)] = true;
  }
  return true;
}

static_assert(permutes<16>() && permutes<32>() && permutes<48>() && permutes<64>() && permutes<96>() &&
              permutes<112>() && permutes<128>() && permutes<160>() && permutes<192>() && permutes<224>() &&
              permutes<256>() && permutes<384>());

template <unsigned LANE_BYTES, unsigned ALIGNMENT>
__global__ void tileKernel(const Blob<LANE_BYTES>* in, Blob<LANE_BYTES>* seen, Blob<LANE_BYTES>* out) {
  using Tile = WarpTile<LANE_BYTES, ALIGNMENT>;
  auto* shared = gpuopt::dynamicShared<unsigned char>();
  const unsigned lane = threadIdx.x % 32, warpFirst = threadIdx.x - lane;
  unsigned char* tile = shared + warpFirst / 32 * Tile::SHARED_BYTES;
  const auto* global = reinterpret_cast<const unsigned char*>(in + warpFirst);
  const unsigned misalignment = Tile::misalignment(global);
  Tile::copyIn(tile, global, lane, misalignment);
  Blob<LANE_BYTES> own;
  Tile::loadLane(tile, lane, &own, misalignment);
  __syncwarp();  // neighbouring lanes may share a word
  seen[threadIdx.x] = own;
  for (unsigned char& byte : own.bytes) byte = static_cast<unsigned char>(byte ^ CHANGE);
  Tile::storeLane(tile, lane, &own);
  __syncwarp();
  auto* target = reinterpret_cast<unsigned char*>(out + warpFirst);
  if (Tile::misalignment(target) == 0)
    Tile::copyVectorsOut(target, tile, lane);
  else
    Tile::copyWordsOut(target, tile, lane);
}

template <unsigned LANE_BYTES, unsigned ALIGNMENT = 1>
void checkTile(std::size_t inOffset, std::size_t outOffset) {
  INFO(LANE_BYTES << " bytes a lane, offsets " << inOffset << " and " << outOffset);
  using Own = Blob<LANE_BYTES>;
  std::vector<Own> values = indexCoded<Own>(THREADS);
  const StructArray<Own> in(values, inOffset);
  StructArray<Own> seen(THREADS), out(THREADS, outOffset);
  gpuopt::LaunchConfig config;
  config.block = dim3(THREADS);
  config.sharedBytes = THREADS / 32 * WarpTile<LANE_BYTES, ALIGNMENT>::SHARED_BYTES;
  gpuopt::launch(tileKernel<LANE_BYTES, ALIGNMENT>, config, in.data(), seen.data(), out.data());
  CHECK(sameBytes(seen.toHost(), values));
  for (Own& own : values)
    for (unsigned char& byte : own.bytes) byte = static_cast<unsigned char>(byte ^ CHANGE);
  CHECK(sameBytes(out.toHost(), values));
}

template <unsigned LANE_BYTES>
void checkOffsets() {
  for (std::size_t offset = 0; offset < 16; ++offset) checkTile<LANE_BYTES>(offset, offset * 7 % 16);
}

TEST_CASE("A tile moves every byte to its lane and back, at any address", "[warp]") {
  checkOffsets<1>();
  checkOffsets<2>();
  checkOffsets<7>();
  checkOffsets<12>();
  checkOffsets<24>();
  checkOffsets<32>();
  checkOffsets<63>();
  checkOffsets<64>();
  checkOffsets<96>();
  checkOffsets<100>();
}

TEST_CASE("Lanes that begin between words", "[warp]") {
  checkTile<25>(0, 0);
  checkTile<26>(0, 0);
  checkTile<31>(0, 5);
  checkTile<50>(0, 2);
  checkTile<255>(1, 0);
}

TEST_CASE("A tile too large for registers moves in rounds", "[warp]") {
  for (const std::size_t offset : {0, 4, 1}) {
    checkTile<256>(offset, offset);
    checkTile<260>(offset, offset);
    checkTile<1040>(offset, offset);
  }
}

TEST_CASE("Tiles whose alignment is known", "[warp]") {
  checkTile<6, 2>(2, 10);
  checkTile<64, 16>(16, 0);
  checkTile<128, 16>(0, 16);
  checkTile<28, 4>(0, 12);
  checkTile<28, 4>(8, 0);
  checkTile<48, 16>(0, 16);
}

}  // namespace struct_tile_test
