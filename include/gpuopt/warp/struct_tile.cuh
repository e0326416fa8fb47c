/// \file
/// A warp's tile: the bytes of 32 consecutive lanes of an array, staged in shared memory. Figures are in
/// docs/struct_kernels.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/thread/async_copy.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstdint>

GPUOPT_DETAIL_BEGIN

// XOR swizzle of a tile's 16-byte vectors. It keeps both access patterns free of bank conflicts: eight consecutive
// vectors, and vector j of eight neighbouring lanes. Lanes with an odd number of vectors need no swizzle. Measured:
// benchmarks/results/struct_tuning.csv.
template <unsigned LANE_BYTES>
struct VectorSwizzle {
  static constexpr unsigned LANE_VECTORS = LANE_BYTES % 16 == 0 ? LANE_BYTES / 16 : 1;
  // Conflict degree of the lanes' accesses without the swizzle.
  static constexpr auto DEGREE = static_cast<unsigned>(greatestCommonDivisor(LANE_VECTORS, 8));
  static constexpr unsigned PERIOD = 8 * LANE_VECTORS / DEGREE;  // consecutive vectors with the same mask

  __host__ __device__ static constexpr unsigned mask(unsigned vector) {
    return DEGREE == 1 ? 0 : vector / PERIOD % DEGREE;
  }
  // Where a vector of the tile is stored.
  __host__ __device__ static constexpr unsigned index(unsigned vector) { return vector ^ mask(vector); }
  // index(32 * row + lane), without a division for each row where that is possible.
  __host__ __device__ static constexpr unsigned indexInRow(unsigned row, unsigned lane) {
    if constexpr (32 % PERIOD == 0)
      return 32 * row + (index(lane) ^ row * (32 / PERIOD) % DEGREE);
    else
      return index(32 * row + lane);
  }
  // index(lane * LANE_VECTORS + j), without a division.
  __host__ __device__ static constexpr unsigned indexInLane(unsigned lane, unsigned j) {
    return lane * LANE_VECTORS + (j ^ (lane * DEGREE / 8 % DEGREE));
  }
};

// 32 * LANE_BYTES consecutive bytes of an array. copy...() move them between global and shared memory, loadLane() and
// storeLane() between shared memory and the lanes. All lanes of the warp call, with a __syncwarp() between storeLane()
// and copy...Out(), and before the tile is overwritten: neighbouring lanes may share a word.
//
// The global address is a multiple of ALIGNMENT. Nothing outside the tile's bytes is written. Reads bypass the
// read-only cache, because the kernel may write to the same array.
template <unsigned LANE_BYTES, unsigned ALIGNMENT = 1>
struct WarpTile {
  static_assert(LANE_BYTES >= 1);
  static constexpr unsigned BYTES = 32 * LANE_BYTES;
  // 16 bytes for a start in the middle of a sector, 16 for the extra vector of a misaligned tile.
  static constexpr unsigned SHARED_BYTES = BYTES + 32;

  // Where the tile starts in sector-aligned shared memory: congruent to `global` modulo 32 (see copyAsync16).
  __device__ static unsigned char* smemStart(const void* global, unsigned char* shared) {
    return shared + static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(global)) % 32 / 16 * 16;
  }

  // An address modulo 16.
  __device__ static unsigned misalignment(const void* address) {
    return ALIGNMENT >= 16 ? 0 : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address)) % 16;
  }

  // Global to shared memory, bypassing the registers; afterwards all lanes may read all of the tile. `misalignment` is
  // that of `global`; pass a literal 0 where it is known to be 0. Otherwise the first and last vectors, which belong to
  // the tile only in part, are read in full and so have to exist.
  __device__ static void copyIn(unsigned char* shared, const unsigned char* global, unsigned lane,
                                unsigned misalignment) {
    startCopyIn(shared, global, lane, misalignment);
    awaitAsyncCopies();
    finishCopyIn(shared, lane, misalignment);
  }

  // Starts copyIn(): copies aligned vectors, beginning at the last 16-byte boundary before the tile.
  __device__ static void startCopyIn(unsigned char* shared, const unsigned char* global, unsigned lane,
                                     unsigned misalignment) {
    const unsigned vectors = misalignment == 0 ? VECTORS : VECTORS + 1;
    const unsigned char* own = global - misalignment + 16 * lane;
#pragma unroll VECTORS <= 1024 ? VECTORS / 32 + 1 : 1
    for (unsigned i = 0; 32 * i <= VECTORS; ++i)
      if (32 * i + 32 <= VECTORS || 32 * i + lane < vectors)
        copyAsync16<true>(&vectorAt(shared, i, lane), own + 512 * i);
  }

  // Ends copyIn() once the calling lane's copies have arrived: waits for the other lanes, then shifts a misaligned tile
  // to the start of its shared memory. If loadLane() shifts, it does so instead.
  __device__ static void finishCopyIn(unsigned char* shared, unsigned lane, unsigned misalignment) {
    __syncwarp();
    if (LANE_SHIFTS || misalignment == 0) return;
    moveInRounds<unsigned, WORDS>(
        lane, [&](unsigned i) { return wordAt(shared, 32 * i + lane, misalignment); },
        [&](unsigned i, unsigned word) { at<unsigned>(shared, 32 * i + lane) = word; }, [] { __syncwarp(); });
    __syncwarp();
  }

  // Shared to global memory by vectors, if `global` is a multiple of 16.
  __device__ static void copyVectorsOut(unsigned char* global, const unsigned char* shared, unsigned lane) {
    unsigned char* own = global + 16 * lane;
    moveInRounds<uint4, VECTORS>(
        lane, [&](unsigned i) { return vectorAt(shared, i, lane); },
        [&](unsigned i, const uint4& vector) { storeVector(own + 512 * i, vector); }, [] {});
  }

  // Shared to global memory at any address: full 128-byte lines of words, and single bytes at both ends if the tile is
  // not aligned to words.
  __device__ static void copyWordsOut(unsigned char* global, const unsigned char* shared, unsigned lane) {
    const auto head = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(global) % 128);
    const unsigned bytes = ALIGNMENT < 4 ? (0u - head) % 4 : 0;  // before the first word
    const unsigned begin = (head + bytes) / 4, end = begin + (BYTES - bytes) / 4;
    auto* own = reinterpret_cast<unsigned*>(global - head) + lane;
    const auto exists = [=](unsigned i) {
      return (i > 0 || lane >= begin) && (32 * i + 32 < WORDS || 32 * i + lane < end);
    };
    moveInRounds<unsigned, WORDS + 32>(
        lane, [&](unsigned i) { return exists(i) ? wordAt(shared, 32 * i + lane - begin, bytes) : 0; },
        [&](unsigned i, unsigned word) {
          if (exists(i)) own[32 * i] = word;
        },
        [] {});
    if constexpr (ALIGNMENT < 4) {
      if (lane < bytes) global[lane] = at<unsigned char>(shared, lane);
      if (lane < (BYTES - bytes) % 4) global[BYTES - 1 - lane] = at<unsigned char>(shared, BYTES - 1 - lane);
    }
  }

  // Reads the first `count` bytes of a partial tile and zeroes the rest. `lanes` lanes call: the last warp of a block
  // may have fewer than 32. `count` is a multiple of ALIGNMENT, the width of the accesses. The loads in flight hide the
  // latency of the grid's last tile, and are limited to keep the kernel's register count.
  __device__ static void copyPartialIn(unsigned char* shared, const unsigned char* global, unsigned lane,
                                       unsigned lanes, unsigned count) {
    constexpr unsigned ELEMENTS = BYTES / ALIGNMENT;
    constexpr unsigned LIMIT = LANE_BYTES < 64 ? 8 : 16;
    constexpr unsigned ROUNDS = (ELEMENTS / 32 + LIMIT - 1) / LIMIT;
    constexpr unsigned LOADS_IN_FLIGHT = (ELEMENTS / 32 + ROUNDS - 1) / ROUNDS;
#pragma unroll 1
    for (unsigned first = lane; first < ELEMENTS; first += LOADS_IN_FLIGHT * lanes) {
      Element elements[LOADS_IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i) {
        const unsigned index = first + i * lanes;
        elements[i] = index * ALIGNMENT < count ? reinterpret_cast<const Element*>(global)[index] : Element{};
      }
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (first + i * lanes < ELEMENTS) at<Element>(shared, first + i * lanes) = elements[i];
    }
    __syncwarp();
  }

  // Writes the first `count` bytes of a partial tile.
  __device__ static void copyPartialOut(unsigned char* global, const unsigned char* shared, unsigned lane,
                                        unsigned lanes, unsigned count) {
    for (unsigned i = lane; i < count / ALIGNMENT; i += lanes)
      reinterpret_cast<Element*>(global)[i] = at<Element>(shared, i);
  }

  // Loads the lane's bytes to `bytes`, which stays in registers. `misalignment` as passed to copyIn().
  __device__ static void loadLane(const unsigned char* shared, unsigned lane, void* bytes, unsigned misalignment = 0) {
    if constexpr (LANE_SHIFTS) {
      loadShifted(shared, misalignment + lane * LANE_BYTES, bytes);
    } else {
#pragma unroll ATOMS <= 256 ? ATOMS : 1
      for (unsigned i = 0; i < ATOMS; ++i) {
        const Atom atom = *reinterpret_cast<const Atom*>(shared + atomOffset(lane, i));
        __builtin_memcpy(static_cast<unsigned char*>(bytes) + i * ATOM_BYTES, &atom, ATOM_BYTES);
      }
    }
  }

  // Stores the lane's bytes to the tile.
  __device__ static void storeLane(unsigned char* shared, unsigned lane, const void* bytes) {
    if constexpr (LANE_SHIFTS) {
      storeShifted(shared, lane, bytes);
    } else {
#pragma unroll ATOMS <= 256 ? ATOMS : 1
      for (unsigned i = 0; i < ATOMS; ++i) {
        Atom atom;
        __builtin_memcpy(&atom, static_cast<const unsigned char*>(bytes) + i * ATOM_BYTES, ATOM_BYTES);
        *reinterpret_cast<Atom*>(shared + atomOffset(lane, i)) = atom;
      }
    }
  }

 private:
  using Swizzle = VectorSwizzle<LANE_BYTES>;
  static constexpr unsigned VECTORS = BYTES / 16;
  static constexpr unsigned WORDS = BYTES / 4;
  using Element = Word<ALIGNMENT>;
  // The widest access to shared memory that suits every lane.
  static constexpr auto ATOM_BYTES = static_cast<unsigned>(widestWord<LANE_BYTES>);
  static constexpr unsigned ATOMS = LANE_BYTES / ATOM_BYTES;
  using Atom = Word<ATOM_BYTES>;
  // Lanes with many bytes that are not aligned to words access words and shift them. Few bytes are accessed one by one.
  static constexpr bool LANE_SHIFTS = ATOM_BYTES < 4 && ATOMS >= 24;
  static constexpr unsigned LANE_WORDS = (LANE_BYTES + 3) / 4;

  // loadLane() of the bytes from offset `first` on.
  __device__ static void loadShifted(const unsigned char* shared, unsigned first, void* bytes) {
    const auto* words = reinterpret_cast<const unsigned*>(shared);
    unsigned own[LANE_WORDS];
    unsigned word = words[first / 4];
#pragma unroll
    for (unsigned i = 0; i < LANE_WORDS; ++i) {
      const unsigned index = first / 4 + i + 1;  // beyond the tile only if its bits are shifted out
      const unsigned next = words[i + 1 < LANE_WORDS || index < WORDS + 4 ? index : WORDS + 3];
      own[i] = __funnelshift_r(word, next, first % 4 * 8);
      word = next;
    }
    __builtin_memcpy(bytes, own, LANE_BYTES);
  }

  // storeLane() by words. A lane's bytes begin `shift` bytes after a word boundary.
  __device__ static void storeShifted(unsigned char* shared, unsigned lane, const void* bytes) {
    unsigned char* address = shared + lane * LANE_BYTES;
    const unsigned shift = lane * LANE_BYTES % 4;
    unsigned own[LANE_WORDS] = {};
    __builtin_memcpy(own, bytes, LANE_BYTES);
#pragma unroll
    for (unsigned i = 0; i <= LANE_WORDS; ++i) {
      const unsigned word = __funnelshift_l(i == 0 ? 0 : own[i - 1], i == LANE_WORDS ? 0 : own[i], shift * 8);
      const int first = static_cast<int>(4 * i) - static_cast<int>(shift);  // the word's, among the lane's
      if ((i > 0 && i + 1 < LANE_WORDS) || (first >= 0 && first + 4 <= static_cast<int>(LANE_BYTES)))
        *reinterpret_cast<unsigned*>(address + first) = word;
      else
        storeEdge(address, first, word);
    }
  }

  // Stores those bytes of a word that are the lane's. `first` is the lane's offset of the word, and may be negative.
  __device__ static void storeEdge(unsigned char* address, int first, unsigned word) {
#pragma unroll
    for (int b = 0; b < 4; b += ATOM_BYTES)
      if (first + b >= 0 && first + b < static_cast<int>(LANE_BYTES)) {
        const auto atom = static_cast<Atom>(word >> 8 * b);
        *reinterpret_cast<Atom*>(address + first + b) = atom;
      }
  }

  // The 4 bytes at offset 4 * w + misalignment.
  __device__ static unsigned wordAt(const unsigned char* shared, unsigned w, unsigned misalignment) {
    const unsigned word = at<unsigned>(shared, w + misalignment / 4);
    if constexpr (ALIGNMENT >= 4) return word;
    return __funnelshift_r(word, at<unsigned>(shared, w + misalignment / 4 + 1), misalignment % 4 * 8);
  }

  // Vector 32 * row + lane.
  template <class Byte>
  __device__ static auto& vectorAt(Byte* shared, unsigned row, unsigned lane) {
    return *reinterpret_cast<ConstLike<Byte, uint4>*>(shared + 16 * Swizzle::indexInRow(row, lane));
  }

  __device__ static unsigned atomOffset(unsigned lane, unsigned i) {
    return ATOM_BYTES == 16 ? 16 * Swizzle::indexInLane(lane, i) : lane * LANE_BYTES + i * ATOM_BYTES;
  }

  // Element i of the tile as an array of W, which has 1 to 16 bytes.
  template <class W, class Byte>
  __device__ static auto& at(Byte* shared, unsigned i) {
    const unsigned byte = static_cast<unsigned>(sizeof(W)) * i;
    return *reinterpret_cast<ConstLike<Byte, W>*>(shared + (byte ^ 16 * Swizzle::mask(byte / 16)));
  }

  // Moves COUNT values, number 32 * i + lane by each lane. A lane reads at most 16 before it writes them; `between`
  // runs between the reads and the writes of such a round.
  template <class W, unsigned COUNT, class Read, class Write, class Between>
  __device__ static void moveInRounds(unsigned lane, Read read, Write write, Between between) {
    constexpr unsigned STEPS = (COUNT + 31) / 32;
    constexpr unsigned ROUNDS = (STEPS + 15) / 16;
    constexpr unsigned LOADS_IN_FLIGHT = (STEPS + ROUNDS - 1) / ROUNDS;
#pragma unroll STEPS <= 256 ? ROUNDS : 1
    for (unsigned round = 0; round < ROUNDS; ++round) {
      W values[LOADS_IN_FLIGHT];
      const unsigned first = round * LOADS_IN_FLIGHT;
      const auto exists = [=](unsigned i) { return (first + i + 1) * 32 <= COUNT || (first + i) * 32 + lane < COUNT; };
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (exists(i)) values[i] = read(first + i);
      between();
#pragma unroll
      for (unsigned i = 0; i < LOADS_IN_FLIGHT; ++i)
        if (exists(i)) write(first + i, values[i]);
    }
  }
};

GPUOPT_DETAIL_END
