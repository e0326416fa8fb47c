/// addRows: the bits of a loop in order, of rows in random order, equal ones and none, types, gaps, alignments,
/// padding, parts; the atomic form on whole numbers; wrong arguments; plans in words.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/portion.hpp"
#include "support/random.hpp"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/rows_add.cuh>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::rows_add_test {
namespace {

constexpr RowAddition EXACT = RowAddition::deterministic, ATOMIC = RowAddition::atomic;
constexpr RowIndices TRUSTED = RowIndices::trusted, PADDED = RowIndices::padded;

struct Shape {
  std::size_t n;
  std::size_t rows;  // of out
  std::size_t cols;
  std::size_t inGap = 0;
  std::size_t outGap = 0;
  std::size_t offset = 0;  // elements off alignment, of `in`
};

// Indices in random order; with padding, a fourth of them is negative.
template <class Index>
std::vector<Index> randomIndices(std::size_t n, std::size_t rows, bool isPadded) {
  std::mt19937 random(7);
  std::vector<Index> indices(n);
  for (Index& index : indices)
    index = isPadded && random() % 4 == 0 ? static_cast<Index>(-1) : static_cast<Index>(random() % rows);
  return indices;
}

template <class T>
std::vector<T> elements(std::size_t n, unsigned seed, bool areWhole) {
  std::vector<T> values = randomVector<T>(n, seed);
  std::mt19937 random(seed);
  if (areWhole)
    for (T& value : values) value = static_cast<T>(static_cast<float>(random() % 17) - 8);
  return values;
}

template <class T>
bool haveSameBits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

// One row of the output after another. Sums are rounded to its type once for each `part` indices.
template <class In, class Out, class Index>
std::vector<Out> added(const Shape& s, const std::vector<In>& in, const std::vector<Index>& indices,
                       std::vector<Out> out, std::size_t part) {
  using Sum = detail::RowSum<In, Out>;
  const std::size_t inLd = s.cols + s.inGap, outLd = s.cols + s.outGap;
  for (std::size_t first = 0; first < s.n; first += part)
    for (std::size_t c = 0; c < s.cols; ++c) {
      std::vector<Sum> sums(s.rows);
      std::vector<bool> isNamed(s.rows);
      for (std::size_t r = 0; r < s.rows; ++r) sums[r] = static_cast<Sum>(out[r * outLd + c]);
      for (std::size_t i = first; i < s.n && i < first + part; ++i) {
        if (static_cast<std::int64_t>(indices[i]) < 0) continue;
        const auto r = static_cast<std::size_t>(indices[i]);
        sums[r] += static_cast<Sum>(in[i * inLd + c]), isNamed[r] = true;
      }
      for (std::size_t r = 0; r < s.rows; ++r)
        if (isNamed[r]) out[r * outLd + c] = static_cast<Out>(sums[r]);
    }
  return out;
}

template <RowAddition ADDITION, RowIndices INDICES, class In, class Out, class Index>
void checkIndices(const Shape& s, const std::vector<Index>& indices) {
  static Series cases;
  if (!cases.runsNext()) return;
  INFO(s.n << " rows of " << s.cols << " added to " << s.rows << ", gaps " << s.inGap << " and " << s.outGap);
  const std::size_t inLd = s.cols + s.inGap, outLd = s.cols + s.outGap;
  const std::vector<In> values = elements<In>(s.n == 0 ? 0 : (s.n - 1) * inLd + s.cols, 9, ADDITION == ATOMIC);
  const std::vector<Out> before = elements<Out>((s.rows - 1) * outLd + s.cols, 4, ADDITION == ATOMIC);
  const DeviceArray<In> in(values, s.offset);
  const DeviceArray<Out> out(before);
  const DeviceArray<Index> where(indices);
  const MatrixView<Out> result{const_cast<Out*>(out.data()), s.rows, s.cols, outLd};
  addRows<ADDITION, INDICES>(MatrixView<const In>{in.data(), s.n, s.cols, inLd}, where.data(), s.n, result);
  CHECK(haveSameBits(out.toHost(), added(s, values, indices, before, s.n + 1)));
}

template <class In, class Out = In, class Index = int>
void checkAll(const Shape& s) {
  const auto plain = randomIndices<Index>(s.n, s.rows, false), padded = randomIndices<Index>(s.n, s.rows, true);
  checkIndices<EXACT, TRUSTED, In, Out>(s, plain);
  checkIndices<EXACT, PADDED, In, Out>(s, padded);
  checkIndices<ATOMIC, TRUSTED, In, Out>(s, plain);
  checkIndices<ATOMIC, PADDED, In, Out>(s, padded);
}

TEST_CASE("Rows added, of any length, gaps and alignment", "[rows][add]") {
  for (const std::size_t cols : {1, 3, 4, 8, 129}) checkAll<float>({40, 7, cols});
  checkAll<float>({40, 7, 12, 4, 8});
  checkAll<float>({40, 7, 12, 1, 0});
  checkAll<float>({40, 7, 12, 0, 3});
  checkAll<float>({40, 7, 12, 0, 0, 1});
  checkAll<float>({0, 7, 12});
  checkAll<float>({1, 1, 4});
}

TEST_CASE("Rows added, of any types", "[rows][add][sweep]") {
  for (const std::size_t cols : {16, 17}) {
    checkAll<__nv_bfloat16>({60, 9, cols});
    checkAll<__half>({60, 9, cols});
    checkAll<double>({60, 9, cols});
    checkAll<__half, float, std::int64_t>({60, 9, cols});
    checkAll<float, __nv_bfloat16, short>({60, 9, cols});
    checkAll<signed char, float, signed char>({60, 9, cols});
    checkAll<float, double>({60, 9, cols});
  }
}

TEST_CASE("Rows added, around the boundaries of indices and of rows", "[rows][add][sweep]") {
  const std::size_t few = detail::AddRowsTuning{}.fewIndices;
  for (const std::size_t n : {std::size_t{31}, std::size_t{33}, std::size_t{255}, few - 1, few, few + 1})
    checkAll<float>({n, 300, 1});
  for (const std::size_t rows : {1, 2, 1020, 1021, 1022, 70000}) checkAll<float>({few + 5, rows, 1});
  for (const std::size_t rows : {1, 130, 131, 132, 70000}) checkAll<float>({900, rows, 2});
}

TEST_CASE("Few long rows added by several blocks each", "[rows][add]") {
  checkAll<float>({9, 3, 4 * 1100});
  checkAll<__half>({9, 3, 777});
}

TEST_CASE("Rows added over several tiles", "[rows][add]") { checkAll<float>({20557, 1000, 2}); }

TEST_CASE("Rows added over several tiles to many rows", "[rows][add][sweep]") { checkAll<float>({20000, 300000, 1}); }

TEST_CASE("Rows that are all added to one row", "[rows][add]") {
  for (const std::size_t n : {100, 4097, 9000}) {
    checkIndices<EXACT, TRUSTED, float, float>({n, 900, 3}, std::vector<int>(n, 517));
    checkIndices<ATOMIC, TRUSTED, float, float>({n, 900, 3}, std::vector<int>(n, 517));
    checkIndices<EXACT, PADDED, float, float>({n, 900, 3}, std::vector<int>(n, -1));
  }
}

// Row r of the output gets lengths[r] rows; the rest of n goes to the last one.
std::vector<int> listsOf(const std::vector<std::size_t>& lengths, std::size_t n) {
  std::vector<int> indices;
  for (std::size_t r = 0; r < lengths.size(); ++r) indices.insert(indices.end(), lengths[r], static_cast<int>(r));
  indices.resize(n, static_cast<int>(lengths.size()));
  std::shuffle(indices.begin(), indices.end(), std::mt19937(3));
  return indices;
}

TEST_CASE("A long list of added rows, and one of few indices", "[rows][add]") {
  const std::size_t ofMany = detail::AddRowsTuning{}.longList + 1, ofFew = detail::addFewRowsLong + 1;
  for (const std::size_t cols : {3, 16}) {
    checkIndices<EXACT, TRUSTED, float, float>({7001, 3, cols, 0, 2}, listsOf({ofMany, 8}, 7001));
    checkIndices<EXACT, TRUSTED, float, float>({2500, 3, cols, 0, 2}, listsOf({ofFew, 8}, 2500));
  }
}

TEST_CASE("Long lists of added rows", "[rows][add][sweep]") {
  const std::size_t least = detail::AddRowsTuning{}.longList;
  const std::vector<std::size_t> lengths{least - 1, 1, least, least + 1, 8, 255, 256, 257, 511, 512, 513, 0};
  const std::vector<int> indices = listsOf(lengths, 7001);
  for (const std::size_t cols : {1, 3, 15, 16, 17, 32, 33}) {
    const Shape s{indices.size(), lengths.size() + 1, cols, 0, 2};
    checkIndices<EXACT, TRUSTED, float, float>(s, indices);
    checkIndices<EXACT, TRUSTED, __half, __half>(s, indices);
  }
  const Shape aligned{indices.size(), lengths.size() + 1, 48};
  checkIndices<EXACT, TRUSTED, float, float>(aligned, indices);
  checkIndices<EXACT, TRUSTED, __nv_bfloat16, float>(aligned, indices);
  checkIndices<EXACT, TRUSTED, float, double>(aligned, indices);
  checkIndices<EXACT, TRUSTED, signed char, float>(aligned, indices);
  checkIndices<EXACT, TRUSTED, double, __half>(aligned, indices);
}

TEST_CASE("Long lists of few indices", "[rows][add][sweep]") {
  const std::size_t least = detail::addFewRowsLong, most = detail::AddRowsTuning{}.fewIndices;
  const std::vector<std::size_t> lengths{least - 1, 1, least, least + 1, 0, 8, 511, 512, 513, 2 * least};
  for (const std::size_t cols : {1, 3, 16, 33, 64, 68, 129}) {
    const std::vector<int> indices = listsOf(lengths, 2500);
    const Shape s{indices.size(), lengths.size() + 1, cols, 0, 4};
    checkIndices<EXACT, TRUSTED, float, float>(s, indices);
    checkIndices<EXACT, TRUSTED, __half, __half>(s, indices);
  }
  // In one bucket of rows: several long lists and short ones between them.
  std::vector<int> indices = listsOf(lengths, most);
  for (int& index : indices) index *= static_cast<int>(detail::addFewRowsBuckets);
  const std::size_t rows = lengths.size() * detail::addFewRowsBuckets + 1;
  checkIndices<EXACT, TRUSTED, float, float>({most, rows, 4}, indices);
  checkIndices<EXACT, TRUSTED, __nv_bfloat16, float>({most, rows, 24}, indices);
  checkIndices<EXACT, TRUSTED, signed char, float>({most, rows, 32}, indices);
  checkIndices<EXACT, TRUSTED, float, double>({most, rows, 10}, indices);
  for (std::size_t i = 0; i < indices.size(); i += 3) indices[i] = -1;
  checkIndices<EXACT, PADDED, double, __half>({most, rows, 3}, indices);
}

// As a plan with other constants has it; compared with a loop over parts of `part` indices.
template <RowAddition ADDITION, RowIndices INDICES = TRUSTED, class In, class Out = In, class Index>
detail::AddRowsPlan checkTuned(const Shape& s, const std::vector<Index>& indices, const detail::AddRowsTuning& tuning) {
  INFO(s.n << " rows of " << s.cols << " added to " << s.rows << " in parts of " << tuning.maxIndices);
  const std::size_t inLd = s.cols + s.inGap, outLd = s.cols + s.outGap;
  const std::vector<In> values = elements<In>(s.n * inLd, 9, ADDITION == ATOMIC);
  const std::vector<Out> before = elements<Out>(s.rows * outLd, 4, ADDITION == ATOMIC);
  const DeviceArray<In> in(values, s.offset);
  DeviceArray<Out> out(before);
  const DeviceArray<Index> where(indices);
  const auto request = detail::combineRowsRequest(MatrixView<const In>{in.data(), s.n, s.cols, inLd},
                                                  MatrixView<Out>{out.data(), s.rows, s.cols, outLd});
  const detail::AddRowsRequest adds{request, s.n, sizeof(Index), ADDITION, INDICES};
  const detail::AddRowsPlan plan = detail::planAddRows(adds, tuning);
  detail::launchAddRows<ADDITION, INDICES, In, Out>({adds, plan, "test", nullptr}, where.data());
  CHECK(haveSameBits(out.toHost(), added(s, values, indices, before, tuning.maxIndices)));
  return plan;
}

TEST_CASE("More parts of long lists than blocks that sum them", "[rows][add]") {
  const std::vector<int> indices = listsOf(std::vector<std::size_t>(50, 130), 6500);
  detail::AddRowsTuning tuning;
  tuning.longBlocks = 7;
  CHECK(checkTuned<EXACT, TRUSTED, float>({indices.size(), 51, 40}, indices, tuning).longBlocks == 7);
}

TEST_CASE("Rows added in parts", "[rows][add]") {
  const Shape s{10000, 50, 4};
  const std::vector<unsigned> indices = randomIndices<unsigned>(s.n, s.rows, false);
  for (const std::size_t part : {999, 4500}) checkTuned<EXACT, TRUSTED, __half>(s, indices, {part});
}

// Any number of rows is listed in slots.
detail::AddRowsTuning tuningOfSlots(std::size_t part = std::size_t{1} << 24) {
  detail::AddRowsTuning tuning{part};
  tuning.slotsBytes = tuning.slotsRowBytes = 0;
  tuning.slotsMinShare = 2;
  tuning.restBlocks = 3;
  return tuning;
}

template <RowAddition ADDITION>
void checkSlots() {
  const auto check = [](const Shape& s, const auto& indices, auto zero) {
    using T = decltype(zero);
    const detail::AddRowsPlan plan = checkTuned<ADDITION, TRUSTED, T>(s, indices, tuningOfSlots());
    CHECK(plan.algorithm == detail::AddRowsAlgorithm::slots);
  };
  // Lists around the number of slots, none, and one that is long.
  const std::vector<std::size_t> lengths{15, 16, 17, 0, 1, 33, 0, 4, 5, 8, 9, 31, 32, 300};
  std::vector<int> crowded = listsOf(lengths, 500);
  const std::size_t rows = 60;
  for (const std::size_t cols : {1, 4, 7, 64}) {
    check({crowded.size(), rows, cols}, crowded, 0.0f);
    check({crowded.size(), rows, cols, 4, 8}, crowded, __half{});
    check({crowded.size(), rows, cols, 3, 0, 1}, crowded, 0.0);
  }
  check({700, 350, 8}, randomIndices<std::int64_t>(700, 350, false), __nv_bfloat16{});
  checkTuned<ADDITION, TRUSTED, signed char, float>({crowded.size(), rows, 20}, crowded, tuningOfSlots());
  for (std::size_t i = 0; i < crowded.size(); i += 3) crowded[i] = -1;
  checkTuned<ADDITION, PADDED, float>({crowded.size(), rows, 20}, crowded, tuningOfSlots());
  checkTuned<ADDITION, PADDED, float>({crowded.size(), rows, 20}, std::vector<int>(crowded.size(), -1),
                                      tuningOfSlots());
  checkTuned<ADDITION, TRUSTED, float>({2000, 100, 12}, randomIndices<int>(2000, 100, false), tuningOfSlots(600));
  // Several buckets and tiles, and a bucket that is full.
  const std::size_t n = 20000, many = 2500;
  checkTuned<ADDITION, TRUSTED, float>({n, many, 2}, randomIndices<int>(n, many, false), tuningOfSlots());
  std::vector<int> uneven = randomIndices<int>(n, many, false);
  for (std::size_t i = 0; i < uneven.size(); ++i)
    if (i % 16 != 0) uneven[i] = 1024 + uneven[i] % 1024;
  checkTuned<ADDITION, TRUSTED, float>({n, many, 1}, uneven, tuningOfSlots());
}

TEST_CASE("Rows listed in slots and added in order", "[rows][add]") { checkSlots<EXACT>(); }
TEST_CASE("Rows listed in slots and added in any order", "[rows][add]") { checkSlots<ATOMIC>(); }

TEST_CASE("Rows added on a stream, by a container of indices", "[rows][add]") {
  const DeviceArray<float> in(std::vector<float>{1, 2, 3, 4});
  DeviceArray<float> out(std::vector<float>{10, 20, 30, 40});
  const DeviceArray<int> indices(std::vector<int>{1, 1});
  const Stream stream;
  addRows(MatrixView<const float>{in.data(), 2, 2}, indices, MatrixView<float>{out.data(), 2, 2}, stream);
  stream.wait();
  CHECK(out.toHost() == std::vector<float>{10, 20, 34, 46});
}

TEST_CASE("Bad arguments of added rows", "[rows][add]") {
  DeviceArray<float> memory(300);
  float* const m = memory.data();
  const DeviceArray<int> indices({0, 3, 2, -1});
  const int* const where = indices.data();
  const MatrixView<const float> in{m, 5, 10};
  const MatrixView<float> out{m + 100, 2, 10};
  const int* const nowhere = nullptr;
  const auto refused = [](const std::string& expected, auto call) {
    CHECK(messageOf<std::invalid_argument>(call) == expected);
  };
  refused("gpuopt::addRows: indices is null, but n is 4", [&] { addRows(in, nowhere, 4, out); });
  refused("gpuopt::addRows: in has 5 rows, but n is 6", [&] { addRows(in, where, 6, out); });
  refused("gpuopt::addRows: in.cols (10) is not out.cols (9)", [&] {
    addRows(in, where, 4, MatrixView<float>{m + 100, 2, 9});
  });
  refused("gpuopt::addRows: in and out overlap: out begins at byte 160 of the 200 that in spans", [&] {
    addRows(in, where, 4, MatrixView<float>{m + 40, 2, 10});
  });
  // WRITTEN rows: `addRows(in, indices, n, out)`, where `out` has 2^32 rows or more
  // DO: `addRows<RowAddition::atomic>(in, indices, n, out)`, or take ranges of rows
  refused("gpuopt::addRows: out has 4294967296 rows, more than 4294967295: use RowAddition::atomic", [&] {
    addRows(MatrixView<const float>{m, 5, 0}, where, 4, MatrixView<float>{m + 100, std::size_t{1} << 32, 0});
  });
#if GPUOPT_CHECK_POINTERS
  refused("gpuopt::addRows: indices[1] is 3, but there are 2 rows", [&] { addRows(in, where, 4, out); });
#endif
}

TEST_CASE("A plan of added rows in words", "[rows][add]") {
  DeviceArray<float> memory(64);
  DeviceArray<int> indices(4);
  const MatrixView<const float> in{memory.data(), 4, 8};
  const MatrixView<float> out{memory.data() + 32, 4, 8};
  const std::string words = "; words of 16 bytes divide addresses, rows and leading dimensions";
  const std::string bytes = "; reads 272 bytes, writes 128";
  CHECK(explainAddRows(in, indices.data(), 4, out) ==
        "indices selected by blocks, for one of 4 buckets of rows each, 8 rows at a time, 4 columns a thread, "
        "4 blocks of 512 threads: few indices, among which each block looks for those of its rows" +
            words + bytes);
  CHECK(explainAddRows<ATOMIC>(in, indices.data(), 4, out) ==
        "atomics, up to 4 rows a thread, 4 columns a thread, 1 block of 128 threads: additions in any order" + words +
            bytes);
  CHECK(explainAddRows(in, indices.data(), 0, out) == "nothing to launch: no rows");
  const DeviceVector<int> container(4);
  CHECK(explainAddRows<ATOMIC>(in, container, out) == explainAddRows<ATOMIC>(in, indices.data(), 4, out));
  const auto request = detail::combineRowsRequest(in, out);
  CHECK(detail::planInWords(detail::planAddRows({request, 4, 4, EXACT, TRUSTED}, {4, 0})) ==
        "4 indices at a time grouped in 4 buckets by 1 blocks, each sorted by 0 counting passes of 0 bits, 4 rows at "
        "a time, 4 columns a thread, 172 bytes of scratch memory, 1 block of 128 threads: many indices, or many to "
        "each row, in the order of which rows are added" +
            words + bytes);
  CHECK(contains(detail::planInWords(detail::planAddRows({request, 300, 4, EXACT, TRUSTED}, {300, 0})),
                 " bits, lists of 128 rows and more by 4 blocks, "));
  const detail::AddRowsRequest listed{{0, 0, 1 << 20, 64, 64, 64, 4, 4}, 5 << 20, 4, EXACT, TRUSTED};
  CHECK(contains(detail::planInWords(detail::planAddRows(listed)), " slots of their rows by "));
}

TEST_CASE("Plans of added rows", "[rows][add]") {
  using Algorithm = detail::AddRowsAlgorithm;
  const auto plan = [](std::size_t n, std::size_t rows, std::size_t cols = 64) {
    return detail::planAddRows({{0, 0, rows, cols, cols, cols, 4, 4}, n, 4, EXACT, TRUSTED});
  };
  const std::size_t few = detail::AddRowsTuning{}.fewIndices, many = detail::AddRowsTuning{}.manyIndices;
  CHECK(plan(few, 512).algorithm == Algorithm::selected);
  CHECK(plan(few, 512).packs.blocks == 131);
  CHECK(plan(few, 7).packs.blocks == 7);
  CHECK(plan(few, 100, 14336 / 4).packs.blocks == 4 * 100);
  CHECK((plan(4096, 5).algorithm == Algorithm::selected && plan(4096, 4).algorithm == Algorithm::grouped));
  CHECK((plan(128, 1, 512).algorithm == Algorithm::grouped && plan(127, 1, 512).algorithm == Algorithm::selected));
  CHECK((plan(64, 1, 4096).algorithm == Algorithm::grouped && plan(63, 1, 4096).algorithm == Algorithm::selected));
  CHECK(plan(few + 1, 512).algorithm == Algorithm::grouped);
  CHECK((plan(many - 1, 512).buckets == 131 && plan(many, 512).buckets == 512 && plan(many, 2000).buckets == 1013));
  CHECK((plan(many, 1013).passes == 0 && plan(many, 1014).passes == 1));
  CHECK((plan(many, 1013 * 512).passes == 1 && plan(many, 1013 * 512 + 1).passes == 2));
  CHECK(plan(many, 1013 * 512 + 1).digitBits == 5);
  CHECK((plan(many, 0xffffffff).passes == 3 && plan(many, 0xffffffff).digitBits == 8));
  CHECK(plan(std::size_t{1} << 30, 512).indices == std::size_t{1} << 24);
  CHECK(plan(7 * 1024, 512).regions == 7);
  CHECK(plan(7 * 1024, 512).longBlocks == 7 * 8 * 16);
  CHECK(plan(many, 512).longBlocks == 1056);
  CHECK(plan(std::size_t{1} << 24, 512).regions <= detail::groupRowsRegions);
}

TEST_CASE("Plans of rows listed in slots", "[rows][add]") {
  using Algorithm = detail::AddRowsAlgorithm;
  const auto plan = [](std::size_t n, std::size_t rows, std::size_t cols, RowAddition addition) {
    return detail::planAddRows({{0, 0, rows, cols, cols, cols, 4, 4}, n, 4, addition, TRUSTED});
  };
  const std::size_t n = std::size_t{1} << 20;  // of 256 bytes: 2^28
  CHECK(plan(n, n / 8, 64, ATOMIC).algorithm == Algorithm::slots);
  CHECK(plan(n - 1, n / 8, 64, ATOMIC).algorithm == Algorithm::atomic);
  CHECK(plan(n - 1, n / 8, 64, EXACT).algorithm == Algorithm::grouped);
  CHECK(plan(8 * n, n, 8, ATOMIC).algorithm == Algorithm::atomic);
  CHECK(plan(n, n / 4, 64, ATOMIC).algorithm == Algorithm::slots);
  CHECK(plan(n, n / 4 + 1, 64, ATOMIC).algorithm == Algorithm::atomic);
  CHECK(plan(n, n / 128, 64, ATOMIC).slots == 256);
  CHECK(plan(n, n / 128 - 1, 64, ATOMIC).algorithm == Algorithm::atomic);
  CHECK((plan(n, n / 8, 64, ATOMIC).slots == 16 && plan(n, n / 9, 64, ATOMIC).slots == 32));
  CHECK((plan(n, n / 8, 64, ATOMIC).bucketBits == 10 && plan(n, n / 8, 64, ATOMIC).slotBuckets == 128));
  CHECK((plan(n, n / 128, 64, ATOMIC).bucketBits == 6 && plan(n, n / 8 + 1, 64, ATOMIC).slotBuckets == 129));
  CHECK((plan(64 * n, n, 64, ATOMIC).indices == 8 * n && plan(64 * n, n + 1, 64, ATOMIC).indices == 0));
  CHECK((plan(n, n / 8, 64, ATOMIC).restBlocks == 264 && plan(n, n / 8, 64, EXACT).restBlocks == 0));
  CHECK(plan(n, n / 8, 64, EXACT).algorithm == Algorithm::slots);
  CHECK(plan(n, n / 8, 64, EXACT).lists == n / 17);
  CHECK(plan(n, n / 11, 64, EXACT).algorithm == Algorithm::grouped);
  CHECK(plan(n, n / 8, 256, EXACT).algorithm == Algorithm::slots);
  CHECK(plan(n, n / 8, 257, EXACT).algorithm == Algorithm::grouped);
}

}  // namespace
}  // namespace gpuopt::test::rows_add_test
