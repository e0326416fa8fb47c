/// \file
/// Files of pipelines: one that is source and sink, pipes and other files without a length, folders.
// SPDX-License-Identifier: MIT
#include "device/pipeline/pipeline_data.cuh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

using namespace gpuopt::test;

namespace {

std::string bytesOf(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// A pipe with these bytes, while `use` runs with its name.
void withPipe(const TemporaryFolder& folder, const std::string& bytes,
              const std::function<void(const std::string&)>& use) {
  const std::string pipe = folder.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << bytes; });
  use(pipe);
  writer.join();
  REQUIRE(::unlink(pipe.c_str()) == 0);
}

std::string readThroughPipeline(const std::string& file, std::size_t begin = 0) {
  std::string found;
  const auto copy = [](const gpuopt::PipelineChunk<char, char>& chunk) {
    gpuopt::check(cudaMemcpyAsync(chunk.out, chunk.in, chunk.count, cudaMemcpyDeviceToDevice, chunk.stream),
                  "cudaMemcpyAsync");
  };
  gpuopt::Pipeline(smallChunks())
      .run(gpuopt::fromFile<char>(file, begin), copy,
           gpuopt::toCallback<char>([&](const char* from, std::size_t count) { found.append(from, count); }));
  return found;
}

TEST_CASE("a file that is source and sink is refused, under any of its names, and kept", "[pipeline]") {
  const TemporaryFolder folder;
  const std::vector<Number> values = randomVector<Number>(3 * chunkNumbers, 61);
  const std::string file = folder.write("file", values), other = folder.file("other");
  const int name = GENERATE(0, 1, 2, 3);
  if (name == 1) REQUIRE(::symlink("file", other.c_str()) == 0);
  if (name == 2) REQUIRE(::link(file.c_str(), other.c_str()) == 0);
  const std::string sink = name == 0 ? file : name == 3 ? folder.file("./file") : other;
  gpuopt::Pipeline pipeline(smallChunks());
  std::string text = messageOf<std::invalid_argument>(
      [&] { pipeline.run(gpuopt::fromFile<Number>(file), copyChunk, gpuopt::toFile<Number>(sink)); });
  REQUIRE(contains(text, sink));
  text.replace(text.find(sink), sink.size(), 1, 'x');
  // WRITTEN transfer: gpuopt::streamTransform(gpuopt::fromFile<T>("x"), gpuopt::toFile<T>("x"), f)
  CHECK(text ==
        "gpuopt::toFile: x: is the file that the source reads, and would be emptied first: write to another file, and "
        "rename that");
  CHECK(folder.read("file") == values);
}

TEST_CASE("a file is emptied when its run begins, and not before", "[pipeline]") {
  const TemporaryFolder folder;
  const std::vector<Number> before = randomVector<Number>(100, 63), values = randomVector<Number>(10, 65);
  const std::string to = folder.write("to", before);
  static_cast<void>(gpuopt::toFile<Number>(to));
  CHECK(folder.read("to") == before);
  gpuopt::PipelineOptions bad = smallChunks();
  bad.slots = static_cast<unsigned>(-1);
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::Pipeline(bad).run(gpuopt::fromHost(values), copyChunk, gpuopt::toFile<Number>(to));
        }) == "gpuopt::Pipeline: options.slots (-1) is negative");
  CHECK(folder.read("to") == before);
  gpuopt::Pipeline(smallChunks()).run(gpuopt::fromHost(values), copyChunk, gpuopt::toFile<Number>(to));
  CHECK(folder.read("to") == values);
  gpuopt::Pipeline(smallChunks()).run(gpuopt::fromHost(std::vector<Number>{}), copyChunk, gpuopt::toFile<Number>(to));
  CHECK(folder.read("to").empty());
}

TEST_CASE("the bytes of a pipe before its elements are left out", "[pipeline]") {
  const TemporaryFolder folder;
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * 7);
  for (const std::size_t begin : {0, 4, 35, 36, 200, 999, 1000})
    withPipe(folder, bytes, [&](const std::string& pipe) {
      CAPTURE(begin);
      CHECK(readThroughPipeline(pipe, begin) == bytes.substr(begin));
    });
  withPipe(folder, "abc", [&](const std::string& pipe) {
    CHECK(messageOf<std::runtime_error>([&] { readThroughPipeline(pipe, 4); }) ==
          "gpuopt::fromFile: " + pipe + ": ended after 3 bytes, but is to be read from byte 4 on");
  });
  CHECK(messageOf<std::invalid_argument>([&] {
          static_cast<void>(gpuopt::fromFile<char>("/dev/null", static_cast<std::size_t>(-4)));
        }) == "gpuopt::fromFile: begin (-4) is negative");
}

TEST_CASE("a file whose length the system does not know is read to its end", "[pipeline]") {
  struct stat status {};
  if (::stat("/proc/version", &status) != 0 || status.st_size != 0) {
    WARN("skipped: there is no such file here");
    return;
  }
  const std::string text = bytesOf("/proc/version");
  REQUIRE_FALSE(text.empty());
  CHECK(readThroughPipeline("/proc/version") == text);
  CHECK(readThroughPipeline("/proc/version", 40) == text.substr(40));
}

TEST_CASE("an empty file has no elements", "[pipeline]") {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", {});
  CHECK(gpuopt::fromFile<char>(file).length() == 0);
  CHECK(readThroughPipeline(file).empty());
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(gpuopt::fromFile<char>(file, 1)); }) ==
        "gpuopt::fromFile: " + file + ": has 0 bytes, but is to be read from byte 1 on");
}

TEST_CASE("some of the elements of a file or pipe are read", "[pipeline]") {
  const TemporaryFolder folder;
  const std::vector<Number> values = randomVector<Number>(3 * chunkNumbers, 67);
  const std::string file = folder.write("file", values), to = folder.file("to");
  const auto copied = [&](const std::string& from, std::size_t begin, std::size_t n) {
    gpuopt::Pipeline(smallChunks())
        .run(gpuopt::fromFile<Number>(from, begin, n), copyChunk, gpuopt::toFile<Number>(to));
    return folder.read("to");
  };
  const auto part = [&](std::size_t first, std::size_t n) {
    return std::vector<Number>(values.begin() + static_cast<std::ptrdiff_t>(first),
                               values.begin() + static_cast<std::ptrdiff_t>(first + n));
  };
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, chunkNumbers, 2 * chunkNumbers + 5}) {
    CAPTURE(n);
    CHECK(copied(file, 3 * sizeof(Number), n) == part(3, n));
    withPipe(folder, bytesOf(file), [&](const std::string& pipe) { CHECK(copied(pipe, 0, n) == part(0, n)); });
  }
  const std::string text = messageOf<std::invalid_argument>([&] { copied(file, 4, values.size()); });
  CHECK(text == "gpuopt::fromFile: " + file + ": " + std::to_string(sizeof(Number) * values.size() - 4) +
                    " bytes from byte 4 on are fewer than n (" + std::to_string(values.size()) + ") elements of " +
                    std::to_string(sizeof(Number)) + " bytes");
  withPipe(folder, std::string(2 * sizeof(Number), 'x'), [&](const std::string& pipe) {
    CHECK(messageOf<std::runtime_error>([&] { copied(pipe, 0, 5); }) ==
          "gpuopt::fromFile: " + pipe + ": ended after 2 elements, 3 too early");
  });
}

TEST_CASE("a file is read past the cache from any byte on, of any length", "[pipeline]") {
  const TemporaryFolder folder;
  const std::size_t before = GENERATE(std::size_t{0}, std::size_t{4}, std::size_t{4096}, std::size_t{5000});
  const std::size_t n = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{1024}, 3 * chunkNumbers, 700001);
  CAPTURE(before, n);
  const std::vector<Number> values = randomVector<Number>(n, 71);
  const std::string file = folder.write("file", values, before), to = folder.file("to");
  for (const std::size_t chunk : {std::size_t{4096}, std::size_t{1} << 20, std::size_t{36}}) {
    if (chunk == 36 && n > 5000) continue;
    gpuopt::PipelineOptions options;
    options.chunkBytes = chunk;
    gpuopt::Pipeline(options).run(gpuopt::fromFile<Number>(file, gpuopt::FileCache::bypassed, before), copyChunk,
                                  gpuopt::toFile<Number>(to));
    CHECK(folder.read("to") == values);
  }
  CHECK(gpuopt::fromFile<Number>(file, gpuopt::FileCache::used, before).whyCached().empty());
  const std::size_t half = n / 2;
  gpuopt::Pipeline().run(gpuopt::fromFile<Number>(file, gpuopt::FileCache::bypassed, before, half), copyChunk,
                         gpuopt::toFile<Number>(to));
  CHECK(folder.read("to") == std::vector<Number>(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half)));
}

TEST_CASE("bytes that are read past the cache are those of the file, at every address", "[pipeline]") {
  const TemporaryFolder folder;
  const std::vector<Number> values = randomVector<Number>(250000, 73);
  const std::string file = folder.write("file", values), all = bytesOf(file);
  const int plain = ::open(file.c_str(), O_RDONLY);
  REQUIRE(plain >= 0);
  const gpuopt::detail::DirectFile direct(file, plain), none;
  std::string to(all.size() + 8192, 'x');
  for (const gpuopt::detail::DirectFile* const reader : {&direct, &none})
    for (const std::size_t offset : {0, 1, 4096})
      for (const std::size_t at :
           {std::size_t{0}, std::size_t{1}, std::size_t{4096}, all.size() - 5000, all.size() - 1})
        for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{5000}, all.size()}) {
          CAPTURE(reader == &direct, offset, at, bytes);
          char* const aligned = to.data() + (4096 - reinterpret_cast<std::uintptr_t>(to.data()) % 4096) % 4096 + offset;
          std::size_t done = 0;
          std::fill(to.begin(), to.end(), 'x');
          const std::size_t expected = std::min(bytes, all.size() - at);
          while (done < expected) {
            const ssize_t more = reader->read(plain, aligned + done, bytes - done, at + done);
            REQUIRE(more > 0);
            done += static_cast<std::size_t>(more);
          }
          CHECK(done == expected);
          CHECK(std::memcmp(aligned, all.data() + at, expected) == 0);
          CHECK(aligned[bytes] == 'x');
        }
  CHECK(direct.read(plain, to.data(), 100, all.size()) == 0);
  CHECK(direct.read(plain, to.data(), 100, all.size() + 5000) == 0);
  ::close(plain);
}

TEST_CASE("what refuses reads past the cache is read through it, and says why", "[pipeline]") {
  const TemporaryFolder folder;
  withPipe(folder, "abcdefgh", [&](const std::string& pipe) {
    auto source = gpuopt::fromFile<char>(pipe, gpuopt::FileCache::bypassed, 2);
    CHECK(source.whyCached() == pipe + ": is no regular file, and read as it is");
    std::string found;
    gpuopt::Pipeline().run(
        std::move(source),
        [](const gpuopt::PipelineChunk<char, char>& chunk) {
          gpuopt::check(cudaMemcpyAsync(chunk.out, chunk.in, chunk.count, cudaMemcpyDeviceToDevice, chunk.stream),
                        "cudaMemcpyAsync");
        },
        gpuopt::toCallback<char>([&](const char* from, std::size_t count) { found.append(from, count); }));
    CHECK(found == "cdefgh");
  });
  if (::access("/proc/version", R_OK) == 0)
    CHECK(gpuopt::fromFile<char>("/proc/version", gpuopt::FileCache::bypassed).whyCached() ==
          "/proc/version: its file system refuses reads past the page cache: Invalid argument");
  CHECK(messageOf<std::system_error>([&] {
          static_cast<void>(gpuopt::fromFile<char>(folder.file("none"), gpuopt::FileCache::bypassed));
        }) == "gpuopt::fromFile: " + folder.file("none") + ": cannot be opened: No such file or directory");
}

TEST_CASE("results go to a place in a file, or to its end", "[pipeline]") {
  const TemporaryFolder folder;
  const std::string to = folder.file("to");
  const auto write = [&](const std::string& text, auto sink) {
    const auto copy = [](const gpuopt::PipelineChunk<char, char>& chunk) {
      gpuopt::check(cudaMemcpyAsync(chunk.out, chunk.in, chunk.count, cudaMemcpyDeviceToDevice, chunk.stream),
                    "cudaMemcpyAsync");
    };
    gpuopt::Pipeline(smallChunks()).run(gpuopt::fromHost(text.data(), text.size()), copy, std::move(sink));
  };
  write("0123456789", gpuopt::toEndOfFile<char>(to));  // makes it
  write("abc", gpuopt::toFile<char>(to, 4));
  CHECK(bytesOf(to) == "0123abc789");
  write("xyz", gpuopt::toEndOfFile<char>(to));
  CHECK(bytesOf(to) == "0123abc789xyz");
  write("end", gpuopt::toFile<char>(to, 15));
  CHECK(bytesOf(to) == std::string("0123abc789xyz\0\0end", 18));
  // WRITTEN transfer: toEndOfFile<T>("x"), where the source reads x
  const std::string text = messageOf<std::invalid_argument>([&] {
    gpuopt::Pipeline(smallChunks())
        .run(
            gpuopt::fromFile<char>(to), [](const auto&) {}, gpuopt::toEndOfFile<char>(to));
  });
  CHECK(text == "gpuopt::toEndOfFile: " + to +
                    ": is the file that the source reads: write to another file, and rename "
                    "that");
}

TEST_CASE("descriptors of open files are used, and stay open", "[pipeline]") {
  const TemporaryFolder folder;
  const std::vector<Number> values = randomVector<Number>(2 * chunkNumbers, 69);
  const std::string from = folder.write("from", values);
  const int in = ::open(from.c_str(), O_RDONLY), out = ::open(folder.file("to").c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE((in >= 0 && out >= 0));
  for (int round = 0; round < 2; ++round)  // the second time behind the first
    gpuopt::Pipeline(smallChunks()).run(gpuopt::fromFile<Number>(in), copyChunk, gpuopt::toFile<Number>(out));
  std::vector<Number> both = values;
  both.insert(both.end(), values.begin(), values.end());
  CHECK(folder.read("to") == both);
  CHECK(::close(in) == 0);
  CHECK(::close(out) == 0);
  CHECK(messageOf<std::system_error>([&] { static_cast<void>(gpuopt::fromFile<Number>(in)); }) ==
        "gpuopt::fromFile: descriptor " + std::to_string(in) + ": cannot be used: Bad file descriptor");
}

TEST_CASE("a folder is no file of a pipeline", "[pipeline]") {
  const TemporaryFolder folder;
  const std::string name = folder.file("");
  CHECK(messageOf<std::system_error>([&] { static_cast<void>(gpuopt::fromFile<Number>(name)); }) ==
        "gpuopt::fromFile: " + name + ": cannot be read: Is a directory");
  CHECK(messageOf<std::system_error>([&] { static_cast<void>(gpuopt::toFile<Number>(name)); }) ==
        "gpuopt::toFile: " + name + ": cannot be opened: Is a directory");
}

}  // namespace
