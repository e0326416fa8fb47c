/// The reduction ladder: every step gives the right sum at every boundary of its blocks, leaves the rest of
/// the memory alone, and gives it again when the work is repeated inside a launch.
// SPDX-License-Identifier: MIT
#include "../../examples/ladders/reduction_steps.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <cstddef>
#include <numeric>
#include <vector>

namespace gpuopt::test::reduction_steps_test {
namespace {

using namespace ladders;

constexpr unsigned POISON = 0xDEADBEEF;

// An array on the device, with room for partial results.
class Sums {
 public:
  explicit Sums(std::size_t n, std::size_t room)
      : values_(randomVector<unsigned>(n, static_cast<unsigned>(n))), in_(values_), out_(room) {}

  ReductionData data() { return {in_.data(), values_.size(), out_.data()}; }

  // What `run` leaves in `count` words from `partials` on must add up to the sum, and nothing else change.
  template <class Run>
  void check(const unsigned* partials, std::size_t count, Run run) {
    out_.fill(std::vector<unsigned>(out_.size(), POISON));
    run();
    const std::vector<unsigned> out = out_.toHost();
    const auto begin = out.begin() + (partials - out_.data());
    const auto end = begin + static_cast<std::ptrdiff_t>(count);
    CHECK(std::accumulate(begin, end, 0u) == std::accumulate(values_.begin(), values_.end(), 0u));
    CHECK(std::vector<unsigned>(end, out.end()) ==
          std::vector<unsigned>(static_cast<std::size_t>(out.end() - end), POISON));
  }

  bool isUnchanged() const { return in_.toHost() == values_; }

 private:
  std::vector<unsigned> values_;
  DeviceArray<unsigned> in_;
  DeviceArray<unsigned> out_;
};

TEST_CASE("every step of the reduction ladder adds up") {
  for (const std::size_t n : {1, 2, 33, 255, 256, 257, 511, 512, 513, 2047, 2048, 2049, 4097, 10007}) {
    Sums sums(n, partialsOf(n));
    for (const ReductionStep& step : reductionSteps(sums.data())) {
      INFO(step.name << ", n " << n);
      sums.check(step.partials, step.count, [&] { step.run(1); });
      if (step.repeatsInside && n < 2000) sums.check(step.partials, step.count, [&] { step.run(3); });
    }
    CHECK(sums.isUnchanged());
  }
}

TEST_CASE("the steps whose block may have any power of two of threads") {
  struct Variant {
    ReductionKernel kernel;
    std::size_t perThread;
    int leastBlock;
  };
  const Variant variants[] = {{reduceModulo, 1, 1},    {reduceInterleaved, 1, 1}, {reduceSequential, 1, 1},
                              {reduceAddOnLoad, 2, 1}, {reduceTile<5>, 5, 1},     {reduceLastWarp<5>, 5, 64}};
  const std::size_t n = 3001;
  Sums sums(n, n);
  const ReductionData data = sums.data();
  for (const int block : {2, 32, 64, 1024})
    for (const Variant& variant : variants) {
      if (block < variant.leastBlock) continue;
      const std::size_t blocks = blocksOf(n, variant.perThread * static_cast<std::size_t>(block));
      INFO("variant " << &variant - variants << ", block " << block);
      sums.check(data.out, blocks, [&] {
        launch(variant.kernel, reductionConfig(blocks, block, sizeof(unsigned)), data.in, n, data.out, 2);
      });
    }
}

template <int BLOCK>
void checkUnrolled(Sums& sums) {
  const ReductionData data = sums.data();
  const std::size_t blocks = blocksOf(data.n, BLOCK * 3);
  INFO("block " << BLOCK);
  sums.check(data.out, blocks,
             [&] { launch(reduceUnrolled<BLOCK, 3>, reductionConfig(blocks, BLOCK), data.in, data.n, data.out, 2); });
}

TEST_CASE("the completely unrolled step for every size of the block") {
  Sums sums(4001, 100);
  checkUnrolled<64>(sums);
  checkUnrolled<128>(sums);
  checkUnrolled<256>(sums);
  checkUnrolled<512>(sums);
  checkUnrolled<1024>(sums);
}

TEST_CASE("the recursion goes down several levels") {
  for (const std::size_t n : {127, 128, 129, 16384, 16385}) {
    Sums sums(n, blocksOf(n, 128) + blocksOf(n, 16384) + 3);
    const ReductionData data = sums.data();
    std::vector<std::size_t> launches;
    const auto pass = [&](const unsigned* in, std::size_t count, unsigned* out, std::size_t blocks) {
      launches.push_back(blocks);
      launch(reduceRestrict<64, 2>, reductionConfig(blocks, 64), in, count, out);
    };
    const unsigned* last = reduceRecursively(data.in, n, data.out, 128, [](auto...) {});
    sums.check(last, 1, [&] { CHECK(reduceRecursively(data.in, n, data.out, 128, pass) == last); });
    CHECK(launches.size() == (n <= 128 ? 1u : n <= 16384 ? 2u : 3u));
  }
}

}  // namespace
}  // namespace gpuopt::test::reduction_steps_test
