/// \file
/// How gpuopt-tune finds a limit between two kernels, by a clock that knows which is the faster one.
// SPDX-License-Identifier: MIT
#include "../../tune/limit_tuner.cuh"
#include "support/catch.hpp"
#include "support/host_test.cuh"

#include <cstddef>
#include <functional>
#include <stdexcept>

namespace {

using gpuopt::tune::LimitTuner;

// A call of one of two kernels: of the one below the limit, and whether the caches are cold, where calls are timed
// alone.
struct LimitCall {
  std::size_t bytes;
  bool isBelow, isCold;
};

// The entry of a limit for which two kernels take the times that the test says.
gpuopt::detail::TuningEntry tunedLimit(std::size_t own, const std::function<double(const LimitCall&)>& time) {
  LimitCall last{};
  int calls = 0;
  const auto copy = [&](bool isBelow) {
    return [&, isBelow](const unsigned char* in, std::size_t bytes, unsigned char* out, cudaStream_t stream) {
      last = {bytes, isBelow, false};
      ++calls;
      gpuopt::check(cudaMemcpyAsync(out, in, bytes, cudaMemcpyDeviceToDevice, stream), "copy");
    };
  };
  const LimitTuner tuner(std::size_t{2} << 20, [&](cudaStream_t, const std::function<void()>& work) {
    calls = 0;
    work();
    last.isCold = calls == 1;
    return calls * time(last);
  });
  return tuner.run({gpuopt::detail::Tunable::registers, 1, own, copy(true), copy(false)}, 0);
}

}  // namespace

TEST_CASE("gpuopt-tune moves a limit while the kernel on its other side is faster") {
  constexpr std::size_t KIB = 1024;
  // Inputs are of 384, 768 and 1536 KiB. The one below is faster up to `best`.
  const auto choice = [](std::size_t own, std::size_t best, double loss) {
    return tunedLimit(own, [=](const LimitCall& call) { return call.isBelow == (call.bytes <= best) ? 10 : loss; })
        .choice;
  };
  CHECK(choice(1024 * KIB, 1024 * KIB, 20) == "default");
  CHECK(choice(1024 * KIB, 2048 * KIB, 20) == "KIB 2048");
  CHECK(choice(300 * KIB, 1024 * KIB, 20) == "KIB 1024");
  CHECK(choice(300 * KIB, 4096 * KIB, 20) == "KIB 2048");
  CHECK(choice(1024 * KIB, 512 * KIB, 20) == "KIB 512");
  CHECK(choice(1024 * KIB, 1, 20) == "KIB 1");
  CHECK(choice(1024 * KIB, 2048 * KIB, 10.2) == "default");

  // Another size gains nothing if the one between would lose.
  const auto gap = tunedLimit(300 * KIB, [=](const LimitCall& call) {
    return call.isBelow == (call.bytes < 500 * KIB || call.bytes > 1000 * KIB) ? 10 : 20;
  });
  CHECK(gap.choice == "KIB 512");
  CHECK((gap.choiceTime == 10000 && gap.firstTime == 20000 && gap.key.logSize == 1));
}

TEST_CASE("gpuopt-tune leaves a limit alone where the kernel on its other side is faster in the caches only") {
  const auto choice = [](double coldLoss) {
    return tunedLimit(std::size_t{1} << 20,
                      [=](const LimitCall& call) { return call.isBelow  ? 10
                                                          : call.isCold ? 10 * coldLoss
                                                                        : 5; })
        .choice;
  };
  CHECK(choice(1.1) == "default");
  CHECK(choice(1) == "KIB 1");
}

TEST_CASE("gpuopt-tune ends where two kernels have different results") {
  const auto fill = [](int value) {
    return [=](const unsigned char*, std::size_t bytes, unsigned char* out, cudaStream_t stream) {
      gpuopt::check(cudaMemsetAsync(out, value, bytes, stream), "cudaMemsetAsync");
    };
  };
  const LimitTuner tuner(std::size_t{512} << 10);
  CHECK(gpuopt::test::messageOf<std::runtime_error>([&] {
          return tuner.run({gpuopt::detail::Tunable::registers, 1, 0, fill(1), fill(2)}, 0);
        }) == "gpuopt::Experiment gpuopt.transposeRegisters: candidates above and below differ in element 0 of 393216");
}
