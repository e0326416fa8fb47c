/// \file
/// The experiment on caches.
// SPDX-License-Identifier: MIT
#include "caches.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <string>
#include <vector>

namespace experiments {
namespace {

constexpr unsigned timedBlocks = 132 * 8;

template <class Load>
bool readsRightly(Load load) {
  constexpr unsigned BLOCKS = 3, LINES = 16, ROUNDS = 9;
  const auto words = wholeNumbers<unsigned>(BLOCKS * LINES * 32);
  for (const unsigned apart : {1u, 32u})
    if (readAgainOnHost(words, BLOCKS, LINES, apart, ROUNDS) !=
        resultOf<unsigned>(words, BLOCKS * cacheBlock, [&](const unsigned* from, unsigned* to) {
          launchReadAgain(from, to, BLOCKS, LINES, apart, ROUNDS, load);
        }))
      return false;
  return true;
}

/// Blocks of 256 read 4 KiB each again and again, that is 32 KiB of a multiprocessor's L1; 32 KiB each, 256 KiB of it,
/// which only L2 can hold; and 4 MiB each, once. The last column reads a word of each line.
template <class Load>
void modifierRow(Report& report, const char* name, const char* meaning, const TimedArray<unsigned>& in,
                 const TimedArray<unsigned>& out, Load load) {
  const auto read = [&](unsigned lines, unsigned apart, unsigned rounds) {
    return billionsPerSecond(4.0 * timedBlocks * cacheBlock * rounds,
                             [&] { launchReadAgain(in.data(), out.data(), timedBlocks, lines, apart, rounds, load); });
  };
  report.add({name,
              meaning,
              "",
              {read(32, 1, 1024), read(256, 1, 1024), read(8192, 1, 1024), read(8192, 32, 32)},
              readsRightly(load)});
}

void modifiers(Report& report) {
  const TimedArray<unsigned> in(std::size_t{timedBlocks} * 8192 * 32, Filling::bits), out(timedBlocks * cacheBlock);
  report.table(
      {"Loads by modifier: GB/s that threads get, of 4 KiB a block, 32 KiB a block, 1 MiB a block, a word a line",
       "ld.global",
       "what it asks for",
       "",
       {"4 KiB, GB/s", "32 KiB, GB/s", "1 MiB, GB/s", "lines, GB/s"}});
  modifierRow(report, ".ca", "all caches, the default", in, out, LoadCa{});
  modifierRow(report, ".nc", "read-only: as .ca", in, out, LoadNc{});
  modifierRow(report, ".cg", "L2 only", in, out, LoadCg{});
  modifierRow(report, ".cs", "streaming, evict first", in, out, LoadCs{});
  modifierRow(report, ".lu", "last use", in, out, LoadLu{});
  modifierRow(report, ".cv", "volatile: fetch again", in, out, LoadCv{});
}

template <unsigned DISTANCE>
bool sumsRightly() {
  const auto words = wholeNumbers<unsigned>(4 * 5003);
  return stridedSumsOnHost(words, 2 * cacheBlock, 4) ==
         resultOf<unsigned>(words, 2 * cacheBlock, [](const unsigned* from, unsigned* to) {
           launchSumAhead<DISTANCE>(reinterpret_cast<const uint4*>(from), to, 5003, 2);
         });
}

template <unsigned DISTANCE>
void prefetchRow(Report& report, const TimedArray<uint4>& in, const TimedArray<unsigned>& out) {
  constexpr std::size_t N = std::size_t{1} << 24;
  const auto rate = [&](unsigned blocks) {
    return billionsPerSecond(16.0 * N, [&] { launchSumAhead<DISTANCE>(in.data(), out.data(), N, blocks); });
  };
  report.add({std::to_string(DISTANCE), "", "", {rate(132), rate(132 * 8)}, sumsRightly<DISTANCE>()});
}

void prefetches(Report& report) {
  const TimedArray<uint4> in(std::size_t{1} << 24, Filling::bits);
  const TimedArray<unsigned> out(132 * 8 * cacheBlock);
  report.table({"Sums of 16-byte loads, each asking L2 for a later one, with 1 and 8 blocks of 256 on a multiprocessor",
                "steps ahead",
                "",
                "",
                {"1, GB/s", "8, GB/s"}});
  prefetchRow<0>(report, in, out);
  prefetchRow<1>(report, in, out);
  prefetchRow<2>(report, in, out);
  prefetchRow<4>(report, in, out);
  prefetchRow<8>(report, in, out);
}

/// The time of reading a table that was read before, after a stream of other data has passed.
template <class Load>
void keepRow(Report& report, const char* name, const TimedArray<unsigned>& table, std::size_t words,
             const TimedArray<unsigned>& stream, std::size_t streamWords, bool isKept, Load load) {
  const auto values = wholeNumbers<unsigned>(10001);
  const DeviceArray<unsigned> out(timedBlocks * cacheBlock);
  if (isKept) keepInL2(table.data(), words * sizeof(unsigned));
  const bool isRight = stridedSumsOnHost(values, 2 * cacheBlock, 1) ==
                       resultOf<unsigned>(values, 2 * cacheBlock, [&](const unsigned* from, unsigned* to) {
                         launchSumWords(from, to, values.size(), 2, load);
                       });
  const auto readTable = [&] { launchSumWords(table.data(), out.data(), words, timedBlocks, LoadCa{}); };
  const auto readBoth = [&] {
    readTable();
    readTable();
    if (streamWords > 0) launchSumWords(stream.data(), out.data(), streamWords, timedBlocks, load);
  };
  report.add({name, "", "", {1e6 * secondsAfter(readBoth, readTable)}, isRight});
  if (isKept) keepInL2(nullptr, 0);
}

void keeping(Report& report) {
  constexpr std::size_t TABLE = std::size_t{16} << 18, STREAM = std::size_t{256} << 18;
  const TimedArray<unsigned> table(TABLE, Filling::bits), stream(STREAM, Filling::bits);
  report.table({"Reading a table of 16 MiB again, after 256 MiB of other data", "other data", "", "", {"us"}});
  keepRow(report, "none", table, TABLE, stream, 0, false, LoadCa{});
  keepRow(report, "read by plain loads", table, TABLE, stream, STREAM, false, LoadCa{});
  keepRow(report, "read by .cs, evict first", table, TABLE, stream, STREAM, false, LoadCs{});
  keepRow(report, "read by .lu, last use", table, TABLE, stream, STREAM, false, LoadLu{});
  keepRow(report, "plain loads, the table persists", table, TABLE, stream, STREAM, true, LoadCa{});
}

void run(Report& report) {
  modifiers(report);
  prefetches(report);
  keeping(report);
}

}  // namespace

const Experiment cachesExperiment{
    "caches",
    "A load may say which caches keep what it fetches. L1 is a multiprocessor's own, L2 is shared by all,\n"
    "and a part of L2 can be reserved for what is used again.",
    run};

}  // namespace experiments
