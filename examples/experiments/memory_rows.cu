/// \file
/// The experiment on strides over the banks and channels of memory.
// SPDX-License-Identifier: MIT
#include "memory_rows.cuh"

#include "experiment.hpp"
#include "measure.cuh"

namespace experiments {
namespace {

bool isRight() {
  constexpr FarRows MATRIX{37, 5, 200};
  const auto words = wholeNumbers<unsigned>(MATRIX.rows * MATRIX.pitch);
  for (const Walk walk : {Walk::alongRows, Walk::downColumns})
    if (farRowsOnHost(words, MATRIX, walk) !=
        resultOf<unsigned>(words, ceilDivide(MATRIX.items(), linesOfWarp),
                           [&](const unsigned* from, unsigned* to) { launchFarRows(from, to, MATRIX, walk); }))
      return false;
  return true;
}

void run(Report& report) {
  constexpr unsigned ROWS = 8192, LINES = 128;
  constexpr std::size_t KIB = 256;  // words
  const TimedArray<unsigned> in(ROWS * (512 * KIB + lineWords), Filling::bits), out(ROWS * LINES / linesOfWarp);
  const auto rate = [&](std::size_t pitch, Walk walk) {
    return billionsPerSecond(4.0 * ROWS * LINES * lineWords, [&] {
      launchFarRows(in.data(), out.data(), {ROWS, LINES, pitch}, walk);
    });
  };
  report.table({"Reads of 16 KiB of each of 8192 rows, by their distance; the last column with 128 bytes more",
                "from row to row",
                "",
                "",
                {"along, GB/s", "down, GB/s", "down + 128, GB/s"}});
  for (const unsigned kibibytes : {16u, 24u, 32u, 48u, 64u, 96u, 128u, 192u, 256u, 384u, 512u}) {
    const std::size_t pitch = kibibytes * KIB;
    report.add(
        {format("%u KiB", kibibytes),
         "",
         "",
         {rate(pitch, Walk::alongRows), rate(pitch, Walk::downColumns), rate(pitch + lineWords, Walk::downColumns)},
         isRight()});
  }
}

}  // namespace

const Experiment memoryRowsExperiment{
    "memory_rows",
    "Memory is made of channels and banks that work at the same time. Addresses a power of two apart may all be\n"
    "in a few of them; a pad at the end of each row spreads them.",
    run};

}  // namespace experiments
