/// The ways to call a permutation: pointers, containers, views, mdspans, DLPack structures, streams, graphs; wrong
/// arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/permute_data.cuh"

#include <gpuopt/permute.cuh>

#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/mdspan>
#define HAS_MDSPAN
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::calls_test {
namespace {

constexpr std::size_t N = 5, H = 7, W = 9, COUNT = N * H * W;

struct Tripled {
  __host__ __device__ int operator()(int x) const { return 3 * x; }
};

std::vector<int> counted() {
  std::vector<int> values(COUNT);
  for (std::size_t i = 0; i < COUNT; ++i) values[i] = static_cast<int>(i);
  return values;
}

// The numbers with axes in the order (2, 0, 1).
std::vector<int> permutedNumbers(int factor = 1) {
  std::vector<int> values(COUNT);
  for (std::size_t i = 0; i < COUNT; ++i) values[i % W * N * H + i / W] = factor * static_cast<int>(i);
  return values;
}

template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a == b;
}

// Calls use(in, out) and looks at what is in out then.
template <class Use>
void expectCall(Use use, int factor = 1) {
  DeviceArray<int> in(counted()), out(COUNT);
  use(in, out);
  CHECK(same(out.toHost(), permutedNumbers(factor)));
  CHECK(same(in.toHost(), counted()));
}

using Array = DeviceArray<int>;

TEST_CASE("Every form of a call with dense tensors", "[permute]") {
  const Stream stream;
  const cudaStream_t raw = stream;
  expectCall([](Array& in, Array& out) { permute(in.data(), out.data(), {N, H, W}, {2, 0, 1}); });
  expectCall([](const Array& in, Array& out) { permute(in.data(), out.data(), {N, H, W}, {2, 0, 1}, nullptr); });
  expectCall([raw](Array& in, Array& out) { permute(in.data(), out.data(), {5, 7, 9}, {2, 0, 1}, raw); });
  expectCall([&](const Array& in, Array& out) { permute(in, out, {N, H, W}, {2, 0, 1}, stream); });
  expectCall([&](const Array& in, Array& out) {
    permute(in, out.data(), std::vector<std::int64_t>{N, H, W}, std::array<int, 3>{2, 0, 1}, stream);
  });
  expectCall([](Array& in, Array& out) { permute(in.data(), out, {N, H, W}, {2, 0, 1}, Tripled{}); }, 3);
  expectCall([&](Array& in, Array& out) { permute(in, out, {N, H, W}, {2, 0, 1}, Tripled{}, stream); }, 3);
}

TEST_CASE("Every form of a call with views", "[permute]") {
  const Stream stream;
  using From = TensorView<const int>;
  using To = TensorView<int>;
  const AxisNumbers before{N, H, W}, after{W, N, H};
  expectCall([&](Array& in, Array& out) { permute(From(in.data(), before), To(out.data(), after), {2, 0, 1}); });
  expectCall([&](Array& in, Array& out) { permute(To(in.data(), before), To(out.data(), after), {2, 0, 1}, stream); });
  expectCall(
      [&](Array& in, Array& out) {
        permute(From(in.data(), before), To(out.data(), after), {2, 0, 1}, Tripled{}, stream);
      },
      3);
  expectCall([&](Array& in, Array& out) { contiguous(From(in.data(), before).permuted({2, 0, 1}), out); });
  expectCall([&](Array& in, Array& out) {
    contiguous(TensorView(in.data(), before).permuted({2, 0, 1}), out.data(), stream);
  });
  expectCall(
      [&](Array& in, Array& out) {
        contiguous(From(in.data(), before).permuted({2, 0, 1}), out, Tripled{}, stream);
      },
      3);
  CHECK(From(nullptr, before).permuted({2, 0, 1}).rank() == 3);
}

// What tells an mdspan of any strides.
template <class T>
struct Span3 {
  using element_type = T;
  using extents_type = std::size_t;
  using layout_type = int;
  using accessor_type = int;
  using data_handle_type = T*;
  using reference = T&;

  T* data;
  std::size_t extents[3];
  std::size_t strides[3];

  static constexpr std::size_t rank() { return 3; }
  static constexpr bool is_always_strided() { return true; }
  std::size_t extent(std::size_t k) const { return extents[k]; }
  std::size_t stride(std::size_t k) const { return strides[k]; }
  T* data_handle() const { return data; }
};

TEST_CASE("Every form of a call with mdspans", "[permute]") {
  const Stream stream;
  const auto from = [](Array& a) { return Span3<const int>{a.data(), {N, H, W}, {H * W, W, 1}}; };
  const auto to = [](Array& a) { return Span3<int>{a.data(), {W, N, H}, {N * H, H, 1}}; };
  expectCall([&](Array& in, Array& out) { permute(from(in), to(out), {2, 0, 1}); });
  expectCall([&](Array& in, Array& out) { permute(from(in), to(out), {2, 0, 1}, stream); });
  expectCall([&](Array& in, Array& out) { permute(from(in), to(out), {2, 0, 1}, Tripled{}); }, 3);
  expectCall([&](Array& in, Array& out) { permute(from(in), to(out), {2, 0, 1}, Tripled{}, stream); }, 3);
}

#ifdef HAS_MDSPAN

TEST_CASE("Mdspans of the toolkit, in other layouts", "[permute]") {
  using Extents = cuda::std::dextents<std::size_t, 3>;
  using Left = cuda::std::mdspan<int, Extents, cuda::std::layout_left>;
  // (h, n, w) of a layout that counts the first axis fastest is (w, n, h) in memory.
  expectCall([](Array& in, Array& out) {
    permute(cuda::std::mdspan<const int, Extents>(in.data(), N, H, W), Left(out.data(), H, N, W), {1, 0, 2});
  });
}

#endif

// The names of DLPack.
struct DlType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct DlTensor {
  void* data;
  std::int32_t ndim;
  DlType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

TEST_CASE("DLPack structures", "[permute]") {
  std::int64_t shape[] = {N, H, W}, strides[] = {H * W, W, 1}, target[] = {W, N, H};
  expectCall([&](Array& in, Array& out) {
    const DlTensor from{in.data() - 3, 3, {0, 32, 1}, shape, strides, 3 * sizeof(int)};
    const DlTensor to{out.data(), 3, {0, 32, 1}, target, nullptr, 0};
    permute(tensorView<const int>(from), tensorView<int>(to), {2, 0, 1});
  });
  // WRITTEN permute: `tensorView<double>(tensor)` of a tensor of floats
  // DO: `T` is the type of its elements
  CHECK(messageOf<std::invalid_argument>([&] {
          static_cast<void>(tensorView<double>(DlTensor{nullptr, 3, {2, 32, 1}, shape, nullptr, 0}));
        }) == "gpuopt::tensorView: the elements of the tensor have 32 bits, but T has 64");
  CHECK_NOTHROW(tensorView<float4>(DlTensor{nullptr, 3, {2, 32, 4}, shape, nullptr, 0}));
}

// No array of them can be declared, and nothing can be assigned to them.
struct Fixed {
  const int number;
  explicit __host__ __device__ Fixed(int x) : number(x) {}
};

TEST_CASE("Elements without a default constructor", "[permute]") {
  DeviceArray<int> in(counted()), out(COUNT);
  const auto* from = reinterpret_cast<const Fixed*>(in.data());
  auto* to = reinterpret_cast<Fixed*>(out.data());
  permute(from, to, {N, H, W}, {2, 0, 1});
  CHECK(same(out.toHost(), permutedNumbers()));
  permute(from, to, {N, H, W}, {2, 0, 1}, [] __host__ __device__(const Fixed& x) { return Fixed(3 * x.number); });
  CHECK(same(out.toHost(), permutedNumbers(3)));
}

TEST_CASE("Two streams at once", "[permute]") {
  const Stream first, second;
  const DeviceArray<int> in(counted());
  DeviceArray<int> a(COUNT), b(COUNT);
  for (int call = 0; call < 10; ++call) {
    permute(in, a, {N, H, W}, {2, 0, 1}, first);
    permute(in, b, {N, H, W}, {2, 0, 1}, Tripled{}, second);
  }
  first.wait();
  second.wait();
  CHECK(same(a.toHost(), permutedNumbers()));
  CHECK(same(b.toHost(), permutedNumbers(3)));
}

TEST_CASE("An error left by an earlier call is neither swallowed nor reported", "[permute]") {
  DeviceArray<int> in(counted()), out(COUNT);
  const cudaError_t earlier = leaveEarlierError();
  CHECK_NOTHROW(permute(in, out, {N, H, W}, {2, 0, 1}));
  CHECK(cudaGetLastError() == earlier);
  CHECK(same(out.toHost(), permutedNumbers()));
}

TEST_CASE("Axes that are no permutation", "[permute]") {
  Refusals refused;
  // WRITTEN permute: permute(in, out, {4, 5, 6}, {0, 2})
  refused("gpuopt::permute: axes are (0, 2), but the tensor has 3 axes", [](int* m) {
    permute(m, m + 120, {4, 5, 6}, {0, 2});
  });
  // WRITTEN permute: permute(in, out, {4, 5, 6}, {1, 2, 3})
  // DO: axes count from 0
  refused("gpuopt::permute: axes are (1, 2, 3), which do not name each of 0 to 2 once", [](int* m) {
    permute(m, m + 120, {4, 5, 6}, {1, 2, 3});
  });
  refused("gpuopt::permute: axes are (0, 1, 1), which do not name each of 0 to 2 once", [](int* m) {
    permute(m, m + 120, {4, 5, 6}, {0, 1, 1}, Tripled{});
  });
  refused("gpuopt::permute: axes are (0, -1, 1), which do not name each of 0 to 2 once", [](int* m) {
    permute(TensorView(m, {4, 5, 6}), TensorView(m + 120, {4, 5, 6}), {0, -1, 1});
  });
  refused("gpuopt::TensorView::permuted: axes are (0, 0), which do not name each of 0 to 1 once", [](int* m) {
    static_cast<void>(TensorView(m, {4, 5}).permuted({0, 0}));
  });
  refused("gpuopt::explainPermute: axes are (0, 2), but the tensor has 3 axes", [](int* m) {
    static_cast<void>(explainPermute(m, m + 120, {4, 5, 6}, {0, 2}));
  });
  const std::vector<int> many(33, 1);
  refused("gpuopt::permute: in has 33 axes, but at most 32 are possible",
          [&](int* m) { permute(m, m + 1, many, many); });
  refused("gpuopt::contiguous: in has 33 axes, but at most 32 are possible",
          [&](int* m) { contiguous(TensorView(m, many), m + 1); });
}

TEST_CASE("Extents and strides that do not match", "[permute]") {
  Refusals refused;
  using View = TensorView<int>;
  // WRITTEN permute: permute(TensorView(x, {4, 5}), TensorView(y, {4, 5}), {1, 0})
  // DO: `out` has the extents of `in` in the order of `axes`
  refused("gpuopt::permute: out must have the extents (5, 4), but it has (4, 5)", [](int* m) {
    permute(View(m, {4, 5}), View(m + 20, {4, 5}), {1, 0});
  });
  refused("gpuopt::permute: out must have the extents (5, 4), but it has (20)", [](int* m) {
    permute(View(m, {4, 5}), View(m + 20, {20}), {1, 0});
  });
  refused("gpuopt::permute: in has 2 extents, but 1 strides", [](int* m) {
    permute(View(m, {4, 5}, {1}), View(m + 20, {5, 4}), {1, 0});
  });
  refused("gpuopt::permute: out has 2 extents, but 3 strides", [](int* m) {
    permute(View(m, {4, 5}), View(m + 20, {5, 4}, {4, 1, 1}), {1, 0});
  });
  refused("gpuopt::permute: in.extents[1] (-5) is negative", [](int* m) { permute(m, m + 20, {4, -5}, {1, 0}); });
  refused("gpuopt::contiguous: in.extents[0] (-4) is negative", [](int* m) { contiguous(View(m, {-4, 5}), m + 20); });
}

TEST_CASE("Memory that is missing, misaligned or too small", "[permute]") {
  Refusals refused;
  int* const null = nullptr;
  // WRITTEN permute: `permute(in, out, {4, 5}, {1, 0})` before `out` is allocated
  refused("gpuopt::permute: out is null, but its extents are (5, 4)", [=](int* m) {
    permute(m, null, {4, 5}, {1, 0});
  });
  refused("gpuopt::permute: in is null, but its extents are (5, 4)", [=](int* m) { permute(null, m, {4, 5}, {1, 0}); });
  refused("gpuopt::contiguous: out is null, but its extents are (4, 5)", [=](int* m) {
    contiguous(TensorView(m, {4, 5}), null);
  });
  // WRITTEN permute: `permute(in, out, {4, 5}, {1, 0})`, where `in` is a cast `char*`
  // DO: elements begin at multiples of their alignment; copy them there
  refused("gpuopt::permute: in is misaligned: its address modulo 4 is 2", [](int* m) {
    permute(reinterpret_cast<const int*>(reinterpret_cast<char*>(m) + 2), m + 21, {4, 5}, {1, 0});
  });
  refused("gpuopt::permute: out is misaligned: its address modulo 4 is 1", [](int* m) {
    permute(m, reinterpret_cast<int*>(reinterpret_cast<char*>(m) + 81), {4, 5}, {1, 0}, Tripled{});
  });
  DeviceArray<int> few(19), enough(20);
  // WRITTEN permute: `permute(in, out, {4, 5}, {1, 0})`, where `in.size()` is 19
  refused("gpuopt::permute: in has 19 elements, but 20 are needed", [&](int*) {
    permute(few, enough, {4, 5}, {1, 0});
  });
  refused("gpuopt::permute: out has 19 elements, but 20 are needed", [&](int*) {
    permute(enough, few, {4, 5}, {1, 0});
  });
  refused("gpuopt::contiguous: out has 19 elements, but 20 are needed", [&](int*) {
    contiguous(TensorView(enough.data(), {4, 5}), few);
  });
  refused("gpuopt::explainPermute: in has 19 elements, but 20 are needed", [&](int*) {
    static_cast<void>(explainPermute(few, enough, {4, 5}, {1, 0}));
  });
  refused("gpuopt::permute: in is too large: extents (4, 4611686018427387904), strides (1, 4), 4 bytes an element",
          [](int* m) {
            permute(m, m + 20, {std::int64_t{1} << 62, 4}, {1, 0});
          });
}

TEST_CASE("Tensors and elements that overlap", "[permute]") {
  Refusals refused;
  using View = TensorView<int>;
  // WRITTEN permute: permute(x, x, {4, 5}, {1, 0})
  // DO: another array for `out`
  refused("gpuopt::permute: in and out overlap: in spans 80 bytes, out 80, and out begins 0 bytes after in",
          [](int* m) {
            permute(m, m, {4, 5}, {1, 0});
          });
  refused("gpuopt::permute: in and out overlap: in spans 80 bytes, out 80, and out begins 76 bytes after in",
          [](int* m) {
            permute(m, m + 19, {4, 5}, {1, 0});
          });
  refused("gpuopt::permute: in and out overlap: in spans 64 bytes, out 80, and out begins 28 bytes after in",
          [](int* m) {
            permute(View(m + 18, {4, 5}, {-1, -3}), View(m + 10, {5, 4}), {1, 0});
          });
  // WRITTEN permute: permute(in, TensorView(out, {4, 5}, {0, 1}), {0, 1})
  // DO: strides of `out` give each index an element of its own
  refused("gpuopt::permute: elements of out overlap: extents (4, 5), strides (0, 1)", [](int* m) {
    permute(View(m, {4, 5}), View(m + 20, {4, 5}, {0, 1}), {0, 1});
  });
  refused("gpuopt::permute: elements of out overlap: extents (4, 5), strides (4, -1)", [](int* m) {
    permute(View(m, {4, 5}), View(m + 40, {4, 5}, {4, -1}), {0, 1});
  });
}

TEST_CASE("A call that explains itself", "[permute]") {
  DeviceArray<float> in(700000), out(700000);
  const auto explained = [&](const AxisNumbers& extents, const AxisNumbers& axes) {
    return explainPermute(in, out, extents, axes);
  };
  CHECK(explained({0, 5}, {1, 0}) == "nothing to launch: no elements");
  CHECK(explained({40, 70}, {1, 0}) ==
        "transpose: two groups of axes change places; words of 4 bytes along 70 (1 to 40), 40 (70 to 1); small "
        "tile 32 x 32, 256 threads: one matrix, 2800 elements at most 2097152; reads 11200 bytes, writes 11200");
  const std::string runs = explained({7, 900, 33}, {2, 1, 0});  // the tile's sizes are matters of tuning
  CHECK(contains(runs, " rows of 132 bytes to "));
  CHECK(contains(runs, ", sectors read "));
  CHECK(contains(runs,
                 " of 256 threads: runs of several axes; words of 4 bytes along 33 (1 to 6300), 900 (33 to 7), 7 "
                 "(29700 to 1); reads 831600 bytes, writes 831600"));
  CHECK(explained({7, 9, 33}, {2, 1, 0}) ==
        "elements: a small tensor; words of 4 bytes along 33 (1 to 63), 9 (33 to 7), 7 (297 to 1); reads 8316 bytes, "
        "writes 8316");
  CHECK(explained({256, 4, 256}, {2, 1, 0}) ==
        "matrix tile: both tensors have long aligned runs along one axis; words of 4 bytes along 256 (1 to 1024), 4 "
        "(256 to 256), 256 (1024 to 1); reads 1048576 bytes, writes 1048576");
  CHECK(explained({50, 70, 192}, {1, 0, 2}) ==
        "elements: both tensors keep runs of 16 bytes; words of 16 bytes along 70 (48 to 2400), 50 (3360 to 48), "
        "48 (1 to 1); reads 2688000 bytes, writes 2688000");
  CHECK(explained({50, 70, 192}, {1, 0, 2}) ==
        explainPermute(TensorView(in.data(), {50, 70, 192}), TensorView(out.data(), {70, 50, 192}), {1, 0, 2}));
}

#ifndef GPUOPT_EMULATION

TEST_CASE("Calls captured into a graph", "[permute]") {
  DeviceArray<int> in(counted()), out(COUNT), tripled(COUNT);
  const Stream stream;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  permute(in, out, {N, H, W}, {2, 0, 1}, stream);
  permute(in, tripled, {N, H, W}, {2, 0, 1}, Tripled{}, stream);
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  std::size_t nodes = 0;
  check(cudaGraphGetNodes(graph, nullptr, &nodes), "cudaGraphGetNodes");
  CHECK(nodes == 2);
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  for (int run = 0; run < 2; ++run) {
    check(cudaMemset(out.data(), run, COUNT * sizeof(int)), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
    stream.wait();
    CHECK(same(out.toHost(), permutedNumbers()));
    CHECK(same(tripled.toHost(), permutedNumbers(3)));
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_CASE("More than 2^32 elements", "[permute][large]") {
  constexpr std::size_t A = 65537, B = 3, C = 21846;  // their product is beyond 2^32
  constexpr std::size_t ALL = A * B * C;
  if (!hasRoom(2 * ALL)) return;
  DeviceArray<unsigned char> in(ALL), out(ALL);
  Inspector inspector;
  static_cast<void>(inspector.firstFailure(ALL, Paint<AnyBits, unsigned char>{in.data(), 0}));
  for (const bool swapsAll : {true, false}) {
    permute(in.data(), out.data(), {A, B, C}, swapsAll ? AxisNumbers{2, 1, 0} : AxisNumbers{1, 0, 2});
    const unsigned char* found = out.data();
    CHECK(inspector.firstFailure(ALL, [=] __host__ __device__(std::size_t i) {
      const std::size_t from =
          swapsAll ? (i % A * B + i / A % B) * C + i / A / B : (i / C % A * B + i / C / A) * C + i % C;
      return found[i] == AnyBits::at<unsigned char>(from);
    }) == ALL);
  }
}

#endif

}  // namespace
}  // namespace gpuopt::test::calls_test
