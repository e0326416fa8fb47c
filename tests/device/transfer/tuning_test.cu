/// \file
/// Transfers and pipelines with constants of a tuning file: it decides how bytes travel, and changes none of them.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"
#include "support/tuning_folder.hpp"

#include <gpuopt/reduce.cuh>
#include <gpuopt/transfer.cuh>
#include <gpuopt/transfer_pipeline.cuh>
#include <gpuopt/tuning.cuh>

#include <cstddef>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace {

using gpuopt::TransferDirection;
using gpuopt::detail::HostMemory;
using gpuopt::detail::mergeIntoFile;
using gpuopt::detail::parseTuned;
using gpuopt::detail::planBlocks;
using gpuopt::detail::planInWords;
using gpuopt::detail::planTransfer;
using gpuopt::detail::textOf;
using gpuopt::detail::Tunable;
using gpuopt::detail::TunedValue;
using gpuopt::detail::tunedValue;
using gpuopt::detail::TuningEntry;
using gpuopt::test::DeviceArray;
using gpuopt::test::reportedBy;
using gpuopt::test::TuningFolder;

constexpr Tunable allTunables[] = {Tunable::upload, Tunable::download, Tunable::blocks, Tunable::staging};

TuningEntry tunedEntry(const std::string& name, int logSize, const std::string& choice) {
  TuningEntry entry = gpuopt::detail::entryOf({name, "", logSize});
  entry.choice = choice;
  return entry;
}

TuningEntry tunedEntry(Tunable constant, int logSize, const TunedValue& value) {
  return tunedEntry(gpuopt::detail::formOf(constant).name, logSize, textOf(constant, value));
}

// Files that the process has loaded stay until it ends: what is written to them is nobody's business.
class LoadedTuning {
 public:
  explicit LoadedTuning(const std::vector<TuningEntry>& entries) {
    mergeIntoFile(folder_.file(), entries);
    gpuopt::test::requireTrue(gpuopt::loadTuning(folder_.file()));
  }
  ~LoadedTuning() { gpuopt::loadTuning(folder_.file("none.json")); }

 private:
  TuningFolder folder_;
};

std::vector<TuningEntry> randomTuning(unsigned seed) {
  std::mt19937 generator(seed);
  const auto below = [&](unsigned end) { return static_cast<unsigned>(generator() % end); };
  std::vector<TuningEntry> entries;
  for (int logSize = 0; logSize < 30; ++logSize) {
    for (const Tunable constant : {Tunable::upload, Tunable::download, Tunable::staging}) {
      const unsigned threads = constant == Tunable::staging ? 1 + below(20) : below(20);
      entries.push_back(tunedEntry(constant, logSize, {threads, threads == 0 ? 0 : std::size_t{4096} << below(9)}));
    }
    entries.push_back(tunedEntry(Tunable::blocks, logSize, {below(40), 0}));
    // Names that a later version might have, or somebody might try.
    for (const char* name : {"gpuopt.reduce", "gpuopt.chunk", "gpuopt.ReducePolicy::loopBlocks"})
      entries.push_back(tunedEntry(name, logSize, std::to_string(1 + below(500)) + " blocks"));
  }
  return entries;
}

template <class T>
bool isBitwiseEqual(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

// Results that depend on an order of operations, of data that went up and down.
std::vector<float> everyResult(const std::vector<float>& values) {
  const std::size_t n = values.size();
  DeviceArray<float> device(n), packed(n);
  gpuopt::upload(values.data(), n, device.data());
  std::vector<float> results{gpuopt::reduce(device.data(), n), gpuopt::streamReduce(values.data(), n)};
  gpuopt::PinnedVector<float> pinned(n);
  std::memcpy(pinned.data(), values.data(), n * sizeof(float));
  const std::vector<std::size_t> offsets{3 * 1024, 0, 5 * 1024, 1024};
  gpuopt::gatherBlocks(pinned.data(), offsets.data(), offsets.size(), 1024, packed.data());
  gpuopt::gatherBlocks(values.data(), offsets.data(), offsets.size(), 1024, packed.data() + 4 * 1024);
  results.push_back(gpuopt::reduce(packed.data(), 8 * 1024));
  std::vector<float> back(n);
  gpuopt::download(device.data(), n, back.data());
  REQUIRE(isBitwiseEqual(back, values));
  results.resize(3 + n);
  gpuopt::streamTransform(values.data(), n, results.data() + 3, [] __host__ __device__(float x) { return 3 * x; });
  return results;
}

}  // namespace

TEST_CASE("Constants of the tuning file are read as they are written", "[transfer]") {
  REQUIRE(textOf(Tunable::upload, {8, 1048576}) == "8 threads, 1048576 bytes");
  REQUIRE(textOf(Tunable::download, {0, 0}) == "0 threads");
  REQUIRE(textOf(Tunable::blocks, {16, 0}) == "16 blocks");
  for (const Tunable constant : allTunables)
    for (const unsigned count : {0u, 1u, 255u})
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{4096}, std::size_t{16} << 20}) {
        const std::string text = textOf(constant, {count, bytes});
        CAPTURE(text);
        const bool isAllowed = constant == Tunable::blocks                  ? bytes == 0
                               : count == 0 && constant == Tunable::staging ? false
                                                                            : (count == 0) == (bytes == 0);
        const std::optional<TunedValue> value = parseTuned(constant, text);
        REQUIRE(value.has_value() == isAllowed);
        if (value) REQUIRE((value->count == count && value->bytes == bytes));
      }
}

TEST_CASE("Other texts are no constants of the tuning file", "[transfer]") {
  for (const char* text :
       {"", "8", "threads", "8 threads", "8 threads, 4096", "8 threads, 4096 bytes ", " 8 threads",
        "08 threads, 4096 bytes", "-1 threads, 4096 bytes", "256 threads, 4096 bytes", "8 threads, 4097 bytes",
        "8 threads, 2048 bytes", "8 threads, 33554432 bytes", "8 threads, 0 bytes", "0 threads, 4096 bytes",
        "8 blocks, 4096 bytes", "4294967297 threads, 4096 bytes", "8 threads, 18446744073709555712 bytes"}) {
    CAPTURE(text);
    REQUIRE_FALSE(parseTuned(Tunable::upload, text).has_value());
  }
  REQUIRE_FALSE(parseTuned(Tunable::blocks, "8 blocks, 4096 bytes").has_value());
  REQUIRE_FALSE(parseTuned(Tunable::staging, "0 threads").has_value());
}

TEST_CASE("Limits of the tuning file are powers of two in KiB", "[transfer]") {
  for (const std::size_t bytes : {std::size_t{1} << 10, std::size_t{4} << 20, std::size_t{1} << 30}) {
    const std::optional<TunedValue> value = parseTuned(Tunable::registers, textOf(Tunable::registers, {0, bytes}));
    REQUIRE((value && value->count == 0 && value->bytes == bytes));
    const LoadedTuning tuning({tunedEntry(Tunable::registers, 2, {0, bytes})});
    REQUIRE(tunedValue(Tunable::registers, 4).value().bytes == bytes);
  }
  for (const char* text : {"", "KIB", "KIB ", "KIB 0", "KIB 3", "KIB 04", "KIB -4", "KIB 4 ", "4096", "KIB 2097152",
                           "KIB 18014398509481988", "kib 4", "8 threads"}) {
    CAPTURE(text);
    REQUIRE_FALSE(parseTuned(Tunable::registers, text).has_value());
  }
}

TEST_CASE("The tuning file decides about transfers", "[transfer]") {
  constexpr auto UP = TransferDirection::upload, DOWN = TransferDirection::download;
  constexpr std::size_t MIB = std::size_t{1} << 20;
  REQUIRE(planInWords(planTransfer({MIB, UP, HostMemory::pageable, 16, TunedValue{5, 65536}})) ==
          "ring of 16 pinned slots of 65536 bytes, 5 threads, written past the caches: the tuning file says so");
  REQUIRE(planInWords(planTransfer({65537, DOWN, HostMemory::pageable, 16, TunedValue{5, 65536}})) ==
          "ring of 2 pinned slots of 65536 bytes, 2 threads, written past the caches: the tuning file says so");
  REQUIRE(planTransfer({64 * MIB, UP, HostMemory::pageable, 4, TunedValue{5, 65536}}).threads == 3);
  REQUIRE(planInWords(planTransfer({64 * MIB, UP, HostMemory::pageable, 16, TunedValue{0, 0}})) ==
          "the CUDA runtime: the tuning file says so");
  REQUIRE(planInWords(planTransfer({64 * MIB, UP, HostMemory::partlyPinned, 16, TunedValue{0, 0}})) ==
          "ring of 24 pinned slots of 524288 bytes, 12 threads, written past the caches: the host's memory is "
          "registered in part, or in several parts");
  REQUIRE(planInWords(planTransfer({MIB, UP, HostMemory::pinned, 16, TunedValue{5, 65536}})) ==
          "the copy engine: the host's memory is pinned");
  const auto engine = planBlocks({MIB, UP, HostMemory::pinned, 16, TunedValue{0, 0}}, 1024);
  REQUIRE(planInWords(engine) == "the copy engine: the tuning file says so");
  const auto kernel = planBlocks({64 * MIB, UP, HostMemory::pinned, 16, TunedValue{7, 0}}, 2);
  REQUIRE(planInWords(kernel) == "a kernel that accesses the host's memory: the tuning file says so");
  REQUIRE(kernel.blocks == 7);
  REQUIRE(planBlocks({MIB, UP, HostMemory::pinned, 16}, 1024).blocks == 16);
  REQUIRE(planBlocks({MIB, UP, HostMemory::pinned, 16}, 1025).blocks == 64);
  REQUIRE(planBlocks({MIB, DOWN, HostMemory::pinned, 16}, 1025).blocks == 32);
}

TEST_CASE("Transfers look the tuning file up by power of two", "[transfer]") {
  std::vector<char> host(200000);
  const auto explained = [&](std::size_t n) {
    return gpuopt::explainTransfer(host.data(), n, TransferDirection::upload);
  };
  const std::string before = explained(100000);
  {
    const LoadedTuning tuning({tunedEntry(Tunable::upload, 16, {2, 8192})});
    for (const std::size_t n : {65536, 100000, 131071}) {
      REQUIRE(explained(n).find("slots of 8192 bytes, ") != std::string::npos);
      REQUIRE(explained(n).find(": the tuning file says so") != std::string::npos);
    }
    REQUIRE(explained(65535).find("the tuning file") == std::string::npos);
    REQUIRE(explained(131072).find("the tuning file") == std::string::npos);
    REQUIRE(gpuopt::explainTransfer(host.data(), 100000, TransferDirection::download).find("the tuning file") ==
            std::string::npos);
  }
  REQUIRE(explained(100000) == before);
}

TEST_CASE("Constants come from the nearest device of the architecture", "[transfer]") {
  TuningEntry near = tunedEntry(Tunable::staging, 20, {3, 8192}), other = tunedEntry(Tunable::staging, 21, {5, 4096});
  near.device = other.device = "Another GPU";
  other.capability += 10;
  const LoadedTuning tuning({near, other});
  const std::optional<TunedValue> found = tunedValue(Tunable::staging, std::size_t{1} << 20);
  REQUIRE(found.has_value());
  REQUIRE((found->count == 3 && found->bytes == 8192));
  REQUIRE_FALSE(tunedValue(Tunable::staging, std::size_t{1} << 21).has_value());
}

TEST_CASE("A constant that this version does not know is reported once", "[transfer]") {
  const LoadedTuning tuning({tunedEntry("gpuopt.upload", 19, "default"), tunedEntry("gpuopt.upload", 20, "8 lanes"),
                             tunedEntry("gpuopt.upload", 21, "9 lanes")});
  const std::string report = reportedBy([] {
    for (const int logSize : {19, 20, 20, 21}) REQUIRE_FALSE(tunedValue(Tunable::upload, std::size_t{1} << logSize));
  });
  // WRITTEN tuning: a tuning file of a later version
  // DO: Run `gpuopt-tune` again. The program goes on with the default
  const char* const expected =
      "gpuopt: gpuopt.upload in the tuning file is ignored: this version does not know \"8 lanes\"";
  REQUIRE(report == expected + std::string("\n"));
}

TEST_CASE("No tuning file changes a bit", "[transfer]") {
  const std::vector<float> values = gpuopt::test::randomVector<float>(300001, 1);
  const std::vector<float> expected = everyResult(values);
  for (const unsigned seed : {1u, 2u, 3u, 4u}) {
    CAPTURE(seed);
    const LoadedTuning tuning(randomTuning(seed));
    REQUIRE(isBitwiseEqual(everyResult(values), expected));
  }
}
