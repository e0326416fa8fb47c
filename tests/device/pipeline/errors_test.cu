/// \file
/// Pipelines: files, and what is wrong with arguments, files and memory.
// SPDX-License-Identifier: MIT
#include "device/pipeline/pipeline_data.cuh"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

using namespace gpuopt::test;

namespace {

TEST_CASE("files pass through a pipeline", "[pipeline]") {
  const TemporaryFolder folder;
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, 3 * chunkNumbers, 17 * chunkNumbers + 5}) {
    const std::vector<Number> values = randomVector<Number>(n, 23);
    const std::string from = folder.write("from", values, 7), to = folder.file("to");
    gpuopt::Pipeline pipeline(smallChunks());
    const auto result = pipeline.run(gpuopt::fromFile<Number>(from, 7), copyChunk, gpuopt::toFile<Number>(to));
    CHECK(result.elements == n);
    CHECK(folder.read("to") == values);
  }
}

TEST_CASE("several threads read a file", "[pipeline]") {
  const TemporaryFolder folder;
  const std::vector<Number> values = randomVector<Number>(800001, 27);
  const std::string from = folder.write("from", values, 1);
  gpuopt::Pipeline().run(gpuopt::fromFile<Number>(from, 1), copyChunk, gpuopt::toFile<Number>(folder.file("to")));
  CHECK(folder.read("to") == values);
}

TEST_CASE("a pipe passes through a pipeline", "[pipeline]") {
  const TemporaryFolder folder;
  const std::vector<Number> values = randomVector<Number>(1001, 29);
  const std::string pipe = folder.file("pipe");
  const bool isWhole = GENERATE(true, false);
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] {
    std::ofstream stream(pipe, std::ios::binary);
    const std::size_t bytes = values.size() * sizeof(Number) - (isWhole ? 0 : 3);
    stream.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(bytes));
  });
  std::vector<Number> out(values.size());
  const auto run = [&] {
    gpuopt::Pipeline(smallChunks()).run(gpuopt::fromFile<Number>(pipe), copyChunk, gpuopt::toHost(out));
  };
  if (isWhole)
    run();
  else
    CHECK(messageOf<std::runtime_error>(run) ==
          "gpuopt::fromFile: " + pipe + ": ended after 4001 bytes, within an element");
  writer.join();
  if (isWhole) CHECK(out == values);
}

TEST_CASE("a file that becomes shorter is an error, not a signal", "[pipeline]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", randomVector<Number>(20 * chunkNumbers, 31));
  std::size_t chunks = 0;
  const auto work = [&](const NumberChunk& chunk) {
    if (++chunks == 4) std::filesystem::resize_file(file, 5 * chunkNumbers * sizeof(Number) + 2);
    copyChunk(chunk);
  };
  std::vector<Number> out(20 * chunkNumbers);
  CHECK(messageOf<std::runtime_error>([&] {
          gpuopt::Pipeline(smallChunks()).run(gpuopt::fromFile<Number>(file), work, gpuopt::toHost(out));
        }) == "gpuopt::fromFile: " + file + ": ended after 162 bytes that were read; it was longer when it was opened");
  CHECK(chunks == 5);
}

TEST_CASE("what is wrong with a file is said", "[pipeline]") {
  const TemporaryFolder folder;
  const std::string missing = folder.file("missing"), odd = folder.write("odd", {1, 2}, 3);
  CHECK(messageOf<std::system_error>([&] { static_cast<void>(gpuopt::fromFile<Number>(missing)); }) ==
        "gpuopt::fromFile: " + missing + ": cannot be opened: No such file or directory");
  CHECK(messageOf<std::system_error>([&] { static_cast<void>(gpuopt::toFile<Number>(folder.file("no/file"))); }) ==
        "gpuopt::toFile: " + folder.file("no/file") + ": cannot be opened: No such file or directory");
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(gpuopt::fromFile<Number>(odd)); }) ==
        "gpuopt::fromFile: " + odd + ": 11 bytes from byte 0 on are no multiple of 4, the size of an element");
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(gpuopt::fromFile<Number>(odd, 12)); }) ==
        "gpuopt::fromFile: " + odd + ": has 11 bytes, but is to be read from byte 12 on");
  CHECK(messageOf<std::system_error>([&] {
          static_cast<void>(
              gpuopt::Pipeline(smallChunks())
                  .run(gpuopt::fromHost(std::vector<Number>(100)), copyChunk, gpuopt::toFile<Number>("/dev/full")));
        }) == "gpuopt::toFile: /dev/full: cannot be written: No space left on device");
}

TEST_CASE("bad arguments are refused before anything is written", "[pipeline]") {
  std::vector<Number> in(5 * chunkNumbers, 1), out(4 * chunkNumbers, 2);
  gpuopt::Pipeline pipeline(smallChunks());
  const Number* const null = nullptr;
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(gpuopt::fromHost(null, 5)); }) ==
        "gpuopt::fromHost: data is null, but n is 5");
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(gpuopt::toHost(const_cast<Number*>(null), 5)); }) ==
        "gpuopt::toHost: data is null, but n is 5");
  // WRITTEN transfer: pipeline.run(gpuopt::fromHost(in, 40), work, gpuopt::toHost(out, 32))
  CHECK(messageOf<std::invalid_argument>([&] { pipeline.run(gpuopt::fromHost(in), copyChunk, gpuopt::toHost(out)); }) ==
        "gpuopt::Pipeline: the sink has room for 32 elements, but the source has 40 or more");
  CHECK(out == std::vector<Number>(out.size(), 2));
  const auto endless = [](Number*, std::size_t capacity) { return capacity; };
  CHECK(messageOf<std::invalid_argument>([&] {
          pipeline.run(gpuopt::fromCallback<Number>(endless), copyChunk, gpuopt::toHost(out));
        }) == "gpuopt::Pipeline: the sink has room for 32 elements, but the source has 40 or more");
  const auto tooMany = [](Number*, std::size_t capacity) { return capacity + 1; };
  CHECK(messageOf<std::invalid_argument>([&] {
          pipeline.run(gpuopt::fromCallback<Number>(tooMany), copyChunk, gpuopt::toHost(out));
        }) == "gpuopt::fromCallback: the callback returned 9 elements for a chunk of at most 8");
  const auto failed = [](Number*, std::size_t) { return static_cast<std::size_t>(-1); };
  CHECK(messageOf<std::invalid_argument>([&] {
          pipeline.run(gpuopt::fromCallback<Number>(failed), copyChunk, gpuopt::toHost(out));
        }) == "gpuopt::fromCallback: the callback returned -1 elements for a chunk of at most 8");
}

TEST_CASE("a sink that is too small for a source of unknown length has the chunks that fit", "[pipeline]") {
  std::vector<Number> out(4 * chunkNumbers + 3, 2), expected(4 * chunkNumbers, 1);
  expected.resize(out.size(), 2);
  const auto produce = [](Number* to, std::size_t capacity) { return std::fill(to, to + capacity, 1u), capacity; };
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::Pipeline(smallChunks(1)).run(gpuopt::fromCallback<Number>(produce), copyChunk, gpuopt::toHost(out));
        }) == "gpuopt::Pipeline: the sink has room for 35 elements, but the source has 40 or more");
  CHECK(out == expected);
}

TEST_CASE("chunks and slots that no memory can hold are refused", "[pipeline]") {
  const auto run = [](std::size_t chunkBytes, unsigned slots) {
    gpuopt::PipelineOptions options;
    options.chunkBytes = chunkBytes;
    options.slots = slots;
    const auto produce = [](Number*, std::size_t) -> std::size_t { throw std::logic_error("called"); };
    gpuopt::Pipeline(options).run(gpuopt::fromCallback<Number>(produce), copyChunk,
                                  gpuopt::toCallback<Number>([](const auto&...) {}));
  };
  const auto messageFor = [&](std::size_t chunkBytes, unsigned slots) {
    return messageOf<std::invalid_argument>([&] { run(chunkBytes, slots); });
  };
  CHECK(messageFor(static_cast<std::size_t>(-1), 0) == "gpuopt::Pipeline: options.chunkBytes (-1) is negative");
  CHECK(messageFor(std::size_t{1} << 62, 0) ==
        "gpuopt::Pipeline: 5 slots of 4611686018427387904 bytes are more than memory can hold");
  CHECK(messageFor(PTRDIFF_MAX, 1) ==
        "gpuopt::Pipeline: 1 slots of 9223372036854775807 bytes are more than memory can hold");
  CHECK(messageFor(0, static_cast<unsigned>(-1)) == "gpuopt::Pipeline: options.slots (-1) is negative");
  CHECK(contains(messageOf<std::runtime_error>([&] { run(std::size_t{1} << 60, 2); }), "exceed the capacity"));
}

TEST_CASE("one chunk may hold all of a known length", "[pipeline]") {
  const std::vector<Number> in = randomVector<Number>(100, 69);
  std::vector<Number> out(100);
  gpuopt::PipelineOptions options;
  options.chunkBytes = static_cast<std::size_t>(-1);
  CHECK(gpuopt::Pipeline(options).run(gpuopt::fromHost(in), copyChunk, gpuopt::toHost(out)).chunks == 1);
  CHECK(out == in);
}

TEST_CASE("arrays in the memory of a device are no ends of a pipeline", "[pipeline]") {
  DeviceArray<Number> device(std::vector<Number>(10, 3));
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(gpuopt::fromHost(device.data(), 10)); }) ==
        "gpuopt::fromHost: data is in the memory of a device: a pipeline takes arrays on the host");
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(gpuopt::toHost(device.data(), 10)); }) ==
        "gpuopt::toHost: data is in the memory of a device: a pipeline takes arrays on the host");
  // WRITTEN transfer: gpuopt::streamReduce(device, n)
  // DO: Call `gpuopt::reduce`, which takes memory of the device
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(gpuopt::streamReduce(device.data(), 10)); }) ==
        "gpuopt::streamReduce: host is in the memory of a device: a pipeline takes arrays on the host");
}

#ifndef GPUOPT_EMULATION

TEST_CASE("a pipeline cannot be captured, and says so", "[pipeline]") {
  const Stream stream;
  gpuopt::PipelineOptions options = smallChunks();
  options.after = stream;
  const std::vector<Number> in(100);
  std::vector<Number> out(100);
  gpuopt::Pipeline pipeline(options);
  gpuopt::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  const std::string text =
      messageOf<std::invalid_argument>([&] { pipeline.run(gpuopt::fromHost(in), copyChunk, gpuopt::toHost(out)); });
  cudaGraph_t graph = nullptr;
  gpuopt::check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");  // the capture is still valid
  gpuopt::check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  CHECK(text == "gpuopt::Pipeline: options.after is being captured: a pipeline waits, which a graph cannot");
}

#endif

TEST_CASE("a pipeline without its pinned memory says so, and runs when there is some", "[pipeline]") {
  const std::size_t before = gpuopt::pinnedCapacity();
  const std::vector<Number> in = randomVector<Number>(100, 37);
  std::vector<Number> out(100);
  gpuopt::Pipeline pipeline(smallChunks());
  const auto run = [&] { pipeline.run(gpuopt::fromHost(in), copyChunk, gpuopt::toHost(out)); };
  gpuopt::trimPinned();
  const std::size_t used = gpuopt::pinnedBytes();
  gpuopt::setPinnedCapacity(used);
  const std::string text = messageOf<std::runtime_error>(run);
  gpuopt::setPinnedCapacity(before);
  CHECK(contains(text, "bytes of pinned memory exceed the capacity"));
  run();
  CHECK(out == in);
}

}  // namespace
