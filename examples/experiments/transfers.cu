/// \file
/// The experiment on transfers between host and device.
// SPDX-License-Identifier: MIT
#include "transfers.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <gpuopt/transfer_pipeline.cuh>

#include <algorithm>
#include <cstring>
#include <vector>

namespace experiments {
namespace {

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

/// Who reads and writes 256 MiB, more than caches hold: one thread of the host, and a kernel through the link.
void whoseAccess(Report& report, const AllKinds& host, const TimedArray<unsigned>& device) {
  constexpr std::size_t N = emulated ? 1001 : std::size_t{1} << 26;
  const struct {
    const char* name;
    const HostBuffer& memory;
    const char* then;
    bool isForKernels;
  } rows[] = {{"pageable", host.pageable, "", false},
              {"pinned", host.pinned, "", true},
              {"write-combined", host.combined, "not cached: the host reads slowly", true},
              {"mapped", host.mapped, "", true}};
  report.table({"256 MiB written and read by one thread of the host, and by a kernel. Then: CUDA C++ Programming Guide",
                "memory",
                "then",
                "",
                {"host writes, GB/s", "host reads, GB/s", "kernel writes, GB/s", "kernel reads, GB/s"}});
  for (const auto& row : rows) {
    auto* const words = row.memory.as<unsigned>();
    const auto rate = [](const auto& call) {
      const double seconds = hostSecondsOf(call);
      return seconds > 0 ? 4e-9 * static_cast<double>(N) / seconds : 0;
    };
    const double written = rate([&] { writeWords(words, N, 5); });
    const double read = rate([&] { keep(sumOfWords(words, N)); });
    double byKernel[2] = {};
    if (row.isForKernels) {
      auto* const mapped = row.memory.onDevice<unsigned>();
      byKernel[0] = rate([&] { launchWork(device.data(), mapped, N, 1); });
      byKernel[1] = rate([&] { launchWork(mapped, device.data(), N, 1); });
    }
    writeWords(words, N, 3);
    report.add({row.name,
                row.then,
                "",
                {written, read, byKernel[0], byKernel[1]},
                sumOfWords(words, N) == static_cast<unsigned>(3 * N + N * (N - 1) / 2)});
  }
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
  whoseAccess(report, host, device);
}

// -------------------------------------------------------------------------------------------- copies

/// Whether a way to copy rows, call(rows, group, device), brings every byte to where it belongs and no further.
template <class Call>
bool copiesRightly(const Call& call) {
  constexpr std::size_t COUNT = 37, BYTES = 52, PITCH = 128, GUARD = 16;
  const HostBuffer host(HostMemory::pinned, COUNT * PITCH), group(HostMemory::pinned, COUNT * BYTES);
  fill(host, COUNT * PITCH / sizeof(unsigned));
  const HostRows rows{host.as<unsigned char>(), COUNT, BYTES, PITCH};
  const DeviceArray<unsigned char> device(COUNT * BYTES + GUARD);
  device.poison();
  call(rows, group.as<unsigned char>(), device.data());
  std::vector<unsigned char> expected(COUNT * BYTES + GUARD, 0xA5);
  for (std::size_t i = 0; i < COUNT; ++i) std::memcpy(&expected[i * BYTES], rows.data + i * PITCH, BYTES);
  return device.toHost() == expected;
}

bool allCopyRightly() {
  const Streams streams(1, cudaStreamDefault);
  return copiesRightly([](const HostRows& rows, unsigned char*, unsigned char* to) { copyRowByRow(rows, to); }) &&
         copiesRightly(
             [](const HostRows& rows, unsigned char*, unsigned char* to) { copyInTwoDimensions(rows, to); }) &&
         copiesRightly(
             [](const HostRows& rows, unsigned char* group, unsigned char* to) { copyGrouped(rows, group, to); }) &&
         copiesRightly(
             [&](const HostRows& rows, unsigned char*, unsigned char* to) { RowBatch(rows, to)(streams[0]); }) &&
         copiesRightly([](const HostRows& rows, unsigned char*, unsigned char* to) { RowGathering{rows}(to); });
}

/// Rows at twice their length from each other, and as many bytes without gaps. What a way prepares once is not timed.
void manyCopies(Report& report) {
  constexpr std::size_t TOTAL = emulated ? 16384 : std::size_t{1} << 20;
  const HostBuffer host(HostMemory::pinned, 2 * TOTAL), group(HostMemory::pinned, TOTAL);
  const DeviceArray<unsigned char> device(TOTAL);
  const Streams streams(1);
  fill(host, 2 * TOTAL / sizeof(unsigned));
  const bool isRight = allCopyRightly();
  report.table({"1 MiB of pinned memory in rows at twice their length from each other. Then: below 80 KB latency rules",
                "bytes of a row",
                "",
                "copies, one by one",
                {"one by one, us", "batch, us", "2-D copy, us", "grouped, us", "gatherBlocks, us", "no gaps, us"}});
  const auto us = [](const auto& call) { return 1e6 * hostSecondsOf(call); };
  for (std::size_t bytes = 64; bytes <= 65536; bytes *= 4) {
    const HostRows rows{host.as<unsigned char>(), TOTAL / bytes, bytes, 2 * bytes};
    const RowBatch batch(rows, device.data());
    const RowGathering gather(rows);
    report.add({std::to_string(bytes),
                "",
                std::to_string((std::size_t{1} << 20) / bytes),
                {us([&] { copyRowByRow(rows, device.data()); }), us([&] { batch(streams[0]); }),
                 us([&] { copyInTwoDimensions(rows, device.data()); }),
                 us([&] { copyGrouped(rows, group.as<unsigned char>(), device.data()); }),
                 us([&] { gather(device.data()); }), us([&] { copy(device.data(), host.as<void>(), TOTAL); })},
                isRight});
  }
}

/// Copies beside a kernel that takes about as long, in two streams.
void copiesBesideKernel(Report& report) {
  constexpr std::size_t ROW = 4096, COUNT = emulated ? 4 : 16384, N = ROW * COUNT / sizeof(unsigned);
  constexpr unsigned ROUNDS = 1024;
  const HostBuffer host(HostMemory::pinned, 2 * ROW * COUNT);
  const TimedArray<unsigned> to(N), in(N), out(N);
  fill(host, 2 * ROW * COUNT / sizeof(unsigned));
  const HostRows rows{host.as<unsigned char>(), COUNT, ROW, 2 * ROW};
  const Streams streams(2);
  auto* const device = reinterpret_cast<unsigned char*>(to.data());
  const auto flat = [&](cudaStream_t stream) {
    gpuopt::check(cudaMemcpyAsync(device, host.as<void>(), ROW * COUNT, cudaMemcpyHostToDevice, stream),
                  "cudaMemcpyAsync");
  };
  const auto pitched = [&](cudaStream_t stream) { copyInTwoDimensions(rows, device, stream); };
  const auto kernel = [&] { launchWork(in.data(), out.data(), N, ROUNDS, streams[1]); };
  const auto add = [&](const char* name, const char* then, const auto& copies) {
    const double alone = hostSecondsOf([&] { copies(streams[0]); });
    const double both = hostSecondsOf([&] {
      copies(streams[0]);
      kernel();
    });
    report.add({name, then, "the longer of the two", {1e3 * alone, 1e3 * hostSecondsOf(kernel), 1e3 * both}});
  };
  report.table({"64 MiB to the device beside a kernel. Then: The Art of Performance Optimization",
                "copy",
                "then, both",
                "predicted, both",
                {"copy, ms", "kernel, ms", "both, ms"}});
  add("in one piece", "overlap", flat);
  add("in two dimensions, rows of 4 KiB", "do not overlap", pitched);
}

// ------------------------------------------------------------------------------------------- overlap

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

bool libraryIsRight() {
  constexpr std::size_t N = 5003;
  const auto values = hashes(N);
  std::vector<unsigned> found(N), expected(N);
  gpuopt::streamTransform(values, found, Worked{3});
  workOnHost(values.data(), expected.data(), N, 3);
  return found == expected;
}

/// What goes up, and where its results come down: mapped memory, which is pinned, too.
struct OverlapData {
  static constexpr std::size_t N = emulated ? 1 : std::size_t{1} << 26, CHUNK = (N + 31) / 32;
  static constexpr unsigned ROUNDS = 512;

  OverlapData() { fill(in, N); }

  double secondsOf(unsigned buffers, IssueOrder order, std::size_t onHost) const {
    const Pipeline pipeline(CHUNK, buffers);
    return hostSecondsOf([&] { pipeline.run(in.as<unsigned>(), out.as<unsigned>(), N, ROUNDS, order, onHost); });
  }

  HostBuffer in{HostMemory::mapped, N * sizeof(unsigned)}, out{HostMemory::mapped, N * sizeof(unsigned)};
};

/// One to three ways at once. Returns the seconds of three.
double waysOfDevice(Report& report, const OverlapData& data) {
  constexpr struct {
    const char* name;
    unsigned buffers;
    IssueOrder order;
    const char* predicted;
  } rows[] = {{"one buffer: nothing overlaps", 1, IssueOrder::depthFirst, "U + K + D"},
              {"two buffers: two ways", 2, IssueOrder::depthFirst, "(U + K + D) / 2"},
              {"three buffers: three ways", 3, IssueOrder::depthFirst, "max(U, K, D)"},
              {"three, issued breadth first", 3, IssueOrder::breadthFirst, "max(U, K, D)"}};
  double threeWays = 0;
  for (const auto& row : rows) {
    const double seconds = data.secondsOf(row.buffers, row.order, 0);
    if (row.buffers == 3 && row.order == IssueOrder::depthFirst) threeWays = seconds;
    report.add({row.name, "", row.predicted, {1e3 * seconds}, isRight(row.buffers, row.order, 0)});
  }
  return threeWays;
}

/// The host takes as many elements as it can do while the device does the others.
void fourthWay(Report& report, const OverlapData& data, double threeWays) {
  constexpr std::size_t N = OverlapData::N, SAMPLE = 1000;
  const double sample = hostSecondsOf(
      [&] { workOnHost(data.in.as<unsigned>(), data.out.as<unsigned>(), (std::min)(SAMPLE, N), OverlapData::ROUNDS); });
  const std::size_t onHost = sample > 0 ? (std::min)(N / 2, static_cast<std::size_t>(SAMPLE * threeWays / sample)) : 0;
  report.add({"and the host works: four ways",
              "",
              "a little less",
              {1e3 * data.secondsOf(3, IssueOrder::depthFirst, onHost)},
              isRight(3, IssueOrder::depthFirst, 1234)});
}

void overlap(Report& report) {
  constexpr std::size_t N = OverlapData::N;
  constexpr unsigned ROUNDS = OverlapData::ROUNDS;
  const OverlapData data;
  report.table({"256 MiB up, worked on, and down again, in 32 chunks", "how", "", "of upload, kernel, down.", {"ms"}});
  fourthWay(report, data, waysOfDevice(report, data));
  const double zeroCopy =
      hostSecondsOf([&] { launchWork(data.in.onDevice<unsigned>(), data.out.onDevice<unsigned>(), N, ROUNDS); });
  report.add({"no copies: mapped memory", "", "max(U, K, D)", {1e3 * zeroCopy}, mappedIsRight()});
  const double library = hostSecondsOf(
      [&] { gpuopt::streamTransform(data.in.as<unsigned>(), N, data.out.as<unsigned>(), Worked{ROUNDS}); });
  report.add({"gpuopt::streamTransform", "", "max(U, K, D)", {1e3 * library}, libraryIsRight()});
  report.note(
      format("Copy engines: %d", gpuopt::deviceAttribute(cudaDevAttrAsyncEngineCount, gpuopt::currentDevice())));
}

// ----------------------------------------------------------------------------------------------- sums

/// A sum of the host's data, its value on the host: call(host, n).
template <class Call>
void sumRow(Report& report, const char* name, const HostBuffer& pageable, const HostBuffer& pinned, std::size_t n,
            bool takesPageable, const Call& call) {
  const auto ms = [&](const HostBuffer& host) {
    return 1e3 * hostSecondsOf([&] { keep(call(host.as<unsigned>(), n)); });
  };
  const bool isRight = call(pinned.as<unsigned>(), n) == sumOfWords(pinned.as<unsigned>(), n) &&
                       (!takesPageable || call(pageable.as<unsigned>(), n) == sumOfWords(pageable.as<unsigned>(), n));
  report.add({name, "", "", {takesPageable ? ms(pageable) : 0, ms(pinned)}, isRight});
}

void sums(Report& report) {
  constexpr std::size_t N = emulated ? 5003 : std::size_t{1} << 26;
  const HostBuffer pageable(HostMemory::pageable, N * sizeof(unsigned)),
      pinned(HostMemory::pinned, N * sizeof(unsigned));
  fill(pageable, N);
  fill(pinned, N);
  const DeviceArray<unsigned> device(N);
  const auto row = [&](const char* name, bool takesPageable, const auto& call) {
    sumRow(report, name, pageable, pinned, N, takesPageable, call);
  };
  report.table(
      {"A sum of 256 MiB of the host's data, its value on the host", "how", "", "", {"pageable, ms", "pinned, ms"}});
  row("the host itself, one thread", true, sumOfWords);
  row("cudaMemcpy, then gpuopt::reduce", true, [&](const unsigned* host, std::size_t n) {
    gpuopt::check(cudaMemcpy(device.data(), host, n * sizeof(unsigned), cudaMemcpyHostToDevice), "cudaMemcpy");
    return gpuopt::reduce(device.data(), n);
  });
  row("gpuopt::upload, then gpuopt::reduce", true, [&](const unsigned* host, std::size_t n) {
    gpuopt::upload(host, n, device.data());
    return gpuopt::reduce(device.data(), n);
  });
  row("gpuopt::reduce of mapped memory", false,
      [](const unsigned* host, std::size_t n) { return gpuopt::reduce(host, n); });
  row("gpuopt::streamReduce", true, [](const unsigned* host, std::size_t n) { return gpuopt::streamReduce(host, n); });
}

void run(Report& report) {
  kinds(report);
  manyCopies(report);
  copiesBesideKernel(report);
  overlap(report);
  sums(report);
}

}  // namespace

const Experiment transfersExperiment{
    "transfers",
    "The copy engines read pinned memory only; pageable memory is copied once more on the way. Uploads,\n"
    "kernels and downloads of different chunks happen at once, each engine by itself, if streams allow it.",
    run};

}  // namespace experiments
