/// gatherRows and scatterRows: every width of words, lengths and counts around tiles, gaps, misalignment, padding,
/// functions, types of indices, forms of matrices, wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/portion.hpp"
#include "support/random.hpp"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/rows_gather.cuh>

#include <cuda_fp16.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::rows_gather_test {
namespace {

struct Shape {
  std::size_t n;     // indices
  std::size_t rows;  // of the matrix that they name
  std::size_t cols;
  std::size_t inGap = 0;  // elements between rows
  std::size_t outGap = 0;
  std::size_t inOffset = 0;  // elements off alignment
  std::size_t outOffset = 0;
};

// Different indices in random order, or -1 for each third.
template <class Index>
std::vector<Index> indicesOf(const Shape& shape, bool isPadded) {
  std::vector<Index> all(shape.rows);
  std::iota(all.begin(), all.end(), Index{0});
  std::shuffle(all.begin(), all.end(), std::mt19937(static_cast<unsigned>(shape.n + 7 * shape.cols)));
  all.resize(shape.n);
  for (std::size_t i = 0; isPadded && i < shape.n; i += 3) all[i] = static_cast<Index>(-1);
  return all;
}

// A matrix in device memory whose gaps are part of the memory, the last one excepted.
template <class T>
class DeviceRows {
 public:
  DeviceRows(std::size_t rows, std::size_t cols, std::size_t gap, std::size_t offset)
      : rows_(rows), cols_(cols), ld_(cols + gap), memory_(rows == 0 ? 0 : (rows - 1) * ld_ + cols, offset) {}

  MatrixView<T> view() { return {memory_.data(), rows_, cols_, ld_}; }
  MatrixView<const T> constView() const { return {memory_.data(), rows_, cols_, ld_}; }
  DeviceArray<T>& memory() { return memory_; }
  std::size_t at(std::size_t row, std::size_t col) const { return row * ld_ + col; }

 private:
  std::size_t rows_, cols_, ld_;
  DeviceArray<T> memory_;
};

template <class T>
bool areSame(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// Moves rows and compares all of the output's memory with what a loop makes of it. `move` gets both views, the indices
// and their number; `convert` an element.
template <detail::Indexed SIDE, class In, class Out, class Index, class Move, class Convert>
void checkMove(const Shape& s, bool isPadded, Move move, Convert convert) {
  static Series cases;
  if (!cases.runsNext()) return;
  INFO(sizeof(In) << " bytes, n = " << s.n << ", rows of " << s.cols << ", gaps " << s.inGap << " and " << s.outGap
                  << ", offsets " << s.inOffset << " and " << s.outOffset);
  constexpr bool GATHERS = SIDE == detail::Indexed::in;
  DeviceRows<In> in(GATHERS ? s.rows : s.n, s.cols, s.inGap, s.inOffset);
  DeviceRows<Out> out(GATHERS ? s.n : s.rows, s.cols, s.outGap, s.outOffset);
  const std::vector<In> values = randomVector<In>(in.memory().size(), static_cast<unsigned>(s.n + s.cols));
  in.memory().fill(values);
  const std::vector<Index> indices = indicesOf<Index>(s, isPadded);
  const DeviceArray<Index> where(indices);
  std::vector<Out> expected = out.memory().toHost();
  for (std::size_t i = 0; i < s.n; ++i)
    for (std::size_t c = 0; c < s.cols; ++c) {
      const bool isPadding = isPadded && i % 3 == 0;
      const std::size_t row = isPadding ? 0 : static_cast<std::size_t>(indices[i]);
      if (isPadding && !GATHERS) continue;
      const std::size_t from = in.at(GATHERS ? row : i, c), to = out.at(GATHERS ? i : row, c);
      expected[to] = isPadding ? Out{} : convert(values[from]);
    }
  move(in.constView(), where.data(), s.n, out.view());
  CHECK(areSame(out.memory().toHost(), expected));
}

// Through the kernels of many words, or of few, and by words or shifted vectors, whatever the sizes.
template <detail::Indexed SIDE, RowIndices INDICES, class T, class Index>
void checkPlan(const Shape& shape, std::size_t fewWords, bool shifts) {
  const auto move = [fewWords, shifts](const auto& in, const Index* indices, std::size_t n, const auto& out) {
    detail::MoveRowsTuning tuning;
    tuning.fewWords = fewWords;
    tuning.shiftedGatherBytes = tuning.shiftedScatterBytes = shifts ? 0 : SIZE_MAX;
    const auto request = detail::moveRowsRequest(in, out, n, sizeof(Index), true, SIDE == detail::Indexed::out);
    const detail::MoveRowsCall call{detail::planMoveRows(request, tuning), "test", nullptr};
    detail::launchMoveRows<T, T, SIDE, INDICES>(call, reinterpret_cast<const detail::IndexWord<Index>*>(indices),
                                                Identity{});
  };
  checkMove<SIDE, T, T, Index>(shape, INDICES == RowIndices::padded, move, [](const T& value) { return value; });
}

template <class T, class Index = int>
void checkAll(const Shape& shape) {
  for (const unsigned kernel : {0, 1, 2, 3}) {
    const std::size_t fewWords = kernel % 2 == 0 ? 0 : SIZE_MAX;
    const bool shifts = kernel >= 2;
    checkPlan<detail::Indexed::in, RowIndices::trusted, T, Index>(shape, fewWords, shifts);
    checkPlan<detail::Indexed::out, RowIndices::trusted, T, Index>(shape, fewWords, shifts);
    checkPlan<detail::Indexed::in, RowIndices::padded, T, Index>(shape, fewWords, shifts);
    checkPlan<detail::Indexed::out, RowIndices::padded, T, Index>(shape, fewWords, shifts);
  }
}

constexpr std::size_t TILE = std::size_t{detail::moveRowsBlock} * detail::moveRowsLoads(1);

TEST_CASE("Rows of words of every width", "[rows][gather]") {
  for (const std::size_t bytes : {1, 2, 3, 4, 6, 8, 12, 16, 24, 40, 48, 200, 250})
    checkAll<unsigned char>({50, 61, bytes});
  checkAll<float>({33, 40, 50});
  checkAll<double>({33, 40, 17});
}

TEST_CASE("Rows whose lengths are around a tile's", "[rows][gather]") {
  for (const std::size_t cols : {TILE - 1, TILE, TILE + 1, 2 * TILE + 3}) checkAll<unsigned char>({4, 5, cols});
  checkAll<float>({3, 3, 2 * TILE + 8});  // 16-byte words
}

TEST_CASE("Counts of rows around tiles", "[rows][gather]") {
  for (const std::size_t n : {0, 1, 2}) checkAll<unsigned char>({n, 3, 1});
  for (const std::size_t n : {TILE - 1, TILE, TILE + 1, 2 * TILE}) checkAll<unsigned char>({n, n + 2, 1});
  for (const std::size_t n : {TILE / 8 - 1, TILE / 8, TILE / 8 + 1}) checkAll<std::uint64_t>({n, n + 1, 16});
}

TEST_CASE("Rows with gaps and at any alignment", "[rows][gather]") {
  for (const std::size_t in : {0, 1, 2, 4, 8, 15})
    for (const std::size_t out : {0, 1, 4, 8}) checkAll<unsigned char>({20, 25, 32, 16, 0, in, out});
  checkAll<unsigned char>({20, 25, 32, 1, 3});
  checkAll<unsigned short>({20, 25, 31, 1, 33, 1, 0});
  checkAll<float>({20, 25, 12, 4, 8});
  checkAll<float>({20, 25, 12, 1, 0, 3, 2});
}

// Vectors that begin anywhere in rows of both sides, at every distance from the ends; and beyond a tile.
TEST_CASE("Rows that small words divide", "[rows][gather][sweep]") {
  for (std::size_t bytes = 128; bytes < 162; ++bytes) checkAll<unsigned char>({20, 25, bytes});
  for (const std::size_t gap : {1, 2, 3, 5, 8, 15}) checkAll<unsigned char>({20, 25, 129, gap, 16 - gap, gap, 3});
  for (const std::size_t cols : {77, 1001, 4099}) checkAll<unsigned short>({12, 15, cols, 0, 0, 1, 0});
  for (const std::size_t cols : {33, 1001, 2050}) checkAll<float>({12, 15, cols, 0, 0, 0, 1});
  checkAll<unsigned char>({3, 4, 16 * TILE + 1});
}

TEST_CASE("Rows by indices of any integral type", "[rows][gather]") {
  checkAll<float, signed char>({50, 90, 5});
  checkAll<float, short>({50, 90, 5});
  checkAll<float, unsigned>({50, 90, 5});
  checkAll<float, std::int64_t>({50, 90, 5});
  checkAll<float, std::uint64_t>({50, 90, 5});
}

struct Halved {
  __device__ float operator()(float value) const { return value / 2; }
};

TEST_CASE("Rows with a function on the way", "[rows][gather]") {
  const auto half = [](float value) { return static_cast<__half>(value); };
  const auto halved = [](float value) { return value / 2; };
  for (const Shape& shape :
       {Shape{30, 35, 40}, Shape{30, 35, 41}, Shape{30, 35, 40, 8, 1}, Shape{30, 35, 8, 0, 0, 1, 0}}) {
    const auto cast = [](const auto&... args) { gatherRows(args..., Cast<__half>{}); };
    checkMove<detail::Indexed::in, float, __half, int>(shape, false, cast, half);
    const auto scattered = [](const auto&... args) { scatterRows<RowIndices::padded>(args..., Halved{}); };
    checkMove<detail::Indexed::out, float, float, int>(shape, true, scattered, halved);
    const auto widened = [](const auto&... args) { gatherRows<RowIndices::padded>(args..., Cast<double>{}); };
    checkMove<detail::Indexed::in, signed char, double, int>(
        shape, true, widened, [](signed char value) { return static_cast<double>(value); });
  }
}

TEST_CASE("Rows of structures, and repeated indices", "[rows][gather]") {
  struct Cell {
    float x, y, z;
  };
  const std::vector<Cell> cells{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 12}};
  const DeviceArray<Cell> in(cells);
  const DeviceArray<int> indices({1, 0, 1});
  DeviceArray<Cell> out(6);
  gatherRows(MatrixView<const Cell>{in.data(), 2, 2}, indices, MatrixView<Cell>{out.data(), 3, 2});
  CHECK(areSame(out.toHost(), {cells[2], cells[3], cells[0], cells[1], cells[2], cells[3]}));
}

TEST_CASE("Rows in a stream, of a batch, by a container", "[rows][gather]") {
  const Stream stream;
  const std::vector<int> values = randomVector<int>(6 * 5, 3);
  const DeviceArray<int> in(values);
  const DeviceArray<unsigned> indices({5, 3, 1, 0, 2, 4});
  DeviceArray<int> between(30), out(30);
  const MatrixView<const int> batch{in.data(), 3, 5, 5, 2};  // six rows in two matrices
  const MatrixView<int> middle{between.data(), 6, 5};
  gatherRows(batch, indices, middle, stream);
  scatterRows(middle, indices, MatrixView<int>{out.data(), 6, 5}, Identity{}, stream);
  stream.wait();
  CHECK(areSame(out.toHost(), values));
}

TEST_CASE("A plan of moved rows in words", "[rows][gather]") {
  DeviceArray<float> memory(64);
  const int* const indices = nullptr;
  const MatrixView<const float> in{memory.data(), 4, 8};
  const MatrixView<float> out{memory.data() + 32, 4, 8};
  CHECK(explainGatherRows(in, indices, 0, out) == "nothing to launch: no elements");
  const DeviceVector<int> container(4);
  CHECK(explainGatherRows(in, container, out) == explainGatherRows(in, container.data(), 4, out));
  CHECK(explainScatterRows(in, container, out, Identity{}) == explainScatterRows(in, container.data(), 4, out));
  detail::MoveRowsRequest request = detail::moveRowsRequest(in, out, 4, 4, true, false);
  detail::MoveRowsPlan plan = detail::planMoveRows(request);
  CHECK(plan.cols == 2);
  CHECK(plan.inBytes == 16);
  CHECK(detail::planInWords(plan) ==
        "2 words of 16 bytes a row, moved as words, 1 a thread, 1 block of 128 threads: words of 16 bytes divide "
        "addresses, rows and leading dimensions; reads 144 bytes, writes 128");
  request.inLd = 9;
  CHECK(detail::planMoveRows(request).inBytes == 4);
  CHECK(detail::planInWords(detail::planMoveRows(request)).find(": words of 16 bytes do not divide addresses, ") !=
        std::string::npos);
  CHECK(detail::planMoveRows(request).algorithm == detail::MoveRowsAlgorithm::words);
  request.cols = 48;
  request.inLd = 49;
  CHECK(detail::planMoveRows(request).algorithm == detail::MoveRowsAlgorithm::shifted);
  request.scatters = true;
  CHECK(detail::planMoveRows(request).algorithm == detail::MoveRowsAlgorithm::words);
  request.cols = 8;
  request.inLd = 9;
  request.onlyMoves = false;
  request.outBytes = 2;
  CHECK(detail::planMoveRows(request).elements == 1);
  request.inLd = 8;
  CHECK(detail::planMoveRows(request).elements == 4);
  request.n = std::size_t{1} << 24;
  CHECK(detail::planMoveRows(request).loads == detail::moveRowsLoads(16));
}

TEST_CASE("Bad arguments of moved rows", "[rows][gather]") {
  DeviceArray<int> memory(400);
  int* const m = memory.data();
  const std::vector<int> before = memory.toHost();
  const DeviceArray<int> indices({0, 3, 2, -1, 1});
  const int* const where = indices.data();
  const MatrixView<const int> in{m, 5, 10};
  const MatrixView<int> out{m + 100, 5, 10};
  const auto refused = [](const std::string& expected, auto call) {
    CHECK(messageOf<std::invalid_argument>(call) == expected);
  };
  refused("gpuopt::gatherRows: in is null, but its shape is 5 x 10", [&] {
    gatherRows(MatrixView<const int>{nullptr, 5, 10}, where, 5, out);
  });
  refused("gpuopt::gatherRows: indices is null, but n is 5",
          [&] { gatherRows(in, static_cast<const int*>(nullptr), 5, out); });
  // WRITTEN rows: gatherRows(in, indices, 6, out)
  // DO: `out` has a row for each index, `in` for each of `scatterRows`
  refused("gpuopt::gatherRows: out has 5 rows, but n is 6", [&] { gatherRows(in, where, 6, out); });
  refused("gpuopt::scatterRows: in has 5 rows, but n is 6", [&] { scatterRows(in, where, 6, out); });
  refused("gpuopt::gatherRows: n (-1) is negative", [&] { gatherRows(in, where, static_cast<std::size_t>(-1), out); });
  // WRITTEN rows: gatherRows(in, indices, n, out)
  // DO: rows of both sides have as many elements
  refused("gpuopt::gatherRows: in.cols (9) is not out.cols (10)", [&] {
    gatherRows(MatrixView<const int>{m, 5, 9}, where, 5, out);
  });
  refused("gpuopt::gatherRows: out.ld (9) is less than out.cols (10)", [&] {
    gatherRows(in, where, 5, MatrixView<int>{m + 100, 5, 10, 9});
  });
  // WRITTEN rows: `gatherRows(in, indices, n, out)`, where `out` is part of `in`
  // DO: gather to other memory
  refused("gpuopt::gatherRows: in and out overlap: out begins at byte 196 of the 200 that in spans", [&] {
    gatherRows(in, where, 5, MatrixView<int>{m + 49, 5, 10});
  });
  refused("gpuopt::scatterRows: out and indices overlap: indices begins at byte 4 of the 200 of out",
          [&] { scatterRows(in, m + 101, 5, out); });
  // WRITTEN rows: `gatherRows(in, indices, n, out)` of a batch with gaps
  // DO: one call for each matrix
  refused(
      "gpuopt::gatherRows: in is a batch whose matrices do not follow one another: 2 matrices of 2 x 10, ld 10, "
      "batchStride 30",
      [&] {
        gatherRows(MatrixView<const int>{m, 2, 10, 10, 2, 30}, where, 2, out);
      });
  const auto* const odd = reinterpret_cast<const int*>(reinterpret_cast<std::uintptr_t>(m) + 2);
  refused("gpuopt::gatherRows: in is misaligned: its address modulo 4 is 2", [&] {
    gatherRows(MatrixView<const int>{odd, 5, 10}, where, 5, out);
  });
#if GPUOPT_CHECK_POINTERS
  // WRITTEN rows: `gatherRows(in, indices, n, out)`, with `GPUOPT_CHECK_POINTERS`
  // DO: `gatherRows<RowIndices::padded>` takes negative indices as padding
  refused("gpuopt::gatherRows: indices[3] is -1, but there are 5 rows", [&] { gatherRows(in, where, 5, out); });
  refused("gpuopt::gatherRows: indices[1] is 3, but there are 3 rows", [&] {
    gatherRows<RowIndices::padded>(MatrixView<const int>{m, 3, 10}, where, 5, out);
  });
  refused("gpuopt::scatterRows: indices[1] is 3, but there are 2 rows", [&] {
    scatterRows(in, where, 5, MatrixView<int>{m + 100, 2, 10});
  });
#endif
  CHECK(memory.toHost() == before);
}

}  // namespace
}  // namespace gpuopt::test::rows_gather_test
