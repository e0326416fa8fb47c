/// Sums of arrays: every kind of element, length and alignment, in every kernel and at every boundary between
/// them.
// SPDX-License-Identifier: MIT
#include "low_boundaries.cuh"
#include "support/any_bits.cuh"
#include "support/catch.hpp"
#include "support/portion.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/reduce.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::test::array_test {
namespace {

template <class T>
using SumOf = decltype(reduce(std::declval<const T*>(), std::size_t{}));

static_assert(std::is_same_v<SumOf<signed char>, int> && std::is_same_v<SumOf<unsigned char>, unsigned>);
static_assert(std::is_same_v<SumOf<short>, int> && std::is_same_v<SumOf<unsigned short>, unsigned>);
static_assert(std::is_same_v<SumOf<long long>, long long> && std::is_same_v<SumOf<double>, double>);
static_assert(std::is_same_v<SumOf<__half>, float> && std::is_same_v<SumOf<__nv_bfloat16>, float>);
static_assert(std::is_same_v<SumOf<Words5>, Words5>);
static_assert(
    std::is_same_v<decltype(reduce<long long>(std::declval<const signed char*>(), std::size_t{})), long long>);
static_assert(std::is_same_v<decltype(reduce<double>(std::declval<__half*>(), std::size_t{})), double>);
static_assert(std::is_same_v<decltype(reduce(std::declval<const short*>(), std::size_t{}, Maximum{})), short>);
static_assert(std::is_same_v<decltype(reduce(std::declval<const __half*>(), std::size_t{}, Maximum{})), float>);

// A type for each size and kind; of elements read one by one, small ones are quicker.
#define SMALL_TYPES signed char, short, int, long long, float, __half, Float3, Words5, Bytes3
#define ELEMENT_TYPES SMALL_TYPES, Words25

// Elements on the device with the host's copy; every sum is of a part with other elements around it, which
// would show if they were read.
template <class T>
class Data {
 public:
  explicit Data(std::size_t n) : values_(Elements<T>::make(n, 1)), device_(values_) {}

  template <class Policy = ReducePolicy>
  void check(std::size_t first, std::size_t n) const {
    static Series cases;
    if (!cases.runsNext()) return;
    using A = SumOf<T>;
    const A expected = n > 0 ? foldSerially<A>(values_, first, first + n, Plus{}) : A{};
    INFO("n " << n << ", first " << first);
    if constexpr (NeutralElement<Plus, A>::exists) {
      REQUIRE((reduce<DefaultAccumulator, Policy>(device_.data() + first, n) == expected));
    } else {
      REQUIRE((reduce<DefaultAccumulator, Policy>(device_.data() + first, n, Plus{}, A{}) == expected));
      if (n > 0) REQUIRE((reduce<DefaultAccumulator, Policy>(device_.data() + first, n) == expected));
    }
  }

 private:
  std::vector<T> values_;
  DeviceArray<T> device_;
};

// The lengths around each number of bytes, a step of 16-byte loads more or less.
template <class T>
std::set<std::size_t> lengthsAround(std::set<std::size_t> boundaries) {
  constexpr std::size_t step = static_cast<std::size_t>(detail::FullVectors<T>::ELEMENTS);
  std::set<std::size_t> lengths;
  for (const std::size_t bytes : boundaries) {
    const std::size_t n = bytes / sizeof(T) / step * step;
    lengths.insert({n - 1, n, n + 1, n + step});
  }
  return lengths;
}

const std::set<std::size_t> shortLengths = {0,  1,  2,  3,  5,   7,   8,   15,  16,  17,   31,  32,
                                            33, 63, 64, 65, 100, 127, 128, 129, 997, 4096, 8193};
const std::set<std::size_t> moreLengths = {255,  256,  257,  511,  512,  513,  1023, 1024, 1025,
                                           2047, 2048, 2049, 4095, 4097, 7919, 8191, 8192};

TEMPLATE_TEST_CASE("Short arrays", "[reduce]", ELEMENT_TYPES) {
  const Data<TestType> data(8200);
  for (const std::size_t n : shortLengths) data.check(0, n);
}

TEMPLATE_TEST_CASE("Arrays of up to some thousand elements", "[reduce][sweep]", SMALL_TYPES) {
  const Data<TestType> data(8200);
  for (const std::size_t n : moreLengths) data.check(0, n);
}

// One block becomes several at 64 KiB, and blocks become larger at 256 KiB.
TEMPLATE_TEST_CASE("Arrays at the boundaries of the policy", "[reduce][sweep]", SMALL_TYPES) {
  std::set<std::size_t> boundaries = {16 << 10, 64 << 10, 256 << 10};
  if (!emulated) boundaries.insert({32 << 10, 128 << 10, 512 << 10});
  const std::set<std::size_t> lengths = lengthsAround<TestType>(boundaries);
  const Data<TestType> data(*lengths.rbegin() + 3);
  for (const std::size_t n : lengths) data.check(3, n);
}

TEMPLATE_TEST_CASE("Arrays of megabytes", "[reduce][sweep]", signed char, float) {
  const std::set<std::size_t> lengths = lengthsAround<TestType>({std::size_t{4} << 20});
  const Data<TestType> data(*lengths.rbegin() + 3);
  for (const std::size_t n : lengths) data.check(3, n);
}

TEMPLATE_TEST_CASE("Arrays at every alignment", "[reduce][sweep]", SMALL_TYPES) {
  const std::size_t ofOneBlock = (40 << 10) / sizeof(TestType), ofSeveral = (100 << 10) / sizeof(TestType);
  const Data<TestType> data(ofSeveral + 32);
  for (std::size_t first = 0; first < 32; ++first) {
    for (const std::size_t n : {1, 31, 130}) data.check(first, n);
    if (emulated && first % 3 != 0) continue;
    for (const std::size_t n : {ofOneBlock, ofSeveral}) data.check(first, n);
  }
}

TEMPLATE_TEST_CASE("Several tiles and blocks", "[reduce][sweep]", ELEMENT_TYPES) {
  std::set<std::size_t> lengths =
      lengthsAround<TestType>({1 << 10, 2 << 10, 8 << 10, 40 << 10, 64 << 10, 104 << 10, 192 << 10, 320 << 10});
  lengths.insert({0, 1, 131});
  const Data<TestType> data(*lengths.rbegin() + 5);
  for (const std::size_t n : lengths) data.template check<LowBoundaries>(5, n);
}

struct WideLoads : LowBoundaries {
  static constexpr bool WIDE_LOADS = true;
};

TEMPLATE_TEST_CASE("Loads of 32 bytes", "[reduce]", signed char, __half, float, long long, Float3) {
  std::set<std::size_t> lengths = lengthsAround<TestType>({1 << 10, 8 << 10, 64 << 10, 192 << 10});
  lengths.insert({0, 1, 131});
  const Data<TestType> data(*lengths.rbegin() + 37);
  for (const std::size_t n : lengths)
    for (const std::size_t first : {0, 1, 5, 33}) data.template check<WideLoads>(first, n);
}

TEST_CASE("Loads of 32 bytes are those of arrays alone", "[reduce]") {
  const detail::ArraySource<float, Identity, true> array{};
  const detail::ArraySource<Float3, Identity, true> triples{};
  REQUIRE((detail::asLoaded<WideLoads, false>(array).STEP == 8 && detail::asLoaded<WideLoads, true>(array).STEP == 4));
  REQUIRE((detail::asLoaded<ReducePolicy, false>(array).STEP == 4));
  REQUIRE((detail::asLoaded<WideLoads, false>(triples).STEP == 4));
}

// How n floats that begin at a boundary are divided.
detail::ReducePlan planOf(std::size_t n) {
  using Source = detail::ArraySource<float, Identity, true>;
  return detail::planReduce<LowBoundaries>(
      detail::reduceRequest<LowBoundaries, Source, detail::Fold<float, Plus>>(0, n));
}

TEST_CASE("The plan follows the number of bytes", "[reduce]") {
  using detail::ReduceAlgorithm;
  constexpr std::size_t KIB = 1024 / sizeof(float);
  REQUIRE(planOf(0).algorithm == ReduceAlgorithm::oneTile);
  REQUIRE((planOf(8 * KIB).algorithm == ReduceAlgorithm::oneTile && !planOf(8 * KIB).grid.combines));
  REQUIRE((planOf(9 * KIB).algorithm == ReduceAlgorithm::tiles && planOf(9 * KIB).grid.combines));
  REQUIRE(planOf(64 * KIB + 3).algorithm == ReduceAlgorithm::tiles);
  REQUIRE((planOf(64 * KIB + 4).algorithm == ReduceAlgorithm::loop && planOf(64 * KIB + 4).grid.blocks == 5));
  REQUIRE((planOf(192 * KIB).streams && !planOf(193 * KIB).streams));
  REQUIRE((planOf(64 * KIB + 3).edges == 3 && planOf(64 * KIB + 3).steps == 16 * KIB));
}

TEST_CASE("Large arrays have more blocks than run at the same time", "[reduce]") {
  detail::ReduceRequest request;
  request.n = std::size_t{1} << 28;
  request.stepElements = 4;
  request.stepBytes = 16;
  const auto blocks = [&](std::size_t most) {
    request.maxBlocks = most;
    return detail::planReduce<ReducePolicy>(request).grid.blocks;
  };
  REQUIRE((blocks(2048) == 1848 && blocks(1848) == 1848));
  REQUIRE((blocks(1847) == 1584 && blocks(1024) == 792 && blocks(512) == 264 && blocks(263) == 263));
  REQUIRE(detail::planReduce<InOrder>(request).grid.blocks == 263);
  request.n = std::size_t{96} << 20;
  REQUIRE(blocks(2048) == 256);
}

// The elements before the first boundary of 128 bytes and after the last of 16 can be more than the policy's
// blocks have threads.
struct NarrowBlocks : ReducePolicy {
  static constexpr int BLOCK = 160;
  static constexpr std::size_t tileBytes = 4 << 10;
  static constexpr int tileThreads(std::size_t) { return 32; }
};

TEMPLATE_TEST_CASE("A policy of narrow blocks", "[reduce][sweep]", signed char, short, Bytes3, float) {
  const Data<TestType> data(10200);
  for (std::size_t first = 0; first < 128; ++first) data.template check<NarrowBlocks>(first, 150);
  for (std::size_t first = 1; first < 128; first += 31) data.template check<NarrowBlocks>(first, 10000);
}

TEMPLATE_TEST_CASE("Lengths and alignments under the reproducible order", "[reduce][sweep]", signed char, float, double,
                   Words6, Bytes3) {
  const std::set<std::size_t> lengths = lengthsAround<TestType>({16 << 10, 64 << 10, emulated ? 160 << 10 : 512 << 10});
  const Data<TestType> data(*lengths.rbegin() + 16);
  for (std::size_t first = 0; first < 16; first += 5)
    for (const std::size_t n : lengths) data.template check<ByLength>(first, n);
  for (const std::size_t n : {0, 1, 17, 1000}) data.template check<ByLength>(1, n);
}

#ifndef GPUOPT_EMULATION

template <class T>
__host__ __device__ T longArrayValue(std::size_t i) {
  return static_cast<T>(static_cast<int>((i * 2654435761u >> 16) % 7u) - 3);
}

template <class T>
__global__ void fillKernel(T* out, std::size_t n) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < n;
       i += std::size_t{gridDim.x} * blockDim.x)
    out[i] = longArrayValue<T>(i);
}

// Sums of parts of one array, which end at different elements.
template <class T>
void checkLong(std::size_t longest, const std::vector<std::size_t>& lengths) {
  T* data = nullptr;
  checkCuda(cudaMalloc(reinterpret_cast<void**>(&data), longest * sizeof(T)), "cudaMalloc");
  launch(fillKernel<T>, blocksOf(256, 2048), data, longest);
  for (const std::size_t n : lengths)
    for (const std::size_t first : {0, 1}) {
      long long expected = 0;
      for (std::size_t i = first; i < n; ++i) expected += static_cast<long long>(longArrayValue<T>(i));
      INFO("n " << n << ", first " << first);
      CHECK(static_cast<long long>(reduce<double>(data + first, n - first)) == expected);
      CHECK(static_cast<long long>(reduce<double, ByLength>(data + first, n - first)) == expected);
    }
  checkCuda(cudaFree(data), "cudaFree");
}

TEST_CASE("Arrays beyond the caches", "[reduce]") {
  constexpr std::size_t MIB = std::size_t{1} << 20;
  checkLong<float>(97 * MIB, {8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 8 * MIB + 5, 96 * MIB, 96 * MIB + 1, 96 * MIB + 7});
  checkLong<double>(49 * MIB, {4 * MIB, 4 * MIB + 3, 48 * MIB + 3});
}

TEST_CASE("More than 2^31 and 2^32 elements", "[reduce]") {
  constexpr std::size_t two31 = std::size_t{1} << 31;
  checkLong<signed char>(2 * two31 + 1000, {two31 - 1, two31 + 1, 2 * two31 + 777});
}

#endif

}  // namespace
}  // namespace gpuopt::test::array_test
