/// Staged access that prefetches the next tile: any number of tiles, any address.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/struct_data.cuh"

#include <gpuopt/block/struct_pipeline.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <vector>

namespace struct_pipeline_test {

using namespace gpuopt::test;
using gpuopt::PipelinedStructs;

constexpr unsigned char CHANGE = 0x3C;

template <class T>
__host__ __device__ void change(T& value) {
  for (unsigned char& byte : value.bytes) byte = static_cast<unsigned char>(byte ^ CHANGE);
}

template <class T, unsigned BLOCK, unsigned ITEMS>
__global__ void changeKernel(const T* in, T* out, std::size_t n, std::size_t* visits) {
  using Staged = PipelinedStructs<T, BLOCK, ITEMS>;
  __shared__ typename Staged::Storage storage;
  const Staged staged(storage);
  for (auto tile : staged.tiles(in, n)) {
    if constexpr (ITEMS == 1) {
      T value = tile.load();
      change(value);
      tile.store(out, value);
    } else {
      T items[ITEMS];
      tile.load(items);
#pragma unroll
      for (unsigned i = 0; i < ITEMS; ++i) change(items[i]);
      tile.store(out, items);
    }
    for (unsigned i = 0; i < ITEMS; ++i)
      if (tile.has(i)) ++visits[tile.index(i)];
  }
}

template <class T, unsigned BLOCK, unsigned ITEMS = 1>
void check(std::size_t n, std::size_t inOffset, std::size_t outOffset, bool inPlace = false) {
  INFO(sizeof(T) << " bytes, n " << n << ", offsets " << inOffset << " and " << outOffset << ", in place " << inPlace);
  std::vector<T> values = indexCoded<T>(n);
  StructArray<T> in(values, inOffset), out(n, outOffset);
  StructArray<T>& result = inPlace ? in : out;
  DeviceArray<std::size_t> visits(std::vector<std::size_t>(n, 0));
  gpuopt::LaunchConfig config;
  config.grid = dim3(2);
  config.block = dim3(BLOCK);
  const T* source = in.data();
  gpuopt::launch(changeKernel<T, BLOCK, ITEMS>, config, source, result.data(), n, visits.data());
  for (T& value : values) change(value);
  CHECK(sameBytes(result.toHost(), values));
  CHECK(visits.toHost() == std::vector<std::size_t>(n, 1));
}

// Two blocks with 0 to 5 tiles each, the last one full or partial.
template <class T, unsigned BLOCK, unsigned ITEMS = 1>
void checkCounts() {
  constexpr std::size_t TILE = BLOCK * ITEMS;
  for (std::size_t tiles = 0; tiles <= 9; ++tiles)
    for (const std::size_t more : {std::size_t{0}, std::size_t{1}, std::size_t{32 * ITEMS}, TILE - 1}) {
      check<T, BLOCK, ITEMS>(tiles * TILE + more, 0, 0);
      check<T, BLOCK, ITEMS>(tiles * TILE + more, 0, 0, true);
    }
}

TEST_CASE("A block prefetches any number of tiles", "[block]") {
  checkCounts<Blob<28, 4>, 64>();
  checkCounts<Blob<64, 16>, 40>();
  checkCounts<Blob<3>, 64, 4>();
}

TEST_CASE("Tiles are visited in turn at any address", "[block]") {
  for (std::size_t offset = 0; offset < 32; offset += 4) {
    check<Blob<28, 4>, 64>(700, offset, offset, true);
    check<Blob<28, 4>, 64>(700, offset, 4);
    check<Blob<28, 4>, 64>(700, 0, offset);
  }
  for (std::size_t offset = 0; offset < 16; ++offset) {
    check<Blob<3>, 64, 4>(1500, offset, offset, true);
    check<Blob<3>, 64, 4>(1500, 0, offset);
  }
}

}  // namespace struct_pipeline_test
