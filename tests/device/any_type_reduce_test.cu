/// \file
/// Elements of any trivially copyable type in reductions: the bits of a plain struct.
// SPDX-License-Identifier: MIT
#include "any_type.cuh"

#include <gpuopt/reduce.cuh>

#include <cstddef>
#include <type_traits>
#include <vector>

namespace gpuopt::test::any_type_reduce_test {

template <class Policy, class T>
void checkReduce(std::size_t n) {
  INFO("n " << n);
  const DeviceArray<T> in(elements<T>(n));
  const DeviceArray<Plain> inPlain(elements<Plain>(n));
  DeviceArray<T> out(1);
  const Plain sum = reduce<DefaultAccumulator, Policy>(inPlain.data(), n, Add{}, Plain{5, 6});
  CHECK(isAlike(reduce<DefaultAccumulator, Policy>(in.data(), n, Add{}, T{5, 6}), sum));
  CHECK(isAlike(transformReduce<DefaultAccumulator, Policy>(in.data(), n, To<T>{}, Add{}, T{5, 6}), sum));
  CHECK(isAlike(transformReduce<DefaultAccumulator, Policy>(in.data(), in.data(), n, To<Plain>{}, Add{}, Plain{5, 6}),
                sum));
  CHECK(
      isAlike(transformReduce<DefaultAccumulator, Policy>(inPlain.data(), in.data(), n, To<T>{}, Add{}, T{5, 6}), sum));
  reduceInto<DefaultAccumulator, Policy>(in.data(), n, out.data(), Add{}, T{5, 6});
  CHECK(isAlike(toHost(out)[0], sum));
  CHECK(isAlike(reduce<DefaultAccumulator, Policy>(Generator<T>{}, n, Add{}, T{1, 1}),
                reduce<DefaultAccumulator, Policy>(Generator<Plain>{}, n, Add{}, Plain{1, 1})));
}

const std::vector<std::size_t> lengths = {0, 1, 33, 1000, 30000};

TEST_CASE("Any type: reductions of arrays, also in order and by length", "[types]") {
  for (const std::size_t n : lengths) {
    checkReduce<ReducePolicy, Both>(n);
    checkReduce<InOrder, Both>(n);
#ifdef GPUOPT_EMULATION
    checkReduce<ByLength, Both>(n);
#endif
  }
}

#ifdef GPUOPT_EMULATION
TEST_CASE("Any type: reductions of large elements", "[types]") {
  checkReduce<ReducePolicy, Large>(1000);
  checkReduce<ReducePolicy, Large>(5);
}
#endif

TEMPLATE_LIST_TEST_CASE("Any type: rows, columns and segments", "[types]", AnySizes) {
  struct Shape {
    std::size_t rows, cols, ld;
  };
  for (const auto& [rows, cols, ld] : {Shape{50, 3, 3}, Shape{50, 4, 4}, Shape{7, 5, 20}, Shape{4, 300, 301},
                                       Shape{3, 2000, 2000}, Shape{200, 70, 71}, Shape{1000, 2, 2}}) {
    INFO(rows << " x " << cols << ", ld " << ld);
    checkAlike<TestType>(rows * ld, rows, [r = rows, c = cols, l = ld](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      reduceRows(in, r, c, l, out, Add{});
      reduceRows(Generator<T>{}, r / 2, c, l, out, Add{}, T{3, 4});
    });
    checkAlike<TestType>(rows * ld, cols, [r = rows, c = cols, l = ld](const auto* in, auto* out) {
      using T = std::remove_pointer_t<decltype(out)>;
      reduceColumns(in, r, c, l, out, Add{});
      reduceColumns(Generator<T>{}, r, c / 2, l, out, Add{}, T{3, 4});
    });
  }
  const DeviceArray<int> offsets(std::vector<int>{0, 3, 3, 40, 1000, 1005, 5000, 5001});
  checkAlike<TestType>(5001, 7, [&](const auto* in, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    reduceSegments(in, offsets.data(), 7, out, Add{}, T{3, 4});
  });
  checkAlike<TestType>(1, 7, [&](const auto*, auto* out) {
    using T = std::remove_pointer_t<decltype(out)>;
    reduceSegments(Generator<T>{}, offsets.data(), 7, out, Add{}, T{3, 4});
  });
}

}  // namespace gpuopt::test::any_type_reduce_test
