/// What a program or its environment can set: the order of the lanes, the number of worker threads, the
/// stacks.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#if defined(__SANITIZE_ADDRESS__)
#define GPUOPT_EMULATION_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GPUOPT_EMULATION_ASAN 1
#endif
#endif
#ifdef GPUOPT_EMULATION_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define GPUOPT_EMULATION_ASAN 0
#endif

namespace gpuopt::emulation {

/// Which of the lanes that can run runs next: the first, the last, or a random one.
enum class LaneOrder {
  forward,   ///< the first lane that can run
  backward,  ///< the last one
  random,    ///< any, as the seed says
};

/// Which of the blocks of a grid starts next.
enum class BlockOrder {
  byNumber,  ///< the next one, as on a GPU
  asLanes,   ///< as the order of the lanes says: CUDA promises no order
};

/// What happens where threads wait in a barrier or a warp collective, and others that it names have left the kernel.
enum class ExitedThreads {
  warning,  ///< a report, once a kernel; the others go on without them, as on GPUs since Volta
  error,    ///< a report, and the launch fails: CUDA does not promise that they go on
};

/// The order of the lanes, the seed of the random one, and the order of the blocks.
struct Schedule {
  LaneOrder order = LaneOrder::forward;      ///< which lane runs next
  std::uint64_t seed = 1;                    ///< of the random order
  BlockOrder blocks = BlockOrder::byNumber;  ///< which block starts next
};

namespace detail {

inline std::uint64_t environmentNumber(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr && *text != '\0' ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// GPUOPT_EMULATION_ORDER=forward|backward|random[:seed], followed by ,blocks if blocks are to follow it, too.
inline Schedule environmentSchedule() {
  const char* text = std::getenv("GPUOPT_EMULATION_ORDER");
  std::string order = text != nullptr ? text : "forward";
  BlockOrder blocks = BlockOrder::byNumber;
  if (const std::size_t comma = order.find(','); comma != std::string::npos && order.substr(comma) == ",blocks") {
    blocks = BlockOrder::asLanes;
    order.resize(comma);
  }
  if (order == "forward" || order.empty()) return {LaneOrder::forward, 1, blocks};
  if (order == "backward") return {LaneOrder::backward, 1, blocks};
  if (order == "random") return {LaneOrder::random, 1, blocks};
  if (order.rfind("random:", 0) == 0) return {LaneOrder::random, std::strtoull(order.c_str() + 7, nullptr, 10), blocks};
  std::fprintf(stderr,
               "gpuopt emulation: GPUOPT_EMULATION_ORDER=%s is none of forward, backward, random, random:SEED, "
               "alone or followed by ,blocks\n",
               text);
  std::abort();
}

/// GPUOPT_EMULATION_EXITED=warning|error
inline ExitedThreads environmentExitedThreads() {
  const char* text = std::getenv("GPUOPT_EMULATION_EXITED");
  const std::string answer = text != nullptr ? text : "";
  if (answer == "error") return ExitedThreads::error;
  if (answer == "warning" || answer.empty()) return ExitedThreads::warning;
  std::fprintf(stderr, "gpuopt emulation: GPUOPT_EMULATION_EXITED=%s is neither warning nor error\n", text);
  std::abort();
}

struct Settings {
  std::mutex mutex;
  Schedule schedule = environmentSchedule();
  std::atomic<ExitedThreads> exited{environmentExitedThreads()};
};

// Never destroyed, like all state of the emulation: destructors of static objects may still call the runtime.
inline Settings& settings() {
  static Settings* const instance = new Settings;
  return *instance;
}

/// GPUOPT_EMULATION_THREADS: worker threads, each of which runs whole blocks.
inline unsigned workerCount() {
  const unsigned processors = (std::max)(1u, std::thread::hardware_concurrency());
  return static_cast<unsigned>((std::max)(std::uint64_t{1}, environmentNumber("GPUOPT_EMULATION_THREADS", processors)));
}

/// GPUOPT_EMULATION_STACK: bytes of stack of one lane.
inline std::size_t stackBytes() {
  static const std::uint64_t bytes =
      environmentNumber("GPUOPT_EMULATION_STACK", GPUOPT_EMULATION_ASAN ? 256 * 1024 : 64 * 1024);
  return static_cast<std::size_t>((std::max)(bytes, std::uint64_t{16 * 1024}));
}

}  // namespace detail

/// Sets the order of the lanes, the `seed` of the random one, and the order of the blocks, for the launches that
/// follow, instead of the environment's.
inline void setLaneOrder(LaneOrder order, std::uint64_t seed = 1, BlockOrder blocks = BlockOrder::byNumber) {
  detail::Settings& settings = detail::settings();
  const std::lock_guard<std::mutex> lock(settings.mutex);
  settings.schedule = {order, seed, blocks};
}

/// Sets what happens where threads have left before a collective, instead of the environment.
///
/// \param answer a warning, after which the others go on as on GPUs since Volta, or an error
inline void setExitedThreads(ExitedThreads answer) { detail::settings().exited = answer; }

/// What is in force.
inline ExitedThreads exitedThreads() { return detail::settings().exited; }

/// The order in force.
inline Schedule schedule() {
  detail::Settings& settings = detail::settings();
  const std::lock_guard<std::mutex> lock(settings.mutex);
  return settings.schedule;
}

namespace detail {

/// The byte that fills unwritten memory. It differs by lane order so that running a test in all
/// three shows reads of it in sums (NaN), in maxima (3.4e38f, 2.1e9) and in minima (-1.7e38f, -1.7e7) alike.
inline unsigned char poisonByte(LaneOrder order) {
  switch (order) {
    case LaneOrder::backward:
      return 0x7F;
    case LaneOrder::random:
      return 0xFE;
    default:
      return 0xFF;
  }
}

}  // namespace detail

}  // namespace gpuopt::emulation
