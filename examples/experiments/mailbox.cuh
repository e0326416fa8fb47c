/// \file
/// A mailbox in the host's memory, mapped: the host asks a kernel, and the kernel answers.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"
#include "host_memory.cuh"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <future>
#include <vector>

namespace experiments {

/// Waits until the word differs from `last`. The word is the message: that it has changed says that it is there, and no
/// order of several words needs a fence.
__host__ __device__ inline unsigned awaitChange(const volatile unsigned* word, unsigned last) {
  unsigned now = *word;
  while (now == last) now = *word;
  return now;
}

/// One thread answers `questions` of them, each by the number after it.
__global__ void answerQuestions(const volatile unsigned* question, volatile unsigned* answer, unsigned questions) {
  unsigned last = 0;
  for (unsigned i = 0; i < questions; ++i) {
    last = awaitChange(question, last);
    *answer = last + 1;
  }
}

/// What a question and its answer take, and whether all answers were right.
struct RoundTrips {
  double seconds;
  bool isRight;
};

/// The two words, each on a line of its own.
class Mailbox {
 public:
  Mailbox() : question_(HostMemory::mapped, 128), answer_(HostMemory::mapped, 128) {}

  /// Each question is a launch, and the host waits for its end.
  RoundTrips launchAndSynchronize(unsigned questions) {
    empty();
    return ask(questions, [this](unsigned question) {
      *askedWord() = question;
      launchAnswers(1);
      gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
      return *answeredWord();
    });
  }

  /// Each question is a launch, and the host waits for the word that the kernel writes.
  RoundTrips launchAndWatch(unsigned questions) {
    empty();
    const RoundTrips trips = ask(questions, [this](unsigned question) {
      *askedWord() = question;
      launchAnswers(1);
      return awaitChange(answeredWord(), question - 1);
    });
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return trips;
  }

  /// One kernel answers all questions. The host asks them in a thread of its own: the emulated device runs a kernel
  /// while it is launched.
  RoundTrips askRunningKernel(unsigned questions) {
    empty();
    auto trips = std::async(std::launch::async, [this, questions] {
      return ask(questions, [this](unsigned question) {
        *askedWord() = question;
        return awaitChange(answeredWord(), question - 1);
      });
    });
    launchAnswers(questions);
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    return trips.get();
  }

 private:
  volatile unsigned* askedWord() const { return question_.as<volatile unsigned>(); }
  volatile unsigned* answeredWord() const { return answer_.as<volatile unsigned>(); }

  void empty() {
    *askedWord() = 0;
    *answeredWord() = 1;
  }

  void launchAnswers(unsigned questions) {
    gpuopt::launch(answerQuestions, gridFor(1, 1), question_.onDevice<unsigned>(), answer_.onDevice<unsigned>(),
                   questions);
  }

  /// Asks 2, 4, 6, ...; the median time of an answer.
  template <class Ask>
  RoundTrips ask(unsigned questions, const Ask& answerOf) {
    using Clock = std::chrono::steady_clock;
    RoundTrips trips{0, true};
    std::vector<double> seconds(questions);
    for (unsigned i = 0; i < questions; ++i) {
      const auto start = Clock::now();
      trips.isRight = answerOf(2 * i + 2) == 2 * i + 3 && trips.isRight;
      seconds[i] = std::chrono::duration<double>(Clock::now() - start).count();
    }
    std::sort(seconds.begin(), seconds.end());
    trips.seconds = seconds[seconds.size() / 2];
    return trips;
  }

  HostBuffer question_, answer_;
};

}  // namespace experiments
