/// \file
/// Experiments whose budget or clock gives no numbers.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/experiment_stage.cuh"
#include "support/random.hpp"

#include <gpuopt/tuning.cuh>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

using gpuopt::Experiment;
using gpuopt::ExperimentOptions;
using gpuopt::ExperimentReport;
using gpuopt::test::addTriples;
using gpuopt::test::DeviceArray;
using gpuopt::test::experimentError;
using gpuopt::test::forgetTuning;
using gpuopt::test::launchTriple;
using gpuopt::test::randomVector;
using gpuopt::test::Stage;

}  // namespace

TEST_CASE("An Experiment refuses seconds that are negative or no number") {
  forgetTuning();
  const DeviceArray<float> in(randomVector<float>(100, 14));
  DeviceArray<float> out(100);
  Stage stage{{{"BLOCK 32", 10}, {"BLOCK 64", 9}}, {}, {}, {}};
  for (const double seconds : {std::nan(""), -1.0, -HUGE_VAL}) {
    ExperimentOptions options = stage.options();
    options.seconds = seconds;
    Experiment<float, const float*> experiment("seconds", options);
    addTriples(experiment, stage);
    // WRITTEN tuning: `ExperimentOptions::seconds` of -1 or NaN
    REQUIRE(experimentError([&] { experiment(out.data(), 100, nullptr, in.data()); }) ==
            "gpuopt::Experiment seconds: options.seconds is negative or no number");
    REQUIRE(experimentError([&] { experiment.tune(out.data(), 100, nullptr, in.data()); }) ==
            "gpuopt::Experiment seconds: options.seconds is negative or no number");
  }
  REQUIRE(stage.calls.empty());
}

TEST_CASE("A candidate for which the clock gives no time is not chosen") {
  const double none = GENERATE(std::nan(""), -1.0, HUGE_VAL, 1e300);
  const bool isLate = GENERATE(false, true);
  const DeviceArray<float> in(randomVector<float>(100, 15));
  DeviceArray<float> out(100);
  const auto reportOf = [&](const std::vector<std::string>& withoutTime, double seconds) {
    forgetTuning();
    Stage stage{{{"BLOCK 32", 10}, {"BLOCK 64", 9}, {"BLOCK 96", 9.5}}, {}, {}, {}};
    ExperimentOptions options = stage.options();
    options.seconds = seconds;
    std::map<std::string, int> samples;
    options.clock = [&, clock = options.clock](cudaStream_t stream, const std::function<void()>& work) {
      const double time = clock(stream, work);
      const bool isNone = ++samples[stage.last] > (isLate ? 3 : 0) &&
                          std::count(withoutTime.begin(), withoutTime.end(), stage.last) > 0;
      return isNone ? none : time;
    };
    Experiment<float, const float*> experiment("no time", options);
    addTriples(experiment, stage);
    experiment.add("BLOCK 96", stage.candidate("BLOCK 96", launchTriple<96>));
    return experiment.tune(out.data(), 100, nullptr, in.data());
  };
  for (const double seconds : {0.0, 1e-3, HUGE_VAL}) {
    CAPTURE(none, isLate, seconds);
    const ExperimentReport other = reportOf({"BLOCK 64"}, seconds);
    REQUIRE(other.chosen == 2);
    REQUIRE(other.rows[1].problem == "options.clock gives no time of it");
    REQUIRE(other.text() ==
            "  BLOCK 32: 10.0 us (10.0 to 10.0)\n  BLOCK 64: not used: options.clock gives no time of it\n"
            "* BLOCK 96: 9.5 us (9.5 to 9.5)\n");
    REQUIRE(reportOf({"BLOCK 32"}, seconds).chosen == 1);
    REQUIRE(reportOf({"BLOCK 64", "BLOCK 96"}, seconds).chosen == 0);
    const std::vector<std::string> all{"BLOCK 32", "BLOCK 64", "BLOCK 96"};
    // WRITTEN tuning: a `TuningClock` that returns 0.0 / 0
    REQUIRE(experimentError([&] { reportOf(all, seconds); }) ==
            "gpuopt::Experiment no time: options.clock gives no time of any candidate");
  }
}
