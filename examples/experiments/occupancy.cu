/// \file
/// The experiment on occupancy.
// SPDX-License-Identifier: MIT
#include "occupancy.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <algorithm>
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

void run(Report& report) {
  constexpr std::size_t N = std::size_t{1} << 26;
  const TimedArray<float> in(N), out(N);
  registers(report);
  blockSizes(report, in, out, N);
  loadsInFlight(report, in, out, N, std::integer_sequence<int, 1, 2, 4, 8>{});
  operationsInFlight(report, in, out, N / 16, std::integer_sequence<int, 1, 2, 4, 8>{});
}

}  // namespace

const Experiment occupancyExperiment{
    "occupancy",
    "While one warp waits another one works: a multiprocessor hides latency by resident warps. It hides it "
    "as\n"
    "well by independent work within each thread, so occupancy is a means, and not performance itself.",
    run};

}  // namespace experiments
