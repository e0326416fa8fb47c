/// Reductions within a warp: every width, every count of valid lanes, every size of element, the order of the
/// lanes.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/warp/reduce.cuh>

#include <cstddef>
#include <limits>
#include <type_traits>
#include <vector>

namespace gpuopt::test::reduce_test {
namespace {

constexpr int THREADS = 64;  // two warps: a thread's index is not its lane

template <class T>
struct Results {
  T* reduced;       // one a segment
  T* all;           // one a thread
  T* reducedValid;  // the same over the valid lanes only
  T* allValid;
};

template <int WIDTH, class T, class Op>
__global__ void warpKernel(const T* in, Op op, int validLanes, Results<T> out) {
  const T mine = in[threadIdx.x];
  const T reduced = warpReduce<WIDTH>(mine, op);
  const T reducedValid = warpReduce<WIDTH>(mine, op, validLanes);
  out.all[threadIdx.x] = warpAllReduce<WIDTH>(mine, op);
  out.allValid[threadIdx.x] = warpAllReduce<WIDTH>(mine, op, validLanes);
  if (threadIdx.x % WIDTH == 0) {
    out.reduced[threadIdx.x / WIDTH] = reduced;
    out.reducedValid[threadIdx.x / WIDTH] = reducedValid;
  }
}

// What each segment of the block, or each thread, must hold if the first `valid` lanes of a segment take
// part.
template <class T, class Op>
std::vector<T> expectedResults(const std::vector<T>& values, std::size_t width, std::size_t valid, std::size_t copies,
                               Op op) {
  std::vector<T> expected;
  for (std::size_t first = 0; first < THREADS; first += width)
    expected.insert(expected.end(), copies, foldSerially<T>(values, first, first + valid, op));
  return expected;
}

template <int WIDTH, class T, class Op>
void checkWidth(const std::vector<T>& values, Op op) {
  const DeviceArray<T> in(values);
  const std::vector<T> perSegment = expectedResults(values, WIDTH, WIDTH, 1, op);
  const std::vector<T> perThread = expectedResults(values, WIDTH, WIDTH, WIDTH, op);
  for (std::size_t valid = 1; valid <= WIDTH; ++valid) {
    DeviceArray<T> reduced(THREADS / WIDTH), all(THREADS), reducedValid(THREADS / WIDTH), allValid(THREADS);
    launch(warpKernel<WIDTH, T, Op>, blocksOf(THREADS), in.data(), op, static_cast<int>(valid),
           Results<T>{reduced.data(), all.data(), reducedValid.data(), allValid.data()});
    INFO("width " << WIDTH << ", valid lanes " << valid);
    REQUIRE((reduced.toHost() == perSegment));
    REQUIRE((all.toHost() == perThread));
    REQUIRE((reducedValid.toHost() == expectedResults(values, WIDTH, valid, 1, op)));
    REQUIRE((allValid.toHost() == expectedResults(values, WIDTH, valid, WIDTH, op)));
  }
}

template <class T, class Op>
void checkEveryWidth(const std::vector<T>& values, Op op) {
  checkWidth<1>(values, op);
  checkWidth<2>(values, op);
  checkWidth<4>(values, op);
  checkWidth<8>(values, op);
  checkWidth<16>(values, op);
  checkWidth<32>(values, op);
}

struct alignas(16) Aligned16 {
  long long value;
  friend __host__ __device__ Aligned16 operator+(const Aligned16& a, const Aligned16& b) { return {a.value + b.value}; }
  friend bool operator==(const Aligned16& a, const Aligned16& b) { return a.value == b.value; }
};

TEMPLATE_TEST_CASE("Sums of elements of any size", "[warp]", (Many<unsigned char, 1>), (Many<unsigned char, 2>), Bytes3,
                   (Many<unsigned, 1>), (Many<unsigned char, 5>), (Many<unsigned short, 3>), (Many<unsigned, 2>),
                   Float3, Words5, Words25, float, double) {
  const std::vector<TestType> values = Elements<TestType>::make(THREADS, 1);
  checkWidth<8>(values, Plus{});
  checkWidth<32>(values, Plus{});
  checkWidth<32>(values, UnknownPlus{});
}

TEST_CASE("Sums of every width", "[warp]") {
  checkEveryWidth(smallIntegers<float>(THREADS, 7), Plus{});
  checkEveryWidth(smallIntegers<int>(THREADS, 8), Plus{});
}

TEST_CASE("Sums of over-aligned elements", "[warp]") {
  std::vector<Aligned16> values(THREADS);
  for (int i = 0; i < THREADS; ++i) values[static_cast<std::size_t>(i)].value = 7 * i * i - 100;
  checkWidth<32>(values, Plus{});
}

TEST_CASE("Operands are combined in the order of the lanes", "[warp]") {
  checkEveryWidth(Elements<Span>::make(THREADS, 0), CombineSpans{});
  checkWidth<32>(Elements<Matrix>::make(THREADS, 2), MatrixProduct{});
}

// Whole warps of integers of up to 32 bits are where the hardware's own reduction is taken.
template <class T>
void checkIntegerOperations(const std::vector<T>& values) {
  checkWidth<32>(values, Minimum{});
  checkWidth<32>(values, Maximum{});
  checkWidth<32>(values, BitAnd{});
  checkWidth<32>(values, BitOr{});
  checkWidth<32>(values, BitXor{});
  checkWidth<16>(values, Minimum{});
  if constexpr (sizeof(T) < sizeof(int) || std::is_unsigned_v<T>) {  // the others must not overflow
    checkWidth<32>(values, Plus{});
    checkWidth<32>(values, Multiplies{});
  }
}

TEMPLATE_TEST_CASE("Integers", "[warp][sweep]", signed char, unsigned char, short, unsigned short, int, unsigned,
                   long long, unsigned long long) {
  using Limits = std::numeric_limits<TestType>;
  std::vector<TestType> values = randomVector<TestType>(THREADS, 3);
  checkIntegerOperations(values);

  values[40] = (Limits::max)();
  values[63] = Limits::lowest();
  checkIntegerOperations(values);

  for (TestType& value : values) value = static_cast<TestType>(value | Limits::lowest());
  checkIntegerOperations(values);  // negative numbers only, where there are any

  for (std::size_t i = 0; i < THREADS; ++i) values[i] = static_cast<TestType>(i | 0x50);  // one bit in common
  checkIntegerOperations(values);

  checkWidth<32>(smallIntegers<TestType>(THREADS, 4), Plus{});
}

TEST_CASE("Booleans", "[warp]") {
  // std::vector<bool> has no array: a type of its own, cast on the way, would test that type. So: one launch
  // by hand.
  DeviceArray<bool> in(THREADS), results(4);
  bool values[THREADS] = {};
  values[17] = values[18] = true;
  checkCuda(cudaMemcpy(in.data(), values, sizeof values, cudaMemcpyHostToDevice), "cudaMemcpy");
  launch(warpKernel<32, bool, BitOr>, blocksOf(THREADS), in.data(), BitOr{}, 17,
         Results<bool>{results.data(), in.data(), results.data() + 2, in.data()});
  bool found[4];
  checkCuda(cudaMemcpy(found, results.data(), sizeof found, cudaMemcpyDeviceToHost), "cudaMemcpy");
  REQUIRE(found[0]);
  REQUIRE_FALSE(found[1]);
  REQUIRE_FALSE(found[2]);
  REQUIRE_FALSE(found[3]);
}

template <int WIDTH>
__global__ void partialWarpKernel(const Span* in, unsigned mask, int validLanes, Span* reduced, Span* all) {
  if ((mask >> threadIdx.x & 1u) == 0) return;
  const Span result = warpReduce<WIDTH>(in[threadIdx.x], CombineSpans{}, validLanes, mask);
  all[threadIdx.x] = warpAllReduce<WIDTH>(in[threadIdx.x], CombineSpans{}, validLanes, mask);
  if (threadIdx.x % WIDTH == 0) reduced[threadIdx.x / WIDTH] = result;
}

template <int WIDTH>
void checkMask(unsigned mask) {
  const DeviceArray<Span> in(Elements<Span>::make(32, 0));
  for (int valid = 1; valid <= WIDTH; ++valid) {
    DeviceArray<Span> reduced(32 / WIDTH), all(32);
    std::vector<Span> expectedReduced = reduced.toHost(),
                      expectedAll = all.toHost();  // untouched by lanes that have left
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if ((mask >> lane & 1u) == 0) continue;
      const int first = static_cast<int>(lane / WIDTH * WIDTH);
      expectedAll[lane] = expectedReduced[lane / WIDTH] = {first, first + valid - 1, 1};
    }
    launch(partialWarpKernel<WIDTH>, blocksOf(32), in.data(), mask, valid, reduced.data(), all.data());
    INFO("width " << WIDTH << ", mask " << mask << ", valid lanes " << valid);
    REQUIRE((reduced.toHost() == expectedReduced));
    REQUIRE((all.toHost() == expectedAll));
  }
}

TEST_CASE("Some segments of a warp work while the others have left", "[warp]") {
  checkMask<16>(0x0000ffffu);
  checkMask<16>(0xffff0000u);
  checkMask<8>(0x00ff00ffu);
  checkMask<4>(0xf0000f00u);
  checkMask<1>(0x80000001u);
}

// A lambda without a return type gives an int for two shorts.
struct PromotingPlus {
  template <class T>
  __host__ __device__ auto operator()(const T& a, const T& b) const {
    return a + b;
  }
};

TEST_CASE("The operation may return a wider type", "[warp]") {
  checkWidth<32>(randomVector<short>(THREADS, 5), PromotingPlus{});
}

}  // namespace
}  // namespace gpuopt::test::reduce_test
