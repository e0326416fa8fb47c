/// \file
/// gpuopt-tune by a clock that knows which value is the fastest: measured, written, loaded, looked up.
// SPDX-License-Identifier: MIT
#include "../../../tune/jobs.cuh"
#include "support/catch.hpp"
#include "support/tuning_folder.hpp"

#include <gpuopt/transfer.cuh>
#include <gpuopt/tuning.cuh>

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using gpuopt::detail::Tunable;
using gpuopt::detail::TunedValue;
using gpuopt::detail::tunedValue;
using gpuopt::detail::TuningEntry;
using gpuopt::test::TuningFolder;
using gpuopt::tune::Job;
using gpuopt::tune::Tuner;

// Which value a call finds, without a call.
Job emptyJob(std::size_t bytes, std::vector<TunedValue> values) {
  return {Tunable::upload, bytes, std::move(values), [] {}, [](const std::function<void()>&) { return true; }};
}

// A clock for which calls take the time of the value that they find: `best`, the default, or another one.
gpuopt::tune::HostClock clockFor(const Job& job, unsigned best, double bestTime, double defaultTime) {
  return [=](const std::function<void()>& work) {
    work();
    const std::optional<TunedValue> value = tunedValue(job.constant, job.bytes);
    return !value ? defaultTime : value->count == best ? bestTime : 2 * defaultTime;
  };
}

}  // namespace

TEST_CASE("gpuopt-tune finds the fastest value, whatever file was loaded", "[transfer]") {
  const TuningFolder folder;
  const Job job = emptyJob(98304, {{0, 0}, {2, 16384}, {4, 16384}, {1, 4096}});
  TuningEntry bad = gpuopt::detail::entryOf({"gpuopt.upload", "", 16});
  bad.choice = "1 threads, 4096 bytes";
  gpuopt::detail::mergeIntoFile(folder.file("bad.json"), {bad});
  REQUIRE(gpuopt::loadTuning(folder.file("bad.json")));

  const TuningEntry entry = Tuner(clockFor(job, 4, 1000, 1500)).run(job, 0);
  REQUIRE(entry.choice == "4 threads, 16384 bytes");
  REQUIRE(entry.key.name == "gpuopt.upload");
  REQUIRE(entry.key.logSize == 16);
  REQUIRE((entry.choiceTime == 1000000 && entry.firstTime == 1500000 && entry.spread == 0));
  REQUIRE(gpuopt::tune::inWords(entry, job.bytes) ==
          "gpuopt.upload, 98304 bytes: 4 threads, 16384 bytes: 1000.0 us, default 1500.0 us");

  // Written, merged, loaded, looked up.
  gpuopt::detail::mergeIntoFile(folder.file("bad.json"), {entry});
  REQUIRE(gpuopt::detail::readTuningFile(folder.file("bad.json")).size() == 1);
  REQUIRE(gpuopt::loadTuning(folder.file("bad.json")));
  const std::optional<TunedValue> found = tunedValue(Tunable::upload, 131071);
  REQUIRE(found.has_value());
  REQUIRE((found->count == 4 && found->bytes == 16384));
  REQUIRE(gpuopt::loadTuning(folder.file("none.json")));
}

TEST_CASE("gpuopt-tune keeps the default unless a value is more than 2 % faster", "[transfer]") {
  const TuningFolder folder;
  const Job job = emptyJob(98304, {{2, 16384}, {4, 16384}});
  const TuningEntry entry = Tuner(clockFor(job, 4, 981, 1000)).run(job, 0);
  REQUIRE(entry.choice == "default");
  REQUIRE(gpuopt::tune::inWords(entry, job.bytes) == "gpuopt.upload, 98304 bytes: default: 1000.0 us");
  REQUIRE(Tuner(clockFor(job, 4, 979, 1000)).run(job, 0).choice == "4 threads, 16384 bytes");

  // An entry with the default hides that of another device, without a word.
  TuningEntry other = gpuopt::detail::entryOf({"gpuopt.upload", "", 16});
  other.device = "Another GPU";
  other.choice = "2 threads, 16384 bytes";
  gpuopt::detail::mergeIntoFile(folder.file(), {other});
  REQUIRE(gpuopt::loadTuning(folder.file()));
  REQUIRE(tunedValue(Tunable::upload, 98304).has_value());
  gpuopt::detail::mergeIntoFile(folder.file(), {entry});
  REQUIRE(gpuopt::test::reportedBy([&] {
            REQUIRE(gpuopt::loadTuning(folder.file()));
            REQUIRE_FALSE(tunedValue(Tunable::upload, 98304).has_value());
          }).empty());
  REQUIRE(gpuopt::loadTuning(folder.file("none.json")));
}

TEST_CASE("gpuopt-tune times several short calls at a time", "[transfer]") {
  int calls = 0, samples = 0, checks = 0;
  Job job = emptyJob(98304, {{2, 16384}});
  job.call = [&] { ++calls; };
  job.isCorrect = [&](const std::function<void()>&) { return ++checks > 0; };
  const Tuner tuner([&](const std::function<void()>& work) {
    const int before = calls;
    work();
    ++samples;
    return 60.0 * (calls - before);
  });
  REQUIRE(tuner.run(job, 0).choiceTime == 60000);
  REQUIRE(checks == 2);
  REQUIRE(samples == 1 + 2 * 6 * 2);
  REQUIRE(calls == 1 + 2 * 6 * (1 + 4));
}

TEST_CASE("gpuopt-tune ends where a value makes a wrong result", "[transfer]") {
  Job job = emptyJob(98304, {{2, 16384}, {4, 16384}});
  job.isCorrect = [&](const std::function<void()>&) {
    const std::optional<TunedValue> value = tunedValue(job.constant, job.bytes);
    return !value || value->count != 4;
  };
  std::string problem;
  try {
    Tuner().run(job, 0);
  } catch (const std::runtime_error& error) {
    problem = error.what();
  }
  REQUIRE(problem == "gpuopt.upload, 98304 bytes: wrong result with 4 threads, 16384 bytes");
}

TEST_CASE("All values that gpuopt-tune tries are allowed, and right", "[transfer]") {
  gpuopt::tune::Arrays arrays(400000);
  const TuningFolder folder;
  std::size_t count = 0;
  for (const auto& family : gpuopt::tune::families)
    for (const Job& job : jobsOf(family, arrays)) {
      CAPTURE(family.name, job.bytes);
      ++count;
      for (const TunedValue& value : job.values) REQUIRE(isAllowed(job.constant, value));
      if (job.bytes > 100 && job.bytes < 1000) continue;  // many blocks
      REQUIRE_FALSE(Tuner().run(job, 0).choice.empty());
    }
  REQUIRE(count == 6 + 6 + 12);
  const Job staging = gpuopt::tune::stagingJob(arrays, 17);
  REQUIRE_FALSE(Tuner().run(staging, 0).choice.empty());
  REQUIRE(gpuopt::loadTuning(folder.file("none.json")));
}

TEST_CASE("Jobs of gpuopt-tune notice a wrong result", "[transfer]") {
  gpuopt::tune::Arrays arrays(400000);
  for (const auto& family : gpuopt::tune::families) {
    const Job job = family.make(arrays, 16);
    CAPTURE(family.name);
    REQUIRE(job.isCorrect(job.call));
    REQUIRE_FALSE(job.isCorrect([] {}));
  }
}
