/// A report for accesses that end the program, such as a gather by an index far beyond the array.
// SPDX-License-Identifier: MIT
#pragma once

#include "memory.hpp"
#include "report.hpp"
#include "scheduler.hpp"
#include "symbols.hpp"

#include <signal.h>

#include <cstdint>
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
  ::signal(signal, SIG_DFL);  // NOLINT: repeats the instruction, this time without a handler
  if (currentLane != nullptr) currentLane->block->crash(*currentLane, describeCrash(signal, info->si_addr));
}

/// Reports crashes while a kernel runs. AddressSanitizer has reports of its own.
class CrashReports {
 public:
#if GPUOPT_EMULATION_ASAN
  CrashReports() {}
  static void prepareThread() {}
#else
  CrashReports() {
    struct sigaction action {};
    action.sa_sigaction = reportCrash;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (int i = 0; i < COUNT; ++i) sigaction(SIGNALS[i], &action, &before_[i]);
  }
  ~CrashReports() {
    for (int i = 0; i < COUNT; ++i) sigaction(SIGNALS[i], &before_[i], nullptr);
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
  struct sigaction before_[COUNT] {};
};

}  // namespace gpuopt::emulation::detail
