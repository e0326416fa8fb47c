/// \file
/// A warp's tile in shared memory, on its way between consecutive bytes of an array and the lanes that own
/// them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/const_like.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/thread/async_copy.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cuda_runtime.h>

#include <cstdint>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

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
  // place(32 * i + lane), where that is easy without a division for each i.
  __host__ __device__ static constexpr unsigned placeOfStep(unsigned i, unsigned lane) {
    if constexpr (32 % PERIOD == 0)
      return 32 * i + (place(lane) ^ i * (32 / PERIOD) % SPREAD);
    else
      return place(32 * i + lane);
  }
  // place(lane * CHUNKS + j), without a division.
  __host__ __device__ static constexpr unsigned placeOfLane(unsigned lane, unsigned j) {
    return lane * CHUNKS + (j ^ (lane * SPREAD / 8 % SPREAD));
  }
};

// The tile: 32 lanes times LANE_BYTES consecutive bytes of an array. All lanes of a warp call, and put
// __syncwarp() between put() and copyOut(), and before the tile is changed after get() or copyOut(): a lane's
// part may share words with its neighbours'. In shared memory it has SHARED_BYTES; in global memory its
// address is a multiple of ALIGNMENT, and nothing outside its bytes is written. It is not read through the
// read-only cache: it may be what the kernel writes later.
template <unsigned LANE_BYTES, unsigned ALIGNMENT = 1>
struct WarpTile {
  static_assert(LANE_BYTES >= 1);
  static constexpr unsigned BYTES = 32 * LANE_BYTES;
  // Half a sector for where the tile begins in one, half a sector for where it begins in a vector.
  static constexpr unsigned SHARED_BYTES = BYTES + 32;

  // Where a tile of global memory begins in memory that is aligned to sectors: in its sector as it does there
  // (see copyAsync16).
  __device__ static unsigned char* placeOf(const void* global, unsigned char* shared) {
    return shared + static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(global)) % 32 / 16 * 16;
  }

  // How far an address lies behind the last 16-byte boundary.
  __device__ static unsigned offsetOf(const void* address) {
    return ALIGNMENT >= 16 ? 0 : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address)) % 16;
  }

  // From global to shared memory, past the registers. All lanes may read any of it afterwards. `offset` is
  // that of `global`, best a literal 0 where it is known to be none: else whole vectors are read, of which
  // the first and the last are the tile's in part, so that those have to exist.
  __device__ static void copyIn(unsigned char* shared, const unsigned char* global, unsigned lane,
                                unsigned offset) {
    startCopyIn(shared, global, lane, offset);
    awaitAsyncCopies();
    finishCopyIn(shared, lane, offset);
  }

  // Starts that: vectors from the last 16-byte boundary on, as they lie.
  __device__ static void startCopyIn(unsigned char* shared, const unsigned char* global, unsigned lane,
                                     unsigned offset) {
    const unsigned chunks = offset == 0 ? CHUNKS : CHUNKS + 1;
    const unsigned char* own = global - offset + 16 * lane;
#pragma unroll CHUNKS <= 1024 ? CHUNKS / 32 + 1 : 1
    for (unsigned i = 0; 32 * i <= CHUNKS; ++i)
      if (32 * i + 32 <= CHUNKS || 32 * i + lane < chunks)
        copyAsync16<true>(&chunkAt(shared, lane, i), own + 512 * i);
  }

  // Once the calling lane's copies are there: waits for the others', and moves a tile that began between two
  // vectors to its place, unless get() takes it from where it is.
  __device__ static void finishCopyIn(unsigned char* shared, unsigned lane, unsigned offset) {
    __syncwarp();
    if (SHIFTED || offset == 0) return;
    movePieces<unsigned, WORDS>(
        lane, [&](unsigned i) { return wordFrom(shared, 32 * i + lane, offset); },
        [&](unsigned i, unsigned word) { at<unsigned>(shared, 32 * i + lane) = word; }, [] { __syncwarp(); });
    __syncwarp();
  }

  // By vectors, to a 16-byte boundary.
  __device__ static void copyOut(unsigned char* global, const unsigned char* shared, unsigned lane) {
    unsigned char* own = global + 16 * lane;
    movePieces<uint4, CHUNKS>(
        lane, [&](unsigned i) { return chunkAt(shared, lane, i); },
        [&](unsigned i, const uint4& chunk) { storeVector(own + 512 * i, chunk); });
  }

  // To any other address: by words, of whole lines of 128 bytes at a time, and at both ends by single bytes
  // where words begin between them.
  __device__ static void copyWordsOut(unsigned char* global, const unsigned char* shared, unsigned lane) {
    const auto head = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(global) % 128);
    const unsigned bytes = ALIGNMENT < 4 ? (0u - head) % 4 : 0;  // before the first word
    const unsigned begin = (head + bytes) / 4, end = begin + (BYTES - bytes) / 4;
    auto* own = reinterpret_cast<unsigned*>(global - head) + lane;
    const auto exists = [=](unsigned i) {
      return (i > 0 || lane >= begin) && (32 * i + 32 < WORDS || 32 * i + lane < end);
    };
    movePieces<unsigned, WORDS + 32>(
        lane, [&](unsigned i) { return exists(i) ? wordFrom(shared, 32 * i + lane - begin, bytes) : 0; },
        [&](unsigned i, unsigned word) {
          if (exists(i)) own[32 * i] = word;
        });
    if constexpr (ALIGNMENT < 4) {
      if (lane < bytes) global[lane] = at<unsigned char>(shared, lane);
      if (lane < (BYTES - bytes) % 4) global[BYTES - 1 - lane] = at<unsigned char>(shared, BYTES - 1 - lane);
    }
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
    constexpr unsigned LOADS_IN_FLIGHT = (PIECES / 32 + ROUNDS - 1) / ROUNDS;
#pragma unroll 1
    for (unsigned first = lane; first < PIECES; first += LOADS_IN_FLIGHT * lanes) {
      Smallest pieces[LOADS_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i) {
        const unsigned place = first + i * lanes;
        pieces[i] = place * ALIGNMENT < count ? reinterpret_cast<const Smallest*>(global)[place] : Smallest{};
      }
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (first + i * lanes < PIECES) at<Smallest>(shared, first + i * lanes) = pieces[i];
    }
    __syncwarp();
  }

  __device__ static void copyPartOut(unsigned char* global, const unsigned char* shared, unsigned lane,
                                     unsigned lanes, unsigned count) {
    for (unsigned i = lane; i < count / ALIGNMENT; i += lanes)
      reinterpret_cast<Smallest*>(global)[i] = at<Smallest>(shared, i);
  }

  // From the lane's own part to a local object of LANE_BYTES, which stays in registers. `offset` is that of
  // what came in.
  __device__ static void get(const unsigned char* shared, unsigned lane, void* bytes, unsigned offset = 0) {
    if constexpr (SHIFTED) {
      const unsigned first = offset + lane * LANE_BYTES;
      const auto* words = reinterpret_cast<const unsigned*>(shared);
      unsigned own[OWN_WORDS];
      unsigned word = words[first / 4];
#pragma unroll
      for (unsigned i = 0; i < OWN_WORDS; ++i) {
        const unsigned place = first / 4 + i + 1;  // behind the tile at most where nothing is missing
        const unsigned next = words[i + 1 < OWN_WORDS || place < WORDS + 4 ? place : WORDS + 3];
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

  // The 4 bytes from byte 4 * w + offset on.
  __device__ static unsigned wordFrom(const unsigned char* shared, unsigned w, unsigned offset) {
    const unsigned word = at<unsigned>(shared, w + offset / 4);
    if constexpr (ALIGNMENT >= 4) return word;
    return __funnelshift_r(word, at<unsigned>(shared, w + offset / 4 + 1), offset % 4 * 8);
  }

  // Chunk 32 * i + lane.
  template <class Byte>
  __device__ static auto& chunkAt(Byte* shared, unsigned lane, unsigned i) {
    const unsigned place = Swizzle::placeOfStep(i, lane);
    return *reinterpret_cast<ConstLike<Byte, uint4>*>(shared + 16 * place);
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

  // Moves COUNT pieces, of which lane l has 32 * i + l, in rounds: at most 16 of a lane are read before the
  // first is written. `between` stands between the reading and the writing of a round.
  template <class Piece, unsigned COUNT, class Read, class Write, class Between>
  __device__ static void movePieces(unsigned lane, Read read, Write write, Between between) {
    constexpr unsigned STEPS = (COUNT + 31) / 32;
    constexpr unsigned ROUNDS = (STEPS + 15) / 16;
    constexpr unsigned LOADS_IN_FLIGHT = (STEPS + ROUNDS - 1) / ROUNDS;
#pragma unroll STEPS <= 256 ? ROUNDS : 1
    for (unsigned round = 0; round < ROUNDS; ++round) {
      Piece pieces[LOADS_IN_FLIGHT];
      const unsigned first = round * LOADS_IN_FLIGHT;
      const auto exists = [=](unsigned i) {
        return (first + i + 1) * 32 <= COUNT || (first + i) * 32 + lane < COUNT;
      };
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (exists(i)) pieces[i] = read(first + i);
      between();
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (exists(i)) write(first + i, pieces[i]);
    }
  }
  template <class Piece, unsigned COUNT, class Read, class Write>
  __device__ static void movePieces(unsigned lane, Read read, Write write) {
    movePieces<Piece, COUNT>(lane, read, write, [] {});
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

}  // namespace detail
GPUOPT_NAMESPACE_END
