/// \file
/// Transfers between pageable memory and the device, scattered blocks of pinned memory, and sums of pinned arrays,
/// beside the runtime's calls. Host time of a call until its data has arrived.
// SPDX-License-Identifier: MIT
#include "support/goal_report.cuh"
#include "support/options.hpp"

#include <gpuopt/reduce.cuh>
#include <gpuopt/transfer.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;
using gpuopt::TransferDirection;

constexpr std::size_t KIB = 1024, MIB = 1024 * KIB;

// Each sample works on other pageable memory than the last.
constexpr std::size_t stride = 96 * MIB;

__host__ __device__ std::uint32_t wordAt(std::size_t i) {
  const auto x = static_cast<std::uint32_t>(i) * 0x9E3779B1u;
  return x ^ x >> 15;
}

__global__ void fillDevice(std::uint32_t* words, std::size_t n) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step) words[i] = wordAt(i);
}

__global__ void countWrong(const std::uint32_t* words, std::size_t n, unsigned* wrong) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += step)
    if (words[i] != wordAt(i)) atomicAdd(wrong, 1u);
}

std::string readable(std::size_t bytes) {
  if (bytes >= 1024 * MIB) return std::to_string(bytes / MIB / 1024) + " GiB";
  return bytes >= MIB ? std::to_string(bytes / MIB) + " MiB" : std::to_string(bytes / KIB) + " KiB";
}

cudaMemcpyKind kindOf(TransferDirection direction) {
  return direction == TransferDirection::upload ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
}

// The runtime's copy of one array.
void copyAsync(TransferDirection direction, void* host, void* device, std::size_t bytes, cudaStream_t stream) {
  const bool isUpload = direction == TransferDirection::upload;
  check(cudaMemcpyAsync(isUpload ? device : host, isUpload ? host : device, bytes, kindOf(direction), stream),
        "cudaMemcpyAsync");
}

// Scattered blocks, and what the ways to copy them take.
struct Blocks {
  std::vector<std::size_t> offsets, sizes;
  std::vector<void*> hosts, devices;
  std::size_t blockBytes;

  std::size_t count() const { return offsets.size(); }
};

class Bench {
 public:
  Bench(Timer& timer, GoalReport& report, std::size_t bytes, double link)
      : stream_(timer.stream()),
        report_(report),
        bytes_(bytes),
        link_(link),
        device_(bytes),
        pageable_(new unsigned char[bytes]),
        pinned_(bytes),
        landing_((std::min)(bytes, 256 * MIB)) {
    auto* words = reinterpret_cast<std::uint32_t*>(pinned_.data());
    for (std::size_t i = 0; i < bytes / 4; ++i) words[i] = wordAt(i);
  }

  // Both arrays of the host hold wordAt again.
  void restore() { std::memcpy(pageable_.get(), pinned_.data(), bytes_); }

  void array(TransferDirection direction, std::size_t bytes, Goal goal) {
    if (bytes > bytes_) return;
    const bool isUpload = direction == TransferDirection::upload;
    unsigned char* device = device_.as<unsigned char>();
    const auto gpuopts = [=, s = stream_](unsigned char* host) {
      isUpload ? gpuopt::upload(host, bytes, device, s) : gpuopt::download(device, bytes, host, s);
    };
    const auto runtimes = [=, s = stream_](unsigned char* host) { copyAsync(direction, host, device, bytes, s); };
    const auto waiting = [=](unsigned char* host) {
      check(cudaMemcpy(isUpload ? device : host, isUpload ? host : device, bytes, kindOf(direction)), "cudaMemcpy");
      check(cudaStreamSynchronize(cudaStreamLegacy), "cudaStreamSynchronize");
    };
    const auto pinned = [=, s = stream_] { copyAsync(direction, pinned_.data(), device, bytes, s); };
    const auto way = [&](const char* name, bool isPeer, auto call) {
      return Candidate{name,  [=] { call(nextHost(bytes)); }, [=] { return isRight(direction, bytes, call); }, true, 0,
                       isPeer};
    };
    report_.run({isUpload ? "up" : "down",
                 readable(bytes),
                 readable(bytes),
                 std::to_string(bytes),
                 bytes,
                 ofLink(goal, bytes),
                 {way("gpuopt", false,
                      [=, s = stream_](unsigned char* host) {
                        gpuopts(host);
                        check(cudaStreamSynchronize(s), "cudaStreamSynchronize");
                      }),
                  way("cudaMemcpy", true, waiting),
                  way("cudaMemcpyAsync", true,
                      [=, s = stream_](unsigned char* host) {
                        runtimes(host);
                        check(cudaStreamSynchronize(s), "cudaStreamSynchronize");
                      })},
                 {{"pinned", pinned, nullptr}},
                 Mode::wall});
  }

  void blocks(TransferDirection direction, std::size_t blockBytes, std::size_t count, Goal goal) {
    const std::size_t bytes = blockBytes * count;
    if (bytes > landing_.size()) return;
    const bool isUpload = direction == TransferDirection::upload;
    const auto made = std::make_shared<const Blocks>(scattered(blockBytes, count));
    const auto gpuopts = [=, s = stream_] {
      const std::size_t* offsets = made->offsets.data();
      if (isUpload)
        gpuopt::gatherBlocks(pinned_.data(), offsets, count, blockBytes, device_.as<void>(), s);
      else
        gpuopt::scatterBlocks(device_.as<void>(), pinned_.data(), offsets, count, blockBytes, s);
    };
    const auto loop = [=, s = stream_] {
      for (std::size_t i = 0; i < count; ++i) copyAsync(direction, made->hosts[i], made->devices[i], blockBytes, s);
    };
    const auto way = [&](const char* name, bool isPeer, auto call) {
      return Candidate{name, call, [=] { return blocksAreRight(direction, *made, call); }, false, 0, isPeer};
    };
    std::vector<Candidate> ways{way("gpuopt", false, gpuopts)};
    if (count <= 4096) ways.push_back(way("loop", true, loop));  // longer ones take a fifth of a second
#if CUDART_VERSION >= 13000
    ways.push_back(way("cudaMemcpyBatchAsync", true, [=] { copyBatch(direction, *made); }));
#endif
    const auto pinned = [=, s = stream_] { copyAsync(direction, landing_.data(), device_.as<void>(), bytes, s); };
    report_.run({isUpload ? "gather" : "scatter",
                 std::to_string(blockBytes),
                 std::to_string(count) + " blocks",
                 std::to_string(count),
                 bytes,
                 ofLink(goal, bytes),
                 std::move(ways),
                 {{"pinned", pinned, nullptr}},
                 Mode::wall});
  }

  // The sum of floats in pinned memory, its value on the host.
  void sum(std::size_t bytes, Goal goal) {
    const auto* words = reinterpret_cast<const std::uint32_t*>(pinned_.data());
    auto* device = device_.as<std::uint32_t>();
    const std::size_t n = bytes / 4;
    const auto result = std::make_shared<std::uint32_t>();
    const auto way = [&](const char* name, bool isPeer, auto call) {
      const auto correct = [=] {
        *result = 0;
        call();
        std::uint32_t expected = 0;
        for (std::size_t i = 0; i < n; ++i) expected += words[i];
        return *result == expected;
      };
      return Candidate{name, call, correct, true, 0, isPeer};
    };
    report_.run(
        {"sum",
         readable(bytes),
         readable(bytes),
         std::to_string(bytes),
         bytes,
         std::move(goal),
         {way("gpuopt", false, [=, s = stream_] { *result = gpuopt::reduce(words, n, gpuopt::Plus{}, s); }),
          way("copy and reduce", true,
              [=, s = stream_] {
                copyAsync(TransferDirection::upload, pinned_.data(), device, bytes, s);
                *result = gpuopt::reduce(device, n, gpuopt::Plus{}, s);
              })},
         {{"pinned", [=, s = stream_] { copyAsync(TransferDirection::upload, pinned_.data(), device, bytes, s); },
           nullptr}},
         Mode::wall});
  }

 private:
  // The figure is the share of a large pinned copy's speed.
  Goal ofLink(Goal goal, std::size_t bytes) const {
    goal.of = [=, link = link_](const CaseTimes& times) {
      return static_cast<double>(bytes) / times.candidates.front() * 1e6 / link;
    };
    return goal;
  }

  unsigned char* nextHost(std::size_t bytes) {
    const std::size_t step = (std::max)(stride, bytes), places = (bytes_ - bytes) / step + 1;
    return pageable_.get() + next_++ % places * step;
  }

  void fill() {
    fillDevice<<<1024, 256, 0, stream_>>>(device_.as<std::uint32_t>(), bytes_ / 4);
    check(cudaStreamSynchronize(stream_), "fillDevice");
  }

  // Pageable memory holds wordAt before uploads, and after downloads.
  template <class Call>
  bool isRight(TransferDirection direction, std::size_t bytes, const Call& call) {
    if (direction == TransferDirection::download) {
      std::memset(pageable_.get(), 0, bytes);
      fill();
      call(pageable_.get());
      return std::memcmp(pageable_.get(), pinned_.data(), bytes) == 0;
    }
    gpuopt::PinnedVector<unsigned> wrong(1, 0);
    check(cudaMemset(device_.as<void>(), 0xA5, bytes), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    call(pageable_.get());
    countWrong<<<1024, 256, 0, stream_>>>(device_.as<std::uint32_t>(), bytes / 4, wrong.devicePointer());
    check(cudaStreamSynchronize(stream_), "countWrong");
    return wrong[0] == 0;
  }

  Blocks scattered(std::size_t blockBytes, std::size_t count) {
    std::vector<std::size_t> places(bytes_ / blockBytes);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    std::shuffle(places.begin(), places.end(), std::mt19937_64(count));
    Blocks made{{}, std::vector<std::size_t>(count, blockBytes), {}, {}, blockBytes};
    for (std::size_t i = 0; i < count; ++i) {
      made.offsets.push_back(places[i] * blockBytes);
      made.hosts.push_back(pinned_.data() + made.offsets.back());
      made.devices.push_back(device_.as<unsigned char>() + i * blockBytes);
    }
    return made;
  }

#if CUDART_VERSION >= 13000
  void copyBatch(TransferDirection direction, const Blocks& blocks) const {
    const bool isUpload = direction == TransferDirection::upload;
    cudaMemcpyAttributes attributes{};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    std::size_t first = 0;
    check(cudaMemcpyBatchAsync((isUpload ? blocks.devices : blocks.hosts).data(),
                               (isUpload ? blocks.hosts : blocks.devices).data(), blocks.sizes.data(), blocks.count(),
                               &attributes, &first, 1, stream_),
          "cudaMemcpyBatchAsync");
  }
#endif

  // Compares with pageable memory, which holds what pinned memory held before.
  template <class Call>
  bool blocksAreRight(TransferDirection direction, const Blocks& blocks, const Call& call) {
    const std::size_t bytes = blocks.blockBytes * blocks.count();
    const bool isUpload = direction == TransferDirection::upload;
    std::vector<unsigned char> packed(bytes);
    for (std::size_t i = 0; i < blocks.count(); ++i)
      std::memcpy(packed.data() + i * blocks.blockBytes, pageable_.get() + blocks.offsets[i], blocks.blockBytes);
    if (!isUpload) {
      check(cudaMemcpy(device_.as<void>(), packed.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
      for (void* host : blocks.hosts) std::memset(host, 0xA5, blocks.blockBytes);
    }
    call();
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    if (!isUpload) return std::memcmp(pinned_.data(), pageable_.get(), bytes_) == 0;
    std::vector<unsigned char> copy(bytes);
    check(cudaMemcpy(copy.data(), device_.as<void>(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return copy == packed;
  }

  cudaStream_t stream_;
  GoalReport& report_;
  std::size_t bytes_;
  double link_;  // bytes per second
  DeviceMemory device_;
  std::unique_ptr<unsigned char[]> pageable_;
  gpuopt::PinnedVector<unsigned char> pinned_;   // wordAt
  gpuopt::PinnedVector<unsigned char> landing_;  // for the references of blocks
  std::size_t next_ = 0;
};

struct Size {
  std::size_t bytes;
  double up, down;  // goals: shares of the link; 0: none
};

constexpr Size sizes[] = {{4 * KIB, 0, 0},   {64 * KIB, 0, 0},       {256 * KIB, 0, 0},   {512 * KIB, 0, 0},
                          {MIB, 0.27, 0},    {4 * MIB, 0, 0},        {16 * MIB, 0.45, 0}, {64 * MIB, 0.7, 0.7},
                          {256 * MIB, 0, 0}, {1024 * MIB, 0.9, 0.92}};

struct BlockSize {
  std::size_t bytes, count;
  double up, down;
};

constexpr BlockSize blockSizes[] = {
    {256, 4096, 0.54, 0.54},      {KIB, 65536, 0.85, 0.85},     {4 * KIB, 16, 0, 0},          {4 * KIB, 1024, 0, 0},
    {4 * KIB, 65536, 0.91, 0.93}, {16 * KIB, 4096, 0.91, 0.91}, {64 * KIB, 4096, 0.92, 0.92}, {4 * MIB, 64, 0, 0}};

template <TransferDirection DIRECTION>
void measureArrays(Bench& bench) {
  bench.restore();
  for (const Size& size : sizes)
    bench.array(DIRECTION, size.bytes, atLeast(DIRECTION == TransferDirection::upload ? size.up : size.down));
}

template <TransferDirection DIRECTION>
void measureBlocks(Bench& bench) {
  bench.restore();
  for (const BlockSize& size : blockSizes)
    bench.blocks(DIRECTION, size.bytes, size.count,
                 atLeast(DIRECTION == TransferDirection::upload ? size.up : size.down));
}

void measureSums(Bench& bench) {
  Goal goal;
  goal.isUpperBound = true;
  goal.figure = 11.6;
  goal.of = [](const CaseTimes& times) { return times.candidates.front(); };  // us
  for (const std::size_t bytes : {4 * KIB, 16 * KIB, 64 * KIB}) bench.sum(bytes, goal);
  for (const std::size_t bytes : {256 * KIB, MIB, 16 * MIB}) bench.sum(bytes, {});
}

constexpr Group<Bench> groups[] = {{"up", measureArrays<TransferDirection::upload>},
                                   {"down", measureArrays<TransferDirection::download>},
                                   {"gather", measureBlocks<TransferDirection::upload>},
                                   {"scatter", measureBlocks<TransferDirection::download>},
                                   {"sum", measureSums}};

// Bytes per second of a pinned copy to the device.
double linkSpeed(Timer& timer, std::size_t bytes) {
  const DeviceMemory device(bytes);
  const gpuopt::PinnedVector<unsigned char> pinned(bytes);
  const auto copy = [&] {
    check(cudaMemcpyAsync(device.as<void>(), pinned.data(), bytes, cudaMemcpyHostToDevice, timer.stream()),
          "cudaMemcpyAsync");
  };
  return static_cast<double>(bytes) / timer.measure(Mode::wall, {{"pinned", copy, nullptr}}, bytes)[0].median * 1e6;
}

int run(Options& options) {
  Names rows = namesOf(groups);
  options.choice("--rows", rows, "groups of cases");
  options.parse(7, 3);
  Timer timer(options.repetitions);
  const std::size_t bytes = (options.isQuick ? 256 : 1024) * MIB;
  const double link = linkSpeed(timer, bytes);
  GoalReport report(timer, options, "n", link);
  Bench bench(timer, report, bytes, link);
  measureChosen(groups, rows, bench);
  return report.finish(report.peers());
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "transfer_bench", "Transfers between host and device, beside the runtime's calls.",
                      run);
}
