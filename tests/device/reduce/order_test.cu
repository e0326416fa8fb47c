/// InOrder: reductions by operations that are associative but not commutative.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/portion.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/reduce.cuh>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <set>
#include <vector>

namespace gpuopt::test::order_test {
namespace {

// So few and small blocks that every warp has several groups of steps.
struct FewBlocks : InOrder {
  static constexpr int BLOCK = 160;
  static constexpr int VECTORS = 2;
  static constexpr unsigned loopBlocks(std::size_t) { return 3; }
};

// Every number of rows in flight, within lengths that the emulated device reduces in no time.
struct ManyRows : InOrder {
  static constexpr int orderedRows(std::size_t bytes) { return bytes <= (16 << 10) ? 2 : bytes <= (64 << 10) ? 4 : 8; }
};

// A byte and the bytes before it in a text, as a polynomial: the hash of two texts after another follows from
// theirs.
struct Hash {
  unsigned value;
  unsigned power;  // 31 to the length

  friend bool operator==(const Hash& a, const Hash& b) { return a.value == b.value && a.power == b.power; }
};

struct HashOf {
  __host__ __device__ Hash operator()(signed char c) const { return {static_cast<unsigned>(c), 31}; }
};

// Two texts of pairs, and of different types.
struct HashOfPair {
  __host__ __device__ Hash operator()(signed char c, const Words5& words) const {
    return {static_cast<unsigned>(c) * 7u + words.words[4], 31};
  }
};

struct Concatenate {
  __host__ __device__ Hash operator()(const Hash& a, const Hash& b) const {
    return {a.value * b.power + b.value, a.power * b.power};
  }
};

std::set<std::size_t> lengths(std::size_t elementBytes) {
  std::set<std::size_t> all = {1, 2, 3, 4, 5, 15, 16, 17, 31, 32, 33, 127, 128, 129, 511, 512, 513, 1000, 4099};
  for (const std::size_t bytes : {20 << 10, 64 << 10, 200 << 10})
    for (const std::size_t more : {0, 1, 2, 17}) all.insert(bytes / elementBytes - 1 + more);
  return all;
}

template <class Policy, class T, class Op>
void checkOrder(Op op) {
  const std::set<std::size_t> all = lengths(sizeof(T));
  const std::vector<T> values = Elements<T>::make(*all.rbegin() + 8, 1);
  const DeviceArray<T> in(values);
  for (const std::size_t first : {0, 1, 5})
    for (const std::size_t n : all) {
      if (!runsNextCase()) continue;
      INFO("n " << n << ", first " << first);
      const T expected = foldSerially<T>(values, first, first + n, op);
      REQUIRE((reduce<DefaultAccumulator, Policy>(in.data() + first, n, op) == expected));
      if (first > 0)
        REQUIRE((reduce<DefaultAccumulator, Policy>(in.data() + first, n, op, values[first - 1]) ==
                 op(values[first - 1], expected)));
    }
}

TEMPLATE_TEST_CASE("Operands keep the order of the input", "[inOrder][sweep]", InOrder, FewBlocks, ManyRows) {
  checkOrder<TestType, Span>(CombineSpans{});
  checkOrder<TestType, Matrix>(MatrixProduct{});
}

TEMPLATE_TEST_CASE("Functions of one and two inputs keep the order", "[inOrder][sweep]", InOrder, FewBlocks, ManyRows) {
  const std::size_t longest = 200003;
  const std::vector<signed char> text = randomVector<signed char>(longest + 20, 2);
  const std::vector<Words5> words = Elements<Words5>::make(30020, 3);
  const DeviceArray<signed char> in(text);
  const DeviceArray<Words5> inWords(words);
  for (const std::size_t first : {0, 1, 13})
    for (const std::size_t n : {1, 7, 17, 600, 5003, 30011, 200003}) {
      if (!runsNextCase()) continue;
      INFO("n " << n << ", first " << first);
      Hash expected = {0, 1}, expectedOfPairs = {0, 1};
      for (std::size_t i = first; i < first + n; ++i) expected = Concatenate{}(expected, HashOf{}(text[i]));
      REQUIRE(
          (transformReduce<DefaultAccumulator, TestType>(in.data() + first, n, HashOf{}, Concatenate{}) == expected));
      if (n > 30011) continue;
      for (std::size_t i = 0; i < n; ++i)
        expectedOfPairs = Concatenate{}(expectedOfPairs, HashOfPair{}(text[first + i], words[i]));
      REQUIRE((transformReduce<DefaultAccumulator, TestType>(in.data() + first, inWords.data(), n, HashOfPair{},
                                                             Concatenate{}, Hash{0, 1}) == expectedOfPairs));
    }
}

struct SpanCounter {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Span;
  using difference_type = std::ptrdiff_t;
  using pointer = const Span*;
  using reference = Span;
  __host__ __device__ Span operator[](std::ptrdiff_t i) const { return {static_cast<int>(i), static_cast<int>(i), 1}; }
};

TEST_CASE("Iterators keep the order", "[inOrder]") {
  for (const std::size_t n : lengths(sizeof(Span))) {
    if (!runsNextCase()) continue;
    INFO("n " << n);
    const Span expected = {0, static_cast<int>(n) - 1, 1};
    REQUIRE((reduce<DefaultAccumulator, InOrder>(SpanCounter{}, n, CombineSpans{}) == expected));
    REQUIRE((reduce<DefaultAccumulator, FewBlocks>(SpanCounter{}, n, CombineSpans{}) == expected));
  }
}

TEST_CASE("Commutative operations and rounding in order", "[inOrder]") {
  const std::size_t n = 100003;
  const std::vector<float> values = randomVector<float>(n, 4);
  const DeviceArray<float> in(values), shifted(values, 3);
  const ExactSum exact = sumExactly(values);
  const float sum = reduce<DefaultAccumulator, FewBlocks>(in.data(), n);
  REQUIRE(std::fabs(sum - static_cast<double>(exact.sum)) <= exact.tolerance(0x1p-24, n));
  const float other = reduce<DefaultAccumulator, FewBlocks>(shifted.data(), n);
  REQUIRE(std::memcmp(&sum, &other, sizeof sum) == 0);
  REQUIRE(argMin<DefaultAccumulator, FewBlocks>(in.data(), n).value == foldSerially<float>(values, Minimum{}));
  REQUIRE(reduce<DefaultAccumulator, InOrder>(static_cast<const float*>(nullptr), 0) == 0);
}

}  // namespace
}  // namespace gpuopt::test::order_test
