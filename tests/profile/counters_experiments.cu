// The kernels of examples/experiments as cases of counters.cuh.
// SPDX-License-Identifier: MIT
#include "counters.cuh"

#include "experiments/access.cuh"
#include "experiments/arithmetic.cuh"
#include "experiments/divergence.cuh"
#include "experiments/histogram.cuh"
#include "experiments/matrix_product.cuh"
#include "experiments/memory_spaces.cuh"
#include "experiments/occupancy.cuh"
#include "experiments/shared_memory.cuh"
#include "experiments/structures.cuh"

namespace counters {
namespace {

using namespace experiments;

constexpr std::size_t N = 30001;

void runAccess(const Memory& memory) {
  const char* const names[] = {"in order", "permuted", "misaligned", "one lane", "the same word", "scattered"};
  for (int i = 0; i < 6; ++i)
    run("access", names[i],
        [&] { launchPattern(memory.input<float>(), memory.output<float>(), 64, static_cast<Pattern>(i)); });
  run("access", "a[i]++, all", [&] { launchIncrement<Increment::all>(memory.output<float>(), N); });
  run("access", "a[i]++, three of four", [&] { launchIncrement<Increment::threeOfFour>(memory.output<float>(), N); });
  run("access", "a[i]++, the fourth on a[0]",
      [&] { launchIncrement<Increment::fourthOnFirst>(memory.output<float>(), N); });
  run("access", "a[i]++, the fourth on the block's first",
      [&] { launchIncrement<Increment::fourthOnFirstOfBlock>(memory.output<float>(), N); });
  const DirectReader reader{memory.input<float>()};
  for (const unsigned offset : {0, 1, 3, 8, 15})
    run("access", "offset " + std::to_string(offset),
        [&] { launchShifted(reader, memory.output<float>(), N, offset, 1); });
  for (const unsigned stride : {2, 3, 5, 8, 18})
    run("access", "stride " + std::to_string(stride),
        [&] { launchShifted(reader, memory.output<float>(), N, 0, stride); });
}

template <class T>
void runBanks(const Memory& memory) {
  const auto read = [&memory](const std::string& name, const LaneIndices& lanes) {
    run("bank conflicts", std::to_string(sizeof(T)) + " bytes, " + name,
        [&] { launchBanks(memory.input<T>(), memory.output<unsigned>(), 4, lanes, 24); });
  };
  for (const unsigned stride : {1, 2, 3, 4, 8, 16, 32, 33}) read("stride " + std::to_string(stride), strided(stride));
  read("permuted", permuted());
  read("the same element", broadcast());
}

void runTiles(const Memory& memory) {
  const auto* const in = memory.input<unsigned>();
  auto* const out = memory.output<unsigned>();
  run("bank conflicts", "tile", [&] { launchTile<TileLayout::plain>(in, out, 16, 3); });
  run("bank conflicts", "padded tile", [&] { launchTile<TileLayout::padded>(in, out, 16, 3); });
  run("bank conflicts", "swizzled tile", [&] { launchTile<TileLayout::swizzled>(in, out, 16, 3); });
}

void runDivergence(const Memory& memory) {
  const auto* const in = memory.input<unsigned>();
  auto* const out = memory.output<unsigned>();
  for (const unsigned bit : {0, 1, 16, 32, 256})
    run("divergence", "bit " + std::to_string(bit), [&] { launchBranch(in, out, N, bit, 20); });
  run("divergence", "the second way alone", [&] { launchSecondWay(in, out, N, 20); });
  for (const unsigned last : {15, 31})
    run("divergence", "above " + std::to_string(last), [&] { launchBranchAt(in, out, N, last, 20); });
  run("divergence", "a short branch", [&] { launchShortly(in, out, N, 20); });
  const char* const names[] = {"passes by modulo", "passes of the first threads", "sequential passes"};
  for (int i = 0; i < 3; ++i)
    run("divergence", names[i], [&] { launchCount(static_cast<Addressing>(i), memory.output<PassCounts>()); });
}

void runHistograms(const Memory& memory) {
  for (const HistogramStep& step : histogramSteps)
    run("histogram", step.name,
        [&] { launchHistogram(step, memory.input<unsigned char>(), 100003, memory.output<unsigned>(), 8); });
}

void runProducts(const Memory& memory) {
  for (const ProductStep& step : productSteps) {
    if (step.threads != productTile * productTile) continue;  // the recorded counters end before registers
    run("matrix product", step.name, [&] {
      launchProduct(step, memory.input<float>(), memory.input<float>() + 65536, memory.output<float>(), {70, 50, 40});
    });
  }
}

void runTables(const Memory& memory) {
  const auto* const words = memory.input<unsigned>();
  for (const unsigned step : {0, 1, 33}) {
    const std::string name = ", lanes " + std::to_string(step) + " apart";
    run("tables", "global" + name, [&] { launchLookUp(GlobalTable{words}, memory.output<unsigned>(), N, 24, step); });
    run("tables", "read-only" + name,
        [&] { launchLookUp(ReadOnlyTable{words}, memory.output<unsigned>(), N, 24, step); });
  }
}

template <class T>
void runCopy(const Memory& memory, const std::string& name) {
  run("structures", name, [&] { launchStructCopy(memory.input<T>(), memory.output<T>(), N); });
}

void runStructures(const Memory& memory) {
  const auto* const in = memory.input<float3>();
  auto* const out = memory.output<float3>();
  run("structures", "float3, direct", [&] { launchDirect(in, out, N); });
  run("structures", "float3, staged", [&] { launchStaged(in, out, N); });
  run("structures", "float3, transformStructs", [&] { launchTransform(in, out, N); });
  runCopy<Plain<2>>(memory, "copy of 2 words");
  runCopy<Plain<3>>(memory, "copy of 3 words");
  runCopy<Plain<4>>(memory, "copy of 4 words");
  runCopy<Aligned<2>>(memory, "copy of 2 words, aligned");
  runCopy<Aligned<3>>(memory, "copy of 3 words, aligned");
  runCopy<Aligned<4>>(memory, "copy of 4 words, aligned");
}

void runItems(const Memory& memory) {
  const auto* const in = memory.input<float>();
  auto* const out = memory.output<float>();
  run("items", "4 a thread", [&] { launchCopyItems<4>(in, out, N, 128, 0); });
  run("items", "8 a thread", [&] { launchCopyItems<8>(in, out, N, 128, 1024); });
  run("items", "4 chains", [&] { launchChains<4>(in, out, N, 128, 0, 20); });
  run("items", "division",
      [&] { launchCalls(memory.input<unsigned>(), memory.output<unsigned>(), N, 3u, 10, DivideByVariable{7}); });
}

}  // namespace

void runExperiments(const Memory& memory) {
  runAccess(memory);
  runBanks<unsigned>(memory);
  runBanks<uint2>(memory);
  runBanks<uint4>(memory);
  runTiles(memory);
  runDivergence(memory);
  runHistograms(memory);
  runProducts(memory);
  runTables(memory);
  runStructures(memory);
  runItems(memory);
}

}  // namespace counters
