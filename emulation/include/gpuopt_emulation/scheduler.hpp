/// Runs one block: every thread is a fiber that runs until it parks at a barrier or a warp collective, or
/// returns.
// SPDX-License-Identifier: MIT
#pragma once

#include "errors.hpp"
#include "lane.hpp"
#include "lane_queue.hpp"
#include "launch_state.hpp"
#include "limits.hpp"
#include "observer.hpp"
#include "report.hpp"
#include "shared_memory.hpp"
#include "stall.hpp"
#include "symbols.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

// As in fiber.hpp.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("O2")
#endif

namespace gpuopt::emulation::detail {

/// Whether nobody has asked for this kernel: there is one warning of each.
inline bool isFirstWarning(const void* kernel) {
  static std::mutex mutex;
  static auto* const told = new std::set<const void*>;
  const std::lock_guard<std::mutex> lock(mutex);
  return told->insert(kernel).second;
}

/// Thrown through the lanes of a block that has failed, to unwind them.
struct Unwind {};

/// One worker's lanes, which run block after block.
class Block {
 public:
  Block() : lanes_(new Lane[MAX_BLOCK_THREADS]) {}

  /// Runs one block of a launch to its end, or to its first fault, which it reports.
  void run(Launch& launch, std::uint64_t number) {
    begin(launch, number);
    for (int lane = pick(); lane >= 0; lane = pick()) step(lanes_[static_cast<unsigned>(lane)]);
    if (left_ < threads_ && !failed()) failStalled();
    if (failed()) unwind();
    currentLane = nullptr;
    if (observer_ != nullptr) observer_->end(failed());
    if (launch.barrier != nullptr) launch.barrier->leave();
  }

  /// Before the first block of a launch, and after the last one.
  void beginLaunch(const Launch& launch) {
    if (launch.observer != nullptr) observer_ = launch.observer->observeBlocks(launch);
  }
  void endLaunch() { observer_.reset(); }

  /// Called by a lane: takes part in an operation and returns the lane's result. Not inlined, as park().
  GPUOPT_EMULATION_HOT __noinline__ std::uint64_t collect(Lane& lane, const Request& request) {
    lane.request = request;
    if (observer_ != nullptr) observer_->wait(lane, *request.operation);
    park(lane, Lane::State::waiting);
    return lane.request.result;
  }

  /// Null unless the launch is cooperative.
  GridBarrier* gridBarrier() const { return launch_->barrier; }

  /// Called by a lane: lets the others run first.
  void yield(Lane& lane) { park(lane, Lane::State::yielded); }

  /// The same where no exception may pass. A lane of a block that has failed goes on to its next operation.
  void yieldQuietly(Lane& lane) {
    if (failed()) return;
    lane.state = Lane::State::yielded;
    lane.fiber->suspend();
  }

  /// Called by a lane: reports what it did wrong and ends the block.
  [[noreturn]] void failInLane(const Lane& lane, const std::string& what, Site site) {
    const Site user = userSite(site);
    fail("thread " + detail::text(lane.thread) + ", " + detail::text(user) + ": " + what, {user});
    throw Unwind{};
  }

  /// The same for an assertion.
  [[noreturn]] void failAssertion(const Lane& lane, const std::string& what, Site site) {
    if (!failed()) launch_->code = cudaErrorAssert;
    fail(what + ", thread " + detail::text(lane.thread), {site});
    throw Unwind{};
  }

  /// Called by a lane: keeps a launch for the time when the kernel has ended.
  void launchLater(std::function<cudaError_t()> run) {
    const std::lock_guard<std::mutex> lock(launch_->childrenMutex);
    launch_->children.push_back(std::move(run));
  }

  /// Called by a lane whose access ends the program: reports it.
  void crash(const Lane& lane, const std::string& what) {
    const Site site = callerOutsideLibraries({});
    const bool hasLine = *site.file != '\0';
    fail("thread " + detail::text(lane.thread) + (hasLine ? ", " + detail::text(site) : "") + ": " + what,
         hasLine ? std::vector<Site>{site} : std::vector<Site>{});
  }

 private:
  void begin(Launch& launch, std::uint64_t number) {
    launch_ = &launch;
    threads_ = launch.block.x * launch.block.y * launch.block.z;
    left_ = 0;
    waitingInBlock_ = 0;
    waitingInWarp_.fill(0);
    queue_.begin(threads_, launch.schedule, number);
    index_ = blockIndex(launch, number);
    for (unsigned i = 0; i < threads_; ++i) prepare(lanes_[i], i);
    shared_.poison(launch.kernel, launch.sharedBytes, poisonByte(launch.schedule.order));
    if (observer_ != nullptr) observer_->begin(launch, number, shared_, lanes_.get(), threads_);
    // The poison went over the built-in variables too.
    lastError = failedLaunch = cudaSuccess;
    blockIdx = index_;
    blockDim = launch.block;
    gridDim = launch.grid;
  }

  void prepare(Lane& lane, unsigned i) {
    const dim3 size = launch_->block;
    lane.block = this;
    lane.index = i;
    lane.thread = {i % size.x, i / size.x % size.y, i / (size.x * size.y)};
    lane.state = Lane::State::fresh;
    lane.trace = nullptr;
    if (!lane.fiber) lane.fiber.emplace([](void* argument) { runKernel(*static_cast<Lane*>(argument)); }, &lane);
  }

  static uint3 blockIndex(const Launch& launch, std::uint64_t number) {
    const std::uint64_t x = launch.grid.x, y = launch.grid.y;
    return {static_cast<unsigned>(number % x), static_cast<unsigned>(number / x % y),
            static_cast<unsigned>(number / (x * y))};
  }

  /// The lane's whole life.
  static void runKernel(Lane& lane) {
    Block& block = *lane.block;
    try {
      block.launch_->body(block.launch_->arguments);
    } catch (const Unwind&) {
    } catch (const std::exception& error) {
      block.fail("thread " + detail::text(lane.thread) + " threw an exception: " + error.what());
    } catch (...) {
      block.fail("thread " + detail::text(lane.thread) + " threw an exception");
    }
    lane.state = Lane::State::left;
  }

  /// The next lane to run, or -1.
  int pick() {
    if (failed()) return -1;
    if (queue_.isEmpty()) goOnWithoutLeft();
    return queue_.take();
  }

  void step(Lane& lane) {
    switchTo(lane);
    if (lane.fiber->overflowed()) overflow(lane);
    if (observer_ != nullptr) observer_->step(lane);
    switch (lane.state) {
      case Lane::State::left:
        ++left_;
        lane.request = {};  // it takes no part in what the others do
        break;
      case Lane::State::yielded:
        queue_.insertYielded(lane.index);
        break;
      default:
        arrive(lane);
    }
  }

  void switchTo(Lane& lane) {
    lane.state = Lane::State::running;
    threadIdx = lane.thread;
    currentLane = &lane;
    lane.fiber->resume();
  }

  // Not inlined: where programs are profiled, kernels are instrumented, and the switch of stacks must not be.
  __noinline__ void park(Lane& lane, Lane::State state) {
    if (failed()) throw Unwind{};
    lane.state = state;
    lane.fiber->suspend();
    if (asksForCallers_) {
      lane.request.site = userSite(lane.request.site);
      lane.fiber->suspend();
    }
    if (failed()) throw Unwind{};
  }

  void arrive(Lane& lane) {
    if (lane.request.operation->scope == Operation::Scope::block)
      arriveInBlock();
    else
      arriveInWarp(lane);
  }

  void arriveInBlock() {
    if (++waitingInBlock_ < threads_) return;
    completeInBlock();
  }

  /// Completes a barrier if all lanes that have not left wait at the same one.
  bool completeInBlock() {
    const Operation* operation = nullptr;
    bool isDivergent = false;
    for (unsigned i = 0; i < threads_; ++i) {
      if (lanes_[i].state == Lane::State::left) continue;
      if (operation == nullptr) operation = lanes_[i].request.operation;
      if (lanes_[i].request.operation != operation) return false;
      const Lane& first = lanes_[i / WARP_LANES * WARP_LANES];
      isDivergent |= first.state != Lane::State::left && first.request.site.line != lanes_[i].request.site.line;
    }
    if (isDivergent) warnOfLines();
    waitingInBlock_ = 0;
    if (observer_ != nullptr) observer_->meet(*operation, &lanes_[0], threads_);
    operation->complete(&lanes_[0], threads_);
    for (unsigned i = 0; i < threads_; ++i)
      if (lanes_[i].state != Lane::State::left) queue_.insert(i);
    return true;
  }

  /// A warp's lanes wait at several lines for one barrier: GPUs since Volta count them all, which CUDA does not
  /// promise.
  void warnOfLines() {
    if (!isFirstWarning(launch_->kernel)) return;
    const std::string what = askWhy();
    report("warning: " + describeLaunch() + ": threads of a warp wait at several lines for each other: " + what,
           {"warning", kernelName(launch_->kernel), waitingLines(lanes_.get(), threads_)});
  }

  /// Nobody can run, and some lanes have left: GPUs since Volta wait for the others alone, which CUDA does not promise.
  void goOnWithoutLeft() {
    if (left_ == 0 || left_ == threads_ || exitedThreads() == ExitedThreads::error) return;
    const std::string what = isFirstWarning(launch_->kernel) ? askWhy() : std::string();
    const std::vector<Site> lines = what.empty() ? std::vector<Site>{} : waitingLines(lanes_.get(), threads_);
    if ((left_ + waitingInBlock_ == threads_ && !needsAll() && completeInBlock()) || completeInWarps()) {
      if (!what.empty())
        report("warning: " + describeLaunch() +
                   ": threads have left before a collective; GPUs since Volta go on without "
                   "them, and so does this: " +
                   what,
               {"warning", kernelName(launch_->kernel), lines});
    }
  }

  bool needsAll() const {
    for (unsigned i = 0; i < threads_; ++i)
      if (lanes_[i].state != Lane::State::left) return lanes_[i].request.operation->needsAll;
    return false;
  }

  /// Completes the collectives of warps whose lanes have all come but for those that have left.
  bool completeInWarps() {
    bool any = false;
    for (unsigned warp = 0; warp * WARP_LANES < threads_; ++warp) {
      unsigned present = 0;
      forEachLane(presentLanes(warp), [&](unsigned i) {
        present |= lanes_[warp * WARP_LANES + i].state == Lane::State::left ? 0u : 1u << i;
      });
      unsigned waiting = waitingInWarp_[warp];
      while (waiting != 0) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(waiting));
        waiting &= ~completeInWarp(lanes_[warp * WARP_LANES + lane], present);
        any = any || (waitingInWarp_[warp] & 1u << lane) == 0;
        waiting &= ~(1u << lane);
      }
    }
    return any;
  }

  void arriveInWarp(const Lane& lane) {
    waitingInWarp_[lane.index / WARP_LANES] |= lane.bit();
    completeInWarp(lane, presentLanes(lane.index / WARP_LANES));
  }

  /// Completes the collective that a lane waits in if those of `present` have come that its mask names. Returns them.
  unsigned completeInWarp(const Lane& lane, unsigned present) {
    Lane* const first = &lanes_[lane.index - lane.inWarp()];
    unsigned& waiting = waitingInWarp_[lane.index / WARP_LANES];
    const unsigned participants = lane.request.mask & present;
    if ((waiting & participants) != participants) return 0;
    bool same = true;
    forEachLane(participants, [&](unsigned i) {
      const Request& other = first[i].request;
      same = same && other.operation == lane.request.operation && other.mask == lane.request.mask;
    });
    if (!same) return 0;
    waiting &= ~participants;
    if (observer_ != nullptr) observer_->meet(*lane.request.operation, first, participants);
    lane.request.operation->complete(first, participants);
    forEachLane(participants, [&](unsigned i) { queue_.insert(first[i].index); });
    return participants;
  }

  /// The lanes that a warp was launched with: the last one of a block may be short.
  unsigned presentLanes(unsigned warp) const {
    const unsigned lanes = threads_ - warp * WARP_LANES;
    return lanes >= WARP_LANES ? ~0u : (1u << lanes) - 1;
  }

  bool failed() const { return launch_->failed.load(std::memory_order_relaxed); }

  /// Ends the launch; its first fault is reported.
  void fail(const std::string& what, const std::vector<Site>& lines = {}) {
    if (launch_->failed.exchange(true)) return;
    report(describeLaunch() + ": " + what, {"error", kernelName(launch_->kernel), lines});
  }

  void failStalled() {
    const std::string what = askWhy();
    fail(what, waitingLines(lanes_.get(), threads_));
  }

  std::string describeLaunch() const {
    return "kernel " + kernelName(launch_->kernel) + ", grid " + detail::text(launch_->grid) + ", block size " +
           detail::text(launch_->block) + ", in block " + detail::text(index_);
  }

  /// Runs the destructors of all lanes that are under way.
  void unwind() {
    for (unsigned i = 0; i < threads_; ++i) {
      Lane& lane = lanes_[i];
      if (lane.state == Lane::State::waiting || lane.state == Lane::State::yielded) switchTo(lane);
    }
  }

  [[noreturn]] void overflow(const Lane& lane) {
    fail("thread " + detail::text(lane.thread) + " used more than " + std::to_string(stackBytes()) +
         " bytes of stack; set GPUOPT_EMULATION_STACK to more");
    std::abort();  // the memory below the stack is overwritten
  }

  /// Makes every lane that waits inside a library say where the user's code called it. A lane walks its own
  /// stack.
  void askForCallers() {
    asksForCallers_ = true;
    for (unsigned i = 0; i < threads_; ++i)
      if (lanes_[i].state == Lane::State::waiting && isLibraryFile(lanes_[i].request.site.file))
        lanes_[i].fiber->resume();
    asksForCallers_ = false;
  }

  /// Why no lane can run although not all have returned.
  std::string askWhy() {
    askForCallers();
    return describeStall(lanes_.get(), threads_);
  }

  std::unique_ptr<Lane[]> lanes_;
  SharedMemory shared_;
  std::unique_ptr<BlockObserver> observer_;
  Launch* launch_ = nullptr;
  uint3 index_{0, 0, 0};
  unsigned threads_ = 0;
  unsigned left_ = 0;
  bool asksForCallers_ = false;
  unsigned waitingInBlock_ = 0;
  std::array<unsigned, MAX_BLOCK_THREADS / WARP_LANES> waitingInWarp_{};
  LaneQueue queue_;
};

}  // namespace gpuopt::emulation::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif
