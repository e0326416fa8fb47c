/// \file
/// The forms of a reduction beside the plain sum: misaligned, with two inputs or several results, in a fixed
/// order, by value.
// SPDX-License-Identifier: MIT
#include "support/data.cuh"
#include "support/options.hpp"
#include "support/report.cuh"

#include <gpuopt/reduce.cuh>

#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/transform_reduce.h>
#include <thrust/zip_function.h>
#include <cub/device/device_reduce.cuh>
#include <cuda/std/functional>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t GiB = std::size_t{1} << 30;

struct Bench {
  Timer& timer;
  const DeviceMemory& data;
  gpuopt::Workspace workspace{};
  DeviceMemory scratch{std::size_t{16} << 20};
  Output output{};

  cudaStream_t stream() const { return timer.stream(); }
};

bool isClose(double value, double expected, double scale) { return std::fabs(value - expected) <= 4e-6 * scale; }

template <class T>
Candidate gpuoptSum(const std::string& name, Bench& bench, const T* in, std::size_t n) {
  auto* out = bench.output.device<AccumulatorOf<T>>();
  const Reference<T> reference(in, n, bench.stream());
  return candidate(
      name, out, [=, &bench] { gpuopt::reduceInto(in, n, out, gpuopt::Plus{}, bench.stream(), &bench.workspace); },
      [=](const auto& sum) { return reference.matches(sum); });
}

template <class T>
void cubSum(Bench& bench, const T* in, std::size_t n, AccumulatorOf<T>* out) {
  using A = AccumulatorOf<T>;
  std::size_t bytes = bench.scratch.bytes();
  check(cub::DeviceReduce::Reduce(bench.scratch.as<void>(), bytes, in, out, static_cast<std::uint32_t>(n),
                                  cuda::std::plus<A>{}, A{}, bench.stream()),
        "cub::DeviceReduce::Reduce");
}

// 256 MiB that begin one element after an aligned address.
template <class T>
void measureMisaligned(Bench& bench, Report& report) {
  const std::size_t n = GiB / 4 / sizeof(T);
  const T* in = bench.data.as<T>();
  fillRandom(bench.data.as<T>(), n + 1, bench.stream());
  auto* out = bench.output.device<AccumulatorOf<T>>();
  const Reference<T> reference(in + 1, n, bench.stream());
  Case work{"misaligned", Element<T>::name, n, n * sizeof(T), {gpuoptSum("gpuopt", bench, in + 1, n)}};
  work.candidates.push_back(gpuoptSum("aligned", bench, in, n));
  work.candidates.push_back(candidate(
      "cub::DeviceReduce::Reduce", out, [=, &bench] { cubSum(bench, in + 1, n, out); },
      [=](const auto& sum) { return reference.matches(sum); }));
  report.run(work);
}

// A form against the plain sum of as many bytes, and against a peer where there is one.
void measureForm(Bench& bench, Report& report, const std::string& name, std::size_t bytes,
                 const std::vector<Candidate>& ways) {
  const std::size_t n = bytes / sizeof(float);
  Case work{name, "float", n, bytes, ways};
  work.candidates.push_back(gpuoptSum("sum", bench, bench.data.as<float>(), n));
  report.run(work);
}

struct Multiply {
  __host__ __device__ float operator()(float a, float b) const { return a * b; }
};

struct MultiplyInDouble {
  __host__ __device__ double operator()(float a, float b) const { return double(a) * double(b); }
};

void measureDot(Bench& bench, Report& report) {
  const std::size_t n = GiB / 2 / sizeof(float);
  const float* a = bench.data.as<float>();
  const float* b = a + n;
  float* out = bench.output.device<float>();
  const double expected =
      thrust::inner_product(thrust::device, a, a + n, b, 0.0, cuda::std::plus<double>{}, MultiplyInDouble{});
  const auto right = [=](float dot) { return isClose(dot, expected, double(n)); };
  const auto gpuoptDot = [=, &bench] { gpuopt::dotInto(a, b, n, out, bench.stream(), &bench.workspace); };
  const auto cubDot = [=, &bench] {
    std::size_t bytes = bench.scratch.bytes();
    check(cub::DeviceReduce::TransformReduce(bench.scratch.as<void>(), bytes, thrust::make_zip_iterator(a, b), out,
                                             static_cast<std::uint32_t>(n), cuda::std::plus<float>{},
                                             thrust::make_zip_function(Multiply{}), 0.0f, bench.stream()),
          "cub::DeviceReduce::TransformReduce");
  };
  measureForm(bench, report, "dot", GiB,
              {candidate("gpuopt", out, gpuoptDot, right),
               candidate("cub::DeviceReduce::TransformReduce", out, cubDot, right)});
}

void measureExtremes(Bench& bench, Report& report) {
  const std::size_t n = GiB / sizeof(float);
  const float* in = bench.data.as<float>();
  const auto ends = thrust::minmax_element(thrust::device, in, in + n);
  float least = 0, greatest = 0;
  check(cudaMemcpy(&least, ends.first, sizeof least, cudaMemcpyDefault), "cudaMemcpy");
  check(cudaMemcpy(&greatest, ends.second, sizeof greatest, cudaMemcpyDefault), "cudaMemcpy");
  const auto first = static_cast<std::size_t>(ends.first - in);
  const Reference<float> reference(in, n, bench.stream());

  auto* minMax = bench.output.device<gpuopt::MinMax<float>>();
  measureForm(
      bench, report, "minMax", GiB,
      {candidate(
          "gpuopt", minMax, [=, &bench] { gpuopt::minMaxInto(in, n, minMax, bench.stream(), &bench.workspace); },
          [=](const auto& r) { return r.minimum == least && r.maximum == greatest; })});

  auto* all = bench.output.device<gpuopt::SumMinMax<float, float>>();
  measureForm(
      bench, report, "sumMinMax", GiB,
      {candidate(
          "gpuopt", all, [=, &bench] { gpuopt::sumMinMaxInto(in, n, all, bench.stream(), &bench.workspace); },
          [=](const auto& r) { return reference.matches(r.sum) && r.minimum == least && r.maximum == greatest; })});

  auto* arg = bench.output.device<gpuopt::ArgResult<float>>();
  struct ValueAndIndex {
    float value;
    int index;
  };
  auto* pair = bench.output.device<ValueAndIndex>();
  const auto cubArgMin = [=, &bench] {
    std::size_t bytes = bench.scratch.bytes();
    check(cub::DeviceReduce::ArgMin(bench.scratch.as<void>(), bytes, in, &pair->value, &pair->index,
                                    static_cast<std::int64_t>(n), bench.stream()),
          "cub::DeviceReduce::ArgMin");
  };
  measureForm(bench, report, "argMin", GiB,
              {candidate(
                   "gpuopt", arg, [=, &bench] { gpuopt::argMinInto(in, n, arg, bench.stream(), &bench.workspace); },
                   [=](const auto& r) { return r.value == least && r.index == first; }),
               candidate("cub::DeviceReduce::ArgMin", pair, cubArgMin, [=](const auto& r) {
                 return r.value == least && static_cast<std::size_t>(r.index) == first;
               })});
}

struct SquaredDistance {
  double center;
  __host__ __device__ double operator()(float x) const { return (x - center) * (x - center); }
};

void measureMoments(Bench& bench, Report& report) {
  const std::size_t n = GiB / sizeof(float);
  const float* in = bench.data.as<float>();
  auto* out = bench.output.device<gpuopt::MeanVariance<float>>();
  const double mean = thrust::reduce(thrust::device, in, in + n, 0.0, cuda::std::plus<double>{}) / double(n);
  const double variance =
      thrust::transform_reduce(thrust::device, in, in + n, SquaredDistance{mean}, 0.0, cuda::std::plus<double>{}) /
      double(n);
  measureForm(
      bench, report, "meanVariance", GiB,
      {candidate(
          "gpuopt", out, [=, &bench] { gpuopt::meanVarianceInto(in, n, out, bench.stream(), &bench.workspace); },
          [=](const auto& r) { return isClose(r.mean, mean, 1) && isClose(r.variance, variance, 1); })});
}

template <class Policy>
void measureOrder(Bench& bench, Report& report, const char* form, std::size_t bytes) {
  const std::size_t n = bytes / sizeof(float);
  const float* in = bench.data.as<float>();
  float* out = bench.output.device<float>();
  const Reference<float> reference(in, n, bench.stream());
  measureForm(bench, report, form, bytes,
              {candidate(
                  "gpuopt", out,
                  [=, &bench] {
                    gpuopt::reduceInto<gpuopt::DefaultAccumulator, Policy>(in, n, out, gpuopt::Plus{}, bench.stream(),
                                                                           &bench.workspace);
                  },
                  [=](float sum) { return reference.matches(sum); })});
}

// From the call to the value in a variable of the host, beside the call without its value and an empty
// launch.
void measureValue(Bench& bench, Report& report, std::size_t n) {
  const float* in = bench.data.as<float>();
  float* out = bench.output.device<float>();
  float* value = bench.output.host<float>();
  const Reference<float> reference(in, n, bench.stream());
  const auto right = [=](float sum) { return reference.matches(sum); };
  const auto cubValue = [=, &bench] {
    cubSum(bench, in, n, out);
    check(cudaMemcpyAsync(value, out, sizeof(float), cudaMemcpyDeviceToHost, bench.stream()), "cudaMemcpyAsync");
    bench.timer.synchronize();
  };
  const auto thrustValue = [=, &bench] {
    *value = thrust::reduce(thrust::cuda::par.on(bench.stream()), in, in + n, 0.0f);
  };
  report.run({"value",
              "float",
              n,
              n * sizeof(float),
              {candidate(
                   "gpuopt", value, [=, &bench] { *value = gpuopt::reduce(in, n, gpuopt::Plus{}, bench.stream()); },
                   right, true),
               candidate("cub::DeviceReduce::Reduce + cudaMemcpyAsync", value, cubValue, right, true),
               candidate("thrust::reduce", value, thrustValue, right, true),
               gpuoptSum("reduceInto", bench, in, n),
               candidate(
                   "no workspace", out, [=, &bench] { gpuopt::reduceInto(in, n, out, gpuopt::Plus{}, bench.stream()); },
                   right),
               {"empty launch", [&bench] { launchEmpty(bench.stream()); }, nullptr, false, 0}}});
}

int run(Options& options) {
  Names forms{"misaligned", "several", "order", "value"};
  options.choice("--forms", forms, "what is measured");
  options.parse(61, 21);
  Timer timer(options.repetitions);
  const auto chosen = [&](const std::string& form) { return contains(forms, form); };

  const DeviceMemory data(4 * GiB);
  fillRandom(data.as<float>(), data.bytes() / sizeof(float), timer.stream());
  timer.synchronize();
  Report report(timer, {Mode::coldWrite, Mode::coldRead, Mode::wall}, options, copyBandwidth(timer, data));
  fillRandom(data.as<float>(), data.bytes() / sizeof(float), timer.stream());
  timer.synchronize();
  Bench bench{timer, data};
  if (chosen("several")) {
    measureDot(bench, report);
    measureExtremes(bench, report);
    measureMoments(bench, report);
  }
  if (chosen("order"))
    for (const std::size_t bytes : {GiB / 1024, GiB / 16, GiB / 4, GiB, 4 * GiB}) {
      measureOrder<gpuopt::ByLength>(bench, report, "byLength", bytes);
      measureOrder<gpuopt::InOrder>(bench, report, "inOrder", bytes);
    }
  if (chosen("value"))
    for (int exponent = 10; exponent <= 24; exponent += 2) measureValue(bench, report, std::size_t{1} << exponent);
  if (chosen("misaligned")) {
    measureMisaligned<float>(bench, report);
    measureMisaligned<double>(bench, report);
    measureMisaligned<__half>(bench, report);
    measureMisaligned<__nv_bfloat16>(bench, report);
    measureMisaligned<std::int8_t>(bench, report);
    measureMisaligned<Float3>(bench, report);
    measureMisaligned<Float5>(bench, report);
  }
  return report.finish(worstRatios(report.rows()));
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "reduce_forms_bench", "Other forms of reduction, beside CUB and Thrust.", run);
}
