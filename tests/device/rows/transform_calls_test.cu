/// The ways to call the transforms of rows: pointers, containers, views, mdspans, batches, streams; wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/plain_span.hpp"

#include <gpuopt/rows_transform.cuh>

#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/mdspan>
#define HAS_MDSPAN
#endif

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::transform_calls_test {
namespace {

constexpr std::size_t ROWS = 6, COLS = 10, COUNT = ROWS * COLS;

struct SumOfRow {
  using Partial = float;
  __device__ float start() const { return 0; }
  __device__ void add(float& partial, float x) const { partial += x; }
  __device__ float merge(float a, float b) const { return a + b; }
  __device__ float finish(float partial, int) const { return partial; }
};

struct Share {
  __device__ float operator()(float x, float sum, int) const { return sum == 0 ? 0 : x / sum; }
};

std::vector<float> ones() { return std::vector<float>(COUNT, 1.0f); }

// Calls use(in, out) and expects a tenth everywhere.
template <class Use>
void expectCall(Use use) {
  const DeviceArray<float> in(ones());
  DeviceArray<float> out(COUNT);
  use(in, out);
  CHECK(out.toHost() == std::vector<float>(COUNT, 1.0f / COLS));
}

using Array = DeviceArray<float>;

TEST_CASE("Every form of a call of transformRows", "[rows]") {
  const Stream stream;
  const SumOfRow sum;
  const Share share;
  expectCall([&](const Array& in, Array& out) { transformRows(in.data(), out.data(), ROWS, COLS, sum, share); });
  expectCall([&](const Array& in, Array& out) { transformRows(in, out, ROWS, COLS, sum, share, stream); });
  expectCall([&](const Array& in, Array& out) {
    const PlainSpan<const float> from{in.data(), COUNT};
    transformRows(from, PlainSpan<float>{out.data(), COUNT}, ROWS, COLS, sum, share, nullptr);
  });
  expectCall([&](const Array& in, Array& out) {
    transformRows(MatrixView{in.data(), ROWS, COLS}, MatrixView{out.data(), ROWS, COLS}, sum, share, stream);
  });
  expectCall([&](const Array& in, Array& out) {  // a batch of dense matrices
    transformRows(MatrixView{in.data(), 2, COLS, COLS, 3}, MatrixView{out.data(), ROWS, COLS}, sum, share);
  });
#ifdef HAS_MDSPAN
  expectCall([&](const Array& in, Array& out) {
    using cuda::std::dextents;
    transformRows(cuda::std::mdspan<const float, dextents<int, 2>>(in.data(), 6, 10),
                  cuda::std::mdspan<float, dextents<std::size_t, 3>>(out.data(), 2, 3, 10), sum, share, stream);
  });
#endif
}

TEST_CASE("Every form of a call of the ready-made transforms", "[rows]") {
  const Stream stream;
  const DeviceArray<float> gamma(std::vector<float>(COLS, 0.1f));
  const float tenth = 0.1f;
  const auto views = [](const Array& in, Array& out, auto use) {
    use(MatrixView{in.data(), ROWS, COLS}, MatrixView{out.data(), ROWS, COLS});
  };
  expectCall([&](const Array& in, Array& out) { softmaxRows(in, out, ROWS, COLS, stream); });
  expectCall([&](const Array& in, Array& out) {
    views(in, out, [&](const auto& from, const auto& to) { softmaxRows(from, to, stream); });
  });
  const auto isTenth = [&](auto use) {
    const DeviceArray<float> in(ones());
    DeviceArray<float> out(COUNT);
    use(in, out);
    bool isRight = true;
    for (const float x : out.toHost()) isRight = isRight && x > tenth - 1e-6f && x < tenth + 1e-6f;
    CHECK(isRight);
  };
  isTenth([&](const Array& in, Array& out) { rmsNormRows(in, out, ROWS, COLS, gamma, 0, stream); });
  isTenth([&](const Array& in, Array& out) {
    views(in, out, [&](const auto& from, const auto& to) { rmsNormRows(from, to, gamma.data()); });
  });
  isTenth([&](const Array& in, Array& out) { layerNormRows(in, out, ROWS, COLS, nullptr, gamma, 1e-5, stream); });
  isTenth([&](const Array& in, Array& out) {
    views(in, out, [&](const auto& from, const auto& to) { layerNormRows(from, to, gamma, gamma.data()); });
  });
}

TEST_CASE("Empty matrices may be null", "[rows]") {
  const float* const in = nullptr;
  float* const out = nullptr;
  softmaxRows(in, out, 0, 5);
  softmaxRows(in, out, 5, 0);
  layerNormRows(in, out, 5, 0, nullptr, nullptr);
  quantizeRows(in, static_cast<std::int8_t*>(nullptr), 0, 5, static_cast<float*>(nullptr));
  checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

TEST_CASE("Wrong arguments are named", "[rows]") {
  const DeviceArray<float> in(COUNT);
  DeviceArray<float> out(COUNT), scales(COUNT);
  DeviceArray<std::int8_t> bytes(COUNT);
  const float* const nowhere = nullptr;
  const auto message = [](auto call) { return messageOf<std::invalid_argument>(call); };
  const auto softmax = [&](MatrixView<const float> from, MatrixView<float> to) {
    return message([&] { softmaxRows(from, to); });
  };
  // WRITTEN rows: softmaxRows(in, out)
  // DO: both matrices have as many rows and columns
  CHECK(softmax({in.data(), 6, 10}, {out.data(), 6, 9}) ==
        "gpuopt::softmaxRows: in is 6 x 10, so out must be, but it is 6 x 9");
  CHECK(softmax({in.data(), 6, 10, 9}, {out.data(), 6, 10}) ==
        "gpuopt::softmaxRows: in.ld (9) is less than in.cols (10)");
  CHECK(softmax({nowhere, 6, 10}, {out.data(), 6, 10}) == "gpuopt::softmaxRows: in is null, but its shape is 6 x 10");
  CHECK(softmax({in.data(), static_cast<std::size_t>(-1), 10}, {out.data(), 6, 10}) ==
        "gpuopt::softmaxRows: in.rows (-1) is negative");
  // WRITTEN rows: `softmaxRows(in, out)`, where `out` is part of `in`
  // DO: in place (`out` is `in`), or to other memory
  CHECK(softmax({out.data(), 5, 10}, {out.data() + 10, 5, 10}) ==
        "gpuopt::softmaxRows: in and out overlap: out begins at byte 40 of the 200 that in spans");
  CHECK(softmax({in.data(), 1, std::size_t{1} << 30}, {out.data(), 1, std::size_t{1} << 30}) ==
        "gpuopt::softmaxRows: in.cols (1073741824) is more than 1073741823");
  CHECK(message([&] { softmaxRows(in, out, 6, 11); }) == "gpuopt::softmaxRows: in has 60 elements, but 66 are needed");
  CHECK(message([&] { layerNormRows(in, out, 6, 10, out.data(), nullptr); }) ==
        "gpuopt::layerNormRows: gamma and out overlap: out begins at byte 0 of the 40 of gamma");
  const auto quantize = [&](float* to) { return message([&] { quantizeRows(in, bytes, 6, 10, to); }); };
  CHECK(quantize(nullptr) == "gpuopt::quantizeRows: scales is null, but n is 6");
  CHECK(message([&] { quantizeRowBlocks(out, bytes, 6, 10, out.data()); }) ==
        "gpuopt::quantizeRowBlocks: scales and in overlap: in begins at byte 0 of the 24 of scales");
  CHECK(message([&] {
          softmaxRows(MatrixView{in.data(), 2, 2, 2, 2, 5}, MatrixView{out.data(), 4, 2});
        }) ==
        "gpuopt::softmaxRows: in is a batch whose matrices do not follow one another: 2 matrices of 2 x 2, ld 2, "
        "batchStride 5");
}

}  // namespace
}  // namespace gpuopt::test::transform_calls_test
