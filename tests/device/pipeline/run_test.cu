/// \file
/// Pipelines: every chunk boundary, every kind of end, callbacks, progress, cancellation, several at once.
// SPDX-License-Identifier: MIT
#include "device/pipeline/pipeline_data.cuh"

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace gpuopt::test;
using gpuopt::check;

namespace {

constexpr std::size_t C = chunkNumbers;

TEST_CASE("a pipeline passes every byte on, whatever the chunks and the memory", "[pipeline]") {
  const bool isInPinned = GENERATE(false, true), isOutPinned = GENERATE(false, true);
  const unsigned slots = GENERATE(0u, 1u, 2u, 3u);
  gpuopt::Pipeline pipeline(smallChunks(slots));
  for (const std::size_t n : {std::size_t{1}, C - 1, C, C + 1, 2 * C, 3 * C - 1, 3 * C, 3 * C + 1, 6 * C + 1, 20 * C}) {
    CAPTURE(isInPinned, isOutPinned, slots, n);
    const std::vector<Number> values = randomVector<Number>(n, 7);
    HostNumbers in(values, isInPinned), out(n, isOutPinned);
    std::size_t next = 0, index = 0;
    const auto work = [&](const NumberChunk& chunk) {
      CHECK(chunk.first == next);
      CHECK(chunk.index == index++);
      CHECK(chunk.count == std::min(C, n - next));
      next += chunk.count;
      copyChunk(chunk);
    };
    const gpuopt::PipelineResult result =
        pipeline.run(gpuopt::fromHost(in.data(), n), work, gpuopt::toHost(out.data(), n));
    CHECK(out.values() == values);
    CHECK(in.values() == values);
    CHECK(result.elements == n);
    CHECK(result.chunks == (n + C - 1) / C);
    CHECK_FALSE(result.isCancelled);
  }
}

TEST_CASE("several threads copy a chunk", "[pipeline]") {
  using gpuopt::detail::stagingPiece;
  for (const std::size_t bytes : {stagingPiece - 4, stagingPiece, stagingPiece + 4, 11 * stagingPiece + 4}) {
    const std::vector<Number> values = randomVector<Number>(bytes / sizeof(Number), 9);
    const HostNumbers in(values, false);
    HostNumbers out(values.size(), false);
    gpuopt::Pipeline().run(gpuopt::fromHost(in.data(), in.size()), copyChunk, gpuopt::toHost(out.data(), out.size()));
    CHECK(out.values() == values);
  }
}

TEST_CASE("a pipeline of nothing calls nobody but the source", "[pipeline]") {
  const auto never = [](const auto&...) { FAIL("called"); };
  gpuopt::PipelineOptions options = smallChunks();
  options.progress = [](std::size_t, std::size_t) -> bool { throw std::logic_error("called"); };
  gpuopt::Pipeline pipeline(options);
  const Number* const none = nullptr;
  Number* const nowhere = nullptr;
  CHECK(pipeline.run(gpuopt::fromHost(none, 0), never, gpuopt::toHost(nowhere, 0)).chunks == 0);
  CHECK(pipeline.run(gpuopt::fromHost(std::vector<Number>{}), never).elements == 0);
  const auto produce = [](Number*, std::size_t) { return std::size_t{0}; };
  CHECK(pipeline.run(gpuopt::fromCallback<Number>(produce), never, gpuopt::toCallback<Number>(never)).chunks == 0);
}

TEST_CASE("elements at the ends may be of any two sizes", "[pipeline]") {
  const std::size_t n = 100;
  const std::vector<std::uint16_t> values = randomVector<std::uint16_t>(n, 3);
  std::vector<std::uint64_t> out(n, 1);
  gpuopt::Pipeline pipeline(smallChunks());
  std::size_t most = 0;
  const auto work = [&](const gpuopt::PipelineChunk<std::uint16_t, std::uint64_t>& chunk) {
    most = std::max(most, chunk.count);
    check(cudaMemsetAsync(chunk.out, 0, chunk.count * 8, chunk.stream), "cudaMemsetAsync");
    check(cudaMemcpy2DAsync(chunk.out, 8, chunk.in, 2, 2, chunk.count, cudaMemcpyDeviceToDevice, chunk.stream),
          "cudaMemcpy2DAsync");
  };
  pipeline.run(gpuopt::fromHost(values), work, gpuopt::toHost(out));
  CHECK(most == 4);  // 35 bytes hold 4 of the larger
  for (std::size_t i = 0; i < n; ++i) CHECK(out[i] == values[i]);
}

// Writes numbers from 0 on, now a few and now as many as there is room for.
struct Producer {
  std::size_t n, next = 0, calls = 0;
  std::size_t operator()(Number* to, std::size_t capacity) {
    const std::size_t count = std::min(n - next, ++calls % 3 == 0 ? capacity : 1 + calls % capacity);
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<Number>(next++);
    return count;
  }
};

TEST_CASE("callbacks produce and consume each element once, in order", "[pipeline]") {
  const std::size_t n = 1000;
  std::vector<Number> found;
  gpuopt::Pipeline pipeline(smallChunks());
  const auto consume = [&](const Number* from, std::size_t count) { found.insert(found.end(), from, from + count); };
  const auto result =
      pipeline.run(gpuopt::fromCallback<Number>(Producer{n}), copyChunk, gpuopt::toCallback<Number>(consume));
  REQUIRE(found.size() == n);
  for (std::size_t i = 0; i < n; ++i) CHECK(found[i] == i);
  CHECK(result.elements == n);
}

TEST_CASE("the work may keep its results on the device", "[pipeline]") {
  const std::size_t n = 10 * C + 3;
  const std::vector<Number> values = randomVector<Number>(n, 5);
  DeviceArray<Number> all(n);
  gpuopt::Pipeline pipeline(smallChunks());
  pipeline.run(gpuopt::fromHost(values), [&](const gpuopt::PipelineChunk<Number>& chunk) {
    CHECK(chunk.out == nullptr);
    check(cudaMemcpyAsync(all.data() + chunk.first, chunk.in, chunk.count * sizeof(Number), cudaMemcpyDeviceToDevice,
                          chunk.stream),
          "cudaMemcpyAsync");
  });
  CHECK(all.toHost() == values);
}

TEST_CASE("progress is reported as it is made, up to the end", "[pipeline]") {
  const std::size_t n = 9 * C + 1;
  const std::vector<Number> values = randomVector<Number>(n, 5);
  std::vector<Number> out(n);
  std::vector<std::size_t> steps;
  gpuopt::PipelineOptions options = smallChunks();
  std::size_t length = n;
  options.progress = [&](std::size_t done, std::size_t all) {
    CHECK(all == length);
    CHECK((steps.empty() || steps.back() < done));
    steps.push_back(done);
    return true;
  };
  gpuopt::Pipeline pipeline(options);
  pipeline.run(gpuopt::fromHost(values), copyChunk, gpuopt::toHost(out));
  REQUIRE_FALSE(steps.empty());
  CHECK(steps.back() == n);
  steps.clear();
  length = 0;  // unknown
  pipeline.run(gpuopt::fromCallback<Number>(Producer{n}), copyChunk, gpuopt::toHost(out));
  CHECK(steps.back() == n);
}

TEST_CASE("what is cancelled is complete as far as it says", "[pipeline]") {
  const std::size_t n = 50 * C;
  const std::vector<Number> values = randomVector<Number>(n, 11);
  const bool isPinned = GENERATE(false, true);
  const int way = GENERATE(0, 1);
  HostNumbers out(std::vector<Number>(n, 0), isPinned);
  std::atomic<bool> cancel{false};
  gpuopt::PipelineOptions options = smallChunks();
  options.cancel = &cancel;
  options.progress = [&](std::size_t done, std::size_t) { return way == 1 || done < 10 * C; };
  const auto work = [&](const NumberChunk& chunk) {
    copyChunk(chunk);
    if (way == 1 && chunk.index == 12) cancel = true;
  };
  const auto result = gpuopt::Pipeline(options).run(gpuopt::fromHost(values), work, gpuopt::toHost(out.data(), n));
  CHECK(result.isCancelled);
  CHECK(result.elements >= 10 * C);
  CHECK(result.elements <= 30 * C);
  CHECK(result.elements == result.chunks * C);
  std::vector<Number> expected(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(result.elements));
  expected.resize(n, 0);
  CHECK(out.values() == expected);
}

TEST_CASE("a sink that says no ends the run, and is not called again", "[pipeline]") {
  const std::vector<Number> values = randomVector<Number>(50 * C, 11);
  std::size_t calls = 0;
  const auto consume = [&](const Number*, std::size_t) { return ++calls < 7; };
  const auto result =
      gpuopt::Pipeline(smallChunks()).run(gpuopt::fromHost(values), copyChunk, gpuopt::toCallback<Number>(consume));
  CHECK(calls == 7);
  CHECK(result.isCancelled);
  CHECK(result.chunks == 6);
}

TEST_CASE("what a callback throws reaches the caller, and the pipeline can run again", "[pipeline]") {
  const std::size_t n = 30 * C;
  const std::vector<Number> values = randomVector<Number>(n, 13);
  const int thrower = GENERATE(0, 1, 2, 3);
  const bool isLast = GENERATE(false, true);
  const std::size_t when = isLast ? 30 : 5;
  std::size_t calls = 0;
  const auto maybe = [&](int who) {
    if (who == thrower && ++calls == when) throw std::length_error("thrown by " + std::to_string(who));
  };
  gpuopt::PipelineOptions options = smallChunks();
  options.progress = [&](std::size_t, std::size_t) { return maybe(3), true; };
  gpuopt::Pipeline pipeline(options);
  std::vector<Number> found;
  const auto run = [&] {
    std::size_t next = 0;
    found.clear();
    const auto produce = [&](Number* to, std::size_t) {
      maybe(0);
      if (next == n) return std::size_t{0};
      for (std::size_t i = 0; i < C; ++i) to[i] = values[next++];
      return C;
    };
    const auto consume = [&](const Number* from, std::size_t count) {
      maybe(1);
      found.insert(found.end(), from, from + count);
    };
    const auto work = [&](const NumberChunk& chunk) {
      maybe(2);
      copyChunk(chunk);
    };
    pipeline.run(gpuopt::fromCallback<Number>(produce), work, gpuopt::toCallback<Number>(consume));
  };
  CAPTURE(thrower, when);
  if (thrower == 3 && isLast) return;  // progress may come for several chunks at once
  CHECK(messageOf<std::length_error>(run) == "thrown by " + std::to_string(thrower));
  CHECK(std::equal(found.begin(), found.end(), values.begin()));
  CHECK(found.size() <= n);
  run();
  CHECK(found == values);
}

TEST_CASE("what has thrown leaves nothing queued", "[pipeline]") {
  const bool isWork = GENERATE(false, true);
  const HostNumbers in(randomVector<Number>(10 * C, 19), true);
  HostNumbers out(10 * C, true);
  gpuopt::PipelineOptions options = smallChunks(5);
  options.progress = [&](std::size_t, std::size_t) -> bool { throw std::length_error("thrown by progress"); };
  const auto work = [&](const NumberChunk& chunk) {
    copyChunk(chunk);
    if (isWork && chunk.index == 3) throw std::length_error("thrown by work");
  };
  const std::string text = messageOf<std::length_error>([&] {
    gpuopt::Pipeline(options).run(gpuopt::fromHost(in.data(), in.size()), work, gpuopt::toHost(out.data(), out.size()));
  });
  CHECK(text == (isWork ? "thrown by work" : "thrown by progress"));
  const std::vector<Number> poison(out.size(), 1);
  std::copy(poison.begin(), poison.end(), out.data());
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  CHECK(out.values() == poison);
}

TEST_CASE("several pipelines run at once", "[pipeline]") {
  const auto work = [](int number) {
    const std::size_t n = 40 * C + static_cast<std::size_t>(number);
    const std::vector<Number> values = randomVector<Number>(n, static_cast<unsigned>(number));
    std::vector<Number> out(n);
    gpuopt::Pipeline pipeline(smallChunks());
    for (int run = 0; run < 3; ++run) pipeline.run(gpuopt::fromHost(values), copyChunk, gpuopt::toHost(out));
    return out == values;
  };
  CHECK(failuresAmongThreads(4, work) == 0);
}

TEST_CASE("streams can be the caller's, and one for all", "[pipeline]") {
  const Stream stream;
  const gpuopt::PipelineStreams streams{stream, stream, stream};
  gpuopt::PipelineOptions options = smallChunks();
  options.streams = &streams;
  const std::vector<Number> values = randomVector<Number>(5 * C + 1, 17);
  std::vector<Number> out(values.size());
  gpuopt::Pipeline(options).run(
      gpuopt::fromHost(values),
      [&](const NumberChunk& chunk) {
        CHECK(chunk.stream == static_cast<cudaStream_t>(stream));
        copyChunk(chunk);
      },
      gpuopt::toHost(out));
  CHECK(out == values);
}

TEST_CASE("the work waits for what the caller queued before", "[pipeline]") {
  const Stream stream;
  gpuopt::PipelineOptions options = smallChunks();
  options.after = stream;
  DeviceArray<Number> table(1);
  const gpuopt::PinnedVector<Number> one(1, 4711);
  check(cudaMemcpyAsync(table.data(), one.data(), sizeof(Number), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  const std::vector<Number> values(1);
  std::vector<Number> out(1);
  gpuopt::Pipeline(options).run(
      gpuopt::fromHost(values),
      [&](const NumberChunk& chunk) {
        check(cudaMemcpyAsync(chunk.out, table.data(), sizeof(Number), cudaMemcpyDeviceToDevice, chunk.stream),
              "cudaMemcpyAsync");
      },
      gpuopt::toHost(out));
  CHECK(out[0] == 4711);
}

TEST_CASE("short data has shorter chunks", "[pipeline]") {
  using gpuopt::detail::chunkBytesFor;
  constexpr std::size_t MIB = 1 << 20;
  CHECK(chunkBytesFor(0, false) == 2 * MIB);
  CHECK(chunkBytesFor(32 * MIB, false) == 2 * MIB);
  CHECK(chunkBytesFor(32 * MIB + 16, false) == 4 * MIB);
  CHECK(chunkBytesFor(128 * MIB, false) == 8 * MIB);
  CHECK(chunkBytesFor(256 * MIB, false) == 16 * MIB);
  CHECK(chunkBytesFor(std::size_t{1} << 40, false) == 16 * MIB);
  CHECK(chunkBytesFor(gpuopt::detail::unknownLength, false) == 16 * MIB);
  CHECK(chunkBytesFor(128 * MIB, true) == 4 * MIB);
  CHECK(chunkBytesFor(256 * MIB, true) == 4 * MIB);
  CHECK(chunkBytesFor(gpuopt::detail::unknownLength, true) == 4 * MIB);
}

}  // namespace
