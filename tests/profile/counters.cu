// The kernels whose counters scripts/compare_profile.py compares: those of the ladders, the library and the
// experiments.
// SPDX-License-Identifier: MIT
#include "counters.cuh"

#include "ladders/reduction_steps.cuh"
#include "ladders/transpose_steps.cuh"

#include <gpuopt/map.cuh>
#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/soa.cuh>
#include <gpuopt/struct_io.cuh>
#include <gpuopt/transpose.cuh>

#ifdef GPUOPT_EMULATION_PROFILE
#include <gpuopt_emulation/profile.hpp>
#endif

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

namespace counters {

void run(const char* group, const std::string& name, const std::function<void()>& work) {
  std::printf("%s;%s", group, name.c_str());
#ifdef GPUOPT_EMULATION_PROFILE
  const gpuopt::Profile profile = gpuopt::profile(work);
  std::uint64_t launches = 0;
  for (const gpuopt::KernelProfile& kernel : profile.kernels) launches += kernel.launches;
  for (const std::uint64_t count :
       {launches, profile.globalLoads().requests, profile.globalStores().requests, profile.globalAtomics().requests,
        profile.globalLoads().sectors, profile.globalStores().sectors, profile.sharedAtomics().requests,
        profile.sharedLoads().wavefronts, profile.sharedStores().wavefronts, profile.asyncCopies().requests,
        profile.asyncCopies().wavefronts})
    std::printf(";%llu", static_cast<unsigned long long>(count));
#else
  work();
#endif
  std::printf("\n");
}

}  // namespace counters

namespace {

using counters::Memory;
using counters::run;

void runLadders(const Memory& memory) {
  for (const unsigned side : {512u, 500u}) {
    const ladders::TransposeData data{memory.input<float>(), memory.output<float>(), side, side};
    for (const auto& step : ladders::transposeSteps(data))
      run("transposition ladder", std::to_string(side) + " rows, " + step.name, [&] { step.run(1); });
  }
  const ladders::ReductionData data{memory.input<unsigned>(), std::size_t{1} << 18, memory.output<unsigned>()};
  for (const auto& step : ladders::reductionSteps(data)) run("reduction ladder", step.name, [&] { step.run(1); });
}

template <std::size_t SIZE>
struct Bytes {
  unsigned char bytes[SIZE];
};

template <class T>
void runTranspositions(const Memory& memory) {
  const auto* const in = memory.input<T>();
  auto* const out = memory.output<T>();
  for (const auto& size : {std::pair<std::size_t, std::size_t>{1024, 512}, {511, 509}, {7, 9000}, {9000, 7}}) {
    const std::size_t rows = size.first, cols = size.second;
    const std::string name =
        std::to_string(sizeof(T)) + " bytes, " + std::to_string(rows) + " x " + std::to_string(cols);
    run("transpose", name, [&] { gpuopt::transpose(in, out, rows, cols); });
  }
  run("transpose", std::to_string(sizeof(T)) + " bytes, in place", [&] { gpuopt::transposeInPlace(out, 512, 512); });
}

template <std::size_t WORDS>
struct Words {
  float values[WORDS];
};

struct Identity {
  template <class T>
  __host__ __device__ T operator()(const T& value) const {
    return value;
  }
};

template <std::size_t... WORDS>
void runTransforms(const Memory& memory) {
  const auto runOne = [&memory](auto element) {
    using T = decltype(element);
    run("structures", "transform, " + std::to_string(sizeof(T)) + " bytes",
        [&] { gpuopt::transformStructs(memory.input<T>(), Memory::ELEMENTS, memory.output<T>(), Identity{}); });
  };
  (runOne(Words<WORDS>{}), ...);
}

template <std::size_t... WORDS>
void runGathers(const Memory& memory) {
  const auto runOne = [&memory](auto element) {
    using T = decltype(element);
    const auto* const in = memory.input<T>();
    auto* const out = memory.output<T>();
    const std::string size = std::to_string(sizeof(T)) + " bytes";
    run("structures", "gather, " + size, [&] { gpuopt::gatherStructs(in, memory.indices, Memory::ELEMENTS, out); });
    run("structures", "scatter, " + size, [&] { gpuopt::scatterStructs(in, memory.indices, Memory::ELEMENTS, out); });
  };
  (runOne(Words<WORDS>{}), ...);
}

struct Particle {
  float3 position, velocity;
  float mass;
  int id;
};

void runColumns(const Memory& memory) {
  constexpr std::size_t N = Memory::ELEMENTS;
  gpuopt::SoaVector<Particle> particles(N);
  run("columns", "toSoa", [&] { gpuopt::toSoa(memory.input<Particle>(), N, particles.view()); });
  run("columns", "toAos", [&] { gpuopt::toAos(particles.view(), memory.output<Particle>()); });
}

struct Sum {
  __host__ __device__ float operator()(float a, float b) const { return a + b; }
};

void runMaps(const Memory& memory) {
  constexpr std::size_t N = 100003;
  const auto* const in = memory.input<float>();
  run("maps", "transform", [&] { gpuopt::transform(in, N, memory.output<float>(), Identity{}); });
  run("maps", "transform of two arrays", [&] { gpuopt::transform(in, in + N + 1, N, memory.output<float>(), Sum{}); });
}

void runRows(const Memory& memory) {
  for (const std::size_t cols : {4, 12, 32, 100, 1000})
    run("reduceRows", std::to_string(cols) + " columns",
        [&] { gpuopt::reduceRows(memory.input<float>(), 100000 / cols, cols, cols, memory.output<float>()); });
}

}  // namespace

int main() {
  const Memory memory;
  runLadders(memory);
  runTranspositions<unsigned char>(memory);
  runTranspositions<short>(memory);
  runTranspositions<Bytes<3>>(memory);
  runTranspositions<float>(memory);
  runTranspositions<double>(memory);
  runTranspositions<float4>(memory);
  runTransforms<1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 25, 32>(memory);
  runGathers<1, 3, 4, 7, 16>(memory);
  runColumns(memory);
  runMaps(memory);
  runRows(memory);
  counters::runExperiments(memory);
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}
