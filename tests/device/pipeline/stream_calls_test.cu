/// \file
/// streamReduce and streamTransform: results at every chunk boundary, bits, operations, forms of the calls.
// SPDX-License-Identifier: MIT
#include "device/pipeline/pipeline_data.cuh"

#include <gpuopt/map.cuh>
#include <gpuopt/transfer_array.cuh>
#include <gpuopt/transfer_frames.cuh>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace pipeline_test {

struct Triple {
  __device__ std::uint64_t operator()(std::uint32_t x) const { return 3 * static_cast<std::uint64_t>(x); }
};

struct AddIndex {
  __device__ std::uint32_t operator()(std::uint32_t x, std::size_t i) const {
    return x + static_cast<std::uint32_t>(i);
  }
};

struct Negate {
  __device__ float operator()(float x) const { return -x; }
};

// Associative, not commutative, without a known neutral element: the last one.
struct Last {
  __host__ __device__ std::uint32_t operator()(std::uint32_t, std::uint32_t b) const { return b; }
};

// 12 bytes.
struct Sum3 {
  float x, y, z;
  friend __host__ __device__ Sum3 operator+(const Sum3& a, const Sum3& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
};

}  // namespace pipeline_test

using namespace gpuopt::test;
using namespace pipeline_test;

namespace {

gpuopt::PipelineOptions chunksOfBytes(std::size_t bytes) {
  gpuopt::PipelineOptions options;
  options.chunkBytes = bytes;
  return options;
}

template <class T>
bool sameBits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

TEST_CASE("streamReduce folds every element once", "[pipeline]") {
  const gpuopt::PipelineOptions options = chunksOfBytes(400);
  const bool isPinned = GENERATE(false, true);
  for (const std::size_t n :
       {std::size_t{1}, std::size_t{99}, std::size_t{100}, std::size_t{101}, std::size_t{1000}, std::size_t{1001}}) {
    HostNumbers in(randomVector<Number>(n, 3), isPinned);
    Number sum = 0, largest = 0;
    for (const Number x : in.values()) sum += x, largest = std::max(largest, x);
    const Number* const data = in.data();
    CHECK(gpuopt::streamReduce(data, n, gpuopt::Plus{}, options) == sum);
    CHECK(gpuopt::streamReduce(data, n, gpuopt::Plus{}, Number{5}, options) == sum + 5);
    CHECK(gpuopt::streamReduce(data, n, gpuopt::Maximum{}, options) == largest);
    CHECK(gpuopt::streamReduce<gpuopt::DefaultAccumulator, gpuopt::InOrder>(data, n, Last{}, options) == data[n - 1]);
  }
}

TEST_CASE("streamReduce combines the chunks in their order, each as reduce does", "[pipeline]") {
  constexpr std::size_t n = 5003, CHUNK = 256;
  const std::vector<float> values = randomVector<float>(n, 41);
  float expected = 0;
  for (std::size_t first = 0; first < n; first += CHUNK) {
    const std::vector<float> chunk(values.begin() + static_cast<std::ptrdiff_t>(first),
                                   values.begin() + static_cast<std::ptrdiff_t>(std::min(first + CHUNK, n)));
    const DeviceArray<float> device(chunk);
    const float partial = gpuopt::reduce(device.data(), chunk.size());
    expected = first == 0 ? partial : expected + partial;
  }
  const gpuopt::PipelineOptions options = chunksOfBytes(CHUNK * sizeof(float));
  std::vector<float> shifted(n + 1);
  for (unsigned slots = 0; slots < 4; ++slots) {
    gpuopt::PipelineOptions more = options;
    more.slots = slots;
    CHECK(sameBits(gpuopt::streamReduce(values, gpuopt::Plus{}, more), expected));
  }
  std::copy(values.begin(), values.end(), shifted.begin() + 1);
  CHECK(sameBits(gpuopt::streamReduce(shifted.data() + 1, n, gpuopt::Plus{}, options), expected));
}

TEST_CASE("streamReduce of a short array in pinned memory has few copies, and the bits of its chunks", "[pipeline]") {
  using InOrder = gpuopt::InOrder;
  constexpr std::size_t CHUNK = gpuopt::detail::minChunkBytes / sizeof(float);
  for (const std::size_t n : {std::size_t{1}, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 3 * CHUNK + 5, 6 * CHUNK - 1}) {
    CAPTURE(n);
    const std::vector<float> values = randomVector<float>(n, 47);
    gpuopt::PinnedVector<float> pinned(n);
    std::copy(values.begin(), values.end(), pinned.begin());
    CHECK(sameBits(gpuopt::streamReduce(pinned), gpuopt::streamReduce(values)));
    CHECK(sameBits(gpuopt::streamReduce(pinned, gpuopt::Plus{}, 0.5f),
                   gpuopt::streamReduce(values, gpuopt::Plus{}, 0.5f)));
  }
  gpuopt::PinnedVector<Number> numbers(5 * CHUNK + 3);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<Number>(i);
  for (const std::size_t n : {CHUNK, CHUNK + 1, 3 * CHUNK, numbers.size()}) {
    CHECK(gpuopt::streamReduce<gpuopt::DefaultAccumulator, InOrder>(numbers.data(), n, Last{}, Number{7}) == n - 1);
    CHECK(gpuopt::streamReduce<std::uint64_t>(numbers.data(), n) == std::uint64_t{n} * (n - 1) / 2);
  }
  const gpuopt::PinnedVector<Sum3> sums(400001, Sum3{1, 2, 3});  // chunks that are no multiple of 256 bytes
  const Sum3 all = gpuopt::streamReduce(sums, gpuopt::Plus{});
  CHECK((all.x == 400001 && all.y == 800002 && all.z == 1200003));
}

// Memory of the caller's.
struct Resource {
  std::size_t bytes = 0, held = 0;

  void* allocate(std::size_t size, cudaStream_t stream) {
    void* memory = nullptr;
    requireTrue(cudaMallocAsync(&memory, size, stream) == cudaSuccess);
    bytes = size;
    ++held;
    return memory;
  }
  void deallocate(void* memory, std::size_t, cudaStream_t stream) {
    if (cudaFreeAsync(memory, stream) == cudaSuccess) --held;
  }
};

// The memory that the next short run of this thread will use.
struct KeptMemory {
  const unsigned char* data;
  std::size_t bytes;
};
KeptMemory keptMemory() {
  const gpuopt::detail::KeptRunLease run = gpuopt::detail::KeptRuns::instance().acquire();
  return {run->memory.data(), run->memory.bytes()};
}

TEST_CASE("streamReduce keeps the memory of a short array in pinned memory", "[pipeline]") {
  gpuopt::PinnedVector<float> pinned(50001);
  std::fill(pinned.begin(), pinned.end(), 2.0f);
  gpuopt::trimTransfers();
  CHECK(keptMemory().bytes == 0);
  CHECK(gpuopt::streamReduce(pinned) == 100002);
  const KeptMemory kept = keptMemory();
  CHECK(kept.bytes == 50001 * sizeof(float));
  CHECK(gpuopt::streamReduce(pinned.data(), 40000) == 80000);
  CHECK((keptMemory().data == kept.data && keptMemory().bytes == kept.bytes));

  Resource resource;  // the caller's memory instead
  gpuopt::PipelineOptions options;
  options.memory = resource;
  gpuopt::PinnedVector<float> longer(60000);
  std::fill(longer.begin(), longer.end(), 1.0f);
  CHECK(gpuopt::streamReduce(longer, gpuopt::Plus{}, options) == 60000);
  CHECK(resource.bytes == 60000 * sizeof(float));
  CHECK(resource.held == 0);
  CHECK(keptMemory().bytes == kept.bytes);

  gpuopt::trimTransfers();
  CHECK(keptMemory().bytes == 0);
}

TEST_CASE("streamReduce takes what reduce takes", "[pipeline]") {
  const std::vector<float> values = smallIntegers<float>(1000, 43);
  double sum = 0;
  for (const float x : values) sum += x;
  CHECK(gpuopt::streamReduce(values) == static_cast<float>(sum));
  const double precise = gpuopt::streamReduce<double>(values, gpuopt::Plus{}, 0.5, chunksOfBytes(64));
  CHECK(precise == sum + 0.5);
  CHECK(gpuopt::streamReduce(std::array<int, 3>{1, 2, 4}, gpuopt::Plus{}) == 7);
  CHECK(gpuopt::streamReduce(std::array<int, 3>{1, 2, 4}, gpuopt::Plus{}, 10) == 17);
  const std::vector<Sum3> sums(100, Sum3{1, 2, 3});
  const Sum3 all = gpuopt::streamReduce(sums, gpuopt::Plus{}, chunksOfBytes(120));
  CHECK((all.x == 100 && all.y == 200 && all.z == 300));
  std::size_t calls = 0;
  const auto produce = [&](Number* to, std::size_t) {
    if (++calls == 6) return std::size_t{0};
    for (std::size_t i = 0; i < calls; ++i) to[i] = 1;
    return calls;
  };
  CHECK(gpuopt::streamReduce(gpuopt::fromCallback<Number>(produce)) == 15);
}

TEST_CASE("streamReduce of nothing gives init or the neutral element", "[pipeline]") {
  const float* const none = nullptr;
  CHECK(gpuopt::streamReduce(none, 0) == 0);
  CHECK(gpuopt::streamReduce(none, 0, gpuopt::Multiplies{}) == 1);
  CHECK(gpuopt::streamReduce(none, 0, gpuopt::Plus{}, 7.0f) == 7);
  const std::vector<Number> empty;
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(gpuopt::streamReduce(empty, Last{})); }) ==
        "gpuopt::streamReduce: n is 0 and the operation has no known identity: pass init");
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(gpuopt::streamReduce(none, 5)); }) ==
        "gpuopt::streamReduce: host is null, but n is 5");
}

TEST_CASE("streamReduce that is cancelled has no value", "[pipeline]") {
  const std::vector<float> values(1000);
  const std::atomic<bool> cancel{true};
  gpuopt::PipelineOptions options = chunksOfBytes(64);
  options.cancel = &cancel;
  // WRITTEN transfer: gpuopt::streamReduce(samples, n, gpuopt::Plus{}, options), cancelled by options.cancel
  CHECK(messageOf<gpuopt::PipelineCancelled>([&] {
          static_cast<void>(gpuopt::streamReduce(values, gpuopt::Plus{}, options));
        }) == "gpuopt::streamReduce: cancelled by options.cancel or options.progress");
}

TEST_CASE("streamTransform computes every element, with its number in the whole", "[pipeline]") {
  const bool isPinned = GENERATE(false, true);
  const gpuopt::PipelineOptions options = chunksOfBytes(800);
  for (const std::size_t n : {std::size_t{1}, std::size_t{100}, std::size_t{101}, std::size_t{1234}}) {
    HostNumbers in(randomVector<Number>(n, 47), isPinned), out(n, isPinned);
    std::vector<std::uint64_t> wide(n, 1);
    const auto result = gpuopt::streamTransform(in.data(), n, wide.data(), Triple{}, options);
    CHECK(result.elements == n);
    gpuopt::streamTransform(in.data(), n, out.data(), AddIndex{}, options);
    const std::vector<Number> found = out.values();
    REQUIRE(found.size() == n);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i)
      wrong += wide[i] != 3 * static_cast<std::uint64_t>(in.data()[i]) || found[i] != in.data()[i] + i;
    CHECK(wrong == 0);
  }
}

TEST_CASE("streamTransform works in place, and in containers", "[pipeline]") {
  const std::vector<float> values = randomVector<float>(1000, 53);
  std::vector<float> data = values, longer(1001, 5);
  gpuopt::streamTransform(data, data, Negate{}, chunksOfBytes(256));
  gpuopt::streamTransform(values, longer, Negate{}, chunksOfBytes(256));
  std::size_t wrong = longer[1000] != 5;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += data[i] != -values[i] || longer[i] != -values[i];
  CHECK(wrong == 0);
  const float* const none = nullptr;
  CHECK(gpuopt::streamTransform(none, 0, data.data(), Negate{}).elements == 0);
}

TEST_CASE("streamTransform refuses what cannot be right", "[pipeline]") {
  std::vector<float> data(100, 1), shorter(99);
  CHECK(messageOf<std::invalid_argument>([&] { gpuopt::streamTransform(data, shorter, Negate{}); }) ==
        "gpuopt::streamTransform: out has 99 elements, but 100 are needed");
  // WRITTEN transfer: gpuopt::streamTransform(samples, 90, samples + 5, f)
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::streamTransform(data.data(), 90, data.data() + 5, Negate{});
        }) == "gpuopt::streamTransform: in and out overlap: out begins at byte 20 of the 360 of in");
  CHECK(data == std::vector<float>(100, 1));
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::streamTransform(data.data(), 5, static_cast<float*>(nullptr), Negate{});
        }) == "gpuopt::streamTransform: out is null, but n is 5");
  DeviceArray<float> device(data);
  CHECK(messageOf<std::invalid_argument>([&] { gpuopt::streamTransform(device.data(), 5, data.data(), Negate{}); }) ==
        "gpuopt::streamTransform: in is in the memory of a device: a pipeline takes arrays on the host");
  CHECK(messageOf<std::invalid_argument>([&] { gpuopt::streamTransform(data.data(), 5, device.data(), Negate{}); }) ==
        "gpuopt::streamTransform: out is in the memory of a device: a pipeline takes arrays on the host");
}

#if GPUOPT_CHECK_POINTERS
TEST_CASE("work that launches in the default stream is refused", "[pipeline][mistake]") {  // a race by design
  const auto add = [](auto& chunk, std::size_t count, cudaStream_t stream) {
    gpuopt::transform(chunk.in, count, chunk.out, AddIndex{}, stream);
  };
  std::vector<Number> data(5 * chunkNumbers, 1), out(data.size());
  const auto run = [&](gpuopt::Pipeline& pipeline, auto work) {
    pipeline.run(
        gpuopt::fromHost(data), [&](const NumberChunk& chunk) { work(chunk); }, gpuopt::toHost(out));
  };
  gpuopt::Pipeline pipeline(smallChunks());
  // WRITTEN transfer: a kernel in the work of a pipeline without `chunk.stream`, with `GPUOPT_CHECK_POINTERS`
  // DO: pass `chunk.stream` to each call in the work
  CHECK(messageOf<std::invalid_argument>([&] {
          run(pipeline, [&](const NumberChunk& chunk) { add(chunk, chunk.count, nullptr); });
        }) == "gpuopt::Pipeline: the work launches its kernels in the default stream: pass them chunk.stream");
  CHECK(messageOf<std::invalid_argument>([&] {
          run(pipeline, [&](const NumberChunk& chunk) { add(chunk, chunk.count, cudaStreamLegacy); });
        }) == "gpuopt::Pipeline: the work launches its kernels in the default stream: pass them chunk.stream");
  run(pipeline, [&](const NumberChunk& chunk) {
    add(chunk, chunk.count, chunk.stream);
    add(chunk, 1, nullptr);
  });
  auto options = smallChunks();
  const gpuopt::PipelineStreams streams{nullptr, nullptr, nullptr};
  options.streams = &streams;
  gpuopt::Pipeline inDefault(options);
  run(inDefault, [&](const NumberChunk& chunk) { add(chunk, chunk.count, chunk.stream); });
  CHECK(out[chunkNumbers] == 1);
  const auto task = [&](const gpuopt::FrameTask<Number, Number>& frame) { add(frame, chunkNumbers, nullptr); };
  gpuopt::FrameRing<Number, Number> ring(chunkNumbers, chunkNumbers, task);
  std::fill_n(ring.acquire(), chunkNumbers, Number{1});
  CHECK(messageOf<std::invalid_argument>([&] { ring.submit(); }) ==
        "gpuopt::FrameRing: the work launches its kernels in the default stream: pass them frame.stream");
}
#endif

}  // namespace
