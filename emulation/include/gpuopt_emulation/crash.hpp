/// A report for accesses that end the program, such as a gather by an index far beyond the array.
// SPDX-License-Identifier: MIT
#pragma once

#include "memory.hpp"
#include "report.hpp"
#include "scheduler.hpp"
#include "symbols.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <sstream>
#include <string>

namespace gpuopt::emulation::detail {

inline std::string describeCrash(int signal, const void* address) {
  if (signal == SIGFPE) return "divides an integer by zero";
  if (reinterpret_cast<std::uintptr_t>(address) < 4096) return "accesses a null pointer";
  std::ostringstream out;
  out << "accesses address " << address << memory().describeNeighbour(address);
  return out.str();
}

/// Names kernel, block, thread and, if there is a backtrace, the line; then the program ends as it would have. Not
/// async-signal-safe, which is no loss in a kernel that has crashed.
inline void reportCrash(int signal, siginfo_t* info, void*) {
  static std::atomic<bool> isReporting{false};
  while (isReporting.exchange(true)) pause();  // another worker reports its crash, which ends the program
  if (currentLane != nullptr) currentLane->block->crash(*currentLane, describeCrash(signal, info->si_addr));
  ::signal(signal, SIG_DFL);  // NOLINT: repeats the instruction, this time without a handler
}

/// Reports crashes while a kernel runs. AddressSanitizer has reports of its own.
class CrashReports {
 public:
#if GPUOPT_EMULATION_ASAN
  CrashReports() {}
  static void prepareThread() {}
#else
  CrashReports() {
    State& state = shared();
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (state.launches++ > 0) return;
    struct sigaction action {};
    action.sa_sigaction = reportCrash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int i = 0; i < COUNT; ++i) sigaction(SIGNALS[i], &action, &state.before[i]);
  }
  ~CrashReports() {
    State& state = shared();
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (--state.launches > 0) return;
    for (int i = 0; i < COUNT; ++i) sigaction(SIGNALS[i], &state.before[i], nullptr);
  }

  /// Gives the calling worker a stack for the report: a lane's may be too small. It is never freed, as the worker.
  static void prepareThread() {
    constexpr std::size_t BYTES = 256 * 1024;
    stack_t stack{};
    stack.ss_sp = new unsigned char[BYTES];
    stack.ss_size = BYTES;
    sigaltstack(&stack, nullptr);
  }
#endif
  CrashReports(const CrashReports&) = delete;
  CrashReports& operator=(const CrashReports&) = delete;

 private:
  static constexpr int COUNT = 3;
  static constexpr int SIGNALS[COUNT] = {SIGSEGV, SIGBUS, SIGFPE};

  /// Kernels of several devices may run at the same time: the first one sets the handlers, the last one restores them.
  struct State {
    std::mutex mutex;
    int launches = 0;
    struct sigaction before[COUNT] {};
  };
  static State& shared() {
    static State* const state = new State;
    return *state;
  }
};

}  // namespace gpuopt::emulation::detail
