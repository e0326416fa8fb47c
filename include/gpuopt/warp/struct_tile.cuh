/// \file
/// A warp's tile in shared memory, on its way between consecutive bytes of an array and the lanes that own
/// them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/integers.cuh>
#include <gpuopt/thread/async_copy.cuh>
#include <gpuopt/thread/const_like.cuh>
#include <gpuopt/thread/vector.cuh>
#include <gpuopt/thread/word.cuh>

#include <cuda_runtime.h>

#include <cstdint>

namespace gpuopt::detail {

// 16-byte chunk c of a tile lies at place(c). Both ways of access then meet in no bank: eight neighbouring
// chunks, and chunk j of eight neighbouring lanes. Without that, lanes of 32 bytes conflict 2-way, of 64
// 4-way, of 128 and more 8-way (trial kernels, H200: 0.73 of the speed at 128 bytes and 0.70 at 256). Lanes
// of an odd number of chunks meet in no bank anyway.
template <unsigned LANE_BYTES>
struct ChunkSwizzle {
  static constexpr unsigned CHUNKS = LANE_BYTES % 16 == 0 ? LANE_BYTES / 16 : 1;  // of a lane
  static constexpr auto SPREAD = static_cast<unsigned>(greatestCommonDivisor(CHUNKS, 8));
  static constexpr unsigned PERIOD = 8 * CHUNKS / SPREAD;  // chunks permuted alike, whole lines of all banks

  __host__ __device__ static constexpr unsigned place(unsigned chunk) { return chunk ^ mask(chunk); }
  __host__ __device__ static constexpr unsigned mask(unsigned chunk) {
    return SPREAD == 1 ? 0 : chunk / PERIOD % SPREAD;
  }
  // place(lane * CHUNKS + j), without a division.
  __host__ __device__ static constexpr unsigned placeOfLane(unsigned lane, unsigned j) {
    return lane * CHUNKS + (j ^ (lane * SPREAD / 8 % SPREAD));
  }
};

// The tile: 32 lanes times LANE_BYTES consecutive bytes of an array. All lanes of a warp call, and put
// __syncwarp() between put() and copyOut(), and before the tile is changed after get() or copyOut(): a lane's
// part may share words with its neighbours'. In shared memory it has SHARED_BYTES, aligned to 16; in global
// memory its address is a multiple of ALIGNMENT, and nothing outside its bytes is touched. That is not read
// through the read-only cache: it may be what the kernel writes later.
template <unsigned LANE_BYTES, unsigned ALIGNMENT = 1>
struct WarpTile {
  static_assert(LANE_BYTES >= 1);
  static constexpr unsigned BYTES = 32 * LANE_BYTES;
  // One vector more where the tile may begin between two.
  static constexpr unsigned SHARED_BYTES = BYTES + (ALIGNMENT < 16 ? 16 : 0);

  // From global to shared memory, past the registers. All lanes may read any of it afterwards.
  __device__ static void copyIn(unsigned char* shared, const unsigned char* global, unsigned lane) {
    startCopyIn(shared, global, lane);
    awaitAsyncCopies();
    finishCopyIn(shared, global, lane);
  }

  // Starts that: vectors from the last 16-byte boundary on, as they lie. Those at the ends, which are the
  // tile's in part, go by words as wide as ALIGNMENT.
  __device__ static void startCopyIn(unsigned char* shared, const unsigned char* global, unsigned lane) {
    const unsigned offset = offsetOf(global);
    Smallest edge{};
    if (isEdge(lane, offset)) edge = reinterpret_cast<const Smallest*>(global)[edgeWord(lane)];
#pragma unroll CHUNKS <= 1024 ? (CHUNKS + 31) / 32 : 1
    for (unsigned first = 0; first < CHUNKS; first += 32)
      if ((first + 32 <= CHUNKS || first + lane < CHUNKS) && (first > 0 || lane > 0 || offset == 0))
        copyAsync16<true>(&at<uint4>(shared, first + lane), global - offset + 16 * (first + lane));
    if (isEdge(lane, offset)) at<Smallest>(shared, offset / ALIGNMENT + edgeWord(lane)) = edge;
  }

  // Once the calling lane's copies are there: waits for the others', and moves a tile that began between two
  // vectors to its place.
  __device__ static void finishCopyIn(unsigned char* shared, const unsigned char* global, unsigned lane) {
    __syncwarp();
    const unsigned offset = offsetOf(global);
    if (offset == 0) return;
    movePieces<CHUNKS, 4>(
        lane, [&](unsigned c) { return chunkFrom(shared, c, offset); },
        [&](unsigned c, const uint4& chunk) { at<uint4>(shared, c) = chunk; }, [] { __syncwarp(); });
    __syncwarp();
  }

  // By vectors, those of an array that begins between them put together on their way.
  __device__ static void copyOut(unsigned char* global, const unsigned char* shared, unsigned lane) {
    const unsigned offset = offsetOf(global);
    if (offset == 0)
      return movePieces<CHUNKS, 16>(
          lane, [&](unsigned c) { return at<uint4>(shared, c); },
          [&](unsigned c, const uint4& chunk) { storeVector(global + 16 * c, chunk); });
    movePieces<CHUNKS - 1, 4>(
        lane, [&](unsigned c) { return chunkFrom(shared, c, 16 - offset); },
        [&](unsigned c, const uint4& chunk) { storeVector(global + 16 - offset + 16 * c, chunk); });
    if (isEdge(lane, offset))
      reinterpret_cast<Smallest*>(global)[edgeWord(lane)] = at<Smallest>(shared, edgeWord(lane));
  }

  // copyIn and copyOut for the first `count` bytes of a tile whose others do not exist, and come in as zeros:
  // by words as wide as ALIGNMENT, which divides count. `lanes` lanes call, those of a block's last warp.
  // Many loads at a time, since the grid ends with this tile, but no more than leave other tiles their
  // registers.
  __device__ static void copyPartIn(unsigned char* shared, const unsigned char* global, unsigned lane,
                                    unsigned lanes, unsigned count) {
    constexpr unsigned PIECES = BYTES / ALIGNMENT;
    constexpr unsigned MOST = LANE_BYTES < 64 ? 8 : 16;
    constexpr unsigned ROUNDS = (PIECES / 32 + MOST - 1) / MOST;
    constexpr unsigned FLYING = (PIECES / 32 + ROUNDS - 1) / ROUNDS;
#pragma unroll 1
    for (unsigned first = lane; first < PIECES; first += FLYING * lanes) {
      Smallest pieces[FLYING];
#pragma unroll
      for (unsigned i = 0; i < FLYING; ++i) {
        const unsigned place = first + i * lanes;
        pieces[i] = place * ALIGNMENT < count ? reinterpret_cast<const Smallest*>(global)[place] : Smallest{};
      }
#pragma unroll
      for (unsigned i = 0; i < FLYING; ++i)
        if (first + i * lanes < PIECES) at<Smallest>(shared, first + i * lanes) = pieces[i];
    }
    __syncwarp();
  }

  __device__ static void copyPartOut(unsigned char* global, const unsigned char* shared, unsigned lane,
                                     unsigned lanes, unsigned count) {
    for (unsigned i = lane; i < count / ALIGNMENT; i += lanes)
      reinterpret_cast<Smallest*>(global)[i] = at<Smallest>(shared, i);
  }

  // From the lane's own part to a local object of LANE_BYTES, which stays in registers.
  __device__ static void get(const unsigned char* shared, unsigned lane, void* bytes) {
    if constexpr (SHIFTED) {
      const unsigned first = lane * LANE_BYTES;
      const auto* words = reinterpret_cast<const unsigned*>(shared);
      unsigned own[OWN_WORDS];
      unsigned word = words[first / 4];
#pragma unroll
      for (unsigned i = 0; i < OWN_WORDS; ++i) {
        const unsigned place = first / 4 + i + 1;  // behind the tile at most where nothing is missing
        const unsigned next = words[i + 1 < OWN_WORDS || place < WORDS ? place : WORDS - 1];
        own[i] = __funnelshift_r(word, next, first % 4 * 8);
        word = next;
      }
      __builtin_memcpy(bytes, own, LANE_BYTES);
    } else {
#pragma unroll UNITS <= 256 ? UNITS : 1
      for (unsigned i = 0; i < UNITS; ++i) {
        const Unit unit = *reinterpret_cast<const Unit*>(shared + unitPlace(lane, i));
        __builtin_memcpy(static_cast<unsigned char*>(bytes) + i * UNIT, &unit, UNIT);
      }
    }
  }

  __device__ static void put(unsigned char* shared, unsigned lane, const void* bytes) {
    if constexpr (SHIFTED) {
      unsigned char* part = shared + lane * LANE_BYTES;
      const unsigned shift = lane * LANE_BYTES % 4;
      unsigned own[OWN_WORDS] = {};
      __builtin_memcpy(own, bytes, LANE_BYTES);
#pragma unroll
      for (unsigned i = 0; i <= OWN_WORDS; ++i) {
        const unsigned word =
            __funnelshift_l(i == 0 ? 0 : own[i - 1], i == OWN_WORDS ? 0 : own[i], shift * 8);
        const int first = static_cast<int>(4 * i) - static_cast<int>(shift);  // of the lane's bytes
        if ((i > 0 && i + 1 < OWN_WORDS) || (first >= 0 && first + 4 <= static_cast<int>(LANE_BYTES)))
          *reinterpret_cast<unsigned*>(part + first) = word;
        else
          putEdge(part, first, word);
      }
    } else {
#pragma unroll UNITS <= 256 ? UNITS : 1
      for (unsigned i = 0; i < UNITS; ++i) {
        Unit unit;
        __builtin_memcpy(&unit, static_cast<const unsigned char*>(bytes) + i * UNIT, UNIT);
        *reinterpret_cast<Unit*>(shared + unitPlace(lane, i)) = unit;
      }
    }
  }

 private:
  using Swizzle = ChunkSwizzle<LANE_BYTES>;
  static constexpr unsigned CHUNKS = BYTES / 16;
  static constexpr unsigned WORDS = BYTES / 4;
  static constexpr auto UNIT = static_cast<unsigned>(widestWord<LANE_BYTES>);
  static constexpr unsigned UNITS = LANE_BYTES / UNIT;
  using Unit = Word<UNIT>;
  using Smallest = Word<ALIGNMENT>;
  // Parts that begin between words: few bytes move one by one, many by words that are shifted.
  static constexpr bool SHIFTED = UNIT < 4 && UNITS >= 24;
  static constexpr unsigned OWN_WORDS = (LANE_BYTES + 3) / 4;

  // How far an address lies behind the last 16-byte boundary.
  __device__ static unsigned offsetOf(const void* address) {
    return ALIGNMENT >= 16 ? 0 : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) % 16);
  }

  // One of the first 16 or of the last 16 words of a tile, and whether it lies in a vector which is the
  // tile's in part.
  __device__ static unsigned edgeWord(unsigned lane) {
    return lane < 16 ? lane : BYTES / ALIGNMENT - 32 + lane;
  }
  __device__ static bool isEdge(unsigned lane, unsigned offset) {
    return offset != 0 && (lane < 16 ? lane * ALIGNMENT + offset < 16 : (32 - lane) * ALIGNMENT <= offset);
  }

  // The 16 bytes from byte `offset` of chunk c on.
  __device__ static uint4 chunkFrom(const unsigned char* shared, unsigned c, unsigned offset) {
    const uint4 &first = at<uint4>(shared, c), &second = at<uint4>(shared, c + 1);
    unsigned words[8] = {first.x, first.y, first.z, first.w, second.x, second.y, second.z, second.w};
#pragma unroll
    for (unsigned i = 0; i < 6; ++i) words[i] = offset & 8 ? words[i + 2] : words[i];
#pragma unroll
    for (unsigned i = 0; i < 5; ++i) words[i] = offset & 4 ? words[i + 1] : words[i];
    if constexpr (ALIGNMENT < 4) {
#pragma unroll
      for (unsigned i = 0; i < 4; ++i) words[i] = __funnelshift_r(words[i], words[i + 1], offset % 4 * 8);
    }
    return {words[0], words[1], words[2], words[3]};
  }

  __device__ static unsigned unitPlace(unsigned lane, unsigned i) {
    return UNIT == 16 ? 16 * Swizzle::placeOfLane(lane, i) : lane * LANE_BYTES + i * UNIT;
  }

  // Unit `i` of the tile, of 1 to 16 bytes, wherever it lies.
  template <class W, class Byte>
  __device__ static auto& at(Byte* shared, unsigned i) {
    const unsigned byte = static_cast<unsigned>(sizeof(W)) * i;
    return *reinterpret_cast<ConstLike<Byte, W>*>(shared + (byte ^ 16 * Swizzle::mask(byte / 16)));
  }

  // Moves COUNT chunks, neighbouring lanes neighbouring ones, in rounds: at most MOST of a lane are read
  // before the first is written. `between` stands between the reading and the writing of a round.
  template <unsigned COUNT, unsigned MOST, class Read, class Write, class Between>
  __device__ static void movePieces(unsigned lane, Read read, Write write, Between between) {
    constexpr unsigned STEPS = (COUNT + 31) / 32;
    constexpr unsigned ROUNDS = (STEPS + MOST - 1) / MOST;
    constexpr unsigned FLYING = (STEPS + ROUNDS - 1) / ROUNDS;
#pragma unroll STEPS <= 256 ? ROUNDS : 1
    for (unsigned round = 0; round < ROUNDS; ++round) {
      uint4 pieces[FLYING];
      const unsigned first = round * FLYING;
      const auto exists = [=](unsigned i) {
        return (first + i + 1) * 32 <= COUNT || (first + i) * 32 + lane < COUNT;
      };
#pragma unroll
      for (unsigned i = 0; i < FLYING; ++i)
        if (exists(i)) pieces[i] = read((first + i) * 32 + lane);
      between();
#pragma unroll
      for (unsigned i = 0; i < FLYING; ++i)
        if (exists(i)) write((first + i) * 32 + lane, pieces[i]);
    }
  }
  template <unsigned COUNT, unsigned MOST, class Read, class Write>
  __device__ static void movePieces(unsigned lane, Read read, Write write) {
    movePieces<COUNT, MOST>(lane, read, write, [] {});
  }

  // Writes those bytes of a word that are the lane's: the word's first one has the number `first` of them.
  __device__ static void putEdge(unsigned char* part, int first, unsigned word) {
#pragma unroll
    for (int b = 0; b < 4; b += UNIT)
      if (first + b >= 0 && first + b < static_cast<int>(LANE_BYTES)) {
        const auto unit = static_cast<Unit>(word >> 8 * b);
        *reinterpret_cast<Unit*>(part + first + b) = unit;
      }
  }
};

}  // namespace gpuopt::detail
