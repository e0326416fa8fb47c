/// \file
/// Host memory in which kernels note the first failure of a team.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/mapped_slots.cuh>

GPUOPT_DETAIL_BEGIN

// Two words for each team, which are used again and never freed: cudaFreeHost waits for all devices of the process,
// also for kernels of other ranks, which wait for this one.
GPUOPT_HIDDEN inline MappedSlots& failureSlots() {
  static MappedSlots& slots = *new MappedSlots(64, 64);
  return slots;
}

// The words of one team. After a failure a kernel may still write them: then no other team gets them.
class FailureWords {
 public:
  FailureWords() { words_[0] = words_[1] = 0; }
  FailureWords(const FailureWords&) = delete;
  FailureWords& operator=(const FailureWords&) = delete;
  ~FailureWords() {
    const volatile unsigned* const words = words_;
    if (words[0] == 0 && words[1] == 0) failureSlots().release(reinterpret_cast<unsigned char*>(words_));
  }

  unsigned* get() const { return words_; }

 private:
  unsigned* const words_ = reinterpret_cast<unsigned*>(failureSlots().acquire());
};

GPUOPT_DETAIL_END
