/// Every order of the axes of tensors of up to five axes, and some of more; every size of an element; every alignment.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/permute_data.cuh"

#include <gpuopt/permute.cuh>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuopt::test::orders_test {
namespace {

using Bytes1 = unsigned char;
using Bytes2 = unsigned short;
using Bytes3 = Words<unsigned char, 3>;
using Bytes4 = unsigned;
using Bytes6 = Words<unsigned short, 3>;
using Bytes8 = Words<unsigned, 2>;
using Bytes12 = Words<unsigned, 3>;
using Bytes16 = Words<std::uint64_t, 2>;
using Bytes24 = Words<std::uint64_t, 3>;
using Bytes128 = Words<uint4, 8>;

// The bytes by which memory can begin after a 16-byte boundary: the steps of T's alignment.
template <class T>
std::vector<std::size_t> shifts() {
  std::vector<std::size_t> all;
  for (std::size_t shift = 0; shift < 16; shift += alignof(T)) all.push_back(shift);
  return all;
}

template <class T>
void permuteInEveryOrder(PermuteCheck<T>& check, const AxisNumbers& extents) {
  const std::vector<std::size_t> all = shifts<T>();
  std::size_t number = 0;  // goes through the pairs of alignments
  forEveryOrder(extents.rank, [&](const AxisNumbers& axes) {
    const std::size_t inShift = all[number % all.size()], outShift = all[number / all.size() % all.size()];
    ++number;
    const Layout in = Layout::dense(extents).moved(inShift);
    const Layout out = Layout::dense(permuted(extents, axes)).moved(outShift);
    check.expect(in, out, axes, [&] { permute(check.inView(in).data, check.outView(out).data, extents, axes); });
  });
}

template <class T>
void permuteEveryRank() {
  PermuteCheck<T> check(2500);
  for (const AxisNumbers& extents : {AxisNumbers{13}, AxisNumbers{5, 7}, AxisNumbers{3, 5, 7}, AxisNumbers{5, 3, 7, 3}})
    permuteInEveryOrder(check, extents);
  check.finish();
}

TEST_CASE("Every order of one to four axes", "[permute][sweep]") {
  permuteEveryRank<Bytes1>();
  permuteEveryRank<Bytes2>();
  permuteEveryRank<Bytes3>();
  permuteEveryRank<Bytes4>();
  permuteEveryRank<Bytes6>();
  permuteEveryRank<Bytes8>();
  permuteEveryRank<Bytes12>();
  permuteEveryRank<Bytes16>();
  permuteEveryRank<Bytes24>();
  permuteEveryRank<Bytes128>();
}

TEST_CASE("Every order of five axes", "[permute][sweep]") {
  PermuteCheck<Bytes1> bytes(2500);
  permuteInEveryOrder(bytes, {3, 5, 3, 5, 3});
  permuteInEveryOrder(bytes, {7, 3, 2, 5, 3});
  bytes.finish();
  PermuteCheck<Bytes3> triples(2500);
  permuteInEveryOrder(triples, {3, 5, 3, 5, 3});
  triples.finish();
  PermuteCheck<Bytes4> words(2500);
  permuteInEveryOrder(words, {3, 5, 3, 5, 3});
  permuteInEveryOrder(words, {2, 3, 5, 7, 3});
  words.finish();
  PermuteCheck<Bytes8> pairs(2500);
  permuteInEveryOrder(pairs, {3, 5, 3, 5, 3});
  pairs.finish();
  PermuteCheck<Bytes24> large(800);
  permuteInEveryOrder(large, {2, 3, 5, 3, 7});
  large.finish();
}

TEST_CASE("Orders of six to eight axes", "[permute][sweep]") {
  PermuteCheck<Bytes2> check(7000);
  for (const AxisNumbers& extents :
       {AxisNumbers{3, 2, 3, 5, 2, 3}, AxisNumbers{2, 3, 2, 3, 2, 3, 5}, AxisNumbers{2, 3, 2, 3, 2, 3, 2, 3}}) {
    std::size_t number = 0;
    forEveryOrder(extents.rank, [&](const AxisNumbers& axes) {
      if (number++ % (extents.rank == 6 ? 23 : extents.rank == 7 ? 211 : 1601) != 0) return;
      check(Layout::dense(extents, 1), Layout::dense(permuted(extents, axes), 3), axes);
    });
  }
  check.finish();
}

// A tile of aligned matrices has rows of 128 bytes and more on both sides; a tile of runs ends in the middle of both.
template <class T>
void permuteLongAxes() {
  PermuteCheck<T> check(14000);
  for (const AxisNumbers& extents : {AxisNumbers{3, 65, 5, 13}, AxisNumbers{2, 33, 3, 65}, AxisNumbers{129, 3, 31}})
    for (const AxisNumbers& axes :
         {reversedAxes(extents.rank), extents.rank == 3 ? AxisNumbers{2, 0, 1} : AxisNumbers{3, 0, 2, 1}})
      for (const std::size_t inShift : shifts<T>())
        for (const std::size_t outShift : {std::size_t{0}, alignof(T), 16 - alignof(T)})
          check(Layout::dense(extents).moved(inShift % 16), Layout::dense(permuted(extents, axes)).moved(outShift % 16),
                axes);
  check.finish();
}

TEST_CASE("Rows that are cut, at every alignment", "[permute][sweep]") {
  permuteLongAxes<Bytes1>();
  permuteLongAxes<Bytes2>();
  permuteLongAxes<Bytes4>();
  permuteLongAxes<Bytes8>();
  permuteLongAxes<Bytes16>();
}

TEST_CASE("Tiles whose last row, element and part is one", "[permute]") {
  PermuteCheck<Bytes4> words(80000);
  for (const AxisNumbers& extents : {AxisNumbers{65, 3, 129}, AxisNumbers{257, 2, 129}, AxisNumbers{3, 33, 7, 33}}) {
    const AxisNumbers axes = reversedAxes(extents.rank);
    words(Layout::dense(extents, 1), Layout::dense(permuted(extents, axes), 2), axes);
    words(Layout::spread(extents, 1), Layout::spread(permuted(extents, axes), 3), axes);
  }
  words.finish();
  PermuteCheck<Bytes1> bytes(80000);
  for (const AxisNumbers& extents : {AxisNumbers{129, 3, 193}, AxisNumbers{11, 17, 13, 19}}) {
    const AxisNumbers axes = reversedAxes(extents.rank);
    bytes(Layout::dense(extents, 1), Layout::dense(permuted(extents, axes), 2), axes);
    bytes(Layout::spread(extents, 1), Layout::spread(permuted(extents, axes), 3), axes);
  }
  bytes.finish();
}

// The rows of both tensors run along the last axis, which has divisors, or none.
template <class T>
void permuteLongRows() {
  PermuteCheck<T> check(60000);
  for (const std::size_t length : {225, 227, 3 * 256})
    for (const std::size_t first : {2, 15}) {
      const AxisNumbers extents = {first, 2, 2, length}, axes = {2, 1, 3, 0};
      check(Layout::dense(extents), Layout::dense(permuted(extents, axes)), axes);
      check(Layout::dense(extents, 1), Layout::spread(permuted(extents, axes), 3), axes);
    }
  check.finish();
}

TEST_CASE("Rows of both tensors run along one axis", "[permute]") {
  permuteLongRows<Bytes1>();
  permuteLongRows<Bytes4>();
  permuteLongRows<Bytes8>();
}

// Words of the staged rows hold elements of several output rows: whole and cut tiles, and rows that end in a vector.
template <class T>
void permuteByWords() {
  PermuteCheck<T> check(60000);
  for (const AxisNumbers& extents : {AxisNumbers{48, 5, 12}, AxisNumbers{16, 7, 200}, AxisNumbers{260, 3, 36},
                                     AxisNumbers{32, 9, 104}, AxisNumbers{64, 3, 34}}) {
    const AxisNumbers out = permuted(extents, {2, 1, 0});
    check(Layout::dense(extents), Layout::dense(out), {2, 1, 0});
    check(Layout::dense(extents, 4), Layout::dense(out), {2, 1, 0});
    check(Layout::spread(extents, 4), Layout::spread(out, 16), {2, 1, 0});
    check(Layout::dense(extents), Layout::spread(out, 0, 6, 16), {2, 1, 0});
  }
  check(Layout::dense({16, 3, 8, 20}), Layout::dense({20, 3, 16, 8}), {3, 1, 0, 2});
  check(Layout::spread({35, 6, 44}, 0, 2), Layout::spread({44, 6, 35}, 13), {2, 1, 0});
  check.finish();
}

TEST_CASE("Bytes and halves that fill words", "[permute]") {
  permuteByWords<Bytes1>();
  permuteByWords<Bytes2>();
}

TEST_CASE("Aligned matrices along other axes", "[permute]") {
  PermuteCheck<Bytes4> check(140000);
  check(Layout::dense({64, 3, 64}), Layout::dense({64, 3, 64}), {2, 1, 0});
  check(Layout::dense({3, 64, 2, 64}), Layout::dense({64, 2, 3, 64}), {3, 2, 0, 1});
  check(Layout::dense({2, 2, 124, 60}), Layout::dense({2, 60, 2, 124}), {0, 3, 1, 2});
  check(Layout::spread({3, 124, 2, 60}, 4), Layout::spread({60, 2, 3, 124}, 8), {3, 2, 0, 1});
  check.finish();
  PermuteCheck<Bytes1> bytes(70000);
  bytes(Layout::dense({2, 128, 2, 128}), Layout::dense({128, 2, 2, 128}), {3, 2, 0, 1});
  bytes.finish();
}

TEST_CASE("Many axes", "[permute]") {
  PermuteCheck<Bytes1> check(5000);
  const std::vector<int> twos(12, 2);
  check(Layout::dense(twos, 1), Layout::dense(twos, 2), reversedAxes(12));
  std::vector<int> some(32, 1);  // 32 axes, of which ten have elements
  for (std::size_t k = 0; k < 30; k += 3) some[k] = 2;
  check(Layout::dense(some), Layout::dense(permuted(some, reversedAxes(32))), reversedAxes(32));
  check.finish();
  PermuteCheck<Bytes128> large(300);
  const std::vector<int> eight(8, 2);
  large(Layout::dense(eight), Layout::dense(eight), reversedAxes(8));
  large.finish();
}

TEST_CASE("27 axes of two elements", "[permute][large]") {
  if (emulated) return;
  const std::vector<int> twos(27, 2);
  const std::size_t n = std::size_t{1} << 27;
  DeviceArray<unsigned> in(n), out(n);
  Inspector inspector;
  static_cast<void>(inspector.firstFailure(n, Paint<AnyBits, unsigned>{in.data(), 0}));
  permute(in, out, twos, reversedAxes(27));
  const unsigned* found = out.data();
  CHECK(inspector.firstFailure(n, [found] __host__ __device__(std::size_t i) {
    std::uint64_t from = 0;
    for (int bit = 0; bit < 27; ++bit) from |= (i >> bit & 1) << (26 - bit);
    return found[i] == AnyBits::at<unsigned>(from);
  }) == n);
}

}  // namespace
}  // namespace gpuopt::test::orders_test
