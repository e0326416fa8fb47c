/// \file
/// Constants of kernels: how gpuopt-tune compares them, by a clock that knows which is the fastest, and how a file
/// compiled in says them.
// SPDX-License-Identifier: MIT
#include "../../tune/constant_tuner.cuh"
#include "support/catch.hpp"
#include "support/host_test.cuh"

#include <gpuopt/core/kernel_constants.cuh>

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using gpuopt::detail::KernelConstants;
using gpuopt::tune::ConstantInput;
using gpuopt::tune::ConstantJob;
using gpuopt::tune::ConstantResult;
using gpuopt::tune::ConstantTuner;

constexpr std::size_t constantBytes = 4096;

// Copies of the input, whose times the test says: for the large input, and for the small one.
class TimedCopies {
 public:
  void add(const std::string& choice, double largeTime, double smallTime, int mistake = 0) {
    job_.candidates.push_back(
        {choice, [=](const ConstantInput& input, unsigned char* out, cudaStream_t stream) {
           time_ = input.bytes == constantBytes ? largeTime : smallTime;
           if (mistake < 0) gpuopt::check(cudaErrorInvalidValue, "the launch");
           gpuopt::check(cudaMemcpyAsync(out, input.data, input.bytes, cudaMemcpyDeviceToDevice, stream), "copy");
           if (mistake > 0) gpuopt::check(cudaMemsetAsync(out + mistake, 1, 1, stream), "cudaMemsetAsync");
         }});
  }

  ConstantResult run() const {
    const ConstantTuner tuner(constantBytes, [this](cudaStream_t, const std::function<void()>& work) {
      work();
      return time_;
    });
    return tuner.run(job_, 0);
  }

 private:
  ConstantJob job_{"gpuopt.transposeTile", 2, {}};
  mutable double time_ = 0;
};

}  // namespace

TEST_CASE("gpuopt-tune finds the fastest constants of a kernel") {
  TimedCopies copies;
  copies.add("default", 1500, 150);
  copies.add("TILE 64, SIDE 2", 1200, 150);
  copies.add("TILE 32, SIDE 2", 1000, 140);
  const ConstantResult result = copies.run();
  REQUIRE(result.entry.has_value());
  CHECK(result.entry->key.name == "gpuopt.transposeTile");
  CHECK(result.entry->key.logSize == 2);
  CHECK(result.entry->choice == "TILE 32, SIDE 2");
  CHECK((result.entry->choiceTime == 1000000 && result.entry->firstTime == 1500000 && result.entry->spread == 0));
  CHECK(result.leftOut.empty());
}

TEST_CASE("gpuopt-tune keeps the constants of a kernel unless others are faster, and not slower in the L2 cache") {
  const auto choice = [](double largeTime, double smallTime) {
    TimedCopies copies;
    copies.add("default", 1000, 100);
    copies.add("TILE 32, SIDE 2", largeTime, smallTime);
    return copies.run().entry->choice;
  };
  CHECK(choice(979, 100) == "TILE 32, SIDE 2");
  CHECK(choice(981, 50) == "default");
  CHECK(choice(500, 102) == "TILE 32, SIDE 2");
  CHECK(choice(500, 103) == "default");
}

TEST_CASE("gpuopt-tune leaves out constants that the device cannot launch") {
  TimedCopies copies;
  copies.add("default", 1000, 100);
  copies.add("TILE 128, SIDE 8", 500, 50, -1);
  copies.add("TILE 64, SIDE 2", 900, 90);
  const ConstantResult result = copies.run();
  CHECK(result.entry->choice == "TILE 64, SIDE 2");
  CHECK(result.leftOut.find("  TILE 128, SIDE 8 is left out: the launch: cudaErrorInvalidValue: invalid argument") == 0);

  TimedCopies none;
  none.add("default", 1000, 100, -1);
  none.add("TILE 64, SIDE 2", 900, 90);
  const ConstantResult nothing = none.run();
  CHECK_FALSE(nothing.entry.has_value());
  CHECK(nothing.leftOut.find("  default is left out: the launch: cudaErrorInvalidValue: invalid argument") == 0);
}

TEST_CASE("gpuopt-tune ends where the constants of a kernel make another result") {
  TimedCopies copies;
  copies.add("default", 1000, 100);
  copies.add("TILE 64, SIDE 2", 900, 90, 5);
  CHECK(gpuopt::test::messageOf<std::runtime_error>([&] { return copies.run(); }) ==
        "gpuopt::Experiment gpuopt.transposeTile: candidates default and TILE 64, SIDE 2 differ in element 5 of 4096");
}

namespace {

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
    return [&, isBelow](const ConstantInput& input, unsigned char* out, cudaStream_t stream) {
      last = {input.bytes, isBelow, false};
      ++calls;
      gpuopt::check(cudaMemcpyAsync(out, input.data, input.bytes, cudaMemcpyDeviceToDevice, stream), "copy");
    };
  };
  const ConstantTuner tuner(std::size_t{2} << 20, [&](cudaStream_t, const std::function<void()>& work) {
    calls = 0;
    work();
    last.isCold = calls == 1;
    return calls * time(last);
  });
  const gpuopt::tune::LimitJob job{"gpuopt.transposeRegisters", 1, own, {"below", copy(true)}, {"above", copy(false)}};
  return tuner.run(job, 0).entry.value();
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

TEST_CASE("The constants of a kernel have the form of their list") {
  const auto read = [](const char* form, const char* choice) {
    KernelConstants values{7, 8};
    if (gpuopt::detail::readKernelConstants(form, choice, values)) return values;
    CHECK((values.first == 7 && values.second == 8));
    return KernelConstants{-1, -1};
  };
  const auto is = [](KernelConstants values, int first, int second) {
    return values.first == first && values.second == second;
  };
  CHECK(is(read("TILE #, SIDE #", "TILE 64, SIDE 4"), 64, 4));
  CHECK(is(read("TILE #, SIDE #", "TILE 999999, SIDE 1"), 999999, 1));
  CHECK(is(read("BLOCK #", "BLOCK 256"), 256, 0));
  for (const char* choice :
       {"", "default", "TILE 64", "TILE 64, SIDE ", "TILE 64, SIDE 4 ", "TILE 64, SIDE 04", "TILE 0, SIDE 4",
        "TILE -8, SIDE 4", "TILE 64, SIDE x", "TILE 1000000, SIDE 4", "TILE 64, SIDE 99999999999", "BLOCK 64"}) {
    INFO(choice);
    CHECK(is(read("TILE #, SIDE #", choice), -1, -1));
  }
  CHECK(std::string(gpuopt::detail::kernelConstantsForm("gpuopt.gatherStructs")) == "BLOCK #, LOADS #");
  CHECK(gpuopt::detail::kernelConstantsForm("gpuopt.gather") == nullptr);
  CHECK(gpuopt::detail::kernelConstantsForm("gpuopt.gatherStructs2") == nullptr);
}
