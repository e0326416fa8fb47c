/// Plans that are kept: run on arrays at any address, with views, functions, containers, streams and graphs; wrong
/// arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/permute_data.cuh"

#include <gpuopt/permute.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace gpuopt::test::kept_plan_test {
namespace {

using Bytes3 = Words<unsigned char, 3>;
using Bytes12 = Words<unsigned, 3>;

struct Tripled {
  __host__ __device__ double operator()(int x) const { return 3.0 * x; }
};

// Runs a plan for aligned arrays on arrays at every pair of addresses modulo 16.
template <class T>
void runAtEveryAddress(const AxisNumbers& extents, const AxisNumbers& axes) {
  PermuteCheck<T> check(Layout::dense(extents).end() + 16);
  const PermutePlan<T> plan(extents, axes);
  for (std::size_t inShift = 0; inShift < 16; inShift += alignof(T))
    for (std::size_t outShift = 0; outShift < 16; outShift += alignof(T)) {
      const Layout in = Layout::dense(extents).moved(inShift);
      const Layout out = Layout::dense(permuted(extents, axes)).moved(outShift);
      check.expect(in, out, axes, [&] { plan.run(check.inView(in).data, check.outView(out).data); });
    }
  check.finish();
}

TEST_CASE("A kept plan runs on small arrays at every address", "[permute]") {
  runAtEveryAddress<unsigned char>({5, 7, 16}, {2, 0, 1});
  runAtEveryAddress<unsigned short>({5, 7, 16}, {1, 0, 2});
  runAtEveryAddress<Bytes3>({4, 8, 16}, {1, 0, 2});
  runAtEveryAddress<Bytes12>({5, 7, 9}, {2, 1, 0});
  runAtEveryAddress<double2>({5, 7, 9}, {2, 1, 0});
}

TEST_CASE("A kept plan runs on large arrays at every address", "[permute]") {
  runAtEveryAddress<unsigned>({48, 48, 64}, {2, 1, 0});   // tiles of runs, or aligned matrices
  runAtEveryAddress<unsigned>({8, 150, 128}, {1, 0, 2});  // rows of 16-byte words, or of elements
  runAtEveryAddress<unsigned>({400, 350}, {1, 0});        // a matrix
}

TEST_CASE("A kept plan of views", "[permute]") {
  const AxisNumbers extents{30, 40, 130}, axes{2, 0, 1};
  for (const unsigned reversed : {0U, 1U, 5U, 7U}) {
    const Layout in = Layout::spread(extents, 3, reversed), out = Layout::spread(permuted(extents, axes), 2, reversed);
    PermuteCheck<int, int> check(std::max(in.end(), out.end()) + 8);
    const PermutePlan plan(check.inView(in), check.outView(out), axes);
    for (const std::size_t shift : {0U, 4U, 12U}) {
      const Layout from = in.moved(shift), to = out.moved(12 - shift);
      check.expect(from, to, axes, [&] { plan.run(check.inView(from).data, check.outView(to).data); });
    }
    check.finish();
  }
}

TEST_CASE("A kept plan with a function on the way", "[permute]") {
  const AxisNumbers axes{2, 0, 1};
  for (const AxisNumbers& extents : {AxisNumbers{5, 7, 9}, AxisNumbers{40, 50, 70}}) {
    const Layout in = Layout::dense(extents), out = Layout::dense(permuted(extents, axes));
    PermuteCheck<int, double> check(in.end() + 8);
    const PermutePlan<int, double, Tripled> dense(extents, axes);
    const PermutePlan views(check.inView(in), check.outView(out), axes, Tripled{});
    for (const std::size_t shift : {0U, 8U}) {
      const Layout from = in.moved(shift / 2), to = out.moved(shift);
      const auto run = [&](const auto& plan) { plan.run(check.inView(from).data, check.outView(to).data); };
      check.expect(
          from, to, axes, [&] { run(dense); }, Tripled{});
      check.expect(
          from, to, axes, [&] { run(views); }, Tripled{});
    }
    check.finish();
  }
}

std::vector<int> counted(std::size_t n) {
  std::vector<int> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = static_cast<int>(i);
  return values;
}

bool isTurned(const std::vector<int>& out, std::size_t rows, std::size_t cols) {
  bool isRight = out.size() == rows * cols;
  for (std::size_t i = 0; isRight && i < out.size(); ++i)
    isRight = out[i % cols * rows + i / cols] == static_cast<int>(i);
  return isRight;
}

TEST_CASE("A kept plan takes containers and streams, and can be copied", "[permute]") {
  const DeviceArray<int> in(counted(63));
  DeviceArray<int> first(63), second(63), third(63);
  const Stream stream;
  const PermutePlan<int> plan({7, 9}, {1, 0});
  plan.run(in, first);
  const PermutePlan<int> copy = plan;
  copy.run(in.data(), second, stream);
  stream.wait();
  std::thread([&] { plan.run(in, third.data(), stream); }).join();
  stream.wait();
  CHECK(isTurned(first.toHost(), 7, 9));
  CHECK(isTurned(second.toHost(), 7, 9));
  CHECK(isTurned(third.toHost(), 7, 9));
}

TEST_CASE("A kept plan of no elements launches nothing", "[permute]") {
  int* const null = nullptr;
  CHECK_NOTHROW(PermutePlan<int>({7, 0, 9}, {1, 0, 2}).run(null, null));
}

TEST_CASE("Shapes that cannot be planned", "[permute]") {
  Refusals refused;
  using View = TensorView<int>;
  refused("gpuopt::PermutePlan: axes are (0, 2), but the tensor has 3 axes", [](int*) {
    static_cast<void>(PermutePlan<int>({4, 5, 6}, {0, 2}));
  });
  refused("gpuopt::PermutePlan: axes are (0, 0), which do not name each of 0 to 1 once", [](int* m) {
    static_cast<void>(PermutePlan(View(m, {4, 5}), View(m + 20, {4, 5}), {0, 0}));
  });
  refused("gpuopt::PermutePlan: out must have the extents (5, 4), but it has (4, 5)", [](int* m) {
    static_cast<void>(PermutePlan(View(m, {4, 5}), View(m + 20, {4, 5}), {1, 0}));
  });
  refused("gpuopt::PermutePlan: elements of out overlap: extents (5, 4), strides (0, 1)", [](int* m) {
    static_cast<void>(PermutePlan(View(m, {4, 5}), View(m + 20, {5, 4}, {0, 1}), {1, 0}));
  });
  refused("gpuopt::PermutePlan: in is too large: extents (4, 4611686018427387904), strides (1, 4), 4 bytes an element",
          [](int*) {
            static_cast<void>(PermutePlan<int>({std::int64_t{1} << 62, 4}, {1, 0}));
          });
}

TEST_CASE("Arrays that a plan cannot run on", "[permute]") {
  Refusals refused;
  int* const null = nullptr;
  const PermutePlan<int> plan({4, 5}, {1, 0});
  refused("gpuopt::PermutePlan::run: in is null, but its extents are (5, 4)", [&](int* m) { plan.run(null, m); });
  refused("gpuopt::PermutePlan::run: out is null, but its extents are (5, 4)", [&](int* m) { plan.run(m, null); });
  refused("gpuopt::PermutePlan::run: out is misaligned: its address modulo 4 is 1",
          [&](int* m) { plan.run(m, reinterpret_cast<int*>(reinterpret_cast<char*>(m) + 81)); });
  refused("gpuopt::PermutePlan::run: in and out overlap: in spans 80 bytes, out 80, and out begins 76 bytes after in",
          [&](int* m) { plan.run(m, m + 19); });
  DeviceArray<int> few(19), enough(20);
  refused("gpuopt::PermutePlan::run: in has 19 elements, but 20 are needed", [&](int*) { plan.run(few, enough); });
  refused("gpuopt::PermutePlan::run: out has 19 elements, but 20 are needed", [&](int*) { plan.run(enough, few); });
}

}  // namespace
}  // namespace gpuopt::test::kept_plan_test
