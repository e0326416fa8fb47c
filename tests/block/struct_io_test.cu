/// Staged access to arrays of structures: every size, address, count and block, in and out of place.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/struct_data.cuh"

#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <vector>

namespace struct_io_test {

using namespace gpuopt::test;
using gpuopt::StagedStructs;
using gpuopt::StructTransfer;
using gpuopt::StructTransferPolicy;

template <StructTransfer LOAD, StructTransfer STORE>
struct Transfers {
  static constexpr StructTransfer load = LOAD;
  static constexpr StructTransfer store = STORE;
};

/// Changes every byte of a structure, depending on its index.
template <std::size_t SIZE, std::size_t ALIGN>
__host__ __device__ void change(Blob<SIZE, ALIGN>& value, std::size_t index) {
  for (unsigned char& byte : value.bytes) byte = static_cast<unsigned char>(byte * 3 + index);
}

template <class T, unsigned BLOCK, unsigned ITEMS, class Policy>
__global__ void changeKernel(const T* in, T* out, std::size_t n, bool spreads) {
  using Staged = StagedStructs<T, BLOCK, ITEMS, Policy>;
  __shared__ typename Staged::Storage storage;
  const Staged staged(storage, static_cast<unsigned>(gpuopt::threadRank()), spreads);
  for (auto tile : staged.tiles(n)) {
    if constexpr (ITEMS == 1) {
      T value = tile.load(in);
      change(value, tile.index());
      tile.store(out, value);
    } else {
      T items[ITEMS];
      tile.load(in, items);
#pragma unroll
      for (unsigned i = 0; i < ITEMS; ++i)
        if (tile.has(i)) change(items[i], tile.index(i));
      tile.store(out, items);
    }
  }
}

/// Runs the kernel above for one type and block shape.
template <class T, unsigned BLOCK = 64, unsigned ITEMS = 1, class Policy = StructTransferPolicy<T, ITEMS>>
class Checker {
 public:
  explicit Checker(dim3 block = dim3(BLOCK)) { config_.block = block; }

  void check(std::size_t n, std::size_t inOffset = 0, std::size_t outOffset = 0) {
    const StructArray<T> in(indexCoded<T>(n), inOffset);
    for (const bool spreads : {false, true}) {
      StructArray<T> out(n, outOffset);
      run(in.data(), out.data(), n, dim3(2), spreads);
      INFO("in place: no, spreads: " << spreads);
      expect(out, n, inOffset, outOffset);
    }
    CHECK(sameBytes(in.toHost(), indexCoded<T>(n)));
  }

  void checkInPlace(std::size_t n, std::size_t offset = 0, dim3 grid = dim3(2)) {
    StructArray<T> data(indexCoded<T>(n), offset);
    run(data.data(), data.data(), n, grid);
    INFO("in place: yes");
    expect(data, n, offset, offset);
  }

  void checkCounts() {
    constexpr std::size_t TILE = BLOCK * ITEMS;
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33},
                                TILE - 1, TILE, TILE + 1, 5 * TILE + 11})
      check(n);
    checkInPlace(3 * TILE + 1);
  }

  void checkOffsets() {
    constexpr std::size_t N = 2 * BLOCK * ITEMS + 40;
    for (std::size_t offset = 0; offset < 32; offset += alignof(T)) {
      check(N, offset, offset * 5 % 32);
      checkInPlace(N, offset);
    }
  }

 private:
  void run(const T* in, T* out, std::size_t n, dim3 grid, bool spreads = false) {
    config_.grid = grid;
    gpuopt::launch(changeKernel<T, BLOCK, ITEMS, Policy>, config_, in, out, n, spreads);
  }

  void expect(const StructArray<T>& found, std::size_t n, std::size_t inOffset, std::size_t outOffset) {
    const std::vector<T> values = found.toHost();
    std::vector<T> expected = indexCoded<T>(n);
    std::size_t wrong = 0;
    while (wrong < n && isChanged(values[wrong], expected[wrong], wrong)) ++wrong;
    INFO(sizeof(T) << " bytes, alignment " << alignof(T) << ", BLOCK " << BLOCK << ", ITEMS " << ITEMS << ", n " << n
                   << ", offsets " << inOffset << " and " << outOffset);
    CHECK(wrong == n);
  }

  // The value of padding is unspecified.
  static bool isChanged(const T& value, const T& before, std::size_t index) {
    T expected = before;
    change(expected, index);
    return sameBits(value.bytes, expected.bytes);
  }

  gpuopt::LaunchConfig config_;
};

template <class T>
void checkType() {
  Checker<T> checker;
  checker.checkCounts();
  checker.checkOffsets();
}

TEST_CASE("Structures of any size and alignment are staged", "[block]") {
  checkType<Blob<1>>();
  checkType<Blob<3>>();
  checkType<Blob<6, 2>>();
  checkType<Blob<7>>();
  checkType<Blob<8, 8>>();
  checkType<Blob<12, 4>>();
  checkType<Blob<28, 4>>();
  checkType<Blob<16, 16>>();
  checkType<Blob<20, 4>>();
  checkType<Blob<20, 16>>();  // padded to 32
  checkType<Blob<32, 32>>();
  checkType<Blob<48, 8>>();
  checkType<Blob<63>>();
  checkType<Blob<100, 4>>();
}

TEST_CASE("Large structures are staged", "[block]") {
  Checker<Blob<128, 16>, 32>().checkOffsets();
  Checker<Blob<255>, 32>().checkOffsets();
  Checker<Blob<256, 4>, 32>().checkCounts();
}

TEST_CASE("Blocks of any shape, whose last warp may be incomplete", "[block]") {
  Checker<Blob<12, 4>, 96>(dim3(8, 12)).checkCounts();
  Checker<Blob<12, 4>, 100>(dim3(5, 4, 5)).checkCounts();
  Checker<Blob<12, 4>, 33>().checkCounts();
  Checker<Blob<63, 1>, 33>().checkCounts();
  Checker<Blob<12, 4>, 1>().checkCounts();
  Checker<Blob<12, 4>, 64>().checkInPlace(2000, 0, dim3(3, 2, 2));
  Checker<Blob<3>, 1024>().check(3000);
}

TEST_CASE("A thread takes several structures", "[block]") {
  Checker<Blob<3>, 64, 4>().checkCounts();
  Checker<Blob<3>, 64, 4>().checkOffsets();
  Checker<Blob<6, 2>, 64, 2>().checkOffsets();
  Checker<Blob<1>, 64, 16>().checkCounts();
  Checker<Blob<4, 4>, 64, 4>().checkCounts();
  Checker<Blob<4, 4>, 64, 4>().checkOffsets();
  Checker<Blob<8, 8>, 33, 3>().checkCounts();
}

// Device memory without guard bytes.
class ExactBytes {
 public:
  explicit ExactBytes(std::size_t size) {
    checkCuda(cudaMalloc(reinterpret_cast<void**>(&data_), size), "cudaMalloc");
    checkCuda(cudaMemset(data_, 0, size), "cudaMemset");
  }
  ExactBytes(const ExactBytes&) = delete;
  ExactBytes& operator=(const ExactBytes&) = delete;
  ~ExactBytes() { cudaFree(data_); }

  unsigned char* at(std::size_t offset) { return data_ + offset; }

 private:
  unsigned char* data_ = nullptr;
};

template <class T, unsigned ITEMS>
void checkExact() {
  constexpr unsigned BLOCK = 64;
  const auto kernel = changeKernel<T, BLOCK, ITEMS, StructTransferPolicy<T, ITEMS>>;
  gpuopt::LaunchConfig config;
  config.block = dim3(BLOCK);
  config.grid = dim3(4);
  for (const std::size_t n : {BLOCK * ITEMS, 2 * BLOCK * ITEMS + 1, 4 * BLOCK * ITEMS}) {
    for (std::size_t offset = 0; offset < 16; offset += alignof(T)) {
      ExactBytes in(offset + n * sizeof(T));
      StructArray<T> out(n);
      gpuopt::launch(kernel, config, reinterpret_cast<const T*>(in.at(offset)), out.data(), n, true);
      CHECK(out.toHost().size() == n);
    }
  }
}

// For the sanitizers, which detect accesses outside an allocation.
TEST_CASE("Nothing beyond an array is read", "[block]") {
  checkExact<Blob<1>, 1>();
  checkExact<Blob<1>, 40>();
  checkExact<Blob<12, 4>, 2>();
  checkExact<Blob<63>, 1>();
}

// Threads pass their own ranks. full[t] counts the threads for which tile t is full.
template <class T, unsigned BLOCK, unsigned ITEMS>
__global__ void countFullKernel(std::size_t n, unsigned* full) {
  using Staged = StagedStructs<T, BLOCK, ITEMS>;
  __shared__ typename Staged::Storage storage;
  const Staged staged(storage, threadIdx.x);
  const auto tile = staged.tile(blockIdx.x, n);
  if (tile.isFull()) atomicAdd(full + blockIdx.x, 1u);
}

template <class T, unsigned BLOCK, unsigned ITEMS>
void checkFull() {
  constexpr std::size_t STRUCTS = std::size_t{BLOCK} * ITEMS;
  constexpr unsigned TILES = 3;
  for (const std::size_t n : {std::size_t{0}, STRUCTS - 1, STRUCTS, STRUCTS + 1, 2 * STRUCTS, 3 * STRUCTS - 1}) {
    DeviceArray<unsigned> full(std::vector<unsigned>(TILES, 0));
    gpuopt::LaunchConfig config;
    config.grid = dim3(TILES);
    config.block = dim3(BLOCK);
    gpuopt::launch(countFullKernel<T, BLOCK, ITEMS>, config, n, full.data());
    std::vector<unsigned> expected(TILES, 0);
    for (std::size_t t = 0; t < n / STRUCTS; ++t) expected[t] = BLOCK;
    CHECK(full.toHost() == expected);
  }
}

TEST_CASE("A tile is full for all threads if the array has all of its structures", "[block]") {
  checkFull<Blob<12, 4>, 64, 1>();
  checkFull<Blob<3>, 64, 4>();
  checkFull<Blob<8, 8>, 33, 3>();
}

TEST_CASE("Loads and stores follow the policy", "[block]") {
  using T = Blob<28, 4>;
  Checker<T, 64, 1, Transfers<StructTransfer::direct, StructTransfer::tile>>().checkCounts();
  Checker<T, 64, 1, Transfers<StructTransfer::tile, StructTransfer::direct>>().checkCounts();
  Checker<T, 64, 1, Transfers<StructTransfer::exchange, StructTransfer::exchange>>().checkCounts();
  Checker<T, 64, 1, Transfers<StructTransfer::exchange, StructTransfer::tile>>().checkOffsets();
  Checker<Blob<16, 8>, 64, 3, Transfers<StructTransfer::direct, StructTransfer::exchange>>().checkCounts();
}

// A structure computed in a branch is staged in that branch.
template <class T, unsigned BLOCK, unsigned ITEMS, class Policy>
__global__ void makeKernel(T* out, std::size_t n) {
  using Staged = StagedStructs<T, BLOCK, ITEMS, Policy>;
  __shared__ typename Staged::Storage storage;
  for (auto tile : Staged(storage).tiles(n)) {
    T made[ITEMS];
    const auto make = [&](unsigned i) {
      for (unsigned b = 0; b < sizeof(T); ++b) made[i].bytes[b] = static_cast<unsigned char>(31 * tile.index(i) + b);
    };
    if (tile.has(ITEMS - 1)) {
      for (unsigned i = 0; i < ITEMS; ++i) make(i);
      tile.beginStore(out, made);
    } else if (tile.has()) {
      for (unsigned i = 0; i < ITEMS; ++i)
        if (tile.has(i)) make(i);
      tile.beginStore(out, made);
    }
    tile.finishStore(out);
  }
}

template <class T, unsigned ITEMS, class Policy = StructTransferPolicy<T, ITEMS>>
void checkTwoSteps() {
  constexpr unsigned BLOCK = 64;
  for (const std::size_t n : {0u, 1u, 32u * ITEMS - 1, 32u * ITEMS + 1, 3 * BLOCK * ITEMS + 7}) {
    StructArray<T> out(n, alignof(T));
    gpuopt::LaunchConfig config;
    config.grid = dim3(2);
    config.block = dim3(BLOCK);
    gpuopt::launch(makeKernel<T, BLOCK, ITEMS, Policy>, config, out.data(), n);
    const std::vector<T> found = out.toHost();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t b = 0; b < sizeof(T); ++b) wrong += found[i].bytes[b] != static_cast<unsigned char>(31 * i + b);
    INFO(sizeof(T) << " bytes, ITEMS " << ITEMS << ", n " << n);
    CHECK(wrong == 0);
  }
}

TEST_CASE("Structures are stored in two steps", "[block]") {
  checkTwoSteps<Blob<28, 4>, 1>();
  checkTwoSteps<Blob<3>, 16>();
  checkTwoSteps<Blob<4, 4>, 4>();
  checkTwoSteps<Blob<16, 16>, 1, Transfers<StructTransfer::tile, StructTransfer::tile>>();
  checkTwoSteps<Blob<28, 4>, 1, Transfers<StructTransfer::direct, StructTransfer::direct>>();
  checkTwoSteps<Blob<12, 4>, 2, Transfers<StructTransfer::tile, StructTransfer::exchange>>();
}

struct Fixed {
  __host__ __device__ Fixed(int a, int b, double c) : number(a), other(b), value(c) {}
  const int number;
  int other;
  double value;
};

// Loads from two arrays and stores to the other two, without a barrier.
__global__ void crossKernel(const Fixed* a, const Fixed* b, Fixed* c, Fixed* d, std::size_t n) {
  __shared__ StagedStructs<Fixed, 64>::Storage storage;
  const StagedStructs<Fixed, 64> staged(storage);
  for (std::size_t i = blockIdx.x; i * 64 < n + 128; i += gridDim.x) {  // also beyond the end
    const auto tile = staged.tile(i, n);
    const Fixed first = tile.load(a);
    const Fixed second = tile.load(b);
    tile.store(d, first);
    tile.store(c, second);
  }
}

TEST_CASE("Types without default construction and assignment are staged, several arrays at once", "[block]") {
  constexpr std::size_t N = 333;
  using Bits = Blob<sizeof(Fixed), alignof(Fixed)>;
  const std::vector<Bits> first = indexCoded<Bits>(N), second = indexCoded<Bits>(N, N);
  const StructArray<Bits> a(first), b(second);
  StructArray<Bits> c(N), d(N);
  gpuopt::LaunchConfig config;
  config.grid = dim3(2);
  config.block = dim3(64);
  gpuopt::launch(crossKernel, config, reinterpret_cast<const Fixed*>(a.data()),
                 reinterpret_cast<const Fixed*>(b.data()), reinterpret_cast<Fixed*>(c.data()),
                 reinterpret_cast<Fixed*>(d.data()), N);
  CHECK(sameBytes(c.toHost(), second));
  CHECK(sameBytes(d.toHost(), first));
}

template <class Policy>
constexpr bool takes(StructTransfer transfer, unsigned items) {
  return Policy::load == transfer && Policy::store == transfer && Policy::items == items;
}

static_assert(takes<StructTransferPolicy<Blob<1>>>(StructTransfer::tile, 16));
static_assert(takes<StructTransferPolicy<Blob<4, 4>>>(StructTransfer::tile, 4));
static_assert(takes<StructTransferPolicy<Blob<16, 16>>>(StructTransfer::direct, 1));
static_assert(takes<StructTransferPolicy<Blob<4, 4>, 1>>(StructTransfer::direct, 1));
static_assert(takes<StructTransferPolicy<Blob<4, 4>, 3>>(StructTransfer::tile, 3));
static_assert(takes<StructTransferPolicy<Blob<4, 1>>>(StructTransfer::tile, 4));
static_assert(takes<StructTransferPolicy<Blob<3>>>(StructTransfer::tile, 16));
static_assert(takes<StructTransferPolicy<Blob<6, 2>>>(StructTransfer::tile, 8));
static_assert(takes<StructTransferPolicy<Blob<12, 4>>>(StructTransfer::tile, 2));
static_assert(takes<StructTransferPolicy<Blob<16, 8>>>(StructTransfer::tile, 2));
static_assert(takes<StructTransferPolicy<Blob<21>>>(StructTransfer::tile, 4));
static_assert(takes<StructTransferPolicy<Blob<28, 4>>>(StructTransfer::tile, 1));
static_assert(takes<StructTransferPolicy<Blob<47>>>(StructTransfer::tile, 4));
static_assert(takes<StructTransferPolicy<Blob<49>>>(StructTransfer::tile, 1));
static_assert(takes<StructTransferPolicy<Blob<63>>>(StructTransfer::tile, 1));
static_assert(takes<StructTransferPolicy<Blob<256, 16>>>(StructTransfer::tile, 1));

// A policy without tiles needs no shared memory.
static_assert(sizeof(StagedStructs<Blob<4, 4>, 256>::Storage) == 1);

// The tile of each warp begins on a row of 128 bytes: asynchronous copies write a row at a time.
using RaggedBlock = StagedStructs<Blob<12, 4>, 100>::Storage;
static_assert(sizeof(RaggedBlock) == 4 * 512 && alignof(RaggedBlock) == 128);
static_assert(sizeof(StagedStructs<Blob<28, 4>, 64>::Storage) == 2 * 1024);
static_assert(sizeof(StagedStructs<Blob<63>, 64>::Storage) == 2 * 2048);

}  // namespace struct_io_test
