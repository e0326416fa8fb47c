/// forEach and transform: elements of every size, counts around every boundary, misaligned arrays, two inputs, in
/// place, with the index, of const elements, wrong arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/matrix_data.cuh"
#include "support/struct_data.cuh"

#include <gpuopt/map.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::map_test {

// A type with a policy of its own.
template <StructTransfer LOAD, StructTransfer STORE>
struct alignas(8) Moved {
  unsigned char bytes[8];
};

}  // namespace gpuopt::test::map_test

template <gpuopt::StructTransfer LOAD, gpuopt::StructTransfer STORE, unsigned ITEMS>
struct gpuopt::StructTransferPolicy<gpuopt::test::map_test::Moved<LOAD, STORE>, ITEMS> {
  static constexpr unsigned items = ITEMS == 0 ? 2 : ITEMS;
  static constexpr StructTransfer load = LOAD;
  static constexpr StructTransfer store = STORE;
};

namespace gpuopt::test::map_test {
namespace {

using LoadsExchanged = Moved<StructTransfer::exchange, StructTransfer::tile>;
using StoresExchanged = Moved<StructTransfer::direct, StructTransfer::exchange>;

// Each byte of the result is one of the element's, changed by the index.
template <class Out>
struct Mixed {
  template <class In>
  __host__ __device__ Out operator()(const In& in, std::size_t i) const {
    const auto* from = reinterpret_cast<const unsigned char*>(&in);
    Out out{};
    auto* to = reinterpret_cast<unsigned char*>(&out);
    for (std::size_t b = 0; b < sizeof(Out); ++b)
      to[b] = static_cast<unsigned char>(from[sizeof(In) - 1 - b % sizeof(In)] + b + (i >> b % 8));
    return out;
  }
};

template <class Out>
struct MixedPair {
  template <class In1, class In2>
  __host__ __device__ Out operator()(const In1& in1, const In2& in2, std::size_t i) const {
    const Out first = Mixed<Out>{}(in1, i);
    const Out second = Mixed<Out>{}(in2, i / 2);
    Out out{};
    auto* to = reinterpret_cast<unsigned char*>(&out);
    for (std::size_t b = 0; b < sizeof(Out); ++b)
      to[b] = static_cast<unsigned char>(2 * reinterpret_cast<const unsigned char*>(&first)[b] +
                                         reinterpret_cast<const unsigned char*>(&second)[b]);
    return out;
  }
};

template <class T>
struct MixedInPlace {
  __host__ __device__ void operator()(T& value, std::size_t i) const { value = Mixed<T>{}(value, i); }
};

// Counts around one warp, one block and several blocks, of the kernel of tiles and of that of words.
template <class Block, class Words>
std::vector<std::size_t> countsAround() {
  constexpr std::size_t WARP = std::size_t{32} * Block::ITEMS, BLOCK = std::size_t{Block::BLOCK} * Block::ITEMS;
  std::vector<std::size_t> counts{0, 1, WARP - 1, WARP + 1};
  for (const std::size_t block : {BLOCK, std::size_t{Words::ELEMENTS}})
    if (block > 0) counts.insert(counts.end(), {block - 1, block, block + 1, 2 * block + block / 2 + WARP + 11});
  return counts;
}

template <class Out, class In>
std::vector<std::size_t> counts() {
  return countsAround<detail::ArrayTransformBlock<In, Out, true>, detail::TransformTiles<Out, In>>();
}

template <class In, class Out>
void checkTransform(std::size_t n, std::size_t inOffset = 0, std::size_t outOffset = 0) {
  INFO(sizeof(In) << " to " << sizeof(Out) << " bytes, n = " << n << ", offsets " << inOffset << ", " << outOffset);
  const std::vector<In> values = indexCoded<In>(n);
  const StructArray<In> in(values, inOffset);
  StructArray<Out> out(n, outOffset);
  transform(in.data(), n, out.data(), Mixed<Out>{});
  std::vector<Out> expected;
  for (std::size_t i = 0; i < n; ++i) expected.push_back(Mixed<Out>{}(values[i], i));
  CHECK(sameBytes(out.toHost(), expected));
  CHECK(sameBytes(in.toHost(), values));
}

template <class T>
void checkForEach(std::size_t n, std::size_t offset) {
  INFO(sizeof(T) << " bytes, n = " << n << ", offset " << offset);
  std::vector<T> values = indexCoded<T>(n);
  StructArray<T> data(values, offset);
  forEach(data.data(), n, MixedInPlace<T>{});
  for (std::size_t i = 0; i < n; ++i) MixedInPlace<T>{}(values[i], i);
  CHECK(sameBytes(data.toHost(), values));
}

template <class T>
void checkSize() {
  for (const std::size_t n : counts<T, T>()) {
    checkTransform<T, T>(n);
    checkForEach<T>(n, n % 2 == 0 ? 0 : alignof(T));
  }
}

TEST_CASE("Plain elements of every size", "[map]") {
  checkSize<unsigned char>();
  checkSize<std::uint16_t>();
  checkSize<Blob<3>>();
  checkSize<float>();
  checkSize<double>();
  checkSize<Blob<12, 4>>();
  checkSize<uint4>();
}

struct Add1 {
  __host__ __device__ float operator()(float x) const { return x + 1; }
};

// Every tail; a misaligned input, a misaligned output, and both.
template <class In, class Out>
void checkWidths() {
  const std::vector<std::size_t> all = counts<Out, In>();
  for (const std::size_t n : all) checkTransform<In, Out>(n);
  for (const std::size_t n : {all.back(), all.back() - 11}) {
    checkTransform<In, Out>(n, alignof(In), 0);
    checkTransform<In, Out>(n, 0, alignof(Out));
    checkTransform<In, Out>(n, alignof(In), alignof(Out));
    checkTransform<In, Out>(n, (std::max)(alignof(In), std::size_t{8}), (std::max)(alignof(Out), std::size_t{8}));
  }
}

template <class In>
void checkWidthsFrom() {
  checkWidths<In, unsigned char>();
  checkWidths<In, std::uint16_t>();
  checkWidths<In, float>();
  checkWidths<In, double>();
  checkWidths<In, Blob<12, 4>>();
  checkWidths<In, Blob<16, 8>>();
}

TEST_CASE("Plain elements from each size to each", "[map]") {
  checkWidthsFrom<unsigned char>();
  checkWidthsFrom<std::uint16_t>();
  checkWidthsFrom<float>();
  checkWidthsFrom<double>();
  checkWidthsFrom<Blob<12, 4>>();
  checkWidthsFrom<Blob<16, 8>>();
}

TEST_CASE("Words move elements of 1 to 16 bytes, where addresses allow", "[map]") {
  static_assert(detail::fillWords<unsigned char, float>() && detail::fillWords<Blob<16, 8>, std::uint16_t>());
  static_assert(!detail::fillWords<Blob<12, 4>, float>() && !detail::fillWords<Blob<32, 16>>());
  static_assert(!detail::fillWords<LoadsExchanged>() && !detail::fillWords<StoresExchanged, float>());
  const DeviceArray<float> in(std::vector<float>(100, 1)), out(100);
  const auto takesWords = [](const auto* from, const auto* to) {
    return detail::planTransform(from, 10, to).algorithm == detail::StructsAlgorithm::words;
  };
  CHECK(takesWords(in.data(), out.data()));
  CHECK(takesWords(in.data() + 8, out.data() + 4));
  CHECK_FALSE(takesWords(in.data() + 1, out.data()));
  CHECK_FALSE(takesWords(in.data(), out.data() + 2));
  const auto visits = [&](std::size_t offset) { return detail::planForEach(in.data() + offset, 10).algorithm; };
  CHECK(visits(4) == detail::StructsAlgorithm::words);
  CHECK(visits(3) == detail::StructsAlgorithm::tiles);
  // Two bytes to eight: words of 4 and 16 bytes.
  const DeviceArray<std::uint16_t> halves(std::vector<std::uint16_t>(100, 1));
  const DeviceArray<double> doubles(100);
  CHECK(takesWords(halves.data() + 2, doubles.data() + 2));
  CHECK_FALSE(takesWords(halves.data() + 1, doubles.data() + 2));
  CHECK_FALSE(takesWords(halves.data() + 2, doubles.data() + 1));
}

TEST_CASE("Elements of one size and different alignment", "[map]") {
  checkWidths<float, Blob<4>>();
  checkWidths<Blob<8, 2>, double>();
  checkWidths<uint4, Blob<16, 4>>();
}

TEST_CASE("Elements that have a policy of their own", "[map]") {
  checkWidths<LoadsExchanged, LoadsExchanged>();
  checkWidths<LoadsExchanged, float>();
  checkWidths<double, StoresExchanged>();
}

TEST_CASE("One input, which is the output", "[map]") {
  for (const std::size_t offset : {0, 4, 8}) {
    for (const std::size_t n : counts<float, float>()) {
      INFO("n = " << n << ", offset " << offset);
      std::vector<float> values = indexCoded<float>(n);
      StructArray<float> data(values, offset);
      transform(data.data(), n, data.data(), Mixed<float>{});
      for (std::size_t i = 0; i < n; ++i) values[i] = Mixed<float>{}(values[i], i);
      CHECK(sameBytes(data.toHost(), values));
    }
  }
}

template <class In1, class In2, class Out>
void checkPair(std::size_t n, std::size_t offset1 = 0, std::size_t offset2 = 0, std::size_t outOffset = 0) {
  INFO(sizeof(In1) << " and " << sizeof(In2) << " to " << sizeof(Out) << " bytes, n = " << n << ", offsets " << offset1
                   << ", " << offset2 << ", " << outOffset);
  const std::vector<In1> values1 = indexCoded<In1>(n);
  std::vector<In2> values2 = indexCoded<In2>(n + 7);
  values2.erase(values2.begin(), values2.begin() + 7);
  const StructArray<In1> in1(values1, offset1);
  const StructArray<In2> in2(values2, offset2);
  StructArray<Out> out(n, outOffset);
  transform(in1.data(), in2.data(), n, out.data(), MixedPair<Out>{});
  std::vector<Out> expected;
  for (std::size_t i = 0; i < n; ++i) expected.push_back(MixedPair<Out>{}(values1[i], values2[i], i));
  CHECK(sameBytes(out.toHost(), expected));
}

template <class In1, class In2, class Out>
void checkPairs() {
  for (const std::size_t n :
       countsAround<detail::PairTransformBlock<In1, In2, Out>, detail::TransformTiles<Out, In1, In2>>())
    checkPair<In1, In2, Out>(n);
  for (const std::size_t offset : {0, 8, 16}) checkPair<In1, In2, Out>(2500, offset, 16 - offset, 8);
  checkPair<In1, In2, Out>(2500, alignof(In1), 0, 0);
  checkPair<In1, In2, Out>(2500, 0, alignof(In2), 0);
  checkPair<In1, In2, Out>(2500, 0, 0, alignof(Out));
}

TEST_CASE("Two inputs", "[map]") {
  checkPairs<float, float, float>();
  checkPairs<unsigned char, double, float>();
  checkPairs<double, unsigned char, std::uint16_t>();
  checkPairs<unsigned char, float, float>();
  checkPairs<unsigned char, std::uint16_t, double>();
  checkPairs<float, double, unsigned char>();
  checkPairs<Blob<3>, Blob<3>, Blob<3>>();
  checkPairs<Blob<28, 4>, float, Blob<12, 4>>();
  checkPairs<Blob<16, 8>, Blob<16, 8>, Blob<16, 8>>();
}

TEST_CASE("Two inputs of large structures", "[map]") {
  checkPair<Blob<300, 4>, Blob<300, 4>, Blob<300, 4>>(150);
  checkPair<Blob<383>, Blob<384, 4>, float>(150);
  checkPair<float, Blob<767>, Blob<768, 16>>(150);
}

struct Add {
  template <class T, class U>
  __host__ __device__ auto operator()(T x, U y) const {
    return x + y;
  }
};

TEST_CASE("Two inputs, one of them the output", "[map]") {
  const std::size_t n = 3001;
  std::vector<float> a(n), b(n), sums(n);
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(3 * i % 1000);
    sums[i] = a[i] + b[i];
  }
  for (const std::size_t offset : {0, 1}) {
    DeviceArray<float> first(a, offset), second(b);
    transform(first.data(), second.data(), n, first.data(), Add{});
    CHECK(first.toHost() == sums);
    first.fill(a);
    transform(first.data(), second.data(), n, second.data(), Add{});
    CHECK(second.toHost() == sums);
    transform(first.data(), first.data(), n, second.data(), Add{});
    CHECK(second.toHost()[7] == 14);
  }
}

TEST_CASE("Results are converted, functions may take the index, elements come from iterators", "[map]") {
  const std::size_t n = 1000;
  DeviceArray<float> halves(n);
  DeviceArray<int> whole(n);
  const Stream stream;
  transform(
      Squares{3}, n, halves.data(), [] __host__ __device__(std::int64_t x) { return 0.5 * static_cast<double>(x); },
      stream);
  transform(
      halves.data(), halves.data(), n, whole.data(),
      [] __host__ __device__(float x, float y, std::size_t i) { return x + y + static_cast<float>(i % 2); }, stream);
  stream.wait();
  const std::vector<float> half = halves.toHost();
  const std::vector<int> all = whole.toHost();
  std::size_t wrong = 0;
  const Squares squares{3};
  for (std::size_t i = 0; i < n; ++i) {
    const auto square = static_cast<double>(squares[static_cast<std::ptrdiff_t>(i)]);
    wrong += half[i] != static_cast<float>(0.5 * square) ||
             all[i] != static_cast<int>(2 * half[i]) + static_cast<int>(i % 2);
  }
  CHECK(wrong == 0);
}

template <class T>
void checkVisits(std::size_t n, std::size_t offset) {
  INFO(sizeof(T) << " bytes, n = " << n << ", offset " << offset);
  const std::vector<T> values = indexCoded<T>(n);
  const StructArray<T> data(values, offset);
  DeviceArray<int> calls(std::vector<int>(n, 0));
  int* const counters = calls.data();
  const T* const original = data.data();
  forEach(data.data(), n, [counters, original] __device__(const T& value, std::size_t i) {
    const auto* const found = reinterpret_cast<const unsigned char*>(&value);
    const auto* const expected = reinterpret_cast<const unsigned char*>(original + i);
    bool same = true;
    for (std::size_t b = 0; b < sizeof(T); ++b) same = same && found[b] == expected[b];
    atomicAdd(counters + i, same ? 1 : 2);
  });
  CHECK(calls.toHost() == std::vector<int>(n, 1));
  CHECK(sameBytes(data.toHost(), values));
}

TEST_CASE("Const elements are read, each once", "[map]") {
  for (const std::size_t n : {0, 1, 31, 33, 1023, 1025, 4000, 4095, 4096, 4097, 9000}) {
    checkVisits<unsigned char>(n, n % 5);
    checkVisits<unsigned char>(n, 0);
    checkVisits<double>(n, n % 2 * 8);
    checkVisits<float>(n, 4 * (n % 3));
    checkVisits<Blob<28, 4>>(n, 4 * (n % 3));
    checkVisits<Blob<1001>>(n / 10, 0);
  }
}

TEST_CASE("A histogram by a function of const elements by value", "[map]") {
  const std::size_t n = 5000;
  std::vector<unsigned> values(n);
  std::vector<int> expected(10, 0);
  for (std::size_t i = 0; i < n; ++i) ++expected[values[i] = static_cast<unsigned>(i * i % 10)];
  const DeviceArray<unsigned> data(values);
  DeviceArray<int> bins(std::vector<int>(10, 0));
  int* const counts = bins.data();
  forEach(data.data(), n, [counts] __device__(unsigned value) { atomicAdd(counts + value, 1); });
  CHECK(bins.toHost() == expected);
}

TEST_CASE("Containers and spans", "[map]") {
  const std::size_t n = 700;
  std::vector<float> values(n), sums(n);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = static_cast<float>(i);
    sums[i] = 5 * values[i] + 3;
  }
  DeviceArray<float> a(values), b(n + 10);
  const DeviceArray<float>& read = a;
  DeviceArray<int> calls(std::vector<int>(1, 0));
  int* const count = calls.data();
  const Stream stream;
  const auto increment = [] __device__(float& x) { ++x; };
  transform(
      read, b, [] __host__ __device__(float x) { return 2 * x; }, stream);
  forEach(b, increment, stream);
  transform(
      read, b, b, [] __host__ __device__(float x, float y) { return x + y + y; }, stream);
  forEach(b, increment, stream);
  forEach(
      read, [count] __device__(float) { atomicAdd(count, 1); }, stream);
  stream.wait();
  std::vector<float> found = b.toHost();
  found.resize(n);
  CHECK(found == sums);
  CHECK(calls.toHost() == std::vector<int>(1, static_cast<int>(n)));
}

TEST_CASE("Containers that are too small", "[map]") {
  DeviceArray<float> ten(10), nine(9), empty(0);
  const auto refused = [](const std::string& expected, auto call) {
    CHECK(messageOf<std::invalid_argument>(call) == expected);
  };
  refused("gpuopt::transform: out has 9 elements, but 10 are needed", [&] { transform(ten, nine, Add1{}); });
  refused("gpuopt::transform: out has 9 elements, but 10 are needed", [&] { transform(ten, ten, nine, Add{}); });
  refused("gpuopt::transform: in2 has 9 elements, but 10 are needed", [&] { transform(ten, nine, ten, Add{}); });
  CHECK_NOTHROW(transform(nine, ten, Add1{}));
  CHECK_NOTHROW(transform(empty, ten, Add1{}));
}

TEST_CASE("Bad arguments of a map", "[map]") {
  DeviceArray<float> memory(100);
  float* const data = memory.data();
  float* const nothing = nullptr;
  auto* const odd = reinterpret_cast<float*>(reinterpret_cast<std::uintptr_t>(data) + 1);
  const auto refused = [](const std::string& expected, auto call) {
    CHECK(messageOf<std::invalid_argument>(call) == expected);
  };
  const MixedInPlace<float> g;
  refused("gpuopt::forEach: data is null, but n is 5", [&] { forEach(nothing, 5, g); });
  refused("gpuopt::forEach: data is misaligned: its address modulo 4 is 1", [&] { forEach(odd, 5, g); });
  refused("gpuopt::forEach: n (-1) is negative", [&] { forEach(data, static_cast<std::size_t>(-1), g); });
  refused("gpuopt::transform: in is null, but n is 5", [&] { transform(nothing, 5, data, Mixed<float>{}); });
  refused("gpuopt::transform: out is null, but n is 5", [&] { transform(data, 5, nothing, Mixed<float>{}); });
  refused("gpuopt::transform: in and out overlap: out begins at byte 16 of the 20 of in",
          [&] { transform(data, 5, data + 4, Mixed<float>{}); });
  refused("gpuopt::transform: in1 is null, but n is 5", [&] { transform(nothing, data, 5, data, Add{}); });
  refused("gpuopt::transform: in2 is null, but n is 5", [&] { transform(data, nothing, 5, data, Add{}); });
  refused("gpuopt::transform: out is null, but n is 5", [&] { transform(data, data, 5, nothing, Add{}); });
  refused("gpuopt::transform: in2 is misaligned: its address modulo 4 is 1",
          [&] { transform(data, odd, 5, data, Add{}); });
  refused("gpuopt::transform: in2 and out overlap: out begins at byte 4 of the 20 of in2",
          [&] { transform(data, data + 20, 5, data + 21, Add{}); });
  CHECK_NOTHROW(forEach(nothing, 0, g));
  CHECK_NOTHROW(transform(nothing, nothing, 0, nothing, Add{}));
}

}  // namespace
}  // namespace gpuopt::test::map_test
