// The kernels whose counters scripts/compare_profile.py compares: natively under Nsight Compute, where a marker kernel
// begins each case, and profiled on the emulated device. Both print a line a case.
// SPDX-License-Identifier: MIT
#include "ladders/reduction_steps.cuh"
#include "ladders/transpose_steps.cuh"

#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/struct_io.cuh>
#include <gpuopt/transpose.cuh>

#ifdef GPUOPT_EMULATION_PROFILE
#include <gpuopt_emulation/profile.hpp>
#endif

#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

namespace {

constexpr std::size_t BYTES = std::size_t{16} << 20;  // of the input, and of the output

#ifdef GPUOPT_EMULATION_PROFILE
void run(const std::string& name, const std::function<void()>& work) {
  const gpuopt::Profile profile = gpuopt::profile(work);
  const auto number = [](std::uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("%s;%llu;%llu;%llu;%llu;%llu;%llu\n", name.c_str(), number(profile.globalLoads().requests),
              number(profile.globalStores().requests), number(profile.globalLoads().sectors),
              number(profile.globalStores().sectors), number(profile.sharedLoads().wavefronts),
              number(profile.sharedStores().wavefronts));
}
#else
__global__ void beginCase() {}

void run(const std::string& name, const std::function<void()>& work) {
  gpuopt::launch(beginCase, {});
  work();
  std::printf("%s\n", name.c_str());
}
#endif

struct Memory {
  void *in = nullptr, *out = nullptr;

  Memory() {
    gpuopt::check(cudaMalloc(&in, BYTES), "cudaMalloc");
    gpuopt::check(cudaMalloc(&out, BYTES), "cudaMalloc");
    gpuopt::check(cudaMemset(in, 0, BYTES), "cudaMemset");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    cudaFree(in);
    cudaFree(out);
  }
};

void runLadders(const Memory& memory) {
  for (const unsigned side : {512u, 500u}) {
    const ladders::TransposeData data{static_cast<const float*>(memory.in), static_cast<float*>(memory.out), side,
                                      side};
    for (const auto& step : ladders::transposeSteps(data))
      run("ladder " + std::to_string(side) + ": " + step.name, [&] { step.run(1); });
  }
  const ladders::ReductionData data{static_cast<const unsigned*>(memory.in), std::size_t{1} << 18,
                                    static_cast<unsigned*>(memory.out)};
  for (const auto& step : ladders::reductionSteps(data)) run("ladder: " + step.name, [&] { step.run(1); });
}

template <std::size_t SIZE>
struct Bytes {
  unsigned char bytes[SIZE];
};

template <class T>
void runTranspositions(const Memory& memory) {
  const auto* const in = static_cast<const T*>(memory.in);
  auto* const out = static_cast<T*>(memory.out);
  for (const auto& size : {std::pair<std::size_t, std::size_t>{1024, 512}, {511, 509}, {7, 9000}, {9000, 7}}) {
    const std::size_t rows = size.first, cols = size.second;
    const std::string name =
        std::to_string(sizeof(T)) + " bytes, " + std::to_string(rows) + " x " + std::to_string(cols);
    run("transpose " + name, [&] { gpuopt::transpose(in, out, rows, cols); });
  }
  run("transposeInPlace " + std::to_string(sizeof(T)) + " bytes", [&] { gpuopt::transposeInPlace(out, 512, 512); });
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
void runStructures(const Memory& memory) {
  const auto runOne = [&memory](auto element) {
    using T = decltype(element);
    run("transformStructs " + std::to_string(sizeof(T)) + " bytes", [&] {
      gpuopt::transformStructs(static_cast<const T*>(memory.in), 10000, static_cast<T*>(memory.out), Identity{});
    });
  };
  (runOne(Words<WORDS>{}), ...);
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
  runStructures<1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 25, 32>(memory);
  for (const std::size_t cols : {4, 12, 32, 100, 1000})
    run("reduceRows of " + std::to_string(cols), [&] {
      gpuopt::reduceRows(static_cast<const float*>(memory.in), 100000 / cols, cols, cols,
                         static_cast<float*>(memory.out));
    });
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}
