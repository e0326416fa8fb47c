/// \file
/// The experiment on occupancy.
// SPDX-License-Identifier: MIT
#include "occupancy.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace experiments {
namespace {

constexpr std::size_t checkedN = 1003;

void registers(Report& report) {
  constexpr struct {
    const char* name;
    Multiprocessor multiprocessor;
    unsigned registers, block;
    const char* then;
    double expected;
  } rows[] = {{"G80, 10 registers x 256", geforce8800, 10, 256, "100 %", 1},
              {"G80, 17 registers x 256", geforce8800, 17, 256, "33 %", 1.0 / 3},
              {"G80, 17 registers x 128", geforce8800, 17, 128, "50 %", 0.5},
              {"Hopper, 32 registers x 256", hopper, 32, 256, "", 1},
              {"Hopper, 33 registers x 256", hopper, 33, 256, "", 0.75},
              {"Hopper, 64 registers x 256", hopper, 64, 256, "", 0.5},
              {"Hopper, 128 registers x 256", hopper, 128, 256, "", 0.25},
              {"Hopper, 255 registers x 256", hopper, 255, 256, "", 0.125},
              {"Hopper, 32 registers x 32", hopper, 32, 32, "", 0.5}};
  report.table({"Registers and threads limit how many warps are resident",
                "a thread's registers x block",
                "then",
                "occupancyOf()",
                {}});
  for (const auto& row : rows) {
    const double occupancy = occupancyOf(row.multiprocessor, row.registers, row.block);
    report.add({row.name, row.then, percent(occupancy), {}, occupancy == row.expected});
  }
}

template <int ITEMS>
bool copiesRightly(unsigned block) {
  const auto values = wholeNumbers<float>(checkedN);
  return values == resultOf<float>(values, checkedN, [=](const float* from, float* to) {
           launchCopyItems<ITEMS>(from, to, checkedN, block, 0);
         });
}

template <int CHAINS>
bool followsRightly(unsigned block) {
  const auto values = wholeNumbers<float>(checkedN);
  return chainsOnHost<CHAINS>(values, 9) == resultOf<float>(values, checkedN, [=](const float* from, float* to) {
           launchChains<CHAINS>(from, to, checkedN, block, 0, 9);
         });
}

/// What the device says of a kernel. The emulated one does not know its registers.
constexpr const char* hereHeading = emulated ? "" : "occupancy here";

template <class Kernel>
std::string occupancyHere(Kernel* kernel, unsigned block, std::size_t sharedBytes) {
  if (emulated) return "";
  return percent(gpuopt::explainOccupancy(kernel, static_cast<int>(block), sharedBytes).occupancy);
}

void blockSizes(Report& report, const TimedArray<float>& in, const TimedArray<float>& out, std::size_t n) {
  report.table(
      {"Copies with blocks of different size, an element a thread", "threads a block", "", hereHeading, {"GB/s"}});
  for (const unsigned block : {32u, 64u, 96u, 128u, 192u, 256u, 384u, 512u, 768u, 1024u}) {
    const double bytes = 2.0 * sizeof(float) * static_cast<double>(n);
    report.add({std::to_string(block),
                "",
                occupancyHere(copyItems<1>, block, 0),
                {billionsPerSecond(bytes, [&] { launchCopyItems<1>(in.data(), out.data(), n, block, 0); })},
                copiesRightly<1>(block)});
  }
}

/// Shared memory with which `blocks` blocks, and no more, fit on a multiprocessor.
std::size_t sharedBytesFor(unsigned blocks) {
  const int device = gpuopt::currentDevice();
  const auto attribute = [=](cudaDeviceAttr which) {
    return static_cast<std::size_t>(gpuopt::deviceAttribute(which, device));
  };
  const std::size_t each = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) / blocks;
  return (std::min)(each - attribute(cudaDevAttrReservedSharedMemoryPerBlock),
                    attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin)) /
         128 * 128;
}

constexpr unsigned sweepBlock = 128;

template <int... ITEMS>
void loadsInFlight(Report& report, const TimedArray<float>& in, const TimedArray<float>& out, std::size_t n,
                   std::integer_sequence<int, ITEMS...>) {
  report.table({"Copies: loads in flight of each thread, against resident warps",
                "blocks of 128 a multiprocessor",
                "",
                hereHeading,
                {format("%d, GB/s", ITEMS)...}});
  for (const unsigned blocks : {1u, 2u, 4u, 8u, 12u, 16u}) {
    const std::size_t shared = sharedBytesFor(blocks);
    const double bytes = 2.0 * sizeof(float) * static_cast<double>(n);
    report.add(
        {std::to_string(blocks),
         "",
         occupancyHere(copyItems<1>, sweepBlock, shared),
         {billionsPerSecond(bytes, [&] { launchCopyItems<ITEMS>(in.data(), out.data(), n, sweepBlock, shared); })...},
         (copiesRightly<ITEMS>(sweepBlock) && ...)});
  }
}

template <int... CHAINS>
void operationsInFlight(Report& report, const TimedArray<float>& in, const TimedArray<float>& out, std::size_t n,
                        std::integer_sequence<int, CHAINS...>) {
  constexpr unsigned ROUNDS = 512;
  report.table({"Multiply-adds: independent chains of each thread, against resident warps",
                "blocks of 128 a multiprocessor",
                "",
                hereHeading,
                {format("%d, GFLOP/s", CHAINS)...}});
  for (const unsigned blocks : {1u, 2u, 4u, 8u, 12u, 16u}) {
    const std::size_t shared = sharedBytesFor(blocks);
    const double operations = 2.0 * ROUNDS * static_cast<double>(n);
    report.add(
        {std::to_string(blocks),
         "",
         occupancyHere(multiplyAddChains<1>, sweepBlock, shared),
         {billionsPerSecond(CHAINS * operations,
                            [&] { launchChains<CHAINS>(in.data(), out.data(), n, sweepBlock, shared, ROUNDS); })...},
         (followsRightly<CHAINS>(sweepBlock) && ...)});
  }
}

// ----------------------------------------------------------------------------------------- blocks of a grid

/// How many blocks the texts recommend.
const char* heuristicOf(unsigned blocks, unsigned multiprocessors) {
  if (blocks == 100) return "for future devices";
  if (blocks == 1000) return "for several generations";
  if (blocks == multiprocessors) return "at least";
  return blocks == 2 * multiprocessors ? "better" : "";
}

/// A block runs alone on its multiprocessor: a wave has as many as there are multiprocessors.
void waves(Report& report, const TimedArray<float>& in, const TimedArray<float>& out) {
  constexpr unsigned BLOCK = 256, ROUNDS = 16384;
  const std::size_t shared = sharedBytesFor(1);
  const auto wave = static_cast<unsigned>(gpuopt::multiprocessorCount(gpuopt::currentDevice()));
  const auto secondsOfBlocks = [&](unsigned blocks) {
    return secondsOf([&] { launchChains<4>(in.data(), out.data(), blocks * BLOCK, BLOCK, shared, ROUNDS); });
  };
  const double ofWave = secondsOfBlocks(wave);
  report.table({"Multiply-adds by the blocks of the grid, each of which has a multiprocessor for itself",
                "blocks",
                "then",
                "of a full wave's speed",
                {"us", "ns an element", "of a full wave, %"}});
  for (const unsigned blocks :
       std::set<unsigned>{1, 8, 100, wave / 4, wave / 2, wave - 1, wave, wave + 1, 3 * wave / 2, 2 * wave, 2 * wave + 1,
                          4 * wave, 4 * wave + 1, 1000, 8 * wave, 8 * wave + 1}) {
    const double seconds = secondsOfBlocks(blocks);
    report.add(
        {std::to_string(blocks),
         heuristicOf(blocks, wave),
         percent(waveEfficiency(blocks, wave)),
         {1e6 * seconds, 1e9 * seconds / (blocks * BLOCK), seconds > 0 ? 100 * ofWave * blocks / (wave * seconds) : 0},
         followsRightly<4>(BLOCK)});
  }
}

template <int ITEMS>
bool loopsRightly(unsigned blocks) {
  const auto values = wholeNumbers<float>(checkedN);
  return values == resultOf<float>(values, checkedN, [=](const float* from, float* to) {
           launchCopyInLoops<ITEMS>(from, to, checkedN, blocks, 32);
         });
}

template <int... ITEMS>
void loops(Report& report, const TimedArray<float>& in, const TimedArray<float>& out, std::size_t n,
           std::integer_sequence<int, ITEMS...>) {
  constexpr unsigned BLOCK = 256;
  const auto multiprocessors = static_cast<unsigned>(gpuopt::multiprocessorCount(gpuopt::currentDevice()));
  report.table({"Copies of 256 MiB by the blocks of the grid, in loops of 1 and 4 loads at once",
                "blocks",
                "",
                "",
                {format("%d, GB/s", ITEMS)...}});
  std::set<unsigned> sizes{1, 10, 100, 1000, 10000};
  for (const unsigned times : {1u, 2u, 4u, 8u, 16u, 32u}) {
    sizes.insert(times * multiprocessors);
    if (times > 1) sizes.insert(times * multiprocessors + multiprocessors / 2);
  }
  const double bytes = 2.0 * sizeof(float) * static_cast<double>(n);
  for (const unsigned blocks : sizes)
    report.add(
        {std::to_string(blocks),
         "",
         "",
         {billionsPerSecond(bytes, [&] { launchCopyInLoops<ITEMS>(in.data(), out.data(), n, blocks, BLOCK); })...},
         (loopsRightly<ITEMS>((std::min)(blocks, 40u)) && ...)});
}

// -------------------------------------------------------------------------------------------- shared memory

Multiprocessor multiprocessorHere() {
  const int device = gpuopt::currentDevice();
  const auto attribute = [=](cudaDeviceAttr which) {
    return static_cast<unsigned>(gpuopt::deviceAttribute(which, device));
  };
  Multiprocessor here = hopper;
  here.registers = attribute(cudaDevAttrMaxRegistersPerMultiprocessor);
  here.threads = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  here.blocks = attribute(cudaDevAttrMaxBlocksPerMultiprocessor);
  here.sharedBytes = attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor);
  here.sharedReserved = attribute(cudaDevAttrReservedSharedMemoryPerBlock);
  here.sharedUnit = emulated ? 1 : gpuopt::computeCapability(device) < 80 ? 256 : 128;
  return here;
}

/// On both sides of each step.
std::set<std::size_t> sharedSizes() {
  constexpr std::size_t BEYOND = 32;
  std::set<std::size_t> sizes{0, 8192};
  for (const unsigned blocks : {16u, 12u, 8u, 6u, 5u, 4u, 3u, 2u}) {
    sizes.insert(sharedBytesFor(blocks));
    sizes.insert(sharedBytesFor(blocks) + BEYOND);
  }
  sizes.insert(sharedBytesFor(1));
  return sizes;
}

void sharedMemory(Report& report, const TimedArray<float>& in, const TimedArray<float>& out, std::size_t n) {
  constexpr int ITEMS = 4;
  const Multiprocessor here = multiprocessorHere();
  report.table({"Copies in blocks of 128, by the shared memory of a block; resident blocks are predicted",
                "bytes a block",
                "",
                "all / (bytes and reserved, rounded up)",
                {"resident blocks", "GB/s"}});
  for (const std::size_t bytes : sharedSizes()) {
    const auto answer = gpuopt::explainOccupancy(copyItems<ITEMS>, static_cast<int>(sweepBlock), bytes);
    const auto shared = static_cast<unsigned>(bytes);
    const unsigned registersOfThread = (std::max)(1u, static_cast<unsigned>(answer.registersPerThread));
    const unsigned blocks = residentBlocks(here, registersOfThread, sweepBlock, shared);
    const double moved = 2.0 * sizeof(float) * static_cast<double>(n);
    report.add(
        {std::to_string(bytes),
         "",
         format("%u; %u / %u", blocks, here.sharedBytes, roundedUp(shared + here.sharedReserved, here.sharedUnit)),
         {static_cast<double>(answer.blocksPerMultiprocessor),
          billionsPerSecond(moved, [&] { launchCopyItems<ITEMS>(in.data(), out.data(), n, sweepBlock, bytes); })},
         static_cast<int>(blocks) == answer.blocksPerMultiprocessor && copiesRightly<ITEMS>(sweepBlock)});
  }
}

void run(Report& report) {
  constexpr std::size_t N = std::size_t{1} << 26;
  const TimedArray<float> in(N), out(N);
  registers(report);
  blockSizes(report, in, out, N);
  loadsInFlight(report, in, out, N, std::integer_sequence<int, 1, 2, 4, 8>{});
  operationsInFlight(report, in, out, N / 16, std::integer_sequence<int, 1, 2, 4, 8>{});
  waves(report, in, out);
  loops(report, in, out, N, std::integer_sequence<int, 1, 4>{});
  sharedMemory(report, in, out, N);
}

}  // namespace

const Experiment occupancyExperiment{
    "occupancy",
    "While one warp waits another one works: a multiprocessor hides latency by resident warps. It hides it "
    "as\n"
    "well by independent work within each thread, so occupancy is a means, and not performance itself.",
    run};

}  // namespace experiments
