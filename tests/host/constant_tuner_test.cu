/// \file
/// Constants of kernels: how gpuopt-tune compares them, by a clock that knows which is the fastest, and how a file
/// compiled in says them.
// SPDX-License-Identifier: MIT
#include "../../tune/constant_tuner.cuh"
#include "support/catch.hpp"

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
  CHECK(result.leftOut == "  TILE 128, SIDE 8 is left out: the launch: cudaErrorInvalidValue: invalid argument\n");

  TimedCopies none;
  none.add("default", 1000, 100, -1);
  none.add("TILE 64, SIDE 2", 900, 90);
  const ConstantResult nothing = none.run();
  CHECK_FALSE(nothing.entry.has_value());
  CHECK(nothing.leftOut == "  default is left out: the launch: cudaErrorInvalidValue: invalid argument\n");
}

TEST_CASE("gpuopt-tune ends where the constants of a kernel make another result") {
  TimedCopies copies;
  copies.add("default", 1000, 100);
  copies.add("TILE 64, SIDE 2", 900, 90, 5);
  REQUIRE_THROWS_WITH(copies.run(),
                      "gpuopt::Experiment gpuopt.transposeTile: candidates default and TILE 64, SIDE 2 differ in "
                      "element 5 of 4096");
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
  CHECK(is(read("TILE #, SIDE #", "TILE 9999, SIDE 1"), 9999, 1));
  CHECK(is(read("BLOCK #", "BLOCK 256"), 256, 0));
  for (const char* choice :
       {"", "default", "TILE 64", "TILE 64, SIDE ", "TILE 64, SIDE 4 ", "TILE 64, SIDE 04", "TILE 0, SIDE 4",
        "TILE -8, SIDE 4", "TILE 64, SIDE x", "TILE 10000, SIDE 4", "TILE 64, SIDE 99999999999", "BLOCK 64"}) {
    INFO(choice);
    CHECK(is(read("TILE #, SIDE #", choice), -1, -1));
  }
  CHECK(std::string(gpuopt::detail::kernelConstantsForm("gpuopt.gatherStructs")) == "BLOCK #, LOADS #");
  CHECK(gpuopt::detail::kernelConstantsForm("gpuopt.gather") == nullptr);
  CHECK(gpuopt::detail::kernelConstantsForm("gpuopt.gatherStructs2") == nullptr);
}
