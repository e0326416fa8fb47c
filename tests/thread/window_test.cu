/// Windows: every neighbour of every element, for radii 0 to 4, elements of any size, aligned and not, both edges.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"

#include <gpuopt/launch.cuh>
#include <gpuopt/window.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuopt::test::window_test {
namespace {

struct alignas(16) Pixel {
  float r, g, b, a;
  friend bool operator==(const Pixel& p, const Pixel& q) {
    return p.r == q.r && p.g == q.g && p.b == q.b && p.a == q.a;
  }
};

template <class T>
T numbered(std::size_t i) {
  return static_cast<T>(i * 37 % 251 + 1);
}
template <>
Pixel numbered<Pixel>(std::size_t i) {
  const auto x = static_cast<float>(i + 1);
  return {x, 2 * x, 3 * x, 4 * x};
}

// A matrix within an array, of which nothing else may be read: other elements are `outside`.
template <class T>
struct Matrix {
  int rows, cols;
  std::size_t ld, offset;
  std::vector<T> values;

  Matrix(int rowCount, int colCount, std::size_t pitch, std::size_t first)
      : rows(rowCount),
        cols(colCount),
        ld(pitch),
        offset(first),
        values(first + static_cast<std::size_t>(rowCount) * pitch) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = numbered<T>(i);
  }

  T at(int y, int x, WindowEdge edge) const {
    if (edge == WindowEdge::nearest) {
      y = std::clamp(y, 0, rows - 1);
      x = std::clamp(x, 0, cols - 1);
    }
    if (y < 0 || y >= rows || x < 0 || x >= cols) return T{};
    return values[offset + static_cast<std::size_t>(y) * ld + static_cast<std::size_t>(x)];
  }
};

constexpr int BLOCK = 8;

// Writes all neighbours of each element, SIDE * SIDE for one after the other.
template <class T, int RADIUS, int COLUMNS, int AHEAD, WindowEdge EDGE>
__global__ void neighboursKernel(MatrixView<const T> in, T* out, int rowsOfBlock) {
  constexpr int SIDE = 2 * RADIUS + 1;
  const int x = COLUMNS * static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int rows = static_cast<int>(in.rows), cols = static_cast<int>(in.cols);
  const int first = rowsOfBlock * static_cast<int>(blockIdx.y), last = min(first + rowsOfBlock, rows);
  if (x >= cols) return;
  const Window2D<T, RADIUS, COLUMNS, AHEAD, EDGE> window(in, x);
  window.forEach(first, last, [&](const auto& at, int y) {
#pragma unroll 1  // compiles in a fraction of the time; tests/codegen sees to registers
    for (int k = 0; k < COLUMNS && x + k < cols; ++k) {
      T* to = out + (static_cast<std::size_t>(y) * in.cols + static_cast<std::size_t>(x + k)) * SIDE * SIDE;
#pragma unroll 1
      for (int dy = -RADIUS; dy <= RADIUS; ++dy)
#pragma unroll 1
        for (int dx = -RADIUS; dx <= RADIUS; ++dx) *to++ = at(dy, k + dx);
    }
  });
}

template <class T, int RADIUS, int COLUMNS, int AHEAD, WindowEdge EDGE>
void checkMatrix(const Matrix<T>& matrix, int rowsOfBlock) {
  constexpr int SIDE = 2 * RADIUS + 1;
  const auto elements = static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(matrix.cols);
  const DeviceArray<T> in(matrix.values);
  DeviceArray<T> out(elements * SIDE * SIDE);
  LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>((matrix.cols + BLOCK * COLUMNS - 1) / (BLOCK * COLUMNS)),
                     static_cast<unsigned>((matrix.rows + rowsOfBlock - 1) / rowsOfBlock));
  config.block = dim3(BLOCK);
  const MatrixView<const T> view{in.data() + matrix.offset, static_cast<std::size_t>(matrix.rows),
                                 static_cast<std::size_t>(matrix.cols), matrix.ld};
  launch(neighboursKernel<T, RADIUS, COLUMNS, AHEAD, EDGE>, config, view, out.data(), rowsOfBlock);
  const std::vector<T> found = out.toHost();
  std::vector<T> expected;
  expected.reserve(found.size());
  for (int y = 0; y < matrix.rows; ++y)
    for (int x = 0; x < matrix.cols; ++x)
      for (int dy = -RADIUS; dy <= RADIUS; ++dy)
        for (int dx = -RADIUS; dx <= RADIUS; ++dx) expected.push_back(matrix.at(y + dy, x + dx, EDGE));
  INFO("rows " << matrix.rows << ", cols " << matrix.cols << ", ld " << matrix.ld << ", offset " << matrix.offset
               << ", radius " << RADIUS << ", columns " << COLUMNS << ", rows of a block " << rowsOfBlock);
  REQUIRE((found == expected));
}

template <class T, int RADIUS, int COLUMNS = 4, int AHEAD = 2>
void checkShapes() {
  const auto check = [](const Matrix<T>& matrix, int rowsOfBlock) {
    checkMatrix<T, RADIUS, COLUMNS, AHEAD, WindowEdge::zero>(matrix, rowsOfBlock);
    checkMatrix<T, RADIUS, COLUMNS, AHEAD, WindowEdge::nearest>(matrix, rowsOfBlock);
  };
  check({1, 1, 1, 0}, 5);
  check({3, 64, 64, 0}, 2);             // aligned, two blocks
  check({23, 16, 32, 0}, 7);            // gaps
  check({23, 16, 32, 1}, 30);           // misaligned
  check({11, 13, 13, 0}, 4);            // no multiple of COLUMNS
  check({6, 16, 17, 0}, 6);             // rows begin at any element
  check({2 * RADIUS + 1, 4, 4, 0}, 1);  // a window as high as the matrix, one row a block
}

TEST_CASE("windows have all neighbours, for every radius", "[window]") {
  checkShapes<float, 0>();
  checkShapes<float, 1>();
  checkShapes<float, 2>();
  checkShapes<float, 3>();
  checkShapes<float, 4>();
}

TEST_CASE("windows of elements of any size", "[window]") {
  checkShapes<unsigned char, 1>();
  checkShapes<unsigned char, 3, 16>();
  checkShapes<std::uint16_t, 2, 8>();
  checkShapes<double, 2, 2>();
  checkShapes<double, 1, 4>();
  checkShapes<Pixel, 1, 1>();
}

TEST_CASE("windows of one column, wider than their columns, loaded further ahead", "[window]") {
  checkShapes<float, 2, 1>();
  checkShapes<int, 3, 2, 1>();
  checkShapes<int, 1, 4, 3>();
}

// A filter by sums that wait, as the comment of WindowRows has it; and the order of the calls.
template <int RADIUS>
__global__ void filterKernel(MatrixView<const unsigned> in, MatrixView<unsigned> out, int first, int last, int* calls) {
  constexpr int SIDE = 2 * RADIUS + 1;
  const int x = 4 * static_cast<int>(threadIdx.x);
  const WindowRows<unsigned, RADIUS> rows(in, x);
  unsigned sums[SIDE][4] = {};
  int next = first - RADIUS;
  rows.forEach(first, last, [&](auto turn, int y, const auto& row) {
    constexpr int TURN = decltype(turn)::value;
    if (y != next || (y - first + RADIUS) % SIDE != TURN) calls[threadIdx.x] = -1;
    ++next;
    for (int j = 0; j < SIDE; ++j)
      for (int i = 0; i < SIDE; ++i)
        for (int k = 0; k < 4; ++k)
          sums[(TURN + j) % SIDE][k] += static_cast<unsigned>(100 * (SIDE - 1 - j) + i + 1) * row[i + k];
    if (y - RADIUS >= first) storeColumns(out, x, y - RADIUS, sums[TURN]);
    for (unsigned& sum : sums[TURN]) sum = 0;
  });
  if (calls[threadIdx.x] == 0) calls[threadIdx.x] = next - first + RADIUS;
}

template <int RADIUS>
void checkFilter(int rows, int cols, std::size_t ld, int first, int last) {
  constexpr int SIDE = 2 * RADIUS + 1;
  constexpr unsigned POISON = 0xabababab;
  const Matrix<unsigned> matrix(rows, cols, ld, 0);
  const DeviceArray<unsigned> in(matrix.values);
  DeviceArray<unsigned> out(std::vector<unsigned>(matrix.values.size(), POISON));
  DeviceArray<int> calls(std::vector<int>(BLOCK, 0));
  LaunchConfig config;
  config.block = dim3(BLOCK);
  const auto height = static_cast<std::size_t>(rows), width = static_cast<std::size_t>(cols);
  launch(filterKernel<RADIUS>, config, MatrixView<const unsigned>{in.data(), height, width, ld},
         MatrixView<unsigned>{out.data(), height, width, ld}, first, last, calls.data());
  std::vector<unsigned> expected(matrix.values.size(), POISON);
  for (int y = first; y < last; ++y)
    for (int x = 0; x < cols; ++x) {
      unsigned& sum = expected[static_cast<std::size_t>(y) * ld + static_cast<std::size_t>(x)] = 0;
      for (int j = 0; j < SIDE; ++j)
        for (int i = 0; i < SIDE; ++i)
          sum += static_cast<unsigned>(100 * j + i + 1) * matrix.at(y + j - RADIUS, x + i - RADIUS, WindowEdge::zero);
    }
  INFO("rows " << rows << ", cols " << cols << ", ld " << ld << ", radius " << RADIUS);
  REQUIRE(calls.toHost() == std::vector<int>(BLOCK, last - first + 2 * RADIUS));
  REQUIRE(out.toHost() == expected);  // nothing else is written
}

TEST_CASE("rows of a window come in order, and sums that wait are complete at their turn", "[window]") {
  checkFilter<0>(9, 32, 32, 0, 9);
  checkFilter<1>(9, 32, 36, 2, 7);
  checkFilter<2>(30, 32, 32, 0, 30);
  checkFilter<2>(13, 27, 27, 5, 13);
  checkFilter<4>(7, 30, 33, 0, 7);
}

}  // namespace
}  // namespace gpuopt::test::window_test
