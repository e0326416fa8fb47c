/// \file
/// The kernels of toSoa and toAos. A figure of their tile is in docs/struct_kernels.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_tile.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/structs/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/soa/aggregate.cuh>
#include <gpuopt/soa/view.cuh>
#include <gpuopt/thread/async_copy.cuh>
#include <gpuopt/warp/struct_tile.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

// Whether the elements of a column are contiguous.
template <class View>
inline constexpr bool hasContiguousColumns =
    std::is_pointer_v<decltype(std::declval<const View&>().template column<0>())>;

// Reads one structure from columns and zeroes its padding.
template <class View, class T, std::size_t... INDICES>
__host__ __device__ void readZeroPadded(const View& soa, std::size_t i, T& item, std::index_sequence<INDICES...>) {
  if constexpr ((std::size_t{0} + ... + sizeof(Member<T, INDICES>)) < sizeof(T))
    __builtin_memset(static_cast<void*>(__builtin_addressof(item)), 0, sizeof(T));
  (copyMember(getMember<INDICES>(item), *soa.addresses().template at<INDICES>(i)), ...);
}

// A lane's elements of column INDEX, one for each of its ITEMS consecutive structures. Lanes access the column directly
// if that takes one access each, and through a tile otherwise. ALIGNED: all columns are aligned to their ALIGNMENT,
// otherwise to their elements only.
template <class View, unsigned ITEMS, bool ALIGNED, std::size_t INDEX>
struct ConvertColumn {
  using T = typename View::Value;
  using Element = Member<T, INDEX>;
  static constexpr unsigned SIZE = sizeof(Element);
  static constexpr unsigned BYTES = ITEMS * SIZE;
  // The width of direct accesses.
  static constexpr unsigned WORD = ALIGNED ? widestWord<BYTES> : minAlignment<Element>;
  static constexpr bool STAGES_READS = hasContiguousColumns<View> && BYTES > maxStridedLoadBytes;
  static constexpr bool STAGES_WRITES = hasContiguousColumns<View> && BYTES > WORD;
  static constexpr unsigned ALIGNMENT = ALIGNED && STAGES_WRITES ? 16 : WORD;
  using Tile = WarpTile<BYTES, ALIGNMENT>;
  static constexpr unsigned SHARED_BYTES = STAGES_READS || STAGES_WRITES ? Tile::SHARED_BYTES : 0;

  alignas(16) unsigned char bytes[BYTES];

  __device__ void packFrom(const T (&items)[ITEMS]) {
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) copyElement(bytes + k * SIZE, __builtin_addressof(getMember<INDEX>(items[k])));
  }

  __device__ void unpackTo(T (&items)[ITEMS]) const {
#pragma unroll
    for (unsigned k = 0; k < ITEMS; ++k) copyElement(__builtin_addressof(getMember<INDEX>(items[k])), bytes + k * SIZE);
  }

  // Copies by words: a single memcpy across word boundaries would not stay in registers.
  static __device__ void copyElement(void* to, const void* from) {
    constexpr unsigned WIDTH = widestWord<SIZE>;
#pragma unroll
    for (unsigned b = 0; b < SIZE; b += WIDTH)
      __builtin_memcpy(static_cast<unsigned char*>(to) + b, static_cast<const unsigned char*>(from) + b, WIDTH);
  }

  static __device__ auto address(const View& soa, std::size_t i) {
    auto* element = soa.addresses().template at<INDEX>(i);
    return reinterpret_cast<ConstLike<std::remove_pointer_t<decltype(element)>, unsigned char>*>(element);
  }
};

template <class View, unsigned ITEMS, bool ALIGNED, std::size_t... INDICES>
constexpr unsigned columnTilesBytes(std::index_sequence<INDICES...>) {
  return (0u + ... + ConvertColumn<View, ITEMS, ALIGNED, INDICES>::SHARED_BYTES);
}

// Converts 32 * ITEMS structures by one warp. A lane holds ITEMS consecutive structures in registers.
//   toSoa:  readStructs()   array -> tile of structures -> registers
//           writeColumns()  registers -> a tile for each column -> columns
//   toAos:  readColumns()   columns -> a tile for each wide column -> registers
//           writeStructs()  registers -> tile of structures -> array
// The tile of structures and the tiles of the columns use the same shared memory in turn.
template <class View, unsigned ITEMS, bool ALIGNED>
class ConvertTile {
 public:
  using T = typename View::Value;
  using Tile = WarpTile<ITEMS * sizeof(T), minAlignment<T>>;
  using Indices = std::make_index_sequence<memberCount<T>>;
  static constexpr unsigned STRUCTS = 32 * ITEMS;
  static constexpr bool FITS_REGISTERS = ITEMS * sizeof(T) <= maxConvertLaneBytes;
  static constexpr unsigned COLUMNS_BYTES = columnTilesBytes<View, ITEMS, ALIGNED>(Indices{});
  static constexpr unsigned SHARED_BYTES = largerOf(Tile::SHARED_BYTES, COLUMNS_BYTES);

  // `first` is the first of the warp's structures, all of which exist.
  __device__ ConvertTile(unsigned char* shared, const View& soa, std::size_t first)
      : shared_(shared), soa_(soa), first_(first), lane_(threadIdx.x % 32) {}

  // Whether neither structures nor columns are shifted.
  __device__ static bool isAligned(const T* aos) { return !SHIFTS_COLUMNS && Tile::misalignment(aos) == 0; }

  __device__ void convert(const T* aos) const {
    T items[ITEMS];
    readStructs(aos, items);
    writeColumns(items, Indices{});
  }

  __device__ void convert(T* aos) const {
    T items[ITEMS];
    __builtin_memset(static_cast<void*>(items), 0, sizeof items);
    readColumns(items, Indices{});
    writeStructs(items, aos);
  }

  // The columns alone, which need COLUMNS_BYTES of shared memory.
  __device__ void load(T (&items)[ITEMS]) const { readColumns(items, Indices{}); }
  __device__ void store(const T (&items)[ITEMS]) const { writeColumns(items, Indices{}); }

  // One structure of an incomplete block. If it fits in registers, it is read in full before the first write: otherwise
  // each member would wait for memory.
  static __device__ void convertOne(const T* aos, const View& soa, std::size_t i) {
    if constexpr (FITS_REGISTERS) {
      const T item = aos[i];
      soa.store(i, item);
    } else {
      soa.store(i, aos[i]);
    }
  }

  static __device__ void convertOne(T* aos, const View& soa, std::size_t i) {
    if constexpr (FITS_REGISTERS) {
      T item;
      readZeroPadded(soa, i, item, Indices{});
      writeWords<sizeof(T), minAlignment<T>>(reinterpret_cast<unsigned char*>(aos + i), &item);
    } else {
      readZeroPadded(soa, i, aos[i], Indices{});
    }
  }

 private:
  static constexpr bool SHIFTS_COLUMNS = !ALIGNED && hasContiguousColumns<View>;
  template <std::size_t INDEX>
  using Column = ConvertColumn<View, ITEMS, ALIGNED, INDEX>;
  template <std::size_t INDEX>
  using ColumnTile = typename Column<INDEX>::Tile;

  __device__ void readStructs(const T* aos, T (&items)[ITEMS]) const {
    const auto* global = reinterpret_cast<const unsigned char*>(aos + first_);
    unsigned char* tile = Tile::smemStart(aos, shared_);
    const unsigned misalignment = Tile::misalignment(aos);
    if (misalignment == 0)
      Tile::copyIn(tile, global, lane_, 0);
    else
      Tile::copyIn(tile, global, lane_, misalignment);
    Tile::loadLane(tile, lane_, items, misalignment);
  }

  __device__ void writeStructs(const T (&items)[ITEMS], T* aos) const {
    Tile::storeLane(shared_, lane_, items);
    __syncwarp();
    auto* global = reinterpret_cast<unsigned char*>(aos + first_);
    if (Tile::misalignment(aos) == 0)
      Tile::copyVectorsOut(global, shared_, lane_);
    else
      Tile::copyWordsOut(global, shared_, lane_);
  }

  template <std::size_t... INDICES>
  __device__ void writeColumns(const T (&items)[ITEMS], std::index_sequence<INDICES...>) const {
    if constexpr ((Column<INDICES>::STAGES_WRITES || ...)) {
      __syncwarp();  // all lanes have read their structures
      (publishColumn<INDICES>(items), ...);
      __syncwarp();
    }
    (writeColumn<INDICES>(items), ...);
  }

  // Registers to the column's tile.
  template <std::size_t INDEX>
  __device__ void publishColumn(const T (&items)[ITEMS]) const {
    if constexpr (Column<INDEX>::STAGES_WRITES) {
      Column<INDEX> column;
      column.packFrom(items);
      ColumnTile<INDEX>::storeLane(columnSmem<INDEX>(), lane_, column.bytes);
    }
  }

  // The column's tile, or registers, to the column.
  template <std::size_t INDEX>
  __device__ void writeColumn(const T (&items)[ITEMS]) const {
    if constexpr (Column<INDEX>::STAGES_WRITES && ALIGNED) {
      ColumnTile<INDEX>::copyVectorsOut(Column<INDEX>::address(soa_, first_), columnSmem<INDEX>(), lane_);
    } else if constexpr (Column<INDEX>::STAGES_WRITES) {
      ColumnTile<INDEX>::copyWordsOut(Column<INDEX>::address(soa_, first_), columnSmem<INDEX>(), lane_);
    } else {
      Column<INDEX> column;
      column.packFrom(items);
      writeWords<Column<INDEX>::BYTES, Column<INDEX>::WORD>(Column<INDEX>::address(soa_, own()), column.bytes);
    }
  }

  template <std::size_t... INDICES>
  __device__ void readColumns(T (&items)[ITEMS], std::index_sequence<INDICES...>) const {
    (readColumn<INDICES>(items), ...);
    if constexpr ((Column<INDICES>::STAGES_READS || ...)) {
      awaitAsyncCopies();
      (collectColumn<INDICES>(items), ...);
      __syncwarp();  // all lanes have read the columns' tiles
    }
  }

  // The column to registers, or the start of its copy to the column's tile.
  template <std::size_t INDEX>
  __device__ void readColumn(T (&items)[ITEMS]) const {
    if constexpr (Column<INDEX>::STAGES_READS) {
      const auto* global = Column<INDEX>::address(soa_, first_);
      ColumnTile<INDEX>::startCopyIn(columnSmem<INDEX>(), global, lane_, ColumnTile<INDEX>::misalignment(global));
    } else {
      Column<INDEX> column;
      readWords<Column<INDEX>::BYTES, Column<INDEX>::WORD>(Column<INDEX>::address(soa_, own()), column.bytes);
      column.unpackTo(items);
    }
  }

  // The column's tile to registers.
  template <std::size_t INDEX>
  __device__ void collectColumn(T (&items)[ITEMS]) const {
    if constexpr (Column<INDEX>::STAGES_READS) {
      Column<INDEX> column;
      const unsigned misalignment = ColumnTile<INDEX>::misalignment(Column<INDEX>::address(soa_, first_));
      ColumnTile<INDEX>::finishCopyIn(columnSmem<INDEX>(), lane_, misalignment);
      ColumnTile<INDEX>::loadLane(columnSmem<INDEX>(), lane_, column.bytes, misalignment);
      column.unpackTo(items);
    }
  }

  // The lane's first structure.
  __device__ std::size_t own() const { return first_ + lane_ * ITEMS; }

  // The shared memory of a column's tile, after those of the columns before it.
  template <std::size_t INDEX>
  __device__ unsigned char* columnSmem() const {
    if constexpr (INDEX == 0)
      return shared_;
    else
      return columnSmem<INDEX - 1>() + Column<INDEX - 1>::SHARED_BYTES;
  }

  unsigned char* shared_;
  const View& soa_;
  std::size_t first_;
  unsigned lane_;
};

// Converts a block's structures by warps if all of them exist, and one by one otherwise: to columns if T is const.
// Misaligned tiles read vectors that extend into the neighbouring blocks, and so need 16 more structures on either
// side.
template <unsigned BLOCK, unsigned ITEMS, bool ALIGNED, class T, class View>
__device__ inline void convertBlock(T* aos, const View& soa) {
  waitForPreviousKernel();
  using Tile = ConvertTile<View, ITEMS, ALIGNED>;
  constexpr unsigned WARPS = BLOCK / 32, STRUCTS = WARPS * Tile::STRUCTS;
  alignas(32) __shared__ unsigned char tiles[WARPS][Tile::FITS_REGISTERS ? Tile::SHARED_BYTES : 32];
  const std::size_t n = soa.size(), first = std::size_t{blockIdx.x} * STRUCTS, end = first + STRUCTS;
  const unsigned warp = threadIdx.x / 32;
  if constexpr (Tile::FITS_REGISTERS)
    if (end <= n && (Tile::isAligned(aos) || (first > 0 && end + 16 <= n)))
      return Tile(tiles[warp], soa, first + warp * Tile::STRUCTS).convert(aos);
  for (std::size_t i = first + threadIdx.x; i < end && i < n; i += BLOCK) Tile::convertOne(aos, soa, i);
}

template <class View, unsigned BLOCK, unsigned ITEMS, bool ALIGNED>
GPUOPT_KERNEL void __launch_bounds__(BLOCK, convertThreadsPerSm(ITEMS * sizeof(typename View::Value)) / BLOCK)
    toSoaKernel(const typename View::Value* aos, const View soa) {
  convertBlock<BLOCK, ITEMS, ALIGNED>(aos, soa);
}

template <class View, unsigned BLOCK, unsigned ITEMS, bool ALIGNED>
GPUOPT_KERNEL void __launch_bounds__(BLOCK, convertThreadsPerSm(ITEMS * sizeof(typename View::Value)) / BLOCK)
    toAosKernel(typename View::Value* aos, const View soa) {
  convertBlock<BLOCK, ITEMS, ALIGNED>(aos, soa);
}

GPUOPT_DETAIL_END
