/// \file
/// Rings of frames: each frame once and in order, policies, ends, exceptions on either side, latency.
// SPDX-License-Identifier: MIT
#include "device/pipeline/pipeline_data.cuh"

#include <gpuopt/transfer_frames.cuh>

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace gpuopt::test;
using gpuopt::check;

namespace {

constexpr std::size_t PIXELS = 37;

using Ring = gpuopt::FrameRing<Number, Number>;
using Task = gpuopt::FrameTask<Number, Number>;
using Result = gpuopt::Frame<Number>;

// Work without a kernel, for ThreadSanitizer.
void copyFrame(const Task& task) {
  check(cudaMemcpyAsync(task.out, task.in, PIXELS * sizeof(Number), cudaMemcpyDefault, task.stream), "cudaMemcpyAsync");
}

Number pixelOf(std::size_t frame, std::size_t i) { return static_cast<Number>(frame * 1000 + i); }

void fillFrame(Number* frame, std::size_t number) {
  for (std::size_t i = 0; i < PIXELS; ++i) frame[i] = pixelOf(number, i);
}

bool isFrame(const Number* data, std::size_t number) {
  for (std::size_t i = 0; i < PIXELS; ++i)
    if (data[i] != pixelOf(number, i)) return false;
  return true;
}

gpuopt::FrameOptions optionsOf(std::size_t slots, bool isMapped, bool drops = false) {
  gpuopt::FrameOptions options;
  options.slots = slots;
  options.transfer = isMapped ? gpuopt::FrameTransfer::mapped : gpuopt::FrameTransfer::copy;
  options.policy = drops ? gpuopt::FramePolicy::dropOldest : gpuopt::FramePolicy::wait;
  return options;
}

// Passes on the frame before, and keeps this one.
void giveBefore(const Task& task, DeviceArray<Number>& before) {
  constexpr std::size_t BYTES = PIXELS * sizeof(Number);
  check(cudaMemcpyAsync(task.out, before.data(), BYTES, cudaMemcpyDeviceToDevice, task.stream), "cudaMemcpyAsync");
  check(cudaMemcpyAsync(before.data(), task.in, BYTES, cudaMemcpyDeviceToDevice, task.stream), "cudaMemcpyAsync");
}

TEST_CASE("a ring passes every frame on once, in order", "[frames]") {
  const std::size_t slots = GENERATE(std::size_t{2}, std::size_t{3}, std::size_t{5});
  const bool isMapped = GENERATE(false, true);
  constexpr std::size_t FRAMES = 200;
  CAPTURE(slots, isMapped);
  Ring ring(PIXELS, PIXELS, copyFrame, optionsOf(slots, isMapped));
  std::size_t produced = 0, consumed = 0, wrong = 0;
  ring.run(
      [&](Number* frame) {
        if (produced == FRAMES) return false;
        fillFrame(frame, produced++);
        return true;
      },
      [&](const Result& frame) {
        wrong += frame.number != consumed || !isFrame(frame.data, consumed) || frame.latency.count() < 0;
        ++consumed;
      });
  CHECK(consumed == FRAMES);
  CHECK(wrong == 0);
  const gpuopt::FrameStatistics statistics = ring.statistics();
  CHECK(statistics.produced == FRAMES);
  CHECK(statistics.consumed == FRAMES);
  CHECK(statistics.dropped == 0);
  CHECK(statistics.latency.count() == FRAMES);
}

TEST_CASE("a producer that waits loses nothing, one that drops keeps the latest", "[frames]") {
  const bool drops = GENERATE(false, true);
  constexpr std::size_t SLOTS = 3, FRAMES = 20;
  Ring ring(PIXELS, PIXELS, copyFrame, optionsOf(SLOTS, false, drops));
  const auto produce = [&] {
    for (std::size_t number = 0; number < FRAMES; ++number) {
      Number* const frame = ring.acquire();
      if (frame == nullptr) return number;
      fillFrame(frame, number);
      ring.submit();
    }
    ring.close();
    return FRAMES;
  };
  std::vector<std::size_t> numbers;
  bool isRight = true;
  const auto consume = [&] {
    while (const Result frame = ring.next()) {
      isRight = isRight && isFrame(frame.data, frame.number);
      numbers.push_back(frame.number);
    }
  };
  if (drops) {  // nobody consumes until the end
    CHECK(produce() == FRAMES);
    consume();
    CHECK(numbers == std::vector<std::size_t>{17, 18, 19});
    CHECK(ring.statistics().dropped == 17);
  } else {
    std::thread producer(produce);
    consume();
    producer.join();
    CHECK(numbers.size() == FRAMES);
  }
  CHECK(isRight);
  CHECK(ring.statistics().consumed + ring.statistics().dropped == FRAMES);
}

TEST_CASE("a producer that tries for a slot gets one if it is free, and never waits", "[frames]") {
  const bool isMapped = GENERATE(false, true);
  Ring ring(PIXELS, PIXELS, copyFrame, optionsOf(2, isMapped));
  const auto produce = [&](std::size_t number) {
    Number* const frame = ring.tryAcquire();
    if (frame == nullptr) return false;
    CHECK(ring.tryAcquire() == frame);  // the same until it is submitted
    CHECK(ring.acquire() == frame);
    fillFrame(frame, number);
    ring.submit();
    return true;
  };
  CHECK(produce(0));
  CHECK(produce(1));
  CHECK_FALSE(produce(2));  // both slots are taken, and nobody consumes
  CHECK(isFrame(ring.next().data, 0));
  CHECK_FALSE(produce(2));  // the consumer holds frame 0
  CHECK(isFrame(ring.next().data, 1));
  CHECK(produce(2));
  CHECK(isFrame(ring.next().data, 2));
  CHECK(ring.statistics().produced == 3);
  CHECK(ring.statistics().dropped == 0);
  ring.close();
  CHECK(ring.tryAcquire() == nullptr);
  CHECK_FALSE(ring.next());
}

TEST_CASE("a slot whose dropped frame is still on the device is not given to who tries", "[frames]") {
  Ring ring(PIXELS, PIXELS, copyFrame, optionsOf(2, false, true));
  std::size_t given = 0;
  for (std::size_t number = 0; number < 50; ++number) {
    Number* frame = ring.tryAcquire();
    if (frame == nullptr)
      frame = ring.acquire();
    else
      ++given;
    REQUIRE(frame != nullptr);
    fillFrame(frame, number);
    ring.submit();
  }
  CHECK(given >= 3);  // those of the slots that were never used, at least
  ring.close();
  std::vector<std::size_t> numbers;
  while (const Result frame = ring.next()) {
    CHECK(isFrame(frame.data, frame.number));
    numbers.push_back(frame.number);
  }
  CHECK(numbers == std::vector<std::size_t>{48, 49});
}

TEST_CASE("a frame that the consumer holds is not dropped", "[frames]") {
  Ring ring(PIXELS, PIXELS, copyFrame, optionsOf(2, false, true));
  const auto produce = [&](std::size_t number) {
    Number* const frame = ring.acquire();
    REQUIRE(frame != nullptr);
    fillFrame(frame, number);
    ring.submit();
  };
  produce(0);
  const Result held = ring.next();
  for (std::size_t number = 1; number < 10; ++number) produce(number);
  CHECK(held.number == 0);
  CHECK(isFrame(held.data, 0));
  CHECK(ring.next().number == 9);
  ring.close();
  CHECK_FALSE(ring.next());
  CHECK(ring.acquire() == nullptr);
}

TEST_CASE("no frame is dropped for one that never comes", "[frames]") {
  const std::size_t slots = GENERATE(std::size_t{2}, std::size_t{3});
  const bool isHeld = GENERATE(false, true), throws = GENERATE(false, true);
  CAPTURE(slots, isHeld, throws);
  Ring ring(PIXELS, PIXELS, copyFrame, optionsOf(slots, false, true));
  const auto produce = [&](std::size_t number) {
    fillFrame(ring.acquire(), number);
    ring.submit();
  };
  produce(0);
  const Result held = isHeld ? ring.next() : Result{};
  for (std::size_t number = 1; number < slots; ++number) produce(number);
  REQUIRE(ring.acquire() != nullptr);  // for the next frame
  CHECK(ring.statistics().dropped == 0);
  ring.close(throws ? std::make_exception_ptr(std::length_error("thrown by the producer")) : nullptr);
  if (isHeld) CHECK(isFrame(held.data, 0));
  for (std::size_t number = isHeld ? 1 : 0; number < slots; ++number) {
    const Result frame = ring.next();
    REQUIRE(frame.data != nullptr);
    CHECK(frame.number == number);
    CHECK(isFrame(frame.data, number));
  }
  if (throws)
    CHECK(messageOf<std::length_error>([&] { static_cast<void>(ring.next()); }) == "thrown by the producer");
  else
    CHECK_FALSE(ring.next());
  CHECK(ring.statistics().dropped == 0);
}

TEST_CASE("what either side of a ring throws reaches the caller", "[frames]") {
  const int thrower = GENERATE(0, 1, 2);
  const bool isMapped = GENERATE(false, true);
  std::size_t produced = 0, consumed = 0;
  const auto maybe = [&](int who, std::size_t number) {
    if (who == thrower && number == 11) throw std::length_error("thrown by " + std::to_string(who));
  };
  Ring ring(
      PIXELS, PIXELS,
      [&](const Task& task) {
        maybe(2, task.number);
        copyFrame(task);
      },
      optionsOf(3, isMapped));
  const auto produce = [&](Number* frame) {
    maybe(0, produced);
    fillFrame(frame, produced++);
    return true;
  };
  const auto consume = [&](const Result& frame) {
    maybe(1, frame.number);
    if (isFrame(frame.data, consumed)) ++consumed;
  };
  CHECK(messageOf<std::length_error>([&] { ring.run(produce, consume); }) == "thrown by " + std::to_string(thrower));
  CHECK(consumed == 11);  // those before
}

TEST_CASE("a consumer that has enough ends a run", "[frames]") {
  Ring ring(PIXELS, PIXELS, copyFrame, optionsOf(3, false));
  std::size_t produced = 0;
  ring.run([&](Number* frame) { return fillFrame(frame, produced++), true; },
           [&](const Result& frame) { return frame.number < 5; });
  CHECK(ring.statistics().consumed == 6);
}

TEST_CASE("closing wakes both sides", "[frames]") {
  Ring ring(PIXELS, PIXELS, copyFrame, optionsOf(2, false));
  std::thread consumer([&] { CHECK_FALSE(ring.next()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ring.close();
  consumer.join();
  Ring full(PIXELS, PIXELS, copyFrame, optionsOf(2, false));
  std::thread producer([&] {
    while (full.acquire() != nullptr) full.submit();
  });
  while (full.statistics().produced < 2) std::this_thread::yield();
  full.close();
  producer.join();
  CHECK(full.statistics().produced == 2);
  CHECK(full.next());
  CHECK(full.next());
  CHECK_FALSE(full.next());
}

TEST_CASE("the work of a frame sees what the frame before left", "[frames]") {
  DeviceArray<Number> before(std::vector<Number>(PIXELS, 7));
  Ring ring(
      PIXELS, PIXELS, [&](const Task& task) { giveBefore(task, before); }, optionsOf(3, false));
  std::size_t produced = 0, wrong = 0;
  ring.run([&](Number* frame) { return fillFrame(frame, produced), produced++ < 50; },
           [&](const Result& frame) {
             wrong += frame.number == 0 ? frame.data[PIXELS - 1] != 7 : !isFrame(frame.data, frame.number - 1);
           });
  CHECK(wrong == 0);
}

TEST_CASE("the work of a frame follows that of the frame before, whatever is waited for first", "[frames]") {
  DeviceArray<Number> before(std::vector<Number>(PIXELS, 7));
  cudaStream_t last = nullptr;
  Ring ring(
      PIXELS, PIXELS,
      [&](const Task& task) {
        giveBefore(task, before);
        last = task.stream;
      },
      optionsOf(3, false));
  for (std::size_t number = 0; number < 3; ++number) {
    fillFrame(ring.acquire(), number);
    ring.submit();
  }
  check(cudaStreamSynchronize(last), "cudaStreamSynchronize");
  CHECK(ring.next().data[0] == 7);
  CHECK(isFrame(ring.next().data, 0));
  CHECK(isFrame(ring.next().data, 1));
}

TEST_CASE("a frame that is dropped is not overwritten while the device works on it", "[frames]") {
  constexpr std::size_t FRAMES = 12;
  DeviceArray<Number> all(FRAMES * PIXELS);
  Ring ring(
      PIXELS, PIXELS,
      [&](const Task& task) {
        check(cudaMemcpyAsync(all.data() + task.number * PIXELS, task.in, PIXELS * sizeof(Number), cudaMemcpyDefault,
                              task.stream),
              "cudaMemcpyAsync");
        copyFrame(task);
      },
      optionsOf(3, GENERATE(false, true), true));
  for (std::size_t number = 0; number < FRAMES; ++number) {
    fillFrame(ring.acquire(), number);
    ring.submit();
  }
  const std::vector<Number> found = all.toHost();
  for (std::size_t number = 0; number < FRAMES; ++number) CHECK(isFrame(found.data() + number * PIXELS, number));
}

TEST_CASE("what is wrong with a ring is said", "[frames]") {
  CHECK(messageOf<std::invalid_argument>([] { Ring(PIXELS, PIXELS, copyFrame, optionsOf(1, false)); }) ==
        "gpuopt::FrameRing: slots is 1, but 2 or more are needed");
  CHECK(messageOf<std::invalid_argument>([] { Ring(PIXELS, 0, copyFrame); }) ==
        "gpuopt::FrameRing: a frame of 37 elements has 0 results: both must be 1 or more");
  CHECK(messageOf<std::invalid_argument>([] {
          Ring(PIXELS, PIXELS, copyFrame, optionsOf(static_cast<std::size_t>(-1), false));
        }) == "gpuopt::FrameRing: slots (-1) is negative");
  CHECK(messageOf<std::invalid_argument>([] { Ring(static_cast<std::size_t>(-1), 1, copyFrame); }) ==
        "gpuopt::FrameRing: inCount (-1) is negative");
  const bool isMapped = GENERATE(false, true);
  CHECK(messageOf<std::invalid_argument>([=] { Ring(std::size_t{1} << 60, 1, copyFrame, optionsOf(16, isMapped)); }) ==
        "gpuopt::FrameRing: 16 slots of 4611686018427388160 bytes are more than memory can hold");
  constexpr std::size_t MOST = PTRDIFF_MAX / sizeof(Number);
  CHECK(messageOf<std::invalid_argument>([=] { Ring(MOST, MOST, copyFrame, optionsOf(2, isMapped)); }) ==
        "gpuopt::FrameRing: 2 slots of 9223372036854775807 bytes are more than memory can hold");
  CHECK(
      contains(messageOf<std::runtime_error>([=] { Ring(1, 1, copyFrame, optionsOf(std::size_t{1} << 40, isMapped)); }),
               "exceed the capacity"));
  Ring ring(PIXELS, PIXELS, copyFrame);
  // WRITTEN transfer: ring.submit() without ring.acquire()
  CHECK(messageOf<std::invalid_argument>([&] { ring.submit(); }) ==
        "gpuopt::FrameRing: submit() without a frame of acquire()");
}

TEST_CASE("percentiles are right within 3 %", "[frames]") {
  gpuopt::FrameLatency latency;
  CHECK(latency.percentile(0.5).count() == 0);
  for (long long i = 1; i <= 100000; ++i) latency.add(std::chrono::nanoseconds(i * 10));
  for (const double share : {0.001, 0.5, 0.9, 0.999, 1.0}) {
    const double exact = share * 1000000, found = static_cast<double>(latency.percentile(share).count());
    CHECK(found >= exact);
    CHECK(found <= 1.032 * exact);
  }
  for (const double share : {-0.1, 99.9, std::nan("")})
    CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(latency.percentile(share)); }) ==
          "gpuopt::FrameLatency::percentile: share is not between 0 and 1");
  CHECK(latency.longest().count() == 1000000);
  CHECK(latency.percentile(1).count() == 1000000);
  gpuopt::FrameLatency few;
  for (const long long time : {0LL, 31LL, 32LL, 63LL, 64LL, 1LL << 62}) few.add(std::chrono::nanoseconds(time));
  CHECK(few.percentile(0.01).count() == 0);
  CHECK(few.percentile(0.5).count() == 32);
  CHECK(few.percentile(0.8).count() == 65);
  CHECK(few.longest().count() == 1LL << 62);
}

}  // namespace
