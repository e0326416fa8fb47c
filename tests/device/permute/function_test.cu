/// Permutations with a function on the way: casts, structures, states; called once for each element and for nothing
/// else.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/permute_data.cuh"

#include <gpuopt/permute.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace gpuopt::test::function_test {
namespace {

using Bytes3 = Words<unsigned char, 3>;
using Bytes8 = Words<unsigned, 2>;
using Bytes128 = Words<unsigned, 32>;

// All bits of an element take part. By words where it has such: short code.
struct Hash {
  template <class T>
  __host__ __device__ std::uint64_t operator()(const T& value) const {
    using Part = std::conditional_t<sizeof(T) % 4 == 0, unsigned, unsigned char>;
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < sizeof(T) / sizeof(Part); ++i) {
      Part part;
      __builtin_memcpy(&part, reinterpret_cast<const unsigned char*>(&value) + i * sizeof(Part), sizeof(Part));
      hash = hash * 0x9e3779b97f4a7c15u + part;
    }
    return hash;
  }
};

template <class Out>
struct HashTo {
  template <class T>
  __host__ __device__ Out operator()(const T& value) const {
    std::uint64_t hash = Hash{}(value);
    Out result;
    for (auto& word : result.word) {
      hash = hash * 0x9e3779b97f4a7c15u + 1;
      word = static_cast<std::decay_t<decltype(word)>>(hash >> 32);
    }
    return result;
  }
};

struct Added {
  unsigned number;
  __host__ __device__ unsigned operator()(unsigned x) const { return x + number; }
};

// Every kernel: a transposition, tiles of aligned matrices, tiles of runs, single elements.
template <class In, class Out, class F>
void permuteByEachKernel(F function) {
  PermuteCheck<In, Out> check(33000);
  const auto all = [&](const AxisNumbers& extents, const AxisNumbers& axes) {
    const AxisNumbers outExtents = permuted(extents, axes);
    check(Layout::dense(extents), Layout::dense(outExtents), axes, function);
    check(Layout::dense(extents).moved(alignof(In)), Layout::dense(outExtents).moved(alignof(Out)), axes, function);
    check(Layout::spread(extents, 1, 3), Layout::spread(outExtents, 2, 5), axes, function);
  };
  all({40, 70}, {1, 0});
  all({300}, {0});
  all({7, 9, 33}, {2, 1, 0});
  all({7, 33, 9}, {0, 2, 1});
  check(Layout::dense({128, 2, 128}), Layout::dense({128, 2, 128}), {2, 1, 0}, function);
  all({3, 5, 7, 11}, {3, 1, 2, 0});
  check({{33, 5, 9}, {0, 9, 1}}, Layout::dense({9, 33, 5}), {2, 0, 1}, function);
  check({{5, 7, 9}, {190, 22, 2}}, {{9, 5, 7}, {150, 24, 3}}, {2, 0, 1}, function);
  check.finish();
}

TEST_CASE("Functions to larger and to smaller elements", "[permute]") {
  permuteByEachKernel<unsigned char, unsigned>(Hash{});
  permuteByEachKernel<unsigned, unsigned char>(Hash{});
  permuteByEachKernel<unsigned char, Bytes128>(HashTo<Bytes128>{});
  permuteByEachKernel<Bytes128, unsigned char>(Hash{});
}

TEST_CASE("Functions of one type, with a state", "[permute]") { permuteByEachKernel<unsigned, unsigned>(Added{12345}); }

// Structures of two words are aligned to one: no access moves one that begins between 8-byte boundaries.
TEST_CASE("Functions between structures", "[permute]") {
  permuteByEachKernel<Bytes8, Bytes8>(HashTo<Bytes8>{});
  permuteByEachKernel<Bytes3, unsigned>(Hash{});
  permuteByEachKernel<unsigned, Bytes3>(HashTo<Bytes3>{});
}

// Counts its calls, and those with elements that are not of the input.
template <class Out>
struct Counted {
  static constexpr unsigned OF_INPUT = 0x80;
  unsigned* calls;

  template <class In>
  __device__ Out operator()(const In& value) const {
    atomicAdd(calls, 1u);
    if ((value & OF_INPUT) == 0) atomicAdd(calls + 1, 1u);
    return Out{};
  }
};

template <class In, class Out>
void expectOneCallForEach(const Layout& in, const Layout& out, const AxisNumbers& axes) {
  std::vector<In> values(in.end() + 64, In{0});
  std::size_t count = 0;
  visitPairs(in.extents, in.strides, in.strides, [&](std::ptrdiff_t i, std::ptrdiff_t) {
    values[static_cast<std::size_t>(in.first + i)] = static_cast<In>(Counted<Out>::OF_INPUT);
    ++count;
  });
  const DeviceArray<In> from(values);
  DeviceArray<Out> to(out.end());
  DeviceArray<unsigned> calls(std::vector<unsigned>{0, 0});
  permute(in.view(from.data()), out.view(to.data()), axes, Counted<Out>{calls.data()});
  INFO(sizeof(In) << " to " << sizeof(Out) << " bytes, in " << detail::inWords(in.extents) << ", axes "
                  << detail::inWords(axes));
  const std::vector<unsigned> found = calls.toHost();
  CHECK(found[0] == count);
  CHECK(found[1] == 0);
}

template <class In, class Out>
void countCalls() {
  for (const AxisNumbers& extents : {AxisNumbers{40, 70}, AxisNumbers{7, 9, 33}, AxisNumbers{33, 3, 65},
                                     AxisNumbers{5, 65, 1, 33}, AxisNumbers{3, 5, 7, 11}, AxisNumbers{64, 2, 64}}) {
    const AxisNumbers axes = reversedAxes(extents.rank);
    const AxisNumbers outExtents = permuted(extents, axes);
    expectOneCallForEach<In, Out>(Layout::dense(extents), Layout::dense(outExtents), axes);
    expectOneCallForEach<In, Out>(Layout::dense(extents, 1), Layout::dense(outExtents, 3), axes);
    expectOneCallForEach<In, Out>(Layout::spread(extents, 3, 2), Layout::spread(outExtents, 1, 1), axes);
  }
  expectOneCallForEach<In, Out>({{33, 5, 9}, {0, 9, 1}}, Layout::dense({9, 33, 5}), {2, 0, 1});
}

TEST_CASE("A function is called once for each element and for nothing else", "[permute]") {
  countCalls<unsigned char, unsigned char>();
  countCalls<unsigned char, unsigned>();
  countCalls<unsigned, unsigned char>();
}

}  // namespace
}  // namespace gpuopt::test::function_test
