/// \file
/// Arrays of structures of every size, alignment and direction, beside the best copy of as many bytes, direct
/// access, CUB and Thrust.
// SPDX-License-Identifier: MIT
#include "support/goal_groups.cuh"
#include "support/struct_records.cuh"

#include <gpuopt/struct_io.cuh>

#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>
#include <cub/device/device_transform.cuh>

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t MiB = std::size_t{1} << 20;

// Of the second candidate's time over the first one's.
Goal fasterBy(double factor) {
  Goal goal = atLeast(factor);
  goal.of = [](const CaseTimes& times) { return times.candidates[1] / times.candidates[0]; };
  return goal;
}

/// The peers of a case besides direct access: the libraries take long to compile.
enum class Beside { direct, libraries };

class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, GoalReport& report, std::size_t bytes)
      : timer_(timer), buffers_(buffers), report_(report), bytes_(bytes) {}

  /// Read, modify, write; at byte offsets from aligned addresses.
  template <std::size_t SIZE, std::size_t ALIGN, Beside BESIDE = Beside::direct>
  void transform(const char* group, const Goal& goal, std::size_t inOffset = 0, std::size_t outOffset = 0,
                 std::size_t bytes = 0, Mode mode = Mode::coldWrite) {
    using R = Record<SIZE, ALIGN>;
    static_assert(sizeof(R) == SIZE);
    const std::size_t n = (bytes == 0 ? bytes_ : bytes) / SIZE;
    const R* in = offset(buffers_.in<R>(), inOffset);
    R* out = offset(buffers_.out<R>(), outOffset);
    const cudaStream_t stream = timer_.stream();
    const auto candidate = [&](const char* name, bool isPeer, auto call) {
      return buffers_.candidate(name, isPeer, call, n, IsMirrored<R>{in, out});
    };
    const auto inPlace = [=] { gpuopt::forEach(out, n, MirrorInPlace{}, stream); };
    const auto inPlaceCorrect = [=] {
      check(cudaMemcpyAsync(out, in, n * SIZE, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync");
      inPlace();
      return buffers_.areRight(n, IsMirrored<R>{in, out});
    };
    std::vector<Candidate> candidates{
        candidate("gpuopt", false, [=] { gpuopt::transform(in, n, out, Mirror{}, stream); }),
        {"gpuopt in place", inPlace, inPlaceCorrect},
        candidate("direct", true, [=] { launchThreads(directTransform<R>, n, stream, in, n, out); })};
    if constexpr (BESIDE == Beside::libraries) {
      candidates.push_back(candidate("cub::DeviceTransform::Transform", true, [=] {
        check(cub::DeviceTransform::Transform(in, out, n, Mirror{}, stream), "cub::DeviceTransform");
      }));
      candidates.push_back(candidate("thrust::transform", true, [=] {
        thrust::transform(thrust::cuda::par_nosync.on(stream), in, in + n, out, Mirror{});
      }));
    }
    report_.run(caseOf<R>(group, n, 2 * n * SIZE, goal, candidates, buffers_.copies(n * SIZE / 4096 * 4096), mode,
                          {inOffset, outOffset}));
  }

  template <std::size_t SIZE, std::size_t ALIGN>
  void store(const Goal& goal) {
    using R = Record<SIZE, ALIGN>;
    const std::size_t n = bytes_ / SIZE;
    R* out = buffers_.out<R>();
    const cudaStream_t stream = timer_.stream();
    const thrust::counting_iterator<std::uint32_t> counting(0);
    const auto candidate = [&](const char* name, bool isPeer, auto call) {
      return buffers_.candidate(name, isPeer, call, n, IsGenerated<R>{out});
    };
    const auto whole = [=] { gpuopt::transform(counting, n, out, Generate<R>{}, stream); };
    const auto direct = [=] { launchThreads(directGenerate<R>, n, stream, n, out); };
    const auto cub = [=] {
      check(cub::DeviceTransform::Transform(counting, out, n, Generate<R>{}, stream), "cub::DeviceTransform");
    };
    const auto thrust = [=] {
      thrust::transform(thrust::cuda::par_nosync.on(stream), counting, counting + static_cast<std::ptrdiff_t>(n), out,
                        Generate<R>{});
    };
    auto* vectors = buffers_.out<uint4>();
    const std::size_t bytes = n * SIZE / 4096 * 4096;
    const auto write = [=] {
      writeVectors<<<static_cast<unsigned>(bytes / 4096), 256, 0, stream>>>(vectors);
      check(cudaGetLastError(), "writeVectors");
    };
    const auto set = [=] { check(cudaMemsetAsync(vectors, 0x5A, bytes, stream), "cudaMemsetAsync"); };
    report_.run(caseOf<R>(
        "store", n, n * SIZE, goal,
        {candidate("gpuopt", false, whole), candidate("direct", true, direct),
         candidate("cub::DeviceTransform::Transform", true, cub), candidate("thrust::transform", true, thrust)},
        {{"vector write", write, nullptr}, {"cudaMemsetAsync", set, nullptr}}));
  }

  template <std::size_t SIZE, std::size_t ALIGN>
  void load(const Goal& goal) {
    using R = Record<SIZE, ALIGN>;
    const std::size_t n = bytes_ / SIZE;
    const R* in = buffers_.in<R>();
    auto* out = buffers_.out<std::uint32_t>();
    const cudaStream_t stream = timer_.stream();
    const auto staged = [=](bool all) {
      constexpr unsigned BLOCK = foldBlock<R>;
      stagedFold<R><<<static_cast<unsigned>((n + BLOCK - 1) / BLOCK), BLOCK, 0, stream>>>(in, n, out, all);
      check(cudaGetLastError(), "stagedFold");
    };
    const auto direct = [=](bool all) { launchThreads(directFold<R>, n, stream, in, n, out, all); };
    const auto candidate = [=](const char* name, auto run, bool isPeer) {
      const auto correct = [=] {
        buffers_.poison(n * sizeof(std::uint32_t));
        run(true);
        return buffers_.areRight(n, IsFolded<R>{in, out});
      };
      return Candidate{name, [=] { run(false); }, correct, false, 0, isPeer};
    };
    const auto read = [=] {
      readVectors<<<static_cast<unsigned>(n * SIZE / 16384), 256, 0, stream>>>(buffers_.in<uint4>(), out);
      check(cudaGetLastError(), "readVectors");
    };
    report_.run(caseOf<R>("load", n, n * SIZE, goal,
                          {candidate("gpuopt", staged, false), candidate("direct", direct, true)},
                          {{"vector read", read, nullptr}}));
  }

  /// n structures at random places, and back.
  template <std::size_t SIZE, std::size_t ALIGN>
  void index(const Goal& gatherGoal) {
    using R = Record<SIZE, ALIGN>;
    std::size_t n = 1;
    while (2 * n * SIZE <= bytes_) n *= 2;
    const DeviceMemory places(n * sizeof(std::uint32_t));
    auto* indices = places.as<std::uint32_t>();
    permute<<<1024, 256, 0, timer_.stream()>>>(indices, static_cast<std::uint32_t>(n));
    check(cudaGetLastError(), "permute");
    const R* in = buffers_.in<R>();
    R* out = buffers_.out<R>();
    const cudaStream_t stream = timer_.stream();
    const auto run = [&](const char* group, bool scatters, const Goal& goal, auto ours, auto direct) {
      const IsMoved<R> isMoved{in, indices, out, scatters};
      report_.run(caseOf<R>(group, n, n * (2 * SIZE + sizeof(std::uint32_t)), goal,
                            {buffers_.candidate("gpuopt", false, ours, n, isMoved),
                             buffers_.candidate("direct", true, direct, n, isMoved)},
                            buffers_.copies(n * SIZE / 4096 * 4096)));
    };
    run(
        "gather", false, gatherGoal, [=] { gpuopt::gatherStructs(in, indices, n, out, stream); },
        [=] { launchThreads(directGather<R>, n, stream, in, indices, n, out); });
    run(
        "scatter", true, Goal{}, [=] { gpuopt::scatterStructs(in, indices, n, out, stream); },
        [=] { launchThreads(directScatter<R>, n, stream, in, indices, n, out); });
  }

 private:
  template <class R>
  static R* offset(R* data, std::size_t bytes) {
    return reinterpret_cast<R*>(reinterpret_cast<std::uintptr_t>(data) + bytes);
  }

  template <class R>
  static GoalCase caseOf(const char* group, std::size_t n, std::size_t bytes, const Goal& goal,
                         std::vector<Candidate> candidates, std::vector<Candidate> references,
                         Mode mode = Mode::coldWrite, std::pair<std::size_t, std::size_t> offsets = {}) {
    std::string subject = std::to_string(n) + " at " + std::to_string(alignof(R));
    if (offsets.first + offsets.second > 0)
      subject += ", off " + std::to_string(offsets.first) + " > " + std::to_string(offsets.second);
    return {group,
            std::to_string(sizeof(R)),
            subject,
            fmt::format("{},{},{},{}", n, alignof(R), offsets.first, offsets.second),
            bytes,
            goal,
            std::move(candidates),
            std::move(references),
            mode};
  }

  Timer& timer_;
  const Buffers& buffers_;
  GoalReport& report_;
  std::size_t bytes_;
};

template <std::size_t... SIZES>
using Sizes = std::index_sequence<SIZES...>;

template <std::size_t ALIGN, std::size_t... SIZES>
void measureSizes(Bench& bench, const char* group, double goal, Sizes<SIZES...>) {
  (bench.transform<SIZES, ALIGN>(group, atLeast(goal)), ...);
}

template <std::size_t ALIGN, std::size_t... SIZES>
void measureBeside(Bench& bench, const char* group, double goal, Sizes<SIZES...>) {
  (bench.transform<SIZES, ALIGN, Beside::libraries>(group, atLeast(goal)), ...);
}

void measureWords(Bench& bench) {
  measureSizes<4>(bench, "words", 0.98, Sizes<4, 8, 16, 20, 36, 40, 44, 52, 56, 60, 68, 72, 76, 80, 84, 88, 92>{});
  measureBeside<4>(bench, "words", 0.98, Sizes<12, 24, 28, 32, 48, 64, 96>{});
}

void measureAligned(Bench& bench) {
  measureSizes<8>(bench, "aligned", 0.98, Sizes<8, 24, 40, 56, 72, 88>{});
  measureSizes<16>(bench, "aligned", 0.98, Sizes<16, 48, 80, 96>{});
  measureBeside<16>(bench, "aligned", 0.98, Sizes<32, 64>{});
}

void measureLarge(Bench& bench) {
  measureSizes<4>(bench, "large", 0.975, Sizes<100, 112, 132, 160, 196, 224, 252>{});
  measureSizes<16>(bench, "large", 0.975, Sizes<112, 192, 256>{});
  measureBeside<4>(bench, "large", 0.975, Sizes<128, 256>{});
  measureBeside<16>(bench, "large", 0.975, Sizes<128>{});
}

void measureOdd(Bench& bench) {
  measureSizes<1>(bench, "odd", 0.97,
                  Sizes<1, 2, 3, 5, 6, 7, 9, 11, 13, 15, 17, 21, 30, 31, 33, 50, 61, 63, 65, 99, 127, 200, 201, 255>{});
  measureSizes<2>(bench, "odd", 0.97, Sizes<2, 6, 10, 18, 30, 50, 62, 126, 254>{});
}

template <std::size_t SIZE>
void measureOffsets(Bench& bench) {
  for (const auto& [in, out] : {std::pair{4, 4}, std::pair{4, 8}, std::pair{0, 12}, std::pair{8, 0}})
    bench.transform<SIZE, 4>("misaligned", atLeast(0.97), static_cast<std::size_t>(in), static_cast<std::size_t>(out));
}

void measureMisaligned(Bench& bench) {
  measureOffsets<12>(bench);
  measureOffsets<28>(bench);
  measureOffsets<48>(bench);
  measureOffsets<64>(bench);
  measureOffsets<100>(bench);
  bench.transform<3, 1>("misaligned", atLeast(0.97), 1, 3);
  bench.transform<33, 1>("misaligned", atLeast(0.97), 3, 2);
  bench.transform<63, 1>("misaligned", atLeast(0.97), 1, 2);
  bench.transform<48, 16>("misaligned", atLeast(0.97), 16, 0);
}

void measureStore(Bench& bench) {
  bench.store<12, 4>(atLeast(0.98));
  bench.store<28, 4>(atLeast(0.98));
  bench.store<48, 4>(atLeast(0.98));
  bench.store<64, 4>(atLeast(0.98));
  bench.store<64, 16>(atLeast(0.98));
  bench.store<100, 4>(atLeast(0.98));
  bench.store<128, 16>(atLeast(0.98));
}

void measureLoad(Bench& bench) {
  bench.load<24, 4>(atLeast(0.98));
  bench.load<28, 4>(atLeast(0.98));
  bench.load<48, 4>(atLeast(0.98));
  bench.load<64, 4>(atLeast(0.98));
  bench.load<100, 4>(atLeast(0.98));
  bench.load<128, 16>(atLeast(0.98));
  bench.load<256, 4>(atLeast(0.98));
}

void measureIndex(Bench& bench) {
  bench.index<16, 16>(Goal{});
  bench.index<28, 4>(Goal{});
  bench.index<32, 16>(Goal{});
  bench.index<48, 16>(fasterBy(1.25));
  bench.index<64, 16>(fasterBy(1.5));
  bench.index<128, 16>(fasterBy(2.4));
}

void measureWarm(Bench& bench) {
  const auto measure = [&](auto size) {
    bench.transform<size(), 4>("warm", atLeast(0.97), 0, 0, 16 * MiB, Mode::graph);
  };
  measure(std::integral_constant<std::size_t, 12>{});
  measure(std::integral_constant<std::size_t, 28>{});
  measure(std::integral_constant<std::size_t, 48>{});
  measure(std::integral_constant<std::size_t, 64>{});
  measure(std::integral_constant<std::size_t, 100>{});
  measure(std::integral_constant<std::size_t, 128>{});
  measure(std::integral_constant<std::size_t, 256>{});
}

constexpr Group<Bench> groups[] = {
    {"words", measureWords}, {"aligned", measureAligned}, {"large", measureLarge},
    {"odd", measureOdd},     {"store", measureStore},     {"misaligned", measureMisaligned},
    {"load", measureLoad},   {"index", measureIndex},     {"warm", measureWarm}};

int run(Options& options) { return runGoalGroups(options, groups, "n,align,in_offset,out_offset", 4096); }

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "struct_bench", "Arrays of structures, beside the best copy and other ways.", run);
}
