/// \file
/// Threads that help with work, and copies past the caches.
// SPDX-License-Identifier: MIT
#include "support/host_test.cuh"

#include <gpuopt/host/helper_threads.cuh>
#include <gpuopt/host/streaming_copy.cuh>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace host_test::helper_threads_test {

using gpuopt::detail::HelpedJob;
using gpuopt::detail::HelperThreads;

// Counts items, each of which one thread takes.
class Counting final : public HelpedJob {
 public:
  explicit Counting(unsigned items) : items_(items), taken_(items) {}

  void run() noexcept override {
    ++runs;
    for (unsigned i = next_++; i < items_; i = next_++) ++taken_[i];
    --atWork;
  }

  bool isComplete() const {
    for (const auto& count : taken_)
      if (count != 1) return false;
    return true;
  }

  std::atomic<unsigned> runs{0};
  std::atomic<int> atWork{0};

 private:
  unsigned items_;
  std::atomic<unsigned> next_{0};
  std::vector<std::atomic<unsigned>> taken_;
};

// Works until it is told to stop.
class Endless final : public HelpedJob {
 public:
  void run() noexcept override {
    ++runs;
    while (!stop) std::this_thread::yield();
  }

  std::atomic<bool> stop{false};
  std::atomic<int> runs{0};
};

inline void waitForRun(const Endless& job) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (job.runs == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

}  // namespace host_test::helper_threads_test

using namespace host_test::helper_threads_test;

TEST_CASE("Helpers and callers do every item once", "[host]") {
  const int failures = gpuopt::test::failuresAmongThreads(4, [](int t) {
    for (unsigned round = 0; round < 50; ++round) {
      Counting job(100 * round);
      HelperThreads::instance().invite(job, static_cast<unsigned>(t) * 3);
      job.run();
      HelperThreads::instance().finish(job);
      if (!job.isComplete() || job.runs > 1 + static_cast<unsigned>(t) * 3) return false;
    }
    return true;
  });
  REQUIRE(failures == 0);
}

TEST_CASE("A job comes to its end while all helpers are busy with another", "[host]") {
  Endless busy;
  HelperThreads::instance().invite(busy, 1000);
  waitForRun(busy);
  REQUIRE(busy.runs > 0);
  REQUIRE(static_cast<unsigned>(busy.runs) <= gpuopt::detail::coreCount());
  Counting job(1000);
  HelperThreads::instance().invite(job, 4);
  job.run();
  HelperThreads::instance().finish(job);  // withdraws the invitations
  REQUIRE(job.isComplete());
  const int before = busy.runs;
  busy.stop = true;
  HelperThreads::instance().finish(busy);
  REQUIRE(busy.runs >= before);
}

TEST_CASE("A child of fork() has helpers of its own, and ends", "[host]") {
  Counting ours(1000);
  HelperThreads::instance().invite(ours, 3);  // starts threads, which the child does not have
  ours.run();
  HelperThreads::instance().finish(ours);
  for (const bool isWorking : {false, true})
    for (int i = 0; i < 10; ++i) {
      std::fflush(nullptr);
      const pid_t child = fork();
      if (child == 0) {
        alarm(20);
        if (!isWorking) std::exit(0);
        Endless job;
        HelperThreads::instance().invite(job, 1);
        waitForRun(job);
        const bool isHelped = job.runs > 0;
        job.stop = true;
        HelperThreads::instance().finish(job);
        std::exit(isHelped ? 0 : 1);
      }
      int status = -1;
      REQUIRE(waitpid(child, &status, 0) == child);
      REQUIRE(status == 0);
    }
  Counting again(1000);
  HelperThreads::instance().invite(again, 3);
  again.run();
  HelperThreads::instance().finish(again);
  REQUIRE((ours.isComplete() && again.isComplete()));
}

TEST_CASE("Copies past the caches copy every byte and no other", "[host]") {
  for (std::size_t bytes = 0; bytes < 300; bytes += bytes < 140 ? 1 : 37)
    for (const std::size_t from : {0, 1, 16, 33})
      for (const std::size_t to : {0, 1, 31, 64}) {
        std::vector<unsigned char> source(bytes + 64), target(bytes + 192, 0xA5), expected(bytes + 192, 0xA5);
        for (std::size_t i = 0; i < bytes; ++i)
          expected[64 + to + i] = source[from + i] = static_cast<unsigned char>(i * 7 + 1);
        gpuopt::detail::copyStreaming(target.data() + 64 + to, source.data() + from, bytes);
        REQUIRE(target == expected);
      }
}
