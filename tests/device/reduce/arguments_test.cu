/// \file
/// What the reductions of arrays take as arguments: containers, streams, outputs, initial values, functions.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/plain_span.hpp"
#include "support/reduction_data.cuh"

#include <gpuopt/reduce.cuh>

#ifndef GPUOPT_EMULATION
#include <thrust/device_vector.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_output_iterator.h>
#include <thrust/system/cuda/execution_policy.h>
#include <cuda/stream_ref>
#endif

#include <cuda_fp16.h>

#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt::test::arguments_test {

// 1 / 3 + i / 4: sums of these are rounded.
std::vector<float> quarters(std::size_t n) {
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = 1.0F / 3 + 0.25F * static_cast<float>(i % 7);
  return values;
}

struct Square {
  __host__ __device__ float operator()(float x) const { return x * x; }
};

struct Distance {
  __host__ __device__ float operator()(float x, float y) const { return x < y ? y - x : x - y; }
};

// As thrust::device_ptr, and cuda::stream_ref.
template <class T>
struct HasGet {
  T held;
  T get() const { return held; }
};

// An output iterator that doubles what is stored.
struct Doubling {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = void;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = void;

  struct Proxy {
    float* at;
    __device__ const Proxy& operator=(float value) const {
      *at = 2 * value;
      return *this;
    }
  };

  float* data;
  __device__ Proxy operator[](std::ptrdiff_t i) const { return {data + i}; }
};

template <class T>
T firstOf(const DeviceArray<T>& array) {
  return array.toHost()[0];
}

template <class Call>
std::string invalid(Call call) {
  return messageOf<std::invalid_argument>(call);
}

struct StreamOrTrue {
  cudaStream_t stream;
  operator cudaStream_t() const { return stream; }
  operator bool() const { return true; }
};

namespace {

constexpr std::size_t N = 5003;

TEST_CASE("Containers and spans are reduced whole", "[arguments]") {
  const std::vector<float> values = quarters(N);
  const DeviceArray<float> in(values), other(quarters(N));
  const PlainSpan<const float> span{in.data(), static_cast<unsigned>(N)};
  DeviceArray<float> out(1);

  const float sum = reduce(in.data(), N);
  CHECK(reduce(in) == sum);
  CHECK(reduce(span) == sum);
  CHECK(reduce(PlainSpan<const float>{in.data(), 0}) == 0);
  CHECK(reduce(in, Maximum{}) == reduce(in.data(), N, Maximum{}));
  CHECK(reduce(in, Maximum{}, 100.0F) == 100);
  CHECK(reduce<double>(in) == reduce<double>(in.data(), N));
  reduceInto(in, out);
  CHECK(firstOf(out) == sum);
  reduceInto(in, out, Maximum{}, 100.0F);
  CHECK(firstOf(out) == 100);

  CHECK(transformReduce(in, Square{}) == transformReduce(in.data(), N, Square{}));
  CHECK(transformReduce(in, other, Distance{}, Maximum{}) == 0);
  transformReduceInto(in, out, Square{}, Plus{}, 1.0F);
  CHECK(firstOf(out) == transformReduce(in.data(), N, Square{}, Plus{}, 1.0F));
  CHECK(dot(in, other) == dot(in.data(), in.data(), N));
  dotInto(in, other, out);
  CHECK(firstOf(out) == dot(in, other));

  CHECK(minMax(in).maximum == reduce(in, Maximum{}));
  CHECK(sumMinMax(in).sum == sumMinMax(in.data(), N).sum);
  CHECK(argMax(in).index == 6);
  CHECK(meanVariance(in).mean == meanVariance(in.data(), N).mean);
}

TEST_CASE("Results of containers go to containers", "[arguments]") {
  const DeviceArray<float> in(quarters(N));
  DeviceArray<MinMax<float>> extremes(1);
  DeviceArray<SumMinMax<float, float>> all(1);
  DeviceArray<ArgResult<float>> at(1);
  DeviceArray<MeanVariance<float>> moments(1);
  minMaxInto(in, extremes);
  CHECK(firstOf(extremes).minimum == 1.0F / 3);
  sumMinMaxInto(in, all);
  CHECK(firstOf(all).sum == sumMinMax(in).sum);
  argMinInto(in, at);
  CHECK(firstOf(at).index == 0);
  argMaxInto(in, at, Square{});
  CHECK(firstOf(at).index == 6);
  meanVarianceInto(in, moments);
  CHECK(firstOf(moments).count == N);
}

TEST_CASE("The elements between two pointers, as in Thrust", "[arguments]") {
  const DeviceArray<float> in(quarters(N));
  DeviceArray<float> out(1);
  const float* const last = in.data() + N;
  CHECK(reduce(in.data(), last) == reduce(in));
  CHECK(reduce(in.data() + 6, last, Maximum{}, -1.0F) == reduce(in, Maximum{}));
  reduceInto(in.data(), last, out);
  CHECK(firstOf(out) == reduce(in));
}

TEST_CASE("A stream may follow at once", "[arguments]") {
  const DeviceArray<float> in(quarters(N)), other(quarters(N));
  DeviceArray<float> out(1);
  const Stream stream;
  const HasGet<cudaStream_t> ref{stream};
  Workspace workspace;
  const float sum = reduce(in);

  CHECK(reduce(in.data(), N, stream) == sum);
  CHECK(reduce(in.data(), N, nullptr) == sum);
  CHECK(reduce(in.data(), N, ref, &workspace) == sum);
  CHECK(reduce(in, ref) == sum);
  CHECK(reduce(in, Plus{}, nullptr, &workspace) == sum);
  CHECK(reduce(in.data(), N, Plus{}, 0.0F, ref) == sum);
  reduceInto(in.data(), N, out, ref, &workspace);
  stream.wait();
  CHECK(firstOf(out) == sum);
  reduceInto(in, out, Maximum{}, ref);
  CHECK(firstOf(out) == reduce(in, Maximum{}));

  CHECK(transformReduce(in.data(), N, Square{}, ref) == transformReduce(in, Square{}));
  CHECK(transformReduce(in.data(), other.data(), N, Distance{}, ref) == 0);
  transformReduceInto(in.data(), N, out, Square{}, ref);
  CHECK(firstOf(out) == transformReduce(in, Square{}));
  transformReduceInto(in.data(), other.data(), N, out, Distance{}, ref);
  CHECK(firstOf(out) == 0);
  CHECK(argMin(in.data(), N, ref).index == 0);
  CHECK(argMin(in.data(), N, Square{}, ref, &workspace).index == 0);
  CHECK(minMax(in, ref, &workspace).minimum == 1.0F / 3);
}

TEST_CASE("What converts to a stream is no initial value", "[arguments]") {
  DeviceArray<bool> in(100);
  checkCuda(cudaMemset(in.data(), 0, 100), "cudaMemset");
  checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const Stream stream;
  CHECK_FALSE(reduce(in.data(), 100, LogicalOr{}, stream));
  CHECK_FALSE(reduce(in.data(), 100, LogicalOr{}, StreamOrTrue{stream}));
  CHECK_FALSE(reduce(in, LogicalOr{}, nullptr));
  CHECK(reduce(in, LogicalOr{}, true));
}

TEST_CASE("Results are rounded to narrower types", "[arguments]") {
  const DeviceArray<float> in(quarters(N));
  DeviceArray<float> narrow(1);
  DeviceArray<__half> half(1);
  DeviceArray<int> flag(1);
  DeviceArray<double> wide(1);

  reduceInto<double>(in, narrow);
  CHECK(firstOf(narrow) == static_cast<float>(reduce<double>(in)));
  reduceInto(in, half, Maximum{});
  CHECK(static_cast<float>(firstOf(half)) == static_cast<float>(static_cast<__half>(reduce(in, Maximum{}))));
  reduceInto(in, flag, LogicalAnd{});
  CHECK(firstOf(flag) == 1);
  reduceInto<double>(in, wide);
  CHECK(firstOf(wide) == reduce<double>(in));
  reduceInto<double, InOrder>(in, narrow);
  CHECK(firstOf(narrow) == static_cast<float>(reduce<double, InOrder>(in)));
}

TEST_CASE("Outputs are pointers, objects that have one, iterators and containers with room", "[arguments]") {
  const DeviceArray<float> in(quarters(N));
  DeviceArray<float> out(1);
  reduceInto(in, HasGet<float*>{out.data()});
  CHECK(firstOf(out) == reduce(in));
  reduceInto(in, Doubling{out.data()});
  CHECK(firstOf(out) == 2 * reduce(in));
  reduceInto(in, PlainSpan<float>{out.data(), 1}, Maximum{});
  CHECK(firstOf(out) == reduce(in, Maximum{}));

  CHECK(invalid([&] {
          reduceInto(in, PlainSpan<float>{out.data(), 0});
        }) == "gpuopt::reduceInto: out has 0 elements, but 1 are needed");
  CHECK(invalid([&] { reduceInto<double>(in, static_cast<float*>(nullptr)); }) == "gpuopt::reduceInto: out is null");
}

TEST_CASE("The initial value may be in device memory", "[arguments]") {
  const DeviceArray<float> in(quarters(N));
  DeviceArray<float> sum(std::vector<float>{0.5F});
  const DeviceArray<int> integer(std::vector<int>{1000});
  const float expected = reduce(in, Plus{}, 0.5F);
  CHECK(reduce(in, Plus{}, deviceValue(sum.data())) == expected);
  CHECK(reduce(in, Maximum{}, deviceValue(integer.data())) == 1000);
  CHECK(reduce(in.data(), 0, Plus{}, deviceValue(HasGet<const float*>{sum.data()})) == 0.5F);
  CHECK(transformReduce(in, Square{}, Plus{}, deviceValue(sum.data())) == transformReduce(in, Square{}, Plus{}, 0.5F));

  for (int i = 0; i < 2; ++i) reduceInto(in, sum, Plus{}, deviceValue(sum.data()));
  CHECK(firstOf(sum) == reduce(in, Plus{}, expected));

  const DeviceArray<Float3> triples(Elements<Float3>::make(100, 1));
  const Float3 first = firstOf(triples);
  CHECK(reduce(triples.data(), 0, Plus{}, deviceValue(triples.data())) == first);
  CHECK(reduce(triples, Plus{}, deviceValue(triples.data())) == reduce(triples, Plus{}, first));

  CHECK(invalid([&] { static_cast<void>(reduce(in, Plus{}, deviceValue(static_cast<float*>(nullptr)))); }) ==
        "gpuopt::reduce: init is null, but n is 1");
}

TEST_CASE("The index of an extreme of a function", "[arguments]") {
  std::vector<float> values = quarters(N);
  values[4000] = -9;
  values[4001] = 9;
  values[17] = -0.0F;
  const DeviceArray<float> in(values);
  const ArgResult<float> largest = argMax(in, Square{}), smallest = argMin(in.data(), N, Square{});
  CHECK((largest.value == 81 && largest.index == 4000));
  CHECK((smallest.value == 0 && smallest.index == 17));
  CHECK(argMax<double>(in, Square{}).value == 81);
  CHECK(argMax(in.data(), 0, Square{}).index == ArgResult<float>::none);
  CHECK(argMin(in, Cast<int>{}).value == -9);
}

TEST_CASE("Elements are cast by a function", "[arguments]") {
  const DeviceArray<float> in(std::vector<float>{1.75F, 2.75F, -0.5F});
  CHECK(transformReduce(in, Cast<int>{}) == 3);
  STATIC_REQUIRE(std::is_same_v<decltype(transformReduce(in, Cast<double>{})), double>);
}

TEST_CASE("Misaligned and unequal arguments are refused", "[arguments]") {
  const DeviceArray<float> in(quarters(N));
  DeviceArray<float> out(2);
  const auto shifted = [](auto* pointer, std::size_t bytes) {
    return reinterpret_cast<decltype(pointer)>(reinterpret_cast<std::uintptr_t>(pointer) + bytes);
  };
  CHECK(invalid([&] { static_cast<void>(reduce(shifted(in.data(), 1), 3)); }) ==
        "gpuopt::reduce: in is misaligned: its address modulo 4 is 1");
  CHECK(invalid([&] { static_cast<void>(dot(in.data(), shifted(in.data(), 2), 3)); }) ==
        "gpuopt::dot: in2 is misaligned: its address modulo 4 is 2");
  CHECK(invalid([&] { reduceInto(in, shifted(out.data(), 3)); }) ==
        "gpuopt::reduceInto: out is misaligned: its address modulo 4 is 3");
  CHECK(invalid([&] {
          static_cast<void>(dot(in, PlainSpan<const float>{in.data(), 7}));
        }) == "gpuopt::dot: the inputs have 5003 and 7 elements");
  CHECK(invalid([&] {
          static_cast<void>(transformReduce(PlainSpan<const float>{in.data(), 7}, in, Distance{}));
        }) == "gpuopt::transformReduce: the inputs have 7 and 5003 elements");
}

#ifndef GPUOPT_EMULATION
TEST_CASE("Thrust's vectors, iterators and policies, and CCCL's streams", "[arguments]") {
  const std::vector<float> values = quarters(N);
  const thrust::device_vector<float> in(values.begin(), values.end());
  thrust::device_vector<float> out(1);
  const Stream stream;
  const float sum = reduce(in.data(), N);
  CHECK(reduce(in) == sum);
  CHECK(reduce(in.begin(), in.end()) == sum);
  CHECK(reduce(in, ::cuda::stream_ref{stream}) == sum);
  reduceInto(in, out, thrust::cuda::par.on(stream));
  stream.wait();
  CHECK(out[0] == sum);
  reduceInto(in, out.begin(), Maximum{});
  CHECK(out[0] == reduce(in, Maximum{}));
  reduceInto(in, thrust::make_transform_output_iterator(out.begin(), Square{}), Maximum{});
  CHECK(out[0] == Square{}(reduce(in, Maximum{})));
  reduceInto(in, thrust::make_discard_iterator());
  CHECK(reduce(in, Plus{}, deviceValue(out.data())) == reduce(in, Plus{}, static_cast<float>(out[0])));
}
#endif

}  // namespace
}  // namespace gpuopt::test::arguments_test
