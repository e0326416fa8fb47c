/// What the tests of scans share: a serial oracle, an operation that sees a wrong order, matrices with gaps.
// SPDX-License-Identifier: MIT
#pragma once

#include "device_array.cuh"
#include "portion.hpp"
#include "reduction_data.cuh"

#include <gpuopt/rows_scan.cuh>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace gpuopt::test {

/// x -> a x + b modulo 2^32. Composition is associative and does not commute. Two of them are a word of 16 bytes.
struct Affine {
  unsigned a, b;
  friend bool operator==(const Affine& x, const Affine& y) { return x.a == y.a && x.b == y.b; }
};

struct Compose {
  __host__ __device__ Affine operator()(const Affine& x, const Affine& y) const { return {x.a * y.a, x.b * y.a + y.b}; }
};

template <>
struct Elements<Affine> {
  static std::vector<Affine> make(std::size_t n, unsigned seed) {
    const std::vector<unsigned> words = randomVector<unsigned>(2 * n, seed);
    std::vector<Affine> maps(n);
    for (std::size_t i = 0; i < n; ++i) maps[i] = {words[2 * i] | 1u, words[2 * i + 1]};
    return maps;
  }
};

/// Where a matrix of a test is: elements from row to row, and before the first one.
struct ScanPlace {
  std::size_t ld;
  std::size_t offset;

  std::size_t elements(std::size_t rows) const { return offset + rows * ld; }
};

struct ScanCase {
  std::size_t rows, cols;
  ScanPlace in, out;
  bool isInPlace = false;
};

/// A dense matrix at 256 bytes; one at odd elements, with gaps; sides that have no words in common; in place.
inline std::vector<ScanCase> scanPlaces(std::size_t rows, std::size_t cols) {
  const std::size_t full = (cols + 15) / 16 * 16;
  return {{rows, cols, {cols, 0}, {cols, 0}},
          {rows, cols, {full, 3}, {full + 16, 3}},
          {rows, cols, {cols + 1, 1}, {cols + 2, 2}},
          {rows, cols, {cols + 1, 3}, {cols + 1, 3}, true}};
}

/// The scans of `rows` or columns of values, in `results`, which holds what is between them.
template <bool ROWS, class Order, bool EXCLUSIVE, class A, class In, class Out, class Op>
void scanSerially(const std::vector<In>& values, std::vector<Out>& results, const ScanCase& c, Op op, A init) {
  const std::size_t lines = ROWS ? c.rows : c.cols, count = ROWS ? c.cols : c.rows;
  for (std::size_t line = 0; line < lines; ++line) {
    A sum = init;
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = Order::isReversed ? count - 1 - k : k;
      const std::size_t r = ROWS ? line : i, col = ROWS ? i : line;
      const A next = static_cast<A>(op(sum, static_cast<A>(values[c.in.offset + r * c.in.ld + col])));
      results[c.out.offset + r * c.out.ld + col] = static_cast<Out>(EXCLUSIVE ? sum : next);
      sum = next;
    }
  }
}

template <bool ROWS, class Order, bool EXCLUSIVE, class In, class Out, class Op, class A>
void scan(const MatrixView<In>& in, const MatrixView<Out>& out, Op op, A init) {
  if constexpr (ROWS && EXCLUSIVE) exclusiveScanRows<Order, A>(in, out, init, op);
  if constexpr (ROWS && !EXCLUSIVE) inclusiveScanRows<Order, A>(in, out, op, init);
  if constexpr (!ROWS && EXCLUSIVE) exclusiveScanColumns<Order, A>(in, out, init, op);
  if constexpr (!ROWS && !EXCLUSIVE) inclusiveScanColumns<Order, A>(in, out, op, init);
}

/// One scan, of which every byte of `out` is compared.
template <bool ROWS, class Order, bool EXCLUSIVE, class In, class Out = In, class Op, class A>
void checkScan(const ScanCase& c, Op op, A init) {
  static Series cases;
  if (!cases.runsNext()) return;
  const std::vector<In> values = Elements<In>::make(c.in.elements(c.rows), 7);
  const DeviceArray<In> in(values);
  DeviceArray<Out> out(c.out.elements(c.rows));
  if constexpr (std::is_same_v<In, Out>)
    if (c.isInPlace) out.fill(values);
  std::vector<Out> expected = out.toHost();
  scanSerially<ROWS, Order, EXCLUSIVE>(values, expected, c, op, init);
  const In* from = in.data() + c.in.offset;
  if constexpr (std::is_same_v<In, Out>)
    if (c.isInPlace) from = out.data() + c.out.offset;
  scan<ROWS, Order, EXCLUSIVE>(MatrixView{from, c.rows, c.cols, c.in.ld},
                               MatrixView{out.data() + c.out.offset, c.rows, c.cols, c.out.ld}, op, init);
  INFO((ROWS ? "rows" : "columns") << " of " << c.rows << " x " << c.cols << ", ld " << c.in.ld << " and " << c.out.ld
                                   << ", exclusive " << EXCLUSIVE << ", reversed " << Order::isReversed);
  REQUIRE((out.toHost() == expected));
}

/// All places, two of the four ways to scan: enough to test elements and operations, which all ways treat alike.
template <bool ROWS, class In, class Out = In, class Op, class A>
void checkTwoScans(std::size_t rows, std::size_t cols, Op op, A init) {
  for (const ScanCase& c : scanPlaces(rows, cols)) {
    if (c.isInPlace && !std::is_same_v<In, Out>) continue;
    checkScan<ROWS, Forward, false, In, Out>(c, op, init);
    checkScan<ROWS, Reversed, true, In, Out>(c, op, init);
  }
}

/// All places; the other two ways take turns.
template <bool ROWS, class T, class Op, class A>
void checkScans(std::size_t rows, std::size_t cols, Op op, A init) {
  checkTwoScans<ROWS, T>(rows, cols, op, init);
  const std::vector<ScanCase> places = scanPlaces(rows, cols);
  for (std::size_t i = 0; i < places.size(); ++i)
    if (i % 2 == 0)
      checkScan<ROWS, Reversed, false, T, T>(places[i], op, init);
    else
      checkScan<ROWS, Forward, true, T, T>(places[i], op, init);
}

}  // namespace gpuopt::test
