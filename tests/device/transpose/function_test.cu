/// Transposes with a function on the way: casts, structures, states, lambdas; between elements of any two
/// sizes.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/transpose_data.cuh"

#include <gpuopt/transpose.cuh>

#include <cuda_fp16.h>

#include <cstdint>
#include <vector>

namespace gpuopt::test::function_test {
namespace {

template <class Out>
struct CastTo {
  template <class In>
  __host__ __device__ Out operator()(const In& x) const {
    return static_cast<Out>(static_cast<float>(x));
  }
};

struct Scaled {
  float factor;
  __host__ __device__ float operator()(float x) const { return factor * x; }
};

// What it returns is converted to the type of the output.
struct Halved {
  template <class T>
  __host__ __device__ double operator()(const T& x) const {
    return static_cast<double>(x) / 2;
  }
};

struct Conjugate {
  __host__ __device__ float2 operator()(const float2& z) const { return {z.x, -z.y}; }
};

struct Reversed {
  template <class Word, int COUNT>
  __host__ __device__ Pack<Word, COUNT> operator()(const Pack<Word, COUNT>& x) const {
    Pack<Word, COUNT> y{};
    for (int i = 0; i < COUNT; ++i) y.words[i] = x.words[COUNT - 1 - i];
    return y;
  }
};

struct Luminance {
  __host__ __device__ float operator()(const Bytes3& rgb) const {
    return static_cast<float>(rgb.words[0] + 2 * rgb.words[1] + rgb.words[2]) / 4;
  }
};

struct Widened {
  __host__ __device__ Bytes100 operator()(unsigned char x) const {
    Bytes100 y{};
    for (unsigned i = 0; i < 25; ++i) y.words[i] = x * 1000u + i;
    return y;
  }
};

struct Narrowed {
  __host__ __device__ unsigned char operator()(const Bytes100& x) const {
    return static_cast<unsigned char>(x.words[24] >> 8);
  }
};

// Every kernel: tiles, narrow matrices, tiny ones in batches; aligned and not, dense and with gaps.
template <class In, class Out, class Values = AnyBits, class F>
void checkFunction(F function) {
  TransposeCheck<In, Out, Values> check(70000);
  const std::vector<Case> shapes{{0, 3},     {1, 1},    {1, 300}, {300, 1},  {2, 515}, {515, 3},  {8, 512},  {512, 16},
                                 {32, 1000}, {999, 31}, {64, 64}, {64, 128}, {65, 63}, {33, 129}, {256, 256}};
  for (const Case& shape : shapes) {
    check(shape, function);
    check({shape.rows, shape.cols, 0, 0, 1, 0}, function);
    check({shape.rows, shape.cols, 0, 0, 0, 1}, function);
    if (shape.rows < 200 || shape.cols < 200) check({shape.rows, shape.cols, 3, 16, 1, 1}, function);
  }
  for (const Case& shape : {Case{2, 2}, Case{4, 4}, Case{3, 5}, Case{8, 8}, Case{16, 3}, Case{33, 31}}) {
    check({shape.rows, shape.cols, 0, 0, 0, 0, 40}, function);
    check({shape.rows, shape.cols, 0, 0, 1, 1, 40}, function);
    check({shape.rows, shape.cols, 1, 2, 0, 1, 20, 3, 4}, function);
  }
  check.finish();
}

TEST_CASE("Casts between all sizes of numbers", "[transpose][sweep]") {
  checkFunction<float, double, WholeNumbers>(CastTo<double>{});
  checkFunction<double, float, WholeNumbers>(CastTo<float>{});
  checkFunction<float, __half, WholeNumbers>(CastTo<__half>{});
  checkFunction<__half, float, WholeNumbers>(CastTo<float>{});
  checkFunction<unsigned char, float, WholeNumbers>(CastTo<float>{});
  checkFunction<float, unsigned char, WholeNumbers>(CastTo<unsigned char>{});
  checkFunction<unsigned char, unsigned short>(CastTo<unsigned short>{});
  checkFunction<signed char, double>(CastTo<double>{});
  checkFunction<std::int64_t, short, WholeNumbers>(CastTo<short>{});
}

TEST_CASE("Functions within one type", "[transpose]") {
  checkFunction<float, float, WholeNumbers>(Scaled{-3.5F});
  checkFunction<float2, float2>(Conjugate{});
  checkFunction<Bytes12, Bytes12>(Reversed{});
  checkFunction<Bytes20, Bytes20>(Reversed{});
}

TEST_CASE("Functions between structures of different sizes", "[transpose][sweep]") {
  checkFunction<Bytes3, float>(Luminance{});
  checkFunction<unsigned char, Bytes100>(Widened{});
  checkFunction<Bytes100, unsigned char>(Narrowed{});
}

TEST_CASE("The result is converted to the type of the output", "[transpose]") {
  checkFunction<float, float, WholeNumbers>(Halved{});
  checkFunction<unsigned short, float>(Halved{});
}

TEST_CASE("Lambdas with a state", "[transpose]") {
  unsigned mask = 0xF0F0F0F0u;  // a constant would not be captured
  checkFunction<unsigned, std::uint64_t>(
      [mask] __host__ __device__(unsigned x) { return std::uint64_t{x & mask} << 8; });
}

// The host knows neither what it returns nor how to call it.
TEST_CASE("Lambdas of the device alone", "[transpose]") {
  TransposeCheck<float, double, WholeNumbers> check(10000);
  const auto in = check.inView({40, 70});
  const auto out = check.outView({40, 70});
  check.expect(in, out, Halved{},
               [&] { transpose(in, out, [] __device__(float x) { return static_cast<double>(x) / 2; }); });
  check.expect(in, out, Halved{}, [&] {
    transpose(
        in.data, out.data, 40, 70, [] __device__(float x) { return static_cast<double>(x) / 2; }, nullptr);
  });
  check.finish();
}

}  // namespace
}  // namespace gpuopt::test::function_test
