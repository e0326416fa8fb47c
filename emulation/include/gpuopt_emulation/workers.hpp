/// The threads that run blocks, and the launch of a kernel on them.
// SPDX-License-Identifier: MIT
#pragma once

#include "crash.hpp"
#include "scheduler.hpp"
#include "wide_integers.hpp"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

namespace gpuopt::emulation::detail {

/// The position in the grid of the i-th block to start.
inline std::uint64_t blockNumber(const Launch& launch, std::uint64_t i) {
  if (launch.schedule.blocks == BlockOrder::byNumber) return i;
  switch (launch.schedule.order) {
    case LaneOrder::backward:
      return launch.blocks - 1 - i;
    case LaneOrder::random: {
      std::uint64_t step = (launch.schedule.seed * 0x9E3779B97F4A7C15u >> 33) % launch.blocks;
      while (std::gcd(step, launch.blocks) != 1) ++step;  // then i * step passes through every block once
      return static_cast<std::uint64_t>((static_cast<WideUnsigned>(i) * step + launch.schedule.seed) % launch.blocks);
    }
    default:
      return i;
  }
}

/// The workers of one kernel at a time.
class Workers {
 public:
  /// Runs a launch to its end, on workers that are idle: kernels of several devices and streams run at the same time if
  /// several host threads launch them, unless somebody observes them who takes one at a time.
  GPUOPT_EMULATION_HOT static void run(Launch& launch) {
    static std::mutex* const observed = new std::mutex;
    std::unique_lock<std::mutex> oneAtATime(*observed, std::defer_lock);
    if (launch.observer != nullptr && launch.observer->takesTurns()) oneAtATime.lock();
    std::unique_lock<std::mutex> turn;
    idle(turn).runAlone(launch);
  }

 private:
  /// Workers that nobody else uses until the lock is gone.
  static Workers& idle(std::unique_lock<std::mutex>& turn) {
    static std::mutex* const mutex = new std::mutex;
    static auto* const all = new std::deque<Workers*>;
    const std::lock_guard<std::mutex> lock(*mutex);
    for (Workers* const workers : *all)
      if (turn = std::unique_lock<std::mutex>(workers->launches_, std::try_to_lock); turn.owns_lock()) return *workers;
    all->push_back(new Workers(workerCount()));
    turn = std::unique_lock<std::mutex>(all->back()->launches_);
    return *all->back();
  }

  void runAlone(Launch& launch) {
    const CrashReports crashReports;
    std::unique_lock<std::mutex> lock(mutex_);
    addWorkers(workersOf(launch));
    launch_ = &launch;
    running_ = static_cast<unsigned>((std::min)(launch.blocks, workersOf(launch)));
    toStart_ = running_;
    for (unsigned i = 0; i < running_; ++i) wake_.notify_one();
    done_.wait(lock, [this] { return running_ == 0; });
    if (launch.observer != nullptr) launch.observer->end(launch);
  }

  explicit Workers(unsigned count) : count_(count) { addWorkers((std::max)(count_, 2u)); }

  void addWorkers(std::uint64_t count) {
    // Detached: they sleep until the process is gone, and what they use is never destroyed.
    while (blocks_.size() < count) {
      // Each thread is given its block: looking it up would race with the vector's growth.
      Block& block = *blocks_.emplace_back(std::make_unique<Block>());
      std::thread([this, &block] { work(block); }).detach();
    }
  }

  /// Where blocks start in any order, the last one may start first and wait for the others, as it does in reductions.
  /// In a cooperative launch all blocks wait for each other.
  std::uint64_t workersOf(const Launch& launch) const {
    if (launch.barrier != nullptr) return launch.blocks;
    return launch.schedule.blocks == BlockOrder::byNumber ? count_ : (std::max)(count_, 2u);
  }

  [[noreturn]] GPUOPT_EMULATION_HOT void work(Block& block) {
    CrashReports::prepareThread();
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return toStart_ > 0; });
      --toStart_;
      Launch& launch = *launch_;
      lock.unlock();
      block.beginLaunch(launch);
      while (!launch.failed) {
        const std::uint64_t next = launch.nextBlock.fetch_add(1, std::memory_order_relaxed);
        if (next >= launch.blocks) break;
        block.run(launch, blockNumber(launch, next));
      }
      block.endLaunch();
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  const unsigned count_;
  std::vector<std::unique_ptr<Block>> blocks_;
  std::mutex launches_, mutex_;
  std::condition_variable wake_, done_;
  Launch* launch_ = nullptr;
  unsigned toStart_ = 0;
  unsigned running_ = 0;
};

}  // namespace gpuopt::emulation::detail
