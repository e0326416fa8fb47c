/// \file
/// Conversions between arrays of structures and columns.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/core/array_check.cuh>
#include <gpuopt/core/const_like.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/carveout.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/soa/aggregate.cuh>
#include <gpuopt/soa/view.cuh>
#include <gpuopt/thread/async_copy.cuh>
#include <gpuopt/warp/struct_tile.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Threads that a multiprocessor shall hold: they leave each registers for all of its bytes at once. Without
// that, the compiler saves registers, and loads wait for each other.
template <std::size_t LANE_BYTES>
inline constexpr unsigned convertResident = LANE_BYTES <= 128 ? 1024 : 512;

// Two, so that a lane writes twice as much to a column at a time; four where that is still little, or where
// two do not make whole words, or where columns begin anywhere (8 floats to columns: 0.90 of the best copy,
// with two 0.79; H200, 2026-11-22). No more than there are registers for.
constexpr unsigned convertItems(std::size_t size, bool fits) {
  unsigned items = !fits || size <= 4 || size % 2 == 1 ? 4 : 2;
  while (items > 1 && items * size > 256) items /= 2;
  return items;
}

// Whether the elements of a column follow each other.
template <class View>
inline constexpr bool hasPlainColumns =
    std::is_pointer_v<decltype(std::declval<const View&>().template column<0>())>;

// One structure from columns; padding between its members becomes zero.
template <class View, class T, std::size_t... PLACES>
__host__ __device__ void readZeroPadded(const View& soa, std::size_t i, T& item,
                                        std::index_sequence<PLACES...>) {
  if constexpr ((std::size_t{0} + ... + sizeof(Member<T, PLACES>)) < sizeof(T))
    __builtin_memset(static_cast<void*>(__builtin_addressof(item)), 0, sizeof(T));
  (copyMember(getMember<PLACES>(item), *soa.places().template at<PLACES>(i)), ...);
}

// What a lane that has GROUP consecutive structures has of one column: GROUP consecutive elements. Lanes
// access columns themselves where that is one access; what is wider crosses shared memory, as a tile of its
// own. FITS: columns begin where the widest accesses are possible, else anywhere.
template <class View, unsigned GROUP, bool FITS, std::size_t PLACE>
struct ConvertColumn {
  using T = typename View::Value;
  using Element = Member<T, PLACE>;
  static constexpr unsigned SIZE = sizeof(Element);
  static constexpr unsigned BYTES = GROUP * SIZE;
  // What lanes access at a time.
  static constexpr unsigned WORD = FITS ? widestWord<BYTES> : leastAlignment<Element>;
  // Caches absorb loads that are strided, up to about 48 bytes, but not stores.
  static constexpr bool READS_STAGED = hasPlainColumns<View> && BYTES > 48;
  static constexpr bool WRITES_STAGED = hasPlainColumns<View> && BYTES > WORD;
  // What the column's address has to be a multiple of.
  static constexpr unsigned ALIGNMENT = FITS && WRITES_STAGED ? 16 : WORD;
  using Tile = WarpTile<BYTES, ALIGNMENT>;
  static constexpr unsigned SHARED_BYTES = READS_STAGED || WRITES_STAGED ? Tile::SHARED_BYTES : 0;

  alignas(16) unsigned char bytes[BYTES];

  __device__ void gather(const T (&items)[GROUP]) {
#pragma unroll
    for (unsigned k = 0; k < GROUP; ++k)
      copyBytes(bytes + k * SIZE,
                reinterpret_cast<const unsigned char*>(__builtin_addressof(getMember<PLACE>(items[k]))));
  }

  __device__ void scatter(T (&items)[GROUP]) const {
#pragma unroll
    for (unsigned k = 0; k < GROUP; ++k)
      copyBytes(reinterpret_cast<unsigned char*>(__builtin_addressof(getMember<PLACE>(items[k]))),
                bytes + k * SIZE);
  }

  // Word by word: what is copied across the boundaries of words would not stay in registers.
  static __device__ void copyBytes(unsigned char* to, const unsigned char* from) {
    constexpr unsigned PART = widestWord<SIZE>;
#pragma unroll
    for (unsigned b = 0; b < SIZE; b += PART) __builtin_memcpy(to + b, from + b, PART);
  }

  static __device__ auto address(const View& soa, std::size_t i) {
    auto* element = soa.places().template at<PLACE>(i);
    return reinterpret_cast<ConstLike<std::remove_pointer_t<decltype(element)>, unsigned char>*>(element);
  }
};

template <class View, unsigned GROUP, bool FITS, std::size_t... PLACES>
constexpr unsigned columnsBytes(std::index_sequence<PLACES...>) {
  return (0u + ... + ConvertColumn<View, GROUP, FITS, PLACES>::SHARED_BYTES);
}

// One warp's part of a conversion: 32 * GROUP structures, which cross a tile in shared memory.
template <class View, unsigned GROUP, bool FITS>
class ConvertTile {
 public:
  using T = typename View::Value;
  using Tile = WarpTile<GROUP * sizeof(T), leastAlignment<T>>;
  static constexpr unsigned STRUCTS = 32 * GROUP;
  static constexpr bool STAYS = GROUP * sizeof(T) <= 256;  // in registers
  // For the structures, and then for the columns.
  static constexpr unsigned SHARED_BYTES = largerOf(
      Tile::SHARED_BYTES, columnsBytes<View, GROUP, FITS>(std::make_index_sequence<memberCount<T>>{}));

  // `first` is the first of the warp's structures, all of which exist.
  __device__ ConvertTile(unsigned char* shared, const View& soa, std::size_t first)
      : shared_(shared), soa_(soa), first_(first), lane_(threadIdx.x % 32) {}

  // Whether nothing is shifted, neither structures nor columns.
  __device__ static bool isPlain(const T* aos) { return !SHIFTS_COLUMNS && Tile::offsetOf(aos) == 0; }

  __device__ void toSoa(const T* aos) const {
    T items[GROUP];
    const auto* global = reinterpret_cast<const unsigned char*>(aos + first_);
    unsigned char* tile = Tile::placeOf(aos, shared_);
    const unsigned offset = Tile::offsetOf(aos);
    if (offset == 0)
      Tile::copyIn(tile, global, lane_, 0);
    else
      Tile::copyIn(tile, global, lane_, offset);
    Tile::get(tile, lane_, items, offset);
    writeColumns(items, Places{});
  }

  __device__ void toAos(T* aos) const {
    T items[GROUP];
    __builtin_memset(static_cast<void*>(items), 0, sizeof items);
    readColumns(items, Places{});
    Tile::put(shared_, lane_, items);
    __syncwarp();
    auto* global = reinterpret_cast<unsigned char*>(aos + first_);
    if (Tile::offsetOf(aos) == 0)
      Tile::copyOut(global, shared_, lane_);
    else
      Tile::copyWordsOut(global, shared_, lane_);
  }

  // One structure of those that make no whole tile. Where one fits into registers, all of it is read before
  // the first part is written: part by part, each would wait for memory.
  static __device__ void singleToSoa(const T* aos, const View& soa, std::size_t i) {
    if constexpr (STAYS) {
      const T item = aos[i];
      soa.store(i, item);
    } else {
      soa.store(i, aos[i]);
    }
  }

  static __device__ void singleToAos(T* aos, const View& soa, std::size_t i) {
    if constexpr (STAYS) {
      T item;
      readZeroPadded(soa, i, item, Places{});
      writeWords<sizeof(T), leastAlignment<T>>(reinterpret_cast<unsigned char*>(aos + i), &item);
    } else {
      readZeroPadded(soa, i, aos[i], Places{});
    }
  }

 private:
  static constexpr bool SHIFTS_COLUMNS = !FITS && hasPlainColumns<View>;
  using Places = std::make_index_sequence<memberCount<T>>;
  template <std::size_t PLACE>
  using Column = ConvertColumn<View, GROUP, FITS, PLACE>;

  template <std::size_t... PLACES>
  __device__ void writeColumns(const T (&items)[GROUP], std::index_sequence<PLACES...>) const {
    if constexpr ((Column<PLACES>::WRITES_STAGED || ...)) {
      __syncwarp();  // the structures' tile is done with
      (stageColumn<PLACES>(items), ...);
      __syncwarp();
    }
    (writeColumn<PLACES>(items), ...);
  }

  template <std::size_t PLACE>
  __device__ void stageColumn(const T (&items)[GROUP]) const {
    if constexpr (Column<PLACE>::WRITES_STAGED) {
      Column<PLACE> group;
      group.gather(items);
      Column<PLACE>::Tile::put(tileOf<PLACE>(), lane_, group.bytes);
    }
  }

  template <std::size_t PLACE>
  __device__ void writeColumn(const T (&items)[GROUP]) const {
    if constexpr (Column<PLACE>::WRITES_STAGED && FITS) {
      Column<PLACE>::Tile::copyOut(Column<PLACE>::address(soa_, first_), tileOf<PLACE>(), lane_);
    } else if constexpr (Column<PLACE>::WRITES_STAGED) {
      Column<PLACE>::Tile::copyWordsOut(Column<PLACE>::address(soa_, first_), tileOf<PLACE>(), lane_);
    } else {
      Column<PLACE> group;
      group.gather(items);
      writeWords<Column<PLACE>::BYTES, Column<PLACE>::WORD>(Column<PLACE>::address(soa_, own()), group.bytes);
    }
  }

  template <std::size_t... PLACES>
  __device__ void readColumns(T (&items)[GROUP], std::index_sequence<PLACES...>) const {
    (readColumn<PLACES>(items), ...);
    if constexpr ((Column<PLACES>::READS_STAGED || ...)) {
      awaitAsyncCopies();
      (unstageColumn<PLACES>(items), ...);
      __syncwarp();  // the columns' tiles are done with
    }
  }

  template <std::size_t PLACE>
  __device__ void readColumn(T (&items)[GROUP]) const {
    if constexpr (Column<PLACE>::READS_STAGED) {
      const auto* global = Column<PLACE>::address(soa_, first_);
      Column<PLACE>::Tile::startCopyIn(tileOf<PLACE>(), global, lane_, Column<PLACE>::Tile::offsetOf(global));
    } else {
      Column<PLACE> group;
      readWords<Column<PLACE>::BYTES, Column<PLACE>::WORD>(Column<PLACE>::address(soa_, own()), group.bytes);
      group.scatter(items);
    }
  }

  template <std::size_t PLACE>
  __device__ void unstageColumn(T (&items)[GROUP]) const {
    if constexpr (Column<PLACE>::READS_STAGED) {
      Column<PLACE> group;
      const unsigned offset = Column<PLACE>::Tile::offsetOf(Column<PLACE>::address(soa_, first_));
      Column<PLACE>::Tile::finishCopyIn(tileOf<PLACE>(), lane_, offset);
      Column<PLACE>::Tile::get(tileOf<PLACE>(), lane_, group.bytes, offset);
      group.scatter(items);
    }
  }

  // The lane's first structure.
  __device__ std::size_t own() const { return first_ + lane_ * GROUP; }

  // A member's tile: they lie side by side.
  template <std::size_t PLACE>
  __device__ unsigned char* tileOf() const {
    if constexpr (PLACE == 0)
      return shared_;
    else
      return tileOf<PLACE - 1>() + Column<PLACE - 1>::SHARED_BYTES;
  }

  unsigned char* shared_;
  const View& soa_;
  std::size_t first_;
  unsigned lane_;
};

// Takes a block's structures warp by warp if all of them exist, and one by one otherwise. Where vectors hold
// some that are another block's, those too have to exist: 16 structures on either side are enough.
template <class Tile, unsigned BLOCK, class T, class Whole, class Single>
__device__ inline void convertBlock(const T* aos, std::size_t n, Whole whole, Single single) {
  constexpr unsigned WARPS = BLOCK / 32, STRUCTS = WARPS * Tile::STRUCTS;
  alignas(32) __shared__ unsigned char tiles[WARPS][Tile::STAYS ? Tile::SHARED_BYTES : 32];
  const std::size_t first = std::size_t{blockIdx.x} * STRUCTS, end = first + STRUCTS;
  const unsigned warp = threadIdx.x / 32;
  if constexpr (Tile::STAYS)
    if (end <= n && (Tile::isPlain(aos) || (first > 0 && end + 16 <= n)))
      return whole(tiles[warp], first + warp * Tile::STRUCTS);
  for (std::size_t i = first + threadIdx.x; i < end && i < n; i += BLOCK) single(i);
}

template <unsigned GROUP, bool FITS, unsigned BLOCK, class T, class View>
GPUOPT_KERNEL void __launch_bounds__(BLOCK, convertResident<GROUP * sizeof(T)> / BLOCK)
    toSoaKernel(const T* aos, const View soa) {
  waitForPreviousKernel();
  using Tile = ConvertTile<View, GROUP, FITS>;
  convertBlock<Tile, BLOCK>(
      aos, soa.size(), [&](unsigned char* shared, std::size_t first) { Tile(shared, soa, first).toSoa(aos); },
      [&](std::size_t i) { Tile::singleToSoa(aos, soa, i); });
}

template <unsigned GROUP, bool FITS, unsigned BLOCK, class T, class View>
GPUOPT_KERNEL void __launch_bounds__(BLOCK, convertResident<GROUP * sizeof(T)> / BLOCK)
    toAosKernel(T* aos, const View soa) {
  waitForPreviousKernel();
  using Tile = ConvertTile<View, GROUP, FITS>;
  convertBlock<Tile, BLOCK>(
      aos, soa.size(), [&](unsigned char* shared, std::size_t first) { Tile(shared, soa, first).toAos(aos); },
      [&](std::size_t i) { Tile::singleToAos(aos, soa, i); });
}

// Ratio to the best copy with blocks of 64, 128 and 256 threads (H200, 2026-11-22): 3 floats to structures
// 0.984, 0.994, 0.993; 16 floats to columns 0.965, 0.965, 0.961; 3 bytes to columns 0.93 with 128, 0.91 with
// 256. `aos` is const where its structures are read.
template <unsigned GROUP, bool FITS, class T, class View>
GPUOPT_HIDDEN void launchConvert(T* aos, const View& soa, const char* function, cudaStream_t stream) {
  constexpr unsigned BLOCK = GROUP * sizeof(T) < 48 ? 128 : 64;
  // Columns are read through the L1 cache, which wants the room that tiles leave (H200, 2026-11-22, to
  // structures with 58 and 28 %: 8 floats 0.980, 0.985; 8, 4, 4, 1 bytes 0.968, 0.973; structures that are
  // read go to tiles: 16 floats to columns 0.964, 0.947).
  constexpr int CARVEOUT = std::is_const_v<T> ? structCarveout : 28;
  const auto launchKernel = [&](auto kernel) {
    static SharedCarveout carveout;
    carveout.prefer(reinterpret_cast<const void*>(kernel), CARVEOUT);
    const std::size_t blocks = ceilDivide(soa.size(), std::size_t{BLOCK} * GROUP);
    launch(kernel, gridConfig(BLOCK, blocks, stream, function), aos, soa);
  };
  if constexpr (std::is_const_v<T>)
    launchKernel(toSoaKernel<GROUP, FITS, BLOCK, std::remove_const_t<T>, View>);
  else
    launchKernel(toAosKernel<GROUP, FITS, BLOCK, T, View>);
}

template <unsigned GROUP, class View, std::size_t... PLACES>
bool columnsFit(const View& soa, std::index_sequence<PLACES...>) {
  return (
      alignedTo(soa.places().template at<PLACES>(0), ConvertColumn<View, GROUP, true, PLACES>::ALIGNMENT) &&
      ...);
}

// There is at least one structure, and the arguments are checked.
template <class T, class View>
void convert(T* aos, const View& soa, const char* function, cudaStream_t stream) {
  if constexpr (hasPlainColumns<View>) {
    constexpr unsigned ITEMS = convertItems(sizeof(T), true);
    if (columnsFit<ITEMS>(soa, std::make_index_sequence<memberCount<T>>{}))
      launchConvert<ITEMS, true>(aos, soa, function, stream);
    else
      launchConvert<convertItems(sizeof(T), false), false>(aos, soa, function, stream);
  } else {
    launchConvert<1, false>(aos, soa, function, stream);
  }
}

// From the first byte of a column to the last; of a tiled layout, with parts of other columns between them.
template <std::size_t PLACE, class View>
NamedArray columnRange(const View& soa, const std::string& name) {
  const auto* first = reinterpret_cast<const unsigned char*>(soa.places().template at<PLACE>(0));
  const auto* end =
      reinterpret_cast<const unsigned char*>(soa.places().template at<PLACE>(soa.size() - 1) + 1);
  return {first, static_cast<std::size_t>(end - first), 1, 1, name.c_str()};
}

template <class T, class View, std::size_t... PLACES>
void requireConvertible(const T* aos, const View& soa, const char* function, std::index_sequence<PLACES...>) {
  const NamedArray array = namedArray(aos, soa.size(), "aos");
  requireArray(array, function);
  if (soa.size() == 0) return;
  (requireDisjoint(array, columnRange<PLACES>(soa, message({"column ", PLACES})), function), ...);
}

template <class View, class T>
constexpr void requireSameStructure() {
  static_assert(std::is_same_v<typename View::Value, T>,
                "gpuopt: the structures of the array and of the view are of different types");
}

// Returns whether there is anything to convert.
template <class T, class View>
bool checkToSoa(const T* aos, std::size_t n, const View& soa, const char* function) {
  requireSameStructure<View, T>();
  if (n != soa.size())
    throwInvalid({function, ": n is ", n, ", but the view has ", soa.size(), " structures"});
  requireConvertible(aos, soa, function, std::make_index_sequence<memberCount<T>>{});
  return n > 0;
}

template <class T, class View>
bool checkToAos(const View& soa, const T* aos, const char* function) {
  requireSameStructure<View, T>();
  requireConvertible(aos, soa, function, std::make_index_sequence<memberCount<T>>{});
  return soa.size() > 0;
}

}  // namespace detail

/// Copies n structures from an array to columns: `soa[i] = aos[i]` for i < n. Asynchronous, one kernel.
///
/// aos: n structures in device memory, at any address that their type allows. soa: of exactly n structures
/// (a subview where there are more), in device memory, apart from aos. Subviews and the user's own columns
/// may begin anywhere; the best speed is reached where columns are aligned to 16 bytes, as those of
/// SoaVector.
///
/// Cost: that of a copy of the same bytes; padding is read with the rest. The kernel is queued on `stream`.
/// Throws std::invalid_argument, before anything is written: n is not the view's, aos is null or misaligned,
/// aos and a column overlap. CudaError if the launch fails.
template <class T, class U, class LAYOUT>
void toSoa(const T* aos, std::size_t n, SoaView<U, LAYOUT> soa, cudaStream_t stream = nullptr) {
  constexpr const char* FUNCTION = "gpuopt::toSoa";
  static_assert(!std::is_const_v<U>, "gpuopt::toSoa: the structures of the view are const");
  if (detail::checkToSoa(aos, n, soa, FUNCTION)) detail::convert(aos, soa, FUNCTION, stream);
}

/// Copies all structures of a view to an array: `aos[i] = soa[i]`, padding between members becoming zero.
/// Asynchronous on `stream`, one kernel. Everything else as in toSoa.
template <class U, class LAYOUT, class T>
void toAos(SoaView<U, LAYOUT> soa, T* aos, cudaStream_t stream = nullptr) {
  constexpr const char* FUNCTION = "gpuopt::toAos";
  static_assert(!std::is_const_v<T>, "gpuopt::toAos: the structures of the array are const");
  const SoaView<const U, LAYOUT> columns = soa;
  if (detail::checkToAos(columns, aos, FUNCTION)) detail::convert(aos, columns, FUNCTION, stream);
}

/// As toSoa, `soa[i] = aos[i]` for i < n, in host memory, by a loop of the calling thread.
template <class T, class U, class LAYOUT>
void toSoaHost(const T* aos, std::size_t n, SoaView<U, LAYOUT> soa) {
  static_assert(!std::is_const_v<U>, "gpuopt::toSoaHost: the structures of the view are const");
  if (!detail::checkToSoa(aos, n, soa, "gpuopt::toSoaHost")) return;
  for (std::size_t i = 0; i < n; ++i) soa.store(i, aos[i]);
}

/// As toAos, `aos[i] = soa[i]`, in host memory, by a loop of the calling thread.
template <class U, class LAYOUT, class T>
void toAosHost(SoaView<U, LAYOUT> soa, T* aos) {
  static_assert(!std::is_const_v<T>, "gpuopt::toAosHost: the structures of the array are const");
  if (!detail::checkToAos(soa, aos, "gpuopt::toAosHost")) return;
  for (std::size_t i = 0; i < soa.size(); ++i)
    detail::readZeroPadded(soa, i, aos[i], std::make_index_sequence<detail::memberCount<T>>{});
}

GPUOPT_NAMESPACE_END
