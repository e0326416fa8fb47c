/// \file
/// Host memory in which kernels note the first failure of a team.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <mutex>
#include <vector>

GPUOPT_DETAIL_BEGIN

// Two words for each team. They are used again and never freed: cudaFreeHost waits for all devices of the process, also
// for kernels of other ranks, which wait for this one.
class FailureWordsPool {
 public:
  GPUOPT_HIDDEN static FailureWordsPool& instance() {
    static FailureWordsPool& pool = *new FailureWordsPool;
    return pool;
  }

  unsigned* acquire() {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.empty()) grow();
    unsigned* const words = free_.back();
    free_.pop_back();
    words[0] = words[1] = 0;
    return words;
  }

  void release(unsigned* words) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.push_back(words);  // does not allocate: grow() reserved the capacity
  }

 private:
  static constexpr std::size_t TEAMS = 64, LINE = 64 / sizeof(unsigned);

  void grow() {
    free_.reserve(teams_ + TEAMS);
    const RelaxedCapture relaxed;
    void* memory = nullptr;
    check(cudaHostAlloc(&memory, TEAMS * LINE * sizeof(unsigned), cudaHostAllocMapped | cudaHostAllocPortable),
          "cudaHostAlloc");
    for (std::size_t i = 0; i < TEAMS; ++i) free_.push_back(static_cast<unsigned*>(memory) + i * LINE);
    teams_ += TEAMS;
  }

  std::mutex mutex_;
  std::vector<unsigned*> free_;
  std::size_t teams_ = 0;
};

// The words of one team. After a failure a kernel may still write them: then no other team gets them.
class FailureWords {
 public:
  FailureWords() = default;
  FailureWords(const FailureWords&) = delete;
  FailureWords& operator=(const FailureWords&) = delete;
  ~FailureWords() {
    const volatile unsigned* const words = words_;
    if (words[0] == 0 && words[1] == 0) FailureWordsPool::instance().release(words_);
  }

  unsigned* get() const { return words_; }

 private:
  unsigned* const words_ = FailureWordsPool::instance().acquire();
};

GPUOPT_DETAIL_END
