/// The ways to call a transposition: pointers, views, mdspans, functions, streams, threads, graphs, in place;
/// nothing to do; wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/transpose_data.cuh"

#include <gpuopt/transpose.cuh>

#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/mdspan>
#define HAS_MDSPAN
#endif
#if __has_include(<cuda/__mdspan/layout_stride_relaxed.h>)  // since CCCL 3.3
#include <cuda/mdspan>
#define HAS_RELAXED_LAYOUT
#endif

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::calls_test {
namespace {

struct Doubled {
  template <class T>
  __host__ __device__ double operator()(const T& x) const {
    return 2.0 * static_cast<double>(x);
  }
};

// ROWS x COLS numbers that count from 0, and what becomes of them.
constexpr std::size_t ROWS = 37, COLS = 70;

template <class T>
std::vector<T> counted() {
  std::vector<T> values(ROWS * COLS);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i);
  return values;
}

template <class T>
std::vector<T> transposed(double factor = 1) {
  std::vector<T> values(ROWS * COLS);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i % COLS * ROWS + i / COLS] = static_cast<T>(factor * static_cast<double>(i));
  return values;
}

// Compares without Catch, which would print every element of both.
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a == b;
}

// Calls use(in, out) and looks at what is in out then.
template <class In, class Out, class Use>
void expectCall(Use use, double factor = 1) {
  DeviceArray<In> in(counted<In>());
  DeviceArray<Out> out(ROWS * COLS);
  use(in.data(), out.data());
  CHECK(same(out.toHost(), transposed<Out>(factor)));
  CHECK(same(in.toHost(), counted<In>()));
}

TEST_CASE("Every form of a call", "[transpose]") {
  const Stream stream;
  const cudaStream_t raw = stream;
  expectCall<int, int>([](int* in, int* out) { transpose(in, out, ROWS, COLS); });
  expectCall<int, int>([](const int* in, int* out) { transpose(in, out, ROWS, COLS); });
  expectCall<int, int>([](int* in, int* out) { transpose(in, out, ROWS, COLS, nullptr); });
  expectCall<int, int>([](int* in, int* out) { transpose(in, out, ROWS, COLS, cudaStreamPerThread); });
  expectCall<int, int>([raw](int* in, int* out) { transpose(in, out, ROWS, COLS, raw); });
  expectCall<int, int>([&](int* in, int* out) { transpose(in, out, ROWS, COLS, stream); });

  expectCall<int, double>([](int* in, double* out) { transpose(in, out, ROWS, COLS, Doubled{}); }, 2);
  expectCall<int, double>([](int* in, double* out) { transpose(in, out, ROWS, COLS, Doubled{}, nullptr); }, 2);
  expectCall<int, double>([&](int* in, double* out) { transpose(in, out, ROWS, COLS, Doubled{}, stream); }, 2);
}

// As thrust::device_ptr.
template <class T>
struct Address {
  T* address;
  T* get() const { return address; }
};

TEST_CASE("Every form of a call with containers", "[transpose]") {
  const Stream stream;
  const DeviceArray<int> in(counted<int>());
  DeviceArray<int> out(ROWS * COLS + 3);
  DeviceArray<double> doubles(ROWS * COLS);
  transpose(in, out, ROWS, COLS);
  std::vector<int> found = out.toHost();
  found.resize(ROWS * COLS);
  CHECK(same(found, transposed<int>()));
  transpose(in, doubles, ROWS, COLS, Doubled{}, stream);
  stream.wait();
  CHECK(same(doubles.toHost(), transposed<double>(2)));
  transpose(in.data(), doubles, ROWS, COLS, [] __host__ __device__(int x) { return 3 * x; });
  CHECK(same(doubles.toHost(), transposed<double>(3)));
  DeviceArray<int> data(ROWS * COLS);
  transpose(Address<const int>{in.data()}, Address<int>{data.data()}, ROWS, COLS);
  CHECK(same(data.toHost(), transposed<int>()));
  transposeInPlace(Address<int>{data.data()}, COLS, ROWS, stream);
  transposeInPlace(data, ROWS, COLS, stream);
  stream.wait();
  CHECK(same(data.toHost(), transposed<int>()));
  CHECK(explainTranspose(in, out, ROWS, COLS) == explainTranspose(in.data(), out.data(), ROWS, COLS));
  CHECK(explainTranspose(in, doubles, ROWS, COLS, Doubled{}) ==
        explainTranspose(in.data(), doubles.data(), ROWS, COLS, Doubled{}));
}

TEST_CASE("Containers that are too small for their matrix", "[transpose]") {
  DeviceArray<int> many(200), few(199);
  const auto refused = [](const std::string& expected, auto call) {
    CHECK(messageOf<std::invalid_argument>(call) == expected);
  };
  refused("gpuopt::transpose: in has 199 elements, but 200 are needed", [&] { transpose(few, many, 10, 20); });
  refused("gpuopt::transpose: out has 199 elements, but 200 are needed",
          [&] { transpose(many, few, 10, 20, Doubled{}); });
  refused("gpuopt::transposeInPlace: data has 199 elements, but 200 are needed",
          [&] { transposeInPlace(few, 10, 20); });
  refused("gpuopt::transpose: rows (-1) is negative", [&] { transpose(many, many, static_cast<std::size_t>(-1), 4); });
}

TEST_CASE("Every form of a call with views", "[transpose]") {
  const Stream stream;
  expectCall<int, int>([](int* in, int* out) { transpose(MatrixView{in, ROWS, COLS}, MatrixView{out, COLS, ROWS}); });
  expectCall<int, int>([&](const int* in, int* out) {
    transpose(MatrixView{in, ROWS, COLS}, MatrixView{out, COLS, ROWS}, stream);
  });
  expectCall<int, double>(
      [](int* in, double* out) {
        transpose(MatrixView<const int>{in, ROWS, COLS}, MatrixView<double>{out, COLS, ROWS}, Doubled{});
      },
      2);
  expectCall<int, double>(
      [&](int* in, double* out) {
        transpose(MatrixView{in, ROWS, COLS}, MatrixView{out, COLS, ROWS}, Doubled{}, stream);
      },
      2);
}

#ifdef HAS_MDSPAN

template <std::size_t RANK>
using Extents = cuda::std::dextents<std::size_t, RANK>;

TEST_CASE("Every form of a call with mdspans", "[transpose]") {
  const Stream stream;
  expectCall<int, int>([](int* in, int* out) {
    transpose(cuda::std::mdspan<const int, Extents<2>>(in, ROWS, COLS),
              cuda::std::mdspan<int, Extents<2>>(out, COLS, ROWS));
  });
  expectCall<int, double>(
      [&](int* in, double* out) {
        transpose(cuda::std::mdspan<int, cuda::std::extents<int, ROWS, COLS>>(in),
                  cuda::std::mdspan<double, cuda::std::extents<int, COLS, ROWS>>(out), Doubled{}, stream);
      },
      2);
  // Three extents are a batch: here of one.
  expectCall<int, int>([&](int* in, int* out) {
    transpose(cuda::std::mdspan<int, Extents<3>>(in, 1, ROWS, COLS),
              cuda::std::mdspan<int, Extents<2>>(out, COLS, ROWS), stream);
  });
}

// A view with the strides of a batch.
template <class T>
auto stridedSpan(const MatrixView<T>& view) {
  const Extents<3> extents(view.batch, view.rows, view.cols);
  const cuda::std::array<std::size_t, 3> strides{view.batchStride, view.ld, 1};
  return cuda::std::mdspan<T, Extents<3>, cuda::std::layout_stride>(
      view.data, cuda::std::layout_stride::mapping<Extents<3>>(extents, strides));
}

TEST_CASE("Strides of an mdspan", "[transpose]") {
  TransposeCheck<float> check(20000);
  for (const Case& c : {Case{33, 70, 3, 4, 1, 0, 5, 6, 7}, Case{4, 4, 0, 0, 0, 0, 100}, Case{1, 9, 2, 0, 0, 0, 3},
                        Case{9, 1, 0, 1, 0, 0, 3}, Case{5, 0, 0, 0, 0, 0, 3}}) {
    const auto in = check.inView(c);
    const auto out = check.outView(c);
    check.expect(in, out, Identity{}, [&] { transpose(stridedSpan(in), stridedSpan(out)); });
  }
  check.finish();
}

TEST_CASE("Columns of an mdspan must be neighbours", "[transpose]") {
  DeviceArray<float> in(100), out(100);
  using Left = cuda::std::mdspan<const float, Extents<2>, cuda::std::layout_left>;
  const cuda::std::mdspan<float, Extents<2>> target(out.data(), 7, 5);
  CHECK(messageOf<std::invalid_argument>([&] { transpose(Left(in.data(), 5, 7), target); }) ==
        "gpuopt::transpose: in.stride(1) is 5, but the elements of a row must be neighbours");
  CHECK_NOTHROW(transpose(Left(in.data(), 5, 1), cuda::std::mdspan<float, Extents<2>>(out.data(), 1, 5)));
  CHECK_NOTHROW(transpose(Left(in.data(), 0, 7), cuda::std::mdspan<float, Extents<2>>(out.data(), 7, 0)));
}

TEST_CASE("A call with mdspans that explains itself", "[transpose]") {
  DeviceArray<int> in(ROWS * COLS), out(ROWS * COLS);
  const cuda::std::mdspan<int, Extents<2>> from(in.data(), ROWS, COLS), to(out.data(), COLS, ROWS);
  CHECK(explainTranspose(from, to) == explainTranspose(in.data(), out.data(), ROWS, COLS));
  CHECK(explainTranspose(from, to, Doubled{}) == explainTranspose(in.data(), out.data(), ROWS, COLS, Doubled{}));
}

#ifdef HAS_RELAXED_LAYOUT

TEST_CASE("CCCL's relaxed layout", "[transpose]") {
  using Mapping = cuda::layout_stride_relaxed::mapping<Extents<2>, cuda::dstrides<std::ptrdiff_t, 2>>;
  using Span = cuda::std::mdspan<int, Extents<2>, cuda::layout_stride_relaxed>;
  const auto spanOf = [](int* data, std::ptrdiff_t ld, std::ptrdiff_t offset) {
    return Span(data, Mapping(Extents<2>(ROWS, COLS), cuda::dstrides<std::ptrdiff_t, 2>(ld, 1), offset));
  };
  DeviceArray<int> in(counted<int>()), out(ROWS * COLS);
  const cuda::std::mdspan<int, Extents<2>> target(out.data(), COLS, ROWS);
  transpose(spanOf(in.data() - 5, COLS, 5), target);
  CHECK(same(out.toHost(), transposed<int>()));
  const std::ptrdiff_t last = (ROWS - 1) * COLS;
  CHECK(messageOf<std::invalid_argument>([&] { transpose(spanOf(in.data(), -std::ptrdiff_t{COLS}, last), target); }) ==
        "gpuopt::transpose: in.stride(0) (-70) is negative");
}

#endif

TEST_CASE("An mdspan in place", "[transpose]") {
  const DeviceArray<int> original(counted<int>());
  DeviceArray<int> data(counted<int>());
  const Stream stream;
  const cuda::std::mdspan<int, Extents<2>> span(data.data(), ROWS, COLS);
  transposeInPlace(span, stream);
  CHECK(same(data.toHost(), transposed<int>()));
}

#endif

TEST_CASE("In place, twice is the identity", "[transpose]") {
  const auto check = [](const MatrixView<int>& view, DeviceArray<int>& memory) {
    const std::vector<int> before = memory.toHost();
    transposeInPlace(view);
    const std::vector<int> after = memory.toHost();
    const auto first = static_cast<std::size_t>(view.data - memory.data());
    // A square keeps its distances, a rectangle is dense.
    const std::size_t ld = view.rows == view.cols ? view.ld : view.rows;
    std::vector<int> expected = before;
    for (std::size_t b = 0; b < view.batch; ++b)
      for (std::size_t r = 0; r < view.rows; ++r)
        for (std::size_t c = 0; c < view.cols; ++c)
          expected[first + b * view.batchStride + c * ld + r] = before[first + b * view.batchStride + r * view.ld + c];
    INFO(text(view));
    CHECK(same(after, expected));
    transposeInPlace(MatrixView<int>{view.data, view.cols, view.rows, ld, view.batch, view.batchStride});
    CHECK(same(memory.toHost(), before));
  };
  std::vector<int> values(3 * 140 * 140);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(hashOf(i));
  DeviceArray<int> memory(values);
  int* data = memory.data();
  for (const std::size_t n : {1, 2, 3, 31, 32, 33, 64, 65, 130}) {
    check({data, n, n}, memory);
    check({data + 1, n, n, n + 3, 3, (n + 3) * n + 5}, memory);
    check({data, n, n, 3 * n, 3, n}, memory);  // side by side
  }
  for (const std::size_t cols : {1, 2, 5, 64, 101}) {
    check({data, 3, cols}, memory);
    check({data, 64, cols}, memory);
    check({data + 1, 7, cols, cols, 4, 7 * cols + 2}, memory);
  }
}

TEST_CASE("Nothing to do", "[transpose]") {
  const float* null = nullptr;
  float* out = nullptr;
  CHECK_NOTHROW(transpose(null, out, 0, 5));
  CHECK_NOTHROW(transpose(null, out, 5, 0));
  CHECK_NOTHROW(transpose(null, out, 0, 0, Doubled{}));
  CHECK_NOTHROW(transpose(null, out, 0, PTRDIFF_MAX));
  CHECK_NOTHROW(transpose(MatrixView<const float>{null, 5, 6, 1, 0, 0}, MatrixView<float>{out, 6, 5, 1, 0, 0}));
  CHECK_NOTHROW(transposeInPlace(out, 0, 3));
  CHECK_NOTHROW(transposeInPlace(MatrixView<float>{out, 3, 3, 3, 0}));
  DeviceArray<float> data(6);
  CHECK_NOTHROW(transpose(data.data(), data.data(), 3, 0));
}

// Calls that must be refused with this message, on memory that stays as it was.
class Refusals {
 public:
  template <class Call>
  void operator()(const std::string& expected, Call call) {
    CHECK(messageOf<std::invalid_argument>([&] { call(memory_.data()); }) == expected);
  }

  ~Refusals() { gpuopt::test::checkTrue(same(memory_.toHost(), counted<float>())); }

 private:
  DeviceArray<float> memory_{counted<float>()};
};

TEST_CASE("Bad arguments are named with their values, and nothing is written", "[transpose]") {
  using View = MatrixView<float>;
  Refusals refused;
  // WRITTEN transpose: transpose(MatrixView{in, 5, 7, 6}, out)
  // DO: ld counts the elements from row to row: at least cols
  refused("gpuopt::transpose: in.ld (6) is less than in.cols (7)", [](float* m) {
    transpose(View{m, 5, 7, 6}, View{m + 1000, 7, 5});
  });
  refused("gpuopt::transpose: out.ld (4) is less than out.cols (5)", [](float* m) {
    transpose(View{m, 5, 7}, View{m + 1000, 7, 5, 4});
  });
  refused("gpuopt::transpose: in is 5 x 7, so out must be 7 x 5, but it is 5 x 7", [](float* m) {
    transpose(View{m, 5, 7}, View{m + 1000, 5, 7});
  });
  refused(
      "gpuopt::transpose: in is 3 matrices of 5 x 7, so out must be 3 matrices of 7 x 5, but it is 2 matrices of "
      "7 x 5",
      [](float* m) {
        transpose(View{m, 5, 7, 7, 3}, View{m + 1000, 7, 5, 5, 2});
      });
  refused("gpuopt::transpose: in is 0 x 7, so out must be 7 x 0, but it is 7 x 1", [](float* m) {
    transpose(View{m, 0, 7}, View{m + 1000, 7, 1});
  });
  refused("gpuopt::transpose: in is null, but its shape is 5 x 7",
          [](float* m) { transpose(static_cast<const float*>(nullptr), m, 5, 7); });
  // WRITTEN transpose: `transpose(in, out, 5, 7)` before `out` is allocated
  refused("gpuopt::transpose: out is null, but its shape is 7 x 5",
          [](float* m) { transpose(m, static_cast<float*>(nullptr), 5, 7); });
  refused("gpuopt::transpose: out is null, but its shape is 3 matrices of 7 x 5", [](float* m) {
    transpose(View{m, 5, 7, 7, 3}, View{nullptr, 7, 5, 5, 3}, Doubled{});
  });
  // WRITTEN transpose: transpose(x, x, 5, 7)
  refused("gpuopt::transpose: in and out are the same; use gpuopt::transposeInPlace",
          [](float* m) { transpose(m, m, 5, 7); });
  // WRITTEN transpose: transpose(x, x + 34, 5, 7)
  // DO: the bytes that a matrix spans end at its last element: another array for out
  refused("gpuopt::transpose: in and out overlap: out begins at byte 136 of the 140 that in spans",
          [](float* m) { transpose(m, m + 34, 5, 7); });
  refused("gpuopt::transpose: in and out overlap: in begins at byte 4 of the 140 that out spans",
          [](float* m) { transpose(m + 1, m, 5, 7); });
  refused("gpuopt::transpose: in and out overlap: out begins at byte 68 of the 280 that in spans",
          [](float* m) { transpose(m, reinterpret_cast<short*>(m + 17), 10, 7, Doubled{}); });
  // WRITTEN transpose: transpose(in, MatrixView{out, 7, 5, 5, 3, 34})
  // DO: batchStride counts the elements from matrix to matrix: 35 here
  refused("gpuopt::transpose: matrices of out overlap: 3 matrices of 7 x 5, ld 5, batchStride 34", [](float* m) {
    transpose(View{m, 5, 7, 7, 3, 35}, View{m + 1000, 7, 5, 5, 3, 34});
  });
  refused("gpuopt::transpose: matrices of out overlap: 3 matrices of 7 x 5, ld 14, batchStride 5", [](float* m) {
    transpose(View{m, 5, 7, 7, 3, 35}, View{m + 1000, 7, 5, 14, 3, 5});
  });
  refused("gpuopt::transpose: in is too large: 4611686018427387904 x 4, ld 4, 4 bytes an element",
          [](float* m) { transpose(m, m + 1000, std::size_t{1} << 62, 4); });
}

TEST_CASE("Bad arguments in place", "[transpose]") {
  using View = MatrixView<float>;
  Refusals refused;
  refused("gpuopt::transposeInPlace: data.ld (6) is less than data.cols (7)", [](float* m) {
    transposeInPlace(View{m, 7, 7, 6});
  });
  refused("gpuopt::transposeInPlace: data is null, but its shape is 7 x 7",
          [](float*) { transposeInPlace(static_cast<float*>(nullptr), 7, 7); });
  refused("gpuopt::transposeInPlace: matrices of data overlap: 2 matrices of 7 x 7, ld 7, batchStride 48",
          [](float* m) {
            transposeInPlace(View{m, 7, 7, 7, 2, 48});
          });
  // WRITTEN transpose: transposeInPlace(MatrixView{data, 5, 7, 8})
  // DO: transpose to another array, or without gaps
  refused(
      "gpuopt::transposeInPlace: data is 5 x 7 with ld 8: only square matrices may have gaps between their "
      "rows",
      [](float* m) {
        transposeInPlace(View{m, 5, 7, 8});
      });
}

TEST_CASE("A call that explains itself", "[transpose]") {
  DeviceArray<float> memory(20000);
  float* const m = memory.data();
  CHECK(explainTranspose(m, m + 4096, 64, 64) ==
        "small tile 32 x 32, 256 threads: one matrix, 4096 elements at most 2097152; reads 16384 bytes, "
        "writes 16384");
  CHECK(explainTranspose(m, m + 4096, 1, 64) ==
        "copy, 256 threads: vectors without gaps, both sides equally aligned; reads 256 bytes, writes 256");
  CHECK(contains(explainTranspose(m, m + 4096, 1, 64, Doubled{}), "small tile"));
  CHECK(contains(explainTranspose(m, reinterpret_cast<double*>(m + 4096), 5, 64, Doubled{}), "small tile"));
  CHECK(contains(explainTranspose(MatrixView{m, 4, 4, 4, 300}, MatrixView{m + 8192, 4, 4, 4, 300}),
                 "runs of 64 matrices"));
  CHECK(contains(explainTranspose(MatrixView{m, 4, 4, 4, 300}, MatrixView{m + 8192, 4, 4, 4, 300}, Doubled{}),
                 "runs of 64 matrices"));
  CHECK(contains(explainTranspose(MatrixView{m, 64, 40, 41, 2}, MatrixView{m + 8192, 40, 64, 64, 2}),
                 "rows do not begin at 16-byte boundaries"));
  const float* const none = nullptr;
  CHECK(explainTranspose(none, static_cast<float*>(nullptr), 0, 64) == "nothing to launch: no elements");
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(explainTranspose(m, m, 5, 7)); }) ==
        "gpuopt::transpose: in and out are the same; use gpuopt::transposeInPlace");
}

TEST_CASE("Blocks of one matrix change places", "[transpose]") {
  // The left half becomes the right one, transposed, and nothing else changes.
  constexpr std::size_t N = 40;
  std::vector<float> values(N * 2 * N);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  DeviceArray<float> memory(values);
  transpose(MatrixView{memory.data(), N, N, 2 * N}, MatrixView{memory.data() + N, N, N, 2 * N});
  for (std::size_t r = 0; r < N; ++r)
    for (std::size_t c = 0; c < N; ++c) values[c * 2 * N + N + r] = values[r * 2 * N + c];
  CHECK(same(memory.toHost(), values));
}

TEST_CASE("Threads, each with a stream of its own", "[transpose]") {
  const DeviceArray<int> in(counted<int>());
  const std::vector<int> expected = transposed<int>();
  const int failures = failuresAmongThreads(4, [&](int) {
    const Stream stream;
    DeviceArray<int> out(ROWS * COLS);
    for (int call = 0; call < 20; ++call) transpose(in.data(), out.data(), ROWS, COLS, stream);
    stream.wait();
    return out.toHost() == expected;
  });
  CHECK(failures == 0);
}

TEST_CASE("An error left by an earlier call is neither swallowed nor reported", "[transpose]") {
  DeviceArray<int> in(counted<int>()), out(ROWS * COLS);
  const cudaError_t earlier = leaveEarlierError();
  CHECK_NOTHROW(transpose(in.data(), out.data(), ROWS, COLS));
  CHECK(cudaGetLastError() == earlier);
  CHECK(same(out.toHost(), transposed<int>()));
}

#ifndef GPUOPT_EMULATION

TEST_CASE("Calls captured into a graph", "[transpose]") {
  DeviceArray<int> in(counted<int>()), out(ROWS * COLS), again(ROWS * COLS), square(64 * 64);
  const Stream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  transpose(in.data(), out.data(), ROWS, COLS, stream);
  transpose(out.data(), again.data(), COLS, ROWS, stream);
  transposeInPlace(square.data(), 64, 64, stream);
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  std::vector<int> squareValues(64 * 64);
  for (std::size_t i = 0; i < squareValues.size(); ++i) squareValues[i] = static_cast<int>(i);
  square.fill(squareValues);
  for (int run = 0; run < 3; ++run) {
    check(cudaMemset(out.data(), run, ROWS * COLS * sizeof(int)), "cudaMemset");
    check(cudaMemset(again.data(), run, ROWS * COLS * sizeof(int)), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    stream.wait();
    CHECK(same(out.toHost(), transposed<int>()));
    CHECK(same(again.toHost(), counted<int>()));
    CHECK((square.toHost() == squareValues) == (run % 2 == 1));
  }
  std::size_t nodes = 0;
  check(cudaGraphGetNodes(graph, nullptr, &nodes), "cudaGraphGetNodes");
  CHECK(nodes == 3);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_CASE("The last device", "[transpose]") {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  check(cudaSetDevice(devices - 1), "cudaSetDevice");
  {
    TransposeCheck<float> check(300 * 300);
    for (const Case& c : {Case{256, 256}, Case{255, 257}, Case{3, 5000}, Case{4, 4, 0, 0, 0, 0, 1000}}) check(c);
    check.finish();
  }
  check(cudaSetDevice(0), "cudaSetDevice");
}

#endif

}  // namespace
}  // namespace gpuopt::test::calls_test
