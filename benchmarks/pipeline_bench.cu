/// \file
/// Pipelines from the host's memory through the device and back, beside what users write by hand. A share of 1 is a
/// pinned copy of 1 GiB, or two at once, in the same process.
// SPDX-License-Identifier: MIT
#include "support/link_report.cuh"
#include "support/timing.cuh"

#include <gpuopt/host/pinned.cuh>
#include <gpuopt/transfer_frames.cuh>
#include <gpuopt/transfer_pipeline.cuh>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace bench;
using gpuopt::check;

constexpr std::size_t MIB = std::size_t{1} << 20, GIB = std::size_t{1} << 30;

struct Scale {
  __host__ __device__ float operator()(float x) const { return 2 * x + 1; }
};

gpuopt::PipelineOptions chunksOf(std::size_t bytes) {
  gpuopt::PipelineOptions options;
  options.chunkBytes = bytes;
  return options;
}

// Several threads, so that the kernel spreads the first touch of the pages.
void forParts(std::size_t n, const std::function<void(std::size_t, std::size_t)>& part) {
  constexpr std::size_t THREADS = 8;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < THREADS; ++t)
    threads.emplace_back([&, t] { part(n * t / THREADS, n * (t + 1) / THREADS); });
  for (std::thread& thread : threads) thread.join();
}

void fill(float* data, std::size_t n) {
  forParts(n, [=](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) data[i] = static_cast<float>((i * 2654435761u >> 7) % 4096) / 64 - 20;
  });
}

double sumOf(const float* data, std::size_t n) {
  std::mutex mutex;
  double total = 0;
  forParts(n, [&](std::size_t begin, std::size_t end) {
    double part = 0;
    for (std::size_t i = begin; i < end; ++i) part += data[i];
    const std::lock_guard<std::mutex> lock(mutex);
    total += part;
  });
  return total;
}

// Memory of the host that is not pinned.
struct Pageable {
  explicit Pageable(std::size_t bytes) : data(static_cast<float*>(std::malloc(bytes))) {}
  Pageable(const Pageable&) = delete;
  Pageable& operator=(const Pageable&) = delete;
  ~Pageable() { std::free(data); }
  float* data;
};

struct Pinned {
  explicit Pinned(std::size_t bytes) { check(cudaMallocHost(&data, bytes), "cudaMallocHost"); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { cudaFreeHost(data); }
  float* data = nullptr;
};

struct Bench {
  LinkReport report;
  Pinned in{GIB}, out{GIB};
  Pageable pageable{4 * GIB};
  DeviceMemory device{4 * GIB};
  gpuopt::detail::PooledStream streams[3];
  std::size_t frames = 0;

  explicit Bench(const Options& options) : report(options) {
    fill(in.data, GIB / 4);
    fill(pageable.data, GIB);
    forParts(GIB / 4, [this](std::size_t begin, std::size_t end) { std::fill(out.data + begin, out.data + end, 0.f); });
  }

  void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) const {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "cudaMemcpyAsync");
  }

  void wait() const { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }
};

// The links themselves, for all shares.
void measureLink(Bench& bench) {
  float* const device = bench.device.as<float>();
  const auto up = [&] {
    bench.copy(device, bench.in.data, GIB, bench.streams[0]);
    bench.wait();
  };
  const auto both = [&, device] {
    bench.copy(device, bench.in.data, GIB, bench.streams[0]);
    bench.copy(bench.out.data, device + GIB / 4, GIB, bench.streams[1]);
    bench.wait();
  };
  bench.report.setLink(bench.report.run({"link", "up", GIB, GIB, {{"one copy", up, nullptr}}}),
                       bench.report.run({"link", "both", GIB, 2 * GIB, {{"two copies", both, nullptr}}}));
}

// What textbooks write: two buffers, two streams, a partial sum of each chunk.
double sumByTwoStreams(Bench& bench, const float* data, std::size_t n) {
  constexpr std::size_t CHUNK = 4 * MIB;
  const std::size_t chunks = (n + CHUNK - 1) / CHUNK;
  std::vector<float> sums(chunks);
  float* const device = bench.device.as<float>();
  float* const partial = device + 2 * CHUNK;
  for (std::size_t i = 0; i < chunks; ++i) {
    const cudaStream_t stream = bench.streams[i % 2];
    const std::size_t first = i * CHUNK, count = std::min(CHUNK, n - first);
    float* const chunk = device + i % 2 * CHUNK;
    bench.copy(chunk, data + first, count * 4, stream);
    gpuopt::reduceInto(chunk, count, partial + i, stream);
  }
  bench.wait();
  bench.copy(sums.data(), partial, chunks * 4, nullptr);
  bench.wait();
  return sumOf(sums.data(), chunks);
}

double sumByCopy(Bench& bench, const float* data, std::size_t n) {
  float* const device = bench.device.as<float>();
  check(cudaMemcpy(device, data, n * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
  return gpuopt::reduce(device, n);
}

void measureSum(Bench& bench, const char* memory, const float* data, std::size_t bytes,
                const std::vector<std::size_t>& chunks) {
  const std::size_t n = bytes / 4;
  const double right = sumOf(data, n);
  double found = 0;
  const auto isRight = [&found, right, n] { return std::fabs(found - right) <= 1e-4 * static_cast<double>(n); };
  std::vector<LinkCandidate> ways;
  for (const std::size_t chunk : chunks)
    ways.push_back({chunk == 0 ? "gpuopt" : "gpuopt, " + std::to_string(chunk / MIB) + " MiB",
                    [=, &found] { found = gpuopt::streamReduce(data, n, gpuopt::Plus{}, chunksOf(chunk)); }, isRight});
  ways.push_back({"two streams", [=, &found, &bench] { found = sumByTwoStreams(bench, data, n); }, isRight});
  ways.push_back({"copy, then reduce", [=, &found, &bench] { found = sumByCopy(bench, data, n); }, isRight});
  bench.report.run({"sum", memory, bytes, bytes, ways});
}

// Each chunk up, through a kernel and down in one of three streams.
void transformByStreams(Bench& bench, const float* in, float* out, std::size_t n) {
  constexpr std::size_t CHUNK = 2 * MIB;
  float* const device = bench.device.as<float>();
  for (std::size_t first = 0, i = 0; first < n; first += CHUNK, ++i) {
    const cudaStream_t stream = bench.streams[i % 3];
    const std::size_t count = std::min(CHUNK, n - first);
    float* const chunk = device + i % 3 * CHUNK;
    bench.copy(chunk, in + first, count * 4, stream);
    gpuopt::transform(chunk, count, chunk, Scale{}, stream);
    bench.copy(out + first, chunk, count * 4, stream);
  }
  bench.wait();
}

void transformAfterCopy(Bench& bench, const float* in, float* out, std::size_t n) {
  float* const device = bench.device.as<float>();
  check(cudaMemcpy(device, in, n * 4, cudaMemcpyHostToDevice), "cudaMemcpy");
  gpuopt::transform(device, n, device, Scale{});
  check(cudaMemcpy(out, device, n * 4, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

void measureTransform(Bench& bench, const char* memory, const float* in, float* out, std::size_t bytes,
                      const std::vector<std::size_t>& chunks) {
  const std::size_t n = bytes / 4;
  const auto isRight = [=] {
    std::atomic<std::size_t> wrong{0};
    forParts(n, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        if (out[i] != Scale{}(in[i])) ++wrong;
      std::memset(out + begin, 0xA5, (end - begin) * 4);
    });
    return wrong == 0;
  };
  std::vector<LinkCandidate> ways;
  for (const std::size_t chunk : chunks)
    ways.push_back({chunk == 0 ? "gpuopt" : "gpuopt, " + std::to_string(chunk / MIB) + " MiB",
                    [=] { gpuopt::streamTransform(in, n, out, Scale{}, chunksOf(chunk)); }, isRight});
  ways.push_back({"three streams", [=, &bench] { transformByStreams(bench, in, out, n); }, isRight});
  ways.push_back({"copy, kernel, copy", [=, &bench] { transformAfterCopy(bench, in, out, n); }, isRight});
  bench.report.run({"transform", memory, bytes, 2 * bytes, ways});
}

// The default, and with --quick no others.
std::vector<std::size_t> chunkSizes(const Bench& bench, std::initializer_list<std::size_t> mebibytes) {
  std::vector<std::size_t> chunks{0};
  if (!bench.report.isQuick())
    for (const std::size_t chunk : mebibytes) chunks.push_back(chunk * MIB);
  return chunks;
}

void measurePinned(Bench& bench) {
  float *const in = bench.in.data, *const out = bench.out.data;
  for (const std::size_t bytes : {GIB, 256 * MIB, 64 * MIB, 16 * MIB}) {
    measureSum(bench, "pinned", in, bytes, chunkSizes(bench, {1, 2, 4, 8, 16}));
    measureTransform(bench, "pinned", in, out, bytes, chunkSizes(bench, {1, 2, 4, 8, 16}));
  }
}

void measurePageable(Bench& bench) {
  float* const data = bench.pageable.data;
  measureSum(bench, "pageable", data, 4 * GIB, chunkSizes(bench, {}));
  for (const std::size_t bytes : {GIB, 64 * MIB}) {
    measureSum(bench, "pageable", data, bytes, chunkSizes(bench, {2, 4, 8, 16, 32}));
    measureTransform(bench, "pageable", data, data + GIB / 2, bytes, chunkSizes(bench, {4, 8, 16}));
  }
}

// ---- Frames of a camera: 1920 x 1080 pixels of 16 bits, 1900 a second

constexpr std::size_t PIXELS = 1920 * 1080;
constexpr double FRAMES_PER_SECOND = 1900;

using Pixel = unsigned short;

struct Brighten {
  __host__ __device__ Pixel operator()(Pixel x) const { return static_cast<Pixel>(3 * x + 1); }
};

// A camera: waits for the time of its next frame, then copies it.
class Camera {
 public:
  Camera(const float* memory, std::size_t frames) : pixels_(reinterpret_cast<const Pixel*>(memory)), frames_(frames) {}

  const Pixel* source(std::size_t number) const { return pixels_ + number % 64 * PIXELS; }

  bool operator()(Pixel* frame) {
    if (next_ == frames_) return false;
    using Seconds = std::chrono::duration<double>;
    const auto due =
        begin_ + std::chrono::duration_cast<Clock::duration>(Seconds(static_cast<double>(next_) / FRAMES_PER_SECOND));
    while (Clock::now() < due) std::this_thread::yield();
    std::memcpy(frame, source(next_++), PIXELS * sizeof(Pixel));
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  const Pixel* pixels_;
  std::size_t frames_, next_ = 0;
  Clock::time_point begin_ = Clock::now();
};

// Looks at a few pixels only: the whole frame would take longer than the frame.
bool isBright(const Camera& camera, const Pixel* found, std::size_t number) {
  for (std::size_t i = number % 97; i < PIXELS; i += PIXELS / 13)
    if (found[i] != Brighten{}(camera.source(number)[i])) return false;
  return true;
}

// Few blocks suffice for the link, and each has many loads in flight.
__global__ void brightenVectors(const uint4* in, uint4* out, std::size_t n) {
  constexpr unsigned LOADS = 4;
  const std::size_t stride = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += LOADS * stride) {
    uint4 vectors[LOADS];
    for (unsigned k = 0; k < LOADS; ++k)
      if (i + k * stride < n) vectors[k] = in[i + k * stride];
    for (unsigned k = 0; k < LOADS; ++k) {
      auto* const pixels = reinterpret_cast<Pixel*>(&vectors[k]);
      for (unsigned j = 0; j < sizeof(uint4) / sizeof(Pixel); ++j) pixels[j] = Brighten{}(pixels[j]);
      if (i + k * stride < n) out[i + k * stride] = vectors[k];
    }
  }
}

void brighten(const gpuopt::FrameTask<Pixel, Pixel>& frame, unsigned blocks) {
  brightenVectors<<<blocks, 512, 0, frame.stream>>>(reinterpret_cast<const uint4*>(frame.in),
                                                    reinterpret_cast<uint4*>(frame.out),
                                                    PIXELS * sizeof(Pixel) / sizeof(uint4));
  check(cudaGetLastError(), "brightenVectors");
}

FrameFigures framesByRing(Bench& bench, const gpuopt::FrameOptions& options, std::size_t frames, unsigned blocks = 0) {
  FrameFigures figures;
  gpuopt::FrameRing<Pixel, Pixel> ring(
      PIXELS, PIXELS,
      [=](const gpuopt::FrameTask<Pixel, Pixel>& frame) {
        if (blocks > 0) return brighten(frame, blocks);
        gpuopt::transform(frame.in, PIXELS, frame.out, Brighten{}, frame.stream);
      },
      options);
  Camera camera(bench.pageable.data, frames);
  ring.run([&](Pixel* frame) { return camera(frame); },
           [&](const gpuopt::Frame<Pixel>& frame) { figures.wrong += !isBright(camera, frame.data, frame.number); });
  figures.latency = ring.statistics().latency;
  figures.lost = frames - ring.statistics().consumed;
  return figures;
}

// By one thread and one stream, which waits for each frame.
FrameFigures framesSerially(Bench& bench, std::size_t frames) {
  FrameFigures figures;
  auto* const in = reinterpret_cast<Pixel*>(bench.in.data);
  auto* const out = reinterpret_cast<Pixel*>(bench.out.data);
  Pixel* const device = bench.device.as<Pixel>();
  Camera camera(bench.pageable.data, frames);
  const cudaStream_t stream = bench.streams[0];
  for (std::size_t number = 0; camera(in); ++number) {
    const auto begin = std::chrono::steady_clock::now();
    bench.copy(device, in, PIXELS * sizeof(Pixel), stream);
    gpuopt::transform(device, PIXELS, device, Brighten{}, stream);
    bench.copy(out, device, PIXELS * sizeof(Pixel), stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    figures.latency.add(std::chrono::steady_clock::now() - begin);
    figures.wrong += !isBright(camera, out, number);
  }
  return figures;
}

void measureFrames(Bench& bench) {
  const std::size_t frames = bench.frames;
  gpuopt::FrameOptions options;
  static_cast<void>(framesByRing(bench, options, 100));
  bench.report.frames("ring, copies", framesByRing(bench, options, frames));
  options.slots = 4;
  bench.report.frames("ring, copies, 4 slots", framesByRing(bench, options, frames));
  options.slots = 3;
  options.transfer = gpuopt::FrameTransfer::mapped;
  bench.report.frames("ring, mapped", framesByRing(bench, options, frames));
  for (const unsigned blocks : {16u, 32u})
    bench.report.frames("ring, mapped, " + std::to_string(blocks) + " blocks",
                        framesByRing(bench, options, frames, blocks));
  bench.report.frames("serial, copies", framesSerially(bench, frames));
}

// ---- When each engine works on which chunk

class Timeline {
 public:
  explicit Timeline(const Bench& bench) : streams_{bench.streams[0], bench.streams[1], bench.streams[2]} {
    begin_ = record(streams_.up);
  }
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;
  ~Timeline() {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }

  const gpuopt::PipelineStreams& streams() const { return streams_; }

  // The copy of this chunk to the device has just been queued, and that of the results of the chunk before.
  void work(const gpuopt::PipelineChunk<float, float>& chunk) {
    up_.push_back(record(streams_.up));
    if (chunk.index > 0) down_.push_back(record(streams_.down));
    workBegin_.push_back(record(streams_.work));
    gpuopt::transform(chunk.in, chunk.count, chunk.out, Scale{}, chunk.stream);
    workEnd_.push_back(record(streams_.work));
  }

  // A copy begins when the one before has ended and its data, or its room, is there.
  void write(std::ofstream& file, std::size_t slots) {
    down_.push_back(record(streams_.down));
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    file << "engine,chunk,begin_ms,end_ms\n";
    double up = 0, down = 0;
    for (std::size_t i = 0; i < up_.size(); ++i) {
      const double begin = i < slots ? up : std::max(up, at(workEnd_[i - slots]));
      up = at(up_[i]);
      file << "up," << i << ',' << begin << ',' << up << "\n";
      file << "work," << i << ',' << at(workBegin_[i]) << ',' << at(workEnd_[i]) << "\n";
      file << "down," << i << ',' << std::max(down, at(workEnd_[i])) << ',' << at(down_[i]) << "\n";
      down = at(down_[i]);
    }
  }

 private:
  cudaEvent_t record(cudaStream_t stream) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "cudaEventCreate");
    events_.push_back(event);
    check(cudaEventRecord(event, stream), "cudaEventRecord");
    return event;
  }

  double at(cudaEvent_t event) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, event), "cudaEventElapsedTime");
    return milliseconds;
  }

  gpuopt::PipelineStreams streams_;
  cudaEvent_t begin_ = nullptr;
  std::vector<cudaEvent_t> events_, up_, workBegin_, workEnd_, down_;
};

void measureTimeline(Bench& bench) {
  constexpr unsigned SLOTS = 3;
  std::ofstream file(bench.report.folder() + "/pipeline_timeline.csv");
  writeCsvHeader(file, bench.report.header());
  for (const bool isWarm : {false, true}) {
    Timeline timeline(bench);
    gpuopt::PipelineOptions options = chunksOf(16 * MIB);
    options.slots = SLOTS;
    options.streams = &timeline.streams();
    gpuopt::Pipeline(options).run(
        gpuopt::fromHost(bench.in.data, 40 * MIB),
        [&](const gpuopt::PipelineChunk<float, float>& chunk) { timeline.work(chunk); },
        gpuopt::toHost(bench.out.data, 40 * MIB));
    if (isWarm) timeline.write(file, SLOTS);
  }
}

constexpr Group<Bench> groups[] = {
    {"timeline", measureTimeline}, {"frames", measureFrames}, {"pinned", measurePinned}, {"pageable", measurePageable}};

int run(Options& options) {
  Names chosen = namesOf(groups);
  options.choice("--groups", chosen, "what to measure");
  int frames = 10000;
  options.number("--frames", frames, "frames of the camera");
  options.parse(7, 3);
  Bench bench(options);
  bench.frames = static_cast<std::size_t>(frames);
  measureLink(bench);
  measureChosen(groups, chosen, bench);
  return bench.report.finish();
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "pipeline_bench", "Data of the host through the device in chunks.", run);
}
