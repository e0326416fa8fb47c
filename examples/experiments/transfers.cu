/// \file
/// The experiment on transfers between host and device.
// SPDX-License-Identifier: MIT
#include "transfers.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace experiments {
namespace {

/// The median of 11 calls and of what they have queued, on the clock of the host; 0 on the emulated device.
template <class Call>
double hostSecondsOf(const Call& call) {
  if (emulated) return 0;
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds(11);
  call();
  for (double& each : seconds) {
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const auto start = Clock::now();
    call();
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    each = std::chrono::duration<double>(Clock::now() - start).count();
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void copy(void* to, const void* from, std::size_t bytes) {
  gpuopt::check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault), "cudaMemcpyAsync");
}

std::vector<unsigned> hashes(std::size_t n) {
  std::vector<unsigned> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = ladders::elementAt<unsigned>(i);
  return values;
}

void fill(const HostBuffer& buffer, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) buffer.as<unsigned>()[i] = ladders::elementAt<unsigned>(i);
}

/// Host memory of every kind. Its pages exist once they are filled.
struct AllKinds {
  explicit AllKinds(std::size_t n)
      : pageable(HostMemory::pageable, n * sizeof(unsigned)),
        pinned(HostMemory::pinned, n * sizeof(unsigned)),
        combined(HostMemory::writeCombined, n * sizeof(unsigned)),
        mapped(HostMemory::mapped, n * sizeof(unsigned)) {
    for (const HostBuffer* each : {&pageable, &pinned, &combined, &mapped}) fill(*each, n);
  }
  HostBuffer pageable, pinned, combined, mapped;
};

/// Whether what the host's memory was filled with is there again after an upload and a download.
bool goesAndComes(const HostBuffer& host, std::size_t n) {
  const std::size_t bytes = n * sizeof(unsigned);
  const DeviceArray<unsigned> device(n);
  copy(device.data(), host.as<void>(), bytes);
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::memset(host.as<void>(), 0xA5, bytes);
  copy(host.as<void>(), device.data(), bytes);
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return std::memcmp(host.as<void>(), hashes(n).data(), bytes) == 0;
}

void kinds(Report& report) {
  constexpr std::size_t LARGEST = std::size_t{1} << 30, CHECKED = 1001;
  const AllKinds host(emulated ? CHECKED : LARGEST / sizeof(unsigned));
  const TimedArray<unsigned> device(LARGEST / sizeof(unsigned));
  const bool isRight = goesAndComes(host.pageable, CHECKED) && goesAndComes(host.pinned, CHECKED) &&
                       goesAndComes(host.combined, CHECKED) && goesAndComes(host.mapped, CHECKED);
  report.table({"Uploads and downloads by size. Then: 5.2 to 6 GB/s pinned (PCIe 2); below 80 KB latency rules",
                "size, GB/s up and down:",
                "",
                "",
                {"pageable up", "pinned up", "w.-comb. up", "mapped read", "pageable down", "pinned down"}});
  for (std::size_t bytes = 4096; bytes <= LARGEST; bytes *= 4) {
    const auto rate = [&](const auto& call) {
      const double seconds = hostSecondsOf(call);
      return seconds > 0 ? 1e-9 * static_cast<double>(bytes) / seconds : 0;
    };
    const auto up = [&](const HostBuffer& from) { return rate([&] { copy(device.data(), from.as<void>(), bytes); }); };
    const auto down = [&](const HostBuffer& to) { return rate([&] { copy(to.as<void>(), device.data(), bytes); }); };
    const double read =
        rate([&] { launchWork(host.mapped.onDevice<unsigned>(), device.data(), bytes / sizeof(unsigned), 1); });
    report.add({readableBytes(bytes),
                "",
                "",
                {up(host.pageable), up(host.pinned), up(host.combined), read, down(host.pageable), down(host.pinned)},
                isRight});
  }
}

/// What a pipeline does, checked with chunks that do not divide the data.
bool isRight(unsigned buffers, IssueOrder order, std::size_t onHost) {
  constexpr std::size_t N = 5003, BYTES = N * sizeof(unsigned);
  constexpr unsigned ROUNDS = 3;
  const HostBuffer in(HostMemory::pinned, BYTES), out(HostMemory::pinned, BYTES);
  fill(in, N);
  std::memset(out.as<void>(), 0xA5, BYTES);
  Pipeline(700, buffers).run(in.as<unsigned>(), out.as<unsigned>(), N, ROUNDS, order, onHost);
  std::vector<unsigned> expected(N);
  workOnHost(in.as<unsigned>(), expected.data(), N, ROUNDS);
  return std::memcmp(expected.data(), out.as<void>(), BYTES) == 0;
}

bool mappedIsRight() {
  constexpr std::size_t N = 1001;
  const HostBuffer memory(HostMemory::mapped, N * sizeof(unsigned));
  fill(memory, N);
  launchWork(memory.onDevice<unsigned>(), memory.onDevice<unsigned>(), N, 3);
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  auto expected = hashes(N);
  workOnHost(expected.data(), expected.data(), N, 3);
  return std::memcmp(expected.data(), memory.as<void>(), N * sizeof(unsigned)) == 0;
}

void overlap(Report& report) {
  constexpr std::size_t N = emulated ? 1 : std::size_t{1} << 26, CHUNKS = 32, CHUNK = (N + CHUNKS - 1) / CHUNKS;
  constexpr unsigned ROUNDS = 512;
  constexpr struct {
    const char* name;
    unsigned buffers;
    IssueOrder order;
    const char* predicted;
  } rows[] = {{"one buffer: nothing overlaps", 1, IssueOrder::depthFirst, "U + K + D"},
              {"two buffers: two ways", 2, IssueOrder::depthFirst, "(U + K + D) / 2"},
              {"three buffers: three ways", 3, IssueOrder::depthFirst, "max(U, K, D)"},
              {"three, issued breadth first", 3, IssueOrder::breadthFirst, "max(U, K, D)"}};

  // Mapped memory is pinned, too.
  const HostBuffer in(HostMemory::mapped, N * sizeof(unsigned)), out(HostMemory::mapped, N * sizeof(unsigned));
  fill(in, N);
  report.table({"256 MiB up, worked on, and down again, in 32 chunks", "how", "", "of upload, kernel, down.", {"ms"}});
  double threeWays = 0;
  for (const auto& row : rows) {
    const Pipeline pipeline(CHUNK, row.buffers);
    const double seconds =
        hostSecondsOf([&] { pipeline.run(in.as<unsigned>(), out.as<unsigned>(), N, ROUNDS, row.order); });
    if (row.buffers == 3 && row.order == IssueOrder::depthFirst) threeWays = seconds;
    report.add({row.name, "", row.predicted, {1e3 * seconds}, isRight(row.buffers, row.order, 0)});
  }

  // The host takes as many elements as it can do while the device does the others.
  constexpr std::size_t SAMPLE = 1000;
  const double sample =
      hostSecondsOf([&] { workOnHost(in.as<unsigned>(), out.as<unsigned>(), (std::min)(SAMPLE, N), ROUNDS); });
  const std::size_t onHost = sample > 0 ? (std::min)(N / 2, static_cast<std::size_t>(SAMPLE * threeWays / sample)) : 0;
  const Pipeline pipeline(CHUNK, 3);
  const double fourWays = hostSecondsOf(
      [&] { pipeline.run(in.as<unsigned>(), out.as<unsigned>(), N, ROUNDS, IssueOrder::depthFirst, onHost); });
  report.add({"and the host works: four ways",
              "",
              "a little less",
              {1e3 * fourWays},
              isRight(3, IssueOrder::depthFirst, 1234)});

  const double zeroCopy =
      hostSecondsOf([&] { launchWork(in.onDevice<unsigned>(), out.onDevice<unsigned>(), N, ROUNDS); });
  report.add({"no copies: mapped memory", "", "max(U, K, D)", {1e3 * zeroCopy}, mappedIsRight()});
}

void run(Report& report) {
  kinds(report);
  overlap(report);
}

}  // namespace

const Experiment transfersExperiment{
    "transfers",
    "The copy engines read pinned memory only; pageable memory is copied once more on the way. Uploads,\n"
    "kernels and downloads of different chunks happen at once, each engine by itself, if streams allow it.",
    run};

}  // namespace experiments
