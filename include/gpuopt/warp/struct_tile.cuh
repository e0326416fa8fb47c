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
// __syncwarp() between accesses to the whole tile (copyIn, copyOut) and accesses to a lane's own part (get,
// put). In shared memory it is aligned to 16 bytes; in global memory its address is a multiple of ALIGNMENT,
// and nothing outside its bytes is touched. That is not read through the read-only cache: it may be what the
// kernel writes later.
template <unsigned LANE_BYTES, unsigned ALIGNMENT = 1>
struct WarpTile {
  static_assert(LANE_BYTES >= 1);
  static constexpr unsigned BYTES = 32 * LANE_BYTES;

  // By 16-byte vectors where the address allows it, else by words.
  __device__ static void copyIn(unsigned char* shared, const unsigned char* global, unsigned lane) {
    const auto keep = [&](unsigned w, unsigned word) { at<unsigned>(shared, w) = word; };
    if (ALIGNMENT >= 16 || isAligned<16>(global))
      movePieces<CHUNKS>(
          lane, [&](unsigned c) { return *reinterpret_cast<const uint4*>(global + 16 * c); },
          [&](unsigned c, const uint4& chunk) { at<uint4>(shared, c) = chunk; });
    else if (ALIGNMENT >= 4 || isAligned<4>(global))
      movePieces<WORDS>(
          lane, [&](unsigned w) { return *reinterpret_cast<const unsigned*>(global + 4 * w); }, keep);
    else
      movePieces<WORDS>(
          lane, [&](unsigned w) { return readShifted(global, w); }, keep);
  }

  __device__ static void copyOut(unsigned char* global, const unsigned char* shared, unsigned lane) {
    if (ALIGNMENT >= 16 || isAligned<16>(global))
      movePieces<CHUNKS>(
          lane, [&](unsigned c) { return at<uint4>(shared, c); },
          [&](unsigned c, const uint4& chunk) { storeVector(global + 16 * c, chunk); });
    else if (ALIGNMENT >= 4 || isAligned<4>(global))
      movePieces<WORDS>(
          lane, [&](unsigned w) { return at<unsigned>(shared, w); },
          [&](unsigned w, unsigned word) { *reinterpret_cast<unsigned*>(global + 4 * w) = word; });
    else
      movePieces<WORDS>(
          lane,
          [&](unsigned w) {
            return uint2{at<unsigned>(shared, w == 0 ? 0 : w - 1), at<unsigned>(shared, w)};
          },
          [&](unsigned w, const uint2& words) { writeShifted(global, w, words.x, words.y); });
  }

  // The same for the first `count` bytes of a tile whose others do not exist, and come in as zeros: by words
  // as wide as ALIGNMENT, which divides count. `lanes` lanes call, those of a block's last warp. Many loads
  // at a time, since the grid ends with this tile, but no more than leave other tiles their registers.
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
  }

  __device__ static void copyPartOut(unsigned char* global, const unsigned char* shared, unsigned lane,
                                     unsigned lanes, unsigned count) {
    for (unsigned i = lane; i < count / ALIGNMENT; i += lanes)
      reinterpret_cast<Smallest*>(global)[i] = at<Smallest>(shared, i);
  }

  // Starts what copyIn does from an address aligned to 16, by asynchronous copies.
  __device__ static void startCopyIn(unsigned char* shared, const unsigned char* global, unsigned lane) {
#pragma unroll(CHUNKS <= 1024 ? (CHUNKS + 31) / 32 : 1)
    for (unsigned first = 0; first < CHUNKS; first += 32)
      if (first + 32 <= CHUNKS || first + lane < CHUNKS)
        copyAsync16(&at<uint4>(shared, first + lane), global + 16 * (first + lane));
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
#pragma unroll(UNITS <= 256 ? UNITS : 1)
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
#pragma unroll(UNITS <= 256 ? UNITS : 1)
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

  template <unsigned BOUNDARY>
  __device__ static bool isAligned(const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % BOUNDARY == 0;
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

  // Moves COUNT pieces, neighbouring lanes neighbouring ones, in rounds: as many as there are registers for
  // are read before the first is written.
  template <unsigned COUNT, class Read, class Write>
  __device__ static void movePieces(unsigned lane, Read read, Write write) {
    constexpr unsigned STEPS = (COUNT + 31) / 32;
    constexpr unsigned MOST = COUNT == CHUNKS ? 16 : 32;
    constexpr unsigned ROUNDS = (STEPS + MOST - 1) / MOST;
    constexpr unsigned FLYING = (STEPS + ROUNDS - 1) / ROUNDS;
#pragma unroll(STEPS <= 256 ? ROUNDS : 1)
    for (unsigned round = 0; round < ROUNDS; ++round) {
      decltype(read(lane)) pieces[FLYING];
      const unsigned first = round * FLYING;
      const auto exists = [=](unsigned i) {
        return (first + i + 1) * 32 <= COUNT || (first + i) * 32 + lane < COUNT;
      };
#pragma unroll
      for (unsigned i = 0; i < FLYING; ++i)
        if (exists(i)) pieces[i] = read((first + i) * 32 + lane);
#pragma unroll
      for (unsigned i = 0; i < FLYING; ++i)
        if (exists(i)) write((first + i) * 32 + lane, pieces[i]);
    }
  }

  // Word w of a tile that begins within a word of global memory. Those at its ends belong to others in part,
  // so the bytes there go one by one.
  __device__ static unsigned readShifted(const unsigned char* global, unsigned w) {
    const unsigned shift = reinterpret_cast<std::uintptr_t>(global) % 4;
    if (w == 0 || w == WORDS - 1) {
      unsigned word = 0;
      for (unsigned b = 0; b < 4; ++b) word |= static_cast<unsigned>(global[4 * w + b]) << 8 * b;
      return word;
    }
    const auto* words = reinterpret_cast<const unsigned*>(global - shift);
    return __funnelshift_r(words[w], words[w + 1], 8 * shift);
  }

  // Writes the word of global memory that word w of the tile begins in, and behind the last one the rest.
  __device__ static void writeShifted(unsigned char* global, unsigned w, unsigned before, unsigned word) {
    const unsigned shift = reinterpret_cast<std::uintptr_t>(global) % 4;
    const auto writeBytes = [&](unsigned first, unsigned end) {
      for (unsigned b = first; b < end; ++b) global[4 * w + b] = static_cast<unsigned char>(word >> 8 * b);
    };
    if (w == 0)
      writeBytes(0, 4 - shift);
    else
      *reinterpret_cast<unsigned*>(global - shift + 4 * w) = __funnelshift_l(before, word, 8 * shift);
    if (w == WORDS - 1) writeBytes(4 - shift, 4);
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
