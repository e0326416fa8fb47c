/// \file
/// A few threads that help with the work of the calling ones.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/integers.cuh>

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

GPUOPT_DETAIL_BEGIN

/// The processors of this machine. Counted once: the standard library reads a file of the system's each time.
GPUOPT_HIDDEN inline unsigned coreCount() {
  static const unsigned count = largerOf(std::thread::hardware_concurrency(), 1U);
  return count;
}

/// Work that several threads do together. run() divides it among those who call it, and throws nothing.
class HelpedJob {
 public:
  virtual void run() noexcept = 0;

 protected:
  ~HelpedJob() = default;

 private:
  friend class HelperThreads;
  unsigned invited_ = 0;              // helpers that are still to come
  std::atomic<unsigned> running_{0};  // helpers within run()
};

/// Threads that are started when they are first needed. Without work they sleep; they keep looking for the next job for
/// a moment after each, since waking up takes as long as the copy of a few hundred KiB. Nobody depends on them: whoever
/// has a job does what no helper is free for.
class HelperThreads {
 public:
  /// Those of this process: a child of fork() has none of its parent's threads, and starts its own. Never destroyed:
  /// destructors of static objects may still have jobs, which they then do alone.
  GPUOPT_HIDDEN static HelperThreads& instance() {
    static std::atomic<HelperThreads*> threads{nullptr};
    static const Joiner joiner{threads};
    HelperThreads* found = threads;
    while (found == nullptr || found->process_ != getpid()) {
      auto* made = new HelperThreads;
      if (threads.compare_exchange_strong(found, made)) return *made;
      delete made;
    }
    return *found;
  }

  /// Lets up to `count` helpers join a job, as they become free. Call finish() before the job's life ends.
  void invite(HelpedJob& job, unsigned count) {
    if (count == 0) return;
    unsigned toWake = 0;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (isStopped_) return;
      startThreads(count);
      job.invited_ = count;
      jobs_.push_back(&job);
      addPending(static_cast<int>(count));
      toWake = smallerOf(count, sleeping_);
    }
    for (; toWake > 0; --toWake) wake_.notify_one();  // without the lock, which those who wake up want
  }

  /// Withdraws the invitations that nobody has taken, and waits for the helpers who are at work.
  void finish(HelpedJob& job) noexcept {
    std::unique_lock<std::mutex> lock(mutex_);
    withdraw(job);
    if (job.running_ == 0) return;
    lock.unlock();
    spinWhile([&] { return job.running_.load(std::memory_order_relaxed) > 0; });
    lock.lock();
    done_.wait(lock, [&] { return job.running_ == 0; });
  }

 private:
  static constexpr std::chrono::microseconds spinTime{50};

  struct Joiner {
    const std::atomic<HelperThreads*>& threads;
    ~Joiner() {
      HelperThreads* found = threads;
      if (found != nullptr && found->process_ == getpid()) found->stop();
    }
  };

  template <class Condition>
  static void spinWhile(const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + spinTime;
    while (condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  }

  void addPending(int count) {
    pending_.store(pending_.load(std::memory_order_relaxed) + static_cast<unsigned>(count), std::memory_order_release);
  }

  /// So that `count` helpers can work at once, but no more than there are processors beside the caller's.
  void startThreads(unsigned count) {
    const unsigned maxCount = largerOf(coreCount() - 1, 1U);
    try {
      while (threads_.size() < smallerOf(count, maxCount)) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the system has no more: those that there are do it
    }
  }

  void withdraw(HelpedJob& job) {
    if (job.invited_ == 0) return;
    addPending(-static_cast<int>(job.invited_));
    job.invited_ = 0;
    std::size_t i = 0;
    while (jobs_[i] != &job) ++i;
    jobs_.erase(jobs_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  HelpedJob& takeInvitation() {
    HelpedJob& job = *jobs_.front();
    addPending(-1);
    if (--job.invited_ == 0) jobs_.erase(jobs_.begin());
    ++job.running_;
    return job;
  }

  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!isStopped_) {
      if (jobs_.empty()) {
        ++sleeping_;
        wake_.wait(lock, [this] { return isStopped_ || !jobs_.empty(); });
        --sleeping_;
        continue;
      }
      HelpedJob& job = takeInvitation();
      lock.unlock();
      job.run();
      lock.lock();
      if (--job.running_ == 0) done_.notify_all();
      lock.unlock();
      spinWhile([this] { return pending_.load(std::memory_order_acquire) == 0; });
      lock.lock();
    }
  }

  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      isStopped_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  const pid_t process_ = getpid();
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<HelpedJob*> jobs_;  // with invitations
  std::vector<std::thread> threads_;
  std::atomic<unsigned> pending_{0};  // invitations, for those who look without the lock
  unsigned sleeping_ = 0;
  bool isStopped_ = false;
};

GPUOPT_DETAIL_END
