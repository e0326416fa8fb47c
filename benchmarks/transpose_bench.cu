/// \file
/// Transpositions of every kind of shape, element size, pitch and batch, beside the best copy of as many
/// bytes, cuBLAS and cuTENSOR.
// SPDX-License-Identifier: MIT
#include "support/cutensor.cuh"
#include "support/options.hpp"
#include "support/transpose_cublas.cuh"
#include "support/transpose_data.cuh"
#include "support/transpose_report.cuh"

#include <gpuopt/transpose.cuh>

#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t MiB = std::size_t{1} << 20;
constexpr std::size_t GiB = std::size_t{1} << 30;
constexpr std::size_t sideBytes = 256 * MiB;  // of one matrix where its size is not what a case is about

struct ToHalf {
  __host__ __device__ __half operator()(float value) const { return __float2half(value); }
};

struct ToFloat {
  __host__ __device__ float operator()(__half value) const { return __half2float(value); }
  __host__ __device__ float operator()(std::uint8_t value) const { return static_cast<float>(value); }
};

struct Scale {
  float factor;
  __host__ __device__ float operator()(float value) const { return factor * value; }
};

struct Conjugate {
  __host__ __device__ float2 operator()(float2 value) const { return {value.x, -value.y}; }
};

// One for each element size from 1 to 16 bytes.
struct Goals {
  double of1, of2, of4, of8, of16;

  template <class T>
  Goal of() const {
    return atLeast(sizeof(T) == 1 ? of1 : sizeof(T) == 2 ? of2 : sizeof(T) == 4 ? of4 : sizeof(T) == 8 ? of8 : of16);
  }
};

const Goal none;

// The least power of two whose square matrix has sideBytes.
constexpr std::size_t sideOf(std::size_t elementBytes) {
  std::size_t n = 1;
  while (n * n * elementBytes < sideBytes) n *= 2;
  return n;
}

class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, TransposeReport& report, std::vector<std::string> elements, bool isQuick)
      : timer_(timer),
        buffers_(buffers),
        report_(report),
        cublas_(timer.stream()),
        cutensor_(timer.stream()),
        elements_(std::move(elements)),
        isQuick_(isQuick) {}

  bool isQuick() const { return isQuick_; }

  /// body(Type<T>{}) for a T of each size from 1 to 16 bytes.
  template <class Body>
  void forWords(Body body) {
    body(Type<std::uint8_t>{});
    body(Type<std::uint16_t>{});
    body(Type<float>{});
    body(Type<double>{});
    body(Type<double2>{});
  }

  /// Returns gpuopt's microseconds, 0 where nothing was measured.
  template <class T>
  double measure(const char* group, const Shape& shape, const Goal& goal, Mode mode = Mode::coldWrite) {
    if (!isChosen<T>(shape)) return 0;
    TransposeCase work{group, std::to_string(sizeof(T)),   shape, 2 * shape.elements() * sizeof(T),
                       goal,  {plain<T>("gpuopt", shape)}, mode};
    addPeers<T>(work, cublas_.transpositions(buffers_.in<T>(), buffers_.out<T>(), shape));
    // Single matrices stand beside cuBLAS alone.
    if (shape.batch > 1)
      addPeers<T>(work, cutensor_.permutations(buffers_.in<T>(), buffers_.out<T>(), tensorAxes(shape), shape.text()));
    return report_.run(std::move(work));
  }

  /// Beside transpositions without the function; together two of them move twice its bytes.
  template <class In, class Out, class Function>
  void measureFunction(const char* name, const Shape& shape, Function function) {
    if (!isChosen<In>(shape) || !isChosen<Out>(shape)) return;
    Goal goal = atLeast(0.98);
    goal.of = [](const CaseTimes& times) {
      return (times.candidates[1] + times.candidates[2]) / 2 / times.candidates[0];
    };
    const auto call = [=] { transpose(buffers_.in<In>(), buffers_.out<Out>(), shape, function); };
    report_.run({"function",
                 name,
                 shape,
                 shape.elements() * (sizeof(In) + sizeof(Out)),
                 goal,
                 {transposition<In, Out>("gpuopt", buffers_, shape, function, call),
                  plain<In>("input type alone", shape), plain<Out>("output type alone", shape)}});
  }

  template <class T>
  void measureInPlace(const Shape& shape, const Goal& goal) {
    if (!isChosen<T>(shape)) return;
    T* data = buffers_.out<T>();
    const auto call = [=] { transposeInPlace(data, shape); };
    const auto correct = [=] {
      buffers_.copyInToOut(shape.extent() * sizeof(T));
      call();
      return holdTranspose<T, T>(buffers_, shape, gpuopt::Identity{});
    };
    report_.run({"inplace",
                 std::to_string(sizeof(T)),
                 shape,
                 2 * shape.elements() * sizeof(T),
                 goal,
                 {{"gpuopt", call, correct}}});
  }

 private:
  template <class T>
  bool isChosen(const Shape& shape) const {
    if (!elements_.empty() && !contains(elements_, std::to_string(sizeof(T)))) return false;
    const bool fits = shape.extent() * sizeof(T) <= buffers_.bytes();
    if (!fits) std::printf("SKIPPED, too large: %s of %zu bytes\n", shape.text().c_str(), sizeof(T));
    return fits;
  }

  static TensorAxes tensorAxes(const Shape& s) {
    const auto signedOf = [](std::size_t n) { return static_cast<std::ptrdiff_t>(n); };
    return {{signedOf(s.batch), signedOf(s.cols), signedOf(s.rows)},
            {signedOf(s.inStride()), 1, signedOf(s.inLd)},
            {signedOf(s.outStride()), signedOf(s.outLd), 1}};
  }

  template <class In, class Out, class... Function>
  void transpose(const In* in, Out* out, const Shape& s, const Function&... function) const {
    if (s.isDense() && s.batch == 1)
      gpuopt::transpose(in, out, s.rows, s.cols, function..., timer_.stream());
    else
      gpuopt::transpose(gpuopt::MatrixView<const In>{in, s.rows, s.cols, s.inLd, s.batch, s.inStride()},
                        gpuopt::MatrixView<Out>{out, s.cols, s.rows, s.outLd, s.batch, s.outStride()}, function...,
                        timer_.stream());
  }

  template <class T>
  void transposeInPlace(T* data, const Shape& s) const {
    if (s.isDense() && s.batch == 1)
      gpuopt::transposeInPlace(data, s.rows, s.cols, timer_.stream());
    else
      gpuopt::transposeInPlace(gpuopt::MatrixView<T>{data, s.rows, s.cols, s.inLd, s.batch, s.inStride()},
                               timer_.stream());
  }

  template <class T>
  void addPeers(TransposeCase& work, const std::vector<Candidate>& peers) const {
    for (const Candidate& peer : peers) {
      work.candidates.push_back(transposition<T, T>(peer.name, buffers_, work.shape, gpuopt::Identity{}, peer.call));
      work.candidates.back().isPeer = true;
    }
  }

  template <class T>
  Candidate plain(const std::string& name, const Shape& shape) const {
    return transposition<T, T>(name, buffers_, shape, gpuopt::Identity{},
                               [=] { transpose(buffers_.in<T>(), buffers_.out<T>(), shape); });
  }

  Timer& timer_;
  const Buffers& buffers_;
  TransposeReport& report_;
  Cublas cublas_;
  Cutensor cutensor_;
  std::vector<std::string> elements_;
  bool isQuick_;
};

void measureAligned(Bench& bench) {
  const Goals goals{0.97, 0.98, 0.98, 0.97, 0.96};
  const std::size_t largest = bench.isQuick() ? 16384 : 32768;
  bench.forWords([&](auto type) {
    using T = typename decltype(type)::type;
    for (std::size_t n = 8192; n <= largest; n *= 2) bench.measure<T>("aligned", dense(n, n), goals.of<T>());
    bench.measure<T>("aligned", dense(8192, 32768), goals.of<T>());
    bench.measure<T>("aligned", dense(32768, 8192), goals.of<T>());
    bench.measure<T>("aligned", dense(1024, 262144), goals.of<T>());
    bench.measure<T>("aligned", dense(262144, 1024), goals.of<T>());
    bench.measure<T>("aligned", dense(10000, 30000), goals.of<T>());
  });
}

void measureOdd(Bench& bench) {
  const Goals near16384{0.88, 0.91, 0.92, 0.93, 0.94};
  const Goals near8192{0.82, 0.89, 0.92, 0.93, 0.94};
  bench.forWords([&](auto type) {
    using T = typename decltype(type)::type;
    bench.measure<T>("odd", dense(16383, 16385), near16384.of<T>());
    bench.measure<T>("odd", dense(8191, 8193), near8192.of<T>());
  });
}

void measureNarrow(Bench& bench) {
  const std::vector<std::size_t> all{2, 3, 4, 5, 8, 12, 16, 24, 31, 32}, few{2, 3, 8, 31, 32};
  bench.forWords([&](auto type) {
    using T = typename decltype(type)::type;
    for (const std::size_t k : bench.isQuick() ? few : all) {
      const std::size_t n = sideBytes / sizeof(T) / k / 128 * 128;
      bench.measure<T>("narrow", dense(k, n), atLeast(0.97));
      bench.measure<T>("narrow", dense(n, k), atLeast(k == 32 ? 0.95 : 0.97));
      bench.measure<T>("narrow", dense(k, n - 1), atLeast(0.95));
      bench.measure<T>("narrow", dense(n - 1, k), atLeast(0.95));
    }
  });
}

void measureVectors(Bench& bench) {
  bench.forWords([&](auto type) {
    using T = typename decltype(type)::type;
    for (const std::size_t n : {sideBytes / sizeof(T), sideBytes / sizeof(T) - 1}) {
      bench.measure<T>("vector", dense(1, n), atLeast(0.99));
      bench.measure<T>("vector", dense(n, 1), atLeast(0.99));
    }
  });
}

template <class T>
void measureStructure(Bench& bench, const Goal& goal) {
  const std::size_t n = sideOf(sizeof(T));
  bench.measure<T>("struct", dense(n, n), goal);
  bench.measure<T>("struct", dense(n - 1, n + 1), none);
}

void measureStructures(Bench& bench) {
  measureStructure<Structure<std::uint8_t, 3>>(bench, atLeast(0.93));
  measureStructure<Structure<std::uint16_t, 3>>(bench, none);
  measureStructure<Structure<float, 3>>(bench, atLeast(0.96));
  measureStructure<Structure<float, 5>>(bench, none);
  measureStructure<Structure<float, 6>>(bench, atLeast(0.96));
  measureStructure<Structure<float, 25>>(bench, none);
}

void measureBatches(Bench& bench) {
  bench.forWords([&](auto type) {
    using T = typename decltype(type)::type;
    const auto measure = [&](std::size_t rows, std::size_t cols) {
      bench.measure<T>("batch", dense(rows, cols, sideBytes / sizeof(T) / rows / cols), atLeast(0.97));
    };
    for (const std::size_t n : {4, 5, 7, 8, 12, 16, 24, 31, 32, 33, 48, 64, 100, 128}) measure(n, n);
    measure(4, 8);
    measure(8, 4);
    measure(3, 5);
    measure(16, 64);
    measure(17, 65);
  });
}

// Images from NHWC to NCHW and back, by pixels and channels.
void measureImages(Bench& bench) {
  bench.forWords([&](auto type) {
    using T = typename decltype(type)::type;
    const auto measure = [&](std::size_t pixels, std::size_t channels) {
      const std::size_t images = sideBytes / sizeof(T) / pixels / channels;
      bench.measure<T>("images", dense(pixels, channels, images), atLeast(0.95));
      bench.measure<T>("images", dense(channels, pixels, images), atLeast(0.95));
    };
    measure(224 * 224, 3);
    measure(112 * 112, 64);
    measure(56 * 56, 256);
    measure(14 * 14, 1024);
    measure(7 * 7, 2048);
  });
}

// By what is left out at the end of each row: 64 bytes, what cudaMallocPitch would leave, and one element.
void measurePitched(Bench& bench) {
  bench.forWords([&](auto type) {
    using T = typename decltype(type)::type;
    const std::size_t n = sideOf(sizeof(T)), pad = 64 / sizeof(T), pitch = 512 / sizeof(T);
    bench.measure<T>("pitched", {n, n, n + pad, n + pad, 1}, atLeast(0.96));
    bench.measure<T>("pitched", {n - 1, n + 1, n + pitch, n, 1}, atLeast(0.96));
    bench.measure<T>("pitched", {n, n, n + 1, n + 1, 1}, atLeast(0.90));
    bench.measure<T>("pitched", {n - 1, n + 1, n + 3, n + 1, 1}, atLeast(0.90));
  });
}

template <class T>
void measureSquareInPlace(Bench& bench, const Goal& goal) {
  const std::size_t n = 2 * sideOf(sizeof(T));
  bench.measureInPlace<T>(dense(n, n), goal);
  bench.measureInPlace<T>({n, n, n + 64, n + 64, 1}, goal);
  bench.measureInPlace<T>(dense(1024, 1024, n * n / MiB), goal);
  bench.measureInPlace<T>(dense(n - 1, n - 1), none);
}

template <class T>
void measureRectangleInPlace(Bench& bench) {
  const std::size_t n = sideOf(sizeof(T));
  bench.measureInPlace<T>(dense(n, 2 * n), atLeast(0.2));
  bench.measureInPlace<T>(dense(2 * n, n), atLeast(0.2));
  bench.measureInPlace<T>(dense(n - 1, n + 1), atLeast(0.2));
  bench.measureInPlace<T>(dense(3, n * n / 3), atLeast(0.2));
  bench.measureInPlace<T>(dense(n * n / 3, 3), atLeast(0.2));
}

void measureInPlace(Bench& bench) {
  measureSquareInPlace<std::uint8_t>(bench, none);
  measureSquareInPlace<float>(bench, atLeast(0.95));
  measureSquareInPlace<double>(bench, atLeast(0.95));
  measureSquareInPlace<double2>(bench, atLeast(0.95));
  measureRectangleInPlace<std::uint8_t>(bench);
  measureRectangleInPlace<float>(bench);
  measureRectangleInPlace<double2>(bench);
}

// Every ninth length is as often odd as even.
void measureNear8192(Bench& bench) {
  for (std::size_t n = 8192 - 64; n <= 8192 + 64; n += bench.isQuick() ? 9 : 1)
    bench.measure<float>("near", dense(n, n), atLeast(0.91));
}

// More than 2^31 elements against a part of them.
template <class T>
void measureLarge(Bench& bench, const Shape& part, const Shape& whole) {
  const double partTime = bench.measure<T>("large", part, none);
  const double elements = static_cast<double>(whole.elements()) / static_cast<double>(part.elements());
  Goal goal = atLeast(0.98);
  goal.of = [=](const CaseTimes& times) { return elements * partTime / times.candidates[0]; };
  bench.measure<T>("large", whole, goal);
}

void measureLarge(Bench& bench) {
  measureLarge<std::uint8_t>(bench, dense(32768, 65536), dense(65536, 65536));
  measureLarge<std::uint8_t>(bench, dense(32767, 65537), dense(65535, 65537));
  measureLarge<std::uint16_t>(bench, dense(32768, 65536), dense(65536, 65536));
  measureLarge<float>(bench, dense(24576, 65536), dense(49152, 65536));
}

void measureSmall(Bench& bench) {
  const Goal goal = atMostOver(0.2);
  Goal unaligned = goal;
  unaligned.figure = 0;
  bench.forWords([&](auto type) {
    using T = typename decltype(type)::type;
    for (std::size_t n = 64; n * n * sizeof(T) <= 4 * MiB; n *= 2)
      bench.measure<T>("small", dense(n, n), goal, Mode::graph);
    bench.measure<T>("small", dense(509, 509), unaligned, Mode::graph);
  });
}

void measureFunctions(Bench& bench) {
  for (const Shape& shape : {dense(16384, 16384), dense(16383, 16385), dense(8, 16 * MiB)}) {
    bench.measureFunction<float, __half>("float to half", shape, ToHalf{});
    bench.measureFunction<__half, float>("half to float", shape, ToFloat{});
    bench.measureFunction<std::uint8_t, float>("byte to float", shape, ToFloat{});
    bench.measureFunction<float, float>("scale", shape, Scale{2.5f});
    bench.measureFunction<float2, float2>("conjugate", shape, Conjugate{});
  }
}

void measureSizes(Bench& bench) {
  bench.forWords([&](auto type) {
    using T = typename decltype(type)::type;
    for (std::size_t n = 64; n * n * sizeof(T) <= 2 * GiB; n *= bench.isQuick() ? 4 : 2)
      bench.measure<T>("sizes", dense(n, n), none);
  });
}

constexpr Group<Bench> groups[] = {
    {"aligned", measureAligned},    {"odd", measureOdd},       {"narrow", measureNarrow}, {"vector", measureVectors},
    {"struct", measureStructures},  {"batch", measureBatches}, {"images", measureImages}, {"pitched", measurePitched},
    {"inplace", measureInPlace},    {"near", measureNear8192}, {"large", measureLarge},   {"small", measureSmall},
    {"function", measureFunctions}, {"sizes", measureSizes}};

// Room for the largest case on a device that has it.
std::size_t bufferBytes() {
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return (std::min)(16 * GiB, free * 2 / 5 / 4096 * 4096);
}

int run(Options& options) {
  Names rows = namesOf(groups), elements;
  options.choice("--rows", rows, "groups of shapes");
  options.list("--elements", elements, "bytes of the elements (all)");
  options.parse(11, 7);
  Timer timer(options.repetitions);

  const Buffers buffers(bufferBytes(), timer.stream());
  TransposeReport report(timer, buffers, options);
  Bench bench(timer, buffers, report, elements, options.isQuick);
  measureChosen(groups, rows, bench);
  return report.finish(report.peers());
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "transpose_bench", "Transpositions, beside the best copy and cuBLAS.", run);
}
