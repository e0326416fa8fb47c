/// \file
/// Elements of any trivially copyable type in collectives, transpositions and struct functions: the bits of a plain
/// struct.
// SPDX-License-Identifier: MIT
#include "any_type.cuh"

#include <gpuopt/gpuopt.cuh>

#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

namespace gpuopt::test::any_type_test {

// The collectives: results go to out[0 ... 9].
template <class T, int BLOCK>
__global__ void collectives(const T* in, T* out) {
  __shared__ BlockReduceStorage<BLOCK, T, Add> storage;
  const T value = in[threadIdx.x];
  const T results[] = {warpReduce(value, Add{}),
                       warpReduce<16>(value, Add{}, 5),
                       warpAllReduce(value, Add{}),
                       warpAllReduce<8>(value, Add{}, 5),
                       blockReduce<BLOCK>(value, Add{}),
                       blockReduce<BLOCK>(value, Add{}, BLOCK - 3),
                       blockReduce<BLOCK>(value, Add{}, storage),
                       blockAllReduce<BLOCK>(value, Add{}),
                       blockAllReduce<BLOCK>(value, Add{}, BLOCK - 3),
                       shuffleDown(value, 3),
                       shuffleFrom(value, 7)};
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < 11; ++i) ::new (static_cast<void*>(out + i)) T(results[i]);
}

template <class In, class Out>
__global__ void tile(const In* in, Out* out, unsigned rows, unsigned cols) {
  transposeTile<32, 8>(in, cols, out, rows, rows, cols, To<Out>{});
}

template <class T>
__global__ void swapInTile(const T* in, T* out) {
  using Tile = TransposeTile<T, T, 8, 4>;
  __shared__ typename Tile::Storage storage;
  const Tile tile(storage);
  tile.load(in, 8);
  __syncthreads();
  const T first = tile.get(0, 0), last = tile.get(7, 7);
  __syncthreads();
  if (threadIdx.x == 0) {
    tile.put(0, 0, last);
    tile.put(7, 7, first);
  }
  __syncthreads();
  tile.store(out, 8);
}

template <class T>
__global__ void staged(const T* in, T* out, std::size_t n) {
  __shared__ typename StagedStructs<T, 64>::Storage storage;
  const StagedStructs<T, 64> structs(storage);
  for (auto own : structs.tiles(n)) own.store(out, own.load(in));
}

TEMPLATE_LIST_TEST_CASE("Any type: collectives", "[types]", AnySizes) {
  const auto run = [](auto block) {
    checkAlike<TestType>(block, 11, [](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      launch(collectives<T, decltype(block)::value>, LaunchConfig{1, decltype(block)::value}, in, out);
    });
  };
  run(std::integral_constant<int, 32>{});
  run(std::integral_constant<int, 128>{});
  run(std::integral_constant<int, 512>{});
}

TEMPLATE_LIST_TEST_CASE("Any type: transpositions", "[types]", AnySizes) {
  struct Shape {
    std::size_t rows, cols, batch;
  };
  for (const auto& [rows, cols, batch] : {Shape{40, 50, 1}, Shape{64, 128, 1}, Shape{3, 1000, 1}, Shape{1000, 3, 1},
                                          Shape{1, 100, 1}, Shape{4, 5, 100}, Shape{200, 300, 1}}) {
    INFO(rows << " x " << cols << ", batch " << batch);
    const std::size_t size = rows * cols * batch;
    checkAlike<TestType>(size, size, [r = rows, c = cols, b = batch](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transpose(MatrixView<const T>{in, r, c, c, b}, MatrixView<T>{out, c, r, r, b});
    });
    checkAlike<TestType>(size, size, [r = rows, c = cols, b = batch](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transpose(MatrixView<const T>{in, r, c, c, b}, MatrixView<T>{out, c, r, r, b}, To<T>{});
    });
    const DeviceArray<Plain> fromPlain(elements<Plain>(size));
    checkAlike<TestType>(size, size, [&, r = rows, c = cols, b = batch](const auto*, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transpose(MatrixView<const Plain>{fromPlain.data(), r, c, c, b}, MatrixView<T>{out, c, r, r, b}, To<T>{});
    });
    checkAlike<TestType>(size, size, [r = rows, c = cols, b = batch](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transpose(MatrixView<const T>{in, r, c, c, b}, MatrixView<T>{out, c, r, r, b});
      transposeInPlace(MatrixView<T>{out, c, r, r, b});
    });
  }
  checkAlike<TestType>(64, 64, [](const auto* in, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    launch(swapInTile<T>, LaunchConfig{1, 32}, in, out);
  });
  checkAlike<TestType>(32 * 32, 32 * 32, [](const auto* in, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    launch(tile<T, T>, LaunchConfig{1, 256}, in, out, 32, 32);
  });
  checkAlike<TestType>(31 * 30, 31 * 30, [](const auto* in, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    launch(tile<T, T>, LaunchConfig{1, 256}, in, out, 31, 30);
  });
}

TEMPLATE_LIST_TEST_CASE("Any type: structures", "[types]", AnySizes) {
  const DeviceArray<int> indices(std::vector<int>{3, 1, 99, 7, 3});
  for (const std::size_t n : {1, 100, 1000}) {
    checkAlike<TestType>(n, n, [=](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transformStructs(in, n, out, To<T>{});
    });
    checkAlike<TestType>(n, n, [=](const auto*, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      transformStructs(Generator<T>{}, n, out, To<T>{});
    });
    checkAlike<TestType>(n, n, [=](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      launch(staged<T>, LaunchConfig{2, 64}, in, out, n);
    });
  }
  checkAlike<TestType>(100, 5, [&](const auto* in, auto* out) { gatherStructs(in, indices.data(), 5, out); });
}

// A const member keeps its value, the others change.
TEMPLATE_TEST_CASE("Any type: structures in place", "[types]", NoDefault, ConstMember) {
  DeviceArray<TestType> data(elements<TestType>(1000));
  forEachStruct(data.data(), 1000, Increment{});
  std::vector<Plain> expected = elements<Plain>(1000);
  for (Plain& x : expected) x.b += 1;
  CHECK(areAlike(toHost(data), expected));
}

}  // namespace gpuopt::test::any_type_test
