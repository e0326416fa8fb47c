/// \file
/// What gpuopt::globalAccess, sharedAccess and asyncCopy predict, for a profiler to count: each launch is one access
/// pattern of the experiments, and the predictions stand in the order of the launches.
///
///     ncu --csv --log-file ncu.csv --metrics $(scripts/compare_access.py --metrics) access_bench
///     scripts/compare_access.py access_bench.csv ncu.csv
// SPDX-License-Identifier: MIT
#include "support/options.hpp"
#include "support/report.cuh"

#include <gpuopt/access.cuh>

#include <cuda_pipeline_primitives.h>
#include <fmt/core.h>

#include <cstdio>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace bench;
using gpuopt::LaneMask;

constexpr unsigned WARPS = 128;      // each a block of its own
constexpr unsigned ELEMENTS = 1024;  // of a warp: its elements begin where a line does, whatever their size

// Which element of its warp's each lane accesses. The kernels and the analysis read the same numbers.
struct Pattern {
  unsigned index[32];
  LaneMask lanes;

  __host__ __device__ constexpr unsigned operator()(unsigned lane) const { return index[lane]; }
};

template <class Index>
Pattern patternOf(Index index, LaneMask lanes = {}) {
  Pattern pattern{};
  pattern.lanes = lanes;
  for (unsigned lane = 0; lane < 32; ++lane) pattern.index[lane] = index(lane);
  return pattern;
}

// COUNT words, each accessed by itself.
template <unsigned COUNT>
struct Floats {
  float values[COUNT];
};

// Elements that hold a number in all of their words, so that every word has to be accessed.
template <class T>
__host__ __device__ T elementOf(unsigned number) {
  T element;
  if constexpr (sizeof(T) < sizeof(float)) {
    element = static_cast<T>(number);
  } else {
    float words[sizeof(T) / sizeof(float)];
    for (float& word : words) word = static_cast<float>(number);
    __builtin_memcpy(&element, words, sizeof(T));
  }
  return element;
}

template <class T>
__host__ __device__ float sumOf(T element) {
  if constexpr (sizeof(T) < sizeof(float)) {
    return static_cast<float>(element);
  } else {
    float words[sizeof(T) / sizeof(float)];
    __builtin_memcpy(words, &element, sizeof(T));
    float sum = 0;
    for (const float word : words) sum += word;
    return sum;
  }
}

// The loads are the only ones from global memory, and in the next kernel the stores.
template <class T>
__global__ void globalLoad(const T* elements, const Pattern pattern, float* sums) {
  const unsigned lane = threadIdx.x;
  if (pattern.lanes.contains(lane))
    sums[blockIdx.x * 32 + lane] = sumOf(elements[blockIdx.x * ELEMENTS + pattern(lane)]);
}

template <class T>
__global__ void globalStore(T* elements, const Pattern pattern) {
  const unsigned lane = threadIdx.x;
  if (pattern.lanes.contains(lane)) elements[blockIdx.x * ELEMENTS + pattern(lane)] = elementOf<T>(pattern(lane));
}

// The same for shared memory. `begin` is 0, which the compiler does not know: it accesses elements as their
// own alignment says.
template <class T>
__global__ void sharedLoad(unsigned begin, const Pattern pattern, float* sums) {
  __shared__ alignas(16) unsigned char storage[ELEMENTS * sizeof(T)];
  T* const elements = reinterpret_cast<T*>(storage + begin);
  const unsigned lane = threadIdx.x;
  for (unsigned i = lane; i < ELEMENTS; i += 32) elements[i] = elementOf<T>(i);
  __syncthreads();
  if (pattern.lanes.contains(lane)) sums[blockIdx.x * 32 + lane] = sumOf(elements[pattern(lane)]);
}

template <class T>
__global__ void sharedStore(unsigned begin, const Pattern pattern, float* sums) {
  __shared__ alignas(16) unsigned char storage[ELEMENTS * sizeof(T)];
  T* const elements = reinterpret_cast<T*>(storage + begin);
  const unsigned lane = threadIdx.x;
  const bool takesPart = pattern.lanes.contains(lane);
  if (takesPart) elements[pattern(lane)] = elementOf<T>(pattern(lane));
  __syncthreads();
  if (takesPart) sums[blockIdx.x * 32 + lane] = sumOf(elements[pattern(lane)]);
}

// Lane i copies element from(i) of its warp's in global memory, asynchronously, and it becomes element to(i) in shared
// memory.
template <class T>
__global__ void asyncCopy(const T* elements, const Pattern from, const Pattern to, float* sums) {
  __shared__ alignas(128) unsigned char storage[ELEMENTS * sizeof(T)];
  T* const copies = reinterpret_cast<T*>(storage);
  const unsigned lane = threadIdx.x;
  const bool takesPart = from.lanes.contains(lane);
  if (takesPart) __pipeline_memcpy_async(copies + to(lane), elements + blockIdx.x * ELEMENTS + from(lane), sizeof(T));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  if (takesPart) sums[blockIdx.x * 32 + lane] = sumOf(copies[to(lane)]);
}

class Bench {
 public:
  explicit Bench(ResultFiles& files)
      : files_(files), elements_(sizeof(Floats<7>) * ELEMENTS * WARPS), sums_(sizeof(float) * 32 * WARPS) {
    files_.csv() << "launch,kernel,case,type,warps,requests,sectors,wavefronts,conflicts,utilisation,degree\n";
  }

  // A load and a store of the pattern in global memory.
  template <class T>
  void global(const std::string& name, const char* type, const Pattern& pattern) {
    const auto access = gpuopt::globalAccess<T>(pattern, pattern.lanes);
    const Prediction prediction{
        fmt::format("{},{},,,{:.6f},", access.requests, access.sectors, access.utilisation()),
        fmt::format("{:.4g} sectors a request, {:.4g} % used", access.sectorsPerRequest(), 100 * access.utilisation())};
    std::vector<T> values = fill<T>();
    poison(sums_);
    globalLoad<<<WARPS, 32>>>(elements_.as<const T>(), pattern, sums_.as<float>());
    record("globalLoad", name, type, prediction);
    checkSums<T>(pattern);

    poison(elements_);
    globalStore<<<WARPS, 32>>>(elements_.as<T>(), pattern);
    record("globalStore", name, type, prediction);
    check(cudaMemcpy(values.data(), elements_.as<T>(), sizeof(T) * values.size(), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    bool correct = true;
    for (unsigned i = 0; i < 32 * WARPS; ++i)
      if (pattern.lanes.contains(i % 32)) {
        const unsigned index = pattern(i % 32);
        correct = correct && sumOf(values[i / 32 * ELEMENTS + index]) == sumOf(elementOf<T>(index));
      }
    count(correct);
  }

  // The same in shared memory.
  template <class T>
  void shared(const std::string& name, const char* type, const Pattern& pattern) {
    poison(sums_);
    sharedLoad<T><<<WARPS, 32>>>(0, pattern, sums_.as<float>());
    record("sharedLoad", name, type, predictionOf(gpuopt::sharedLoad<T>(pattern, pattern.lanes)));
    checkSums<T>(pattern);

    poison(sums_);
    sharedStore<T><<<WARPS, 32>>>(0, pattern, sums_.as<float>());
    record("sharedStore", name, type, predictionOf(gpuopt::sharedAccess<T>(pattern, pattern.lanes)));
    checkSums<T>(pattern);
  }

  // An asynchronous copy.
  template <class T>
  void copy(const std::string& name, const char* type, const Pattern& from, const Pattern& to) {
    const auto predicted = gpuopt::asyncCopy<T>(to, from, from.lanes);
    fill<T>();
    poison(sums_);
    asyncCopy<T><<<WARPS, 32>>>(elements_.as<const T>(), from, to, sums_.as<float>());
    record("asyncCopy", name, type,
           {fmt::format("{},,{},,,", predicted.requests, predicted.wavefronts),
            fmt::format("{} wavefronts, {} at best", predicted.wavefronts, predicted.idealWavefronts)});
    checkSums<T>(from);
  }

  int wrong() const { return wrong_; }

 private:
  struct Prediction {
    std::string csv;
    std::string text;
  };

  static Prediction predictionOf(const gpuopt::SharedAccess& access) {
    return {fmt::format("{},,{},{},,{}", access.requests, access.wavefronts, access.conflicts(), access.degree),
            fmt::format("{:.4g} wavefronts a request, {}-way", access.wavefrontsPerRequest(), access.degree)};
  }

  void record(const char* kernel, const std::string& name, const char* type, const Prediction& prediction) {
    check(cudaGetLastError(), kernel);
    files_.csv() << launches_ << ',' << kernel << ',' << name << ',' << type << ',' << WARPS << ',' << prediction.csv
                 << '\n';
    fmt::print("{:4} {:<11} {:<7} {:<32} {}\n", launches_, kernel, type, name, prediction.text);
    ++launches_;
  }

  // Every element of a warp gets its number.
  template <class T>
  std::vector<T> fill() {
    std::vector<T> values(ELEMENTS * WARPS);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = elementOf<T>(i % ELEMENTS);
    check(cudaMemcpy(elements_.as<T>(), values.data(), sizeof(T) * values.size(), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    return values;
  }

  template <class T>
  void checkSums(const Pattern& pattern) {
    std::vector<float> sums(32 * WARPS);
    check(cudaMemcpy(sums.data(), sums_.as<float>(), sums_.bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    bool correct = true;
    for (unsigned i = 0; i < 32 * WARPS; ++i)
      if (pattern.lanes.contains(i % 32)) correct = correct && sums[i] == sumOf(elementOf<T>(pattern(i % 32)));
    count(correct);
  }

  void count(bool correct) {
    if (correct) return;
    std::printf("WRONG RESULT\n");
    ++wrong_;
  }

  static void poison(const DeviceMemory& memory) {
    check(cudaMemset(memory.as<void>(), 0xA5, memory.bytes()), "cudaMemset");
  }

  ResultFiles& files_;
  DeviceMemory elements_;
  DeviceMemory sums_;
  int launches_ = 0;
  int wrong_ = 0;
};

const Pattern inOrder = patternOf([](unsigned lane) { return lane; });
const Pattern permuted = patternOf([](unsigned lane) { return lane * 13 % 32; });
const Pattern same = patternOf([](unsigned) { return 5u; });

Pattern stride(unsigned elements) {
  return patternOf([=](unsigned lane) { return lane * elements; });
}
Pattern shared(unsigned lanes) {
  return patternOf([=](unsigned lane) { return lane / lanes; });
}

// Of the table of bus utilisation, and of a[i]++: all lanes; three of four; the fourth on one element.
void runPublished(Bench& bench) {
  bench.global<float>("in order", "float", inOrder);
  bench.global<float>("permuted", "float", permuted);
  bench.global<float>("one lane", "float", patternOf([](unsigned lane) { return lane; }, LaneMask::first(1)));
  bench.global<float>("same word", "float", same);
  for (unsigned lines = 4; lines <= 32; lines *= 2)
    bench.global<float>("scattered over " + std::to_string(lines) + " lines", "float",
                        patternOf([=](unsigned lane) { return lane % lines * 32 + lane / lines; }));
  bench.global<float>(
      "three lanes of four", "float",
      patternOf([](unsigned lane) { return lane; }, LaneMask::where([](unsigned lane) { return lane % 4 != 3; })));
  bench.global<float>("fourth lanes on one word", "float",
                      patternOf([](unsigned lane) { return lane % 4 == 3 ? 960 : lane; }));
}

void runOffsetsAndStrides(Bench& bench) {
  for (unsigned offset = 1; offset <= 16; ++offset)
    bench.global<float>("offset " + std::to_string(offset), "float",
                        patternOf([=](unsigned lane) { return lane + offset; }));
  for (unsigned elements = 2; elements <= 18; ++elements)
    bench.global<float>("stride " + std::to_string(elements), "float", stride(elements));
}

void runStructures(Bench& bench) {
  bench.global<char>("in order", "char", inOrder);
  bench.global<float2>("in order", "float2", inOrder);
  bench.global<float4>("in order", "float4", inOrder);
  bench.global<float4>("stride 2", "float4", stride(2));
  bench.global<float4>("pairs of lanes", "float4", shared(2));
  bench.global<Floats<2>>("in order", "8 bytes", inOrder);
  bench.global<Floats<3>>("in order", "12 bytes", inOrder);
  bench.global<Floats<4>>("in order", "16 bytes", inOrder);
  bench.global<Floats<7>>("in order", "28 bytes", inOrder);
}

template <class T>
void runBanks(Bench& bench, const char* type) {
  bench.shared<T>("permuted", type, permuted);
  bench.shared<T>("same element", type, same);
  for (unsigned lanes = 2; lanes <= 16; lanes *= 2)
    bench.shared<T>(std::to_string(lanes) + " lanes on an element", type, shared(lanes));
  bench.shared<T>("half of the lanes", type, patternOf([](unsigned lane) { return lane; }, LaneMask::first(16)));
  // Pairs of lanes that want the same, or of which one wants nothing: of a load, two phases may go as one.
  for (unsigned bit = 1; bit <= 16; bit *= 2) {
    const std::string apart = std::to_string(bit) + " apart";
    bench.shared<T>("pairs " + apart, type, patternOf([=](unsigned lane) { return lane & ~bit; }));
    bench.shared<T>("pairs " + apart + " but one", type,
                    patternOf([=](unsigned lane) { return lane == 31 ? lane : lane & ~bit; }));
    bench.shared<T>("pairs " + apart + " with conflicts", type,
                    patternOf([=](unsigned lane) { return (lane & ~bit) * 4; }));
    bench.shared<T>("one of pairs " + apart, type,
                    patternOf([](unsigned lane) { return lane; },
                              LaneMask::where([=](unsigned lane) { return (lane & bit) == 0; })));
  }
  for (unsigned elements = 1; elements <= 33; ++elements)
    bench.shared<T>("stride " + std::to_string(elements), type, stride(elements));
}

Pattern offset(unsigned elements) {
  return patternOf([=](unsigned lane) { return lane + elements; });
}

// Both sides of a copy, in order, off by some elements, strided, permuted, in part.
template <class T>
void runCopies(Bench& bench, const char* type) {
  constexpr unsigned ROW = 128 / sizeof(T);  // elements of 128 bytes
  for (const unsigned to : {0u, 1u, 2u, ROW / 2, ROW - 1})
    for (const unsigned from : {0u, 1u, 2u, ROW / 2, ROW - 1})
      bench.copy<T>(fmt::format("from {} to {}", from, to), type, offset(from), offset(to));
  for (const unsigned elements : {2, 3, 4, 8, 9}) {
    bench.copy<T>(fmt::format("from stride {}", elements), type, stride(elements), inOrder);
    bench.copy<T>(fmt::format("to stride {}", elements), type, inOrder, stride(elements));
    bench.copy<T>(fmt::format("both stride {}", elements), type, stride(elements), stride(elements));
  }
  bench.copy<T>("from permuted", type, permuted, inOrder);
  bench.copy<T>("to permuted", type, inOrder, permuted);
  bench.copy<T>("both permuted", type, permuted, permuted);
  bench.copy<T>("from the same element", type, same, inOrder);
  bench.copy<T>("to rows of their own", type, inOrder,
                patternOf([](unsigned lane) { return ROW * (lane % 8) + lane; }));
  for (unsigned bit = 1; bit <= 16; bit *= 2) {
    const Pattern lanes = patternOf([](unsigned lane) { return lane; },
                                    LaneMask::where([=](unsigned lane) { return (lane & bit) == 0; }));
    bench.copy<T>(fmt::format("one of pairs {} apart", bit), type, lanes, offset(0));
    bench.copy<T>(fmt::format("one of pairs {} apart to 2", bit), type, lanes, offset(2));
  }
}

int run(Options& options) {
  options.parse(1, 1);
  ResultFiles files(options, benchmarkHeader(options));
  Bench bench(files);
  runPublished(bench);
  runOffsetsAndStrides(bench);
  runStructures(bench);
  runBanks<float>(bench, "float");
  runBanks<float2>(bench, "float2");
  runBanks<float4>(bench, "float4");
  bench.shared<char>("in order", "char", inOrder);
  bench.shared<char>("stride 4", "char", stride(4));
  bench.shared<Floats<3>>("in order", "12 bytes", inOrder);
  bench.shared<Floats<7>>("in order", "28 bytes", inOrder);
  bench.shared<Floats<8>>("in order", "32 bytes", inOrder);
  runCopies<float>(bench, "float");
  runCopies<float2>(bench, "float2");
  runCopies<float4>(bench, "float4");
  return files.finish({}, bench.wrong());
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "access_bench", "Access patterns, for a profiler to count: nothing is timed.", run);
}
