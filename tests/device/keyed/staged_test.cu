/// histogramBy and reduceBy of structures that blocks read through shared memory: sizes, alignments, the ends of tiles,
/// room for counters, structures that cannot be copied by bytes; structures in columns.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/histogram_data.cuh"
#include "support/struct_data.cuh"

#include <gpuopt/histogram.cuh>
#include <gpuopt/soa.cuh>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

namespace gpuopt::test::staged_test {
namespace {

constexpr std::size_t BINS = 1000;

// A number that every byte of a structure decides.
template <class T>
__host__ __device__ unsigned numberOf(const T& value) {
  unsigned number = 0;
  for (const unsigned char byte : value.bytes) number = 31 * number + byte;
  return number;
}

// From -1 to BINS.
struct BinOf {
  template <class T>
  __host__ __device__ int operator()(const T& value) const {
    return static_cast<int>(numberOf(value) % (BINS + 2)) - 1;
  }
};

struct ManyBins {
  template <class T>
  __host__ __device__ int operator()(const T& value) const {
    return static_cast<int>(numberOf(value) % 40000);
  }
};

template <class T>
std::vector<T> randomStructs(std::size_t n) {
  std::vector<T> values(n);
  std::mt19937_64 generator(n);
  for (T& value : values)
    for (unsigned char& byte : value.bytes) byte = static_cast<unsigned char>(generator() >> 56);
  return values;
}

// Blobs whose value is a number, for sums.
template <std::size_t SIZE, std::size_t ALIGN>
struct Weight : Blob<SIZE, ALIGN> {
  __host__ __device__ explicit operator int() const { return static_cast<int>(numberOf(*this) % 1000) - 300; }
  __host__ __device__ explicit operator long long() const { return (1LL << 40) * static_cast<int>(*this); }
};

template <class T>
constexpr bool staged = detail::StagedForm<detail::IteratorSource<const T*, BinOf>>::exists;

// Elements of a tile of all blocks' threads.
template <class T>
constexpr std::size_t tileOf = detail::keyedThreads* detail::stagedItems<T>;

template <class T>
void checkCounts(std::size_t n, std::size_t offset) {
  INFO(sizeof(T) << " bytes aligned to " << alignof(T) << ", n = " << n << ", offset " << offset);
  const std::vector<T> values = randomStructs<T>(n);
  const StructArray<T> in(values, offset);
  const std::vector<unsigned> expected = countsOf<unsigned>(values, BINS, BinOf{});
  DeviceArray<unsigned> counts(BINS + 2);
  histogramBy<CountOutside>(in.data(), n, counts.data(), BINS, BinOf{});
  CHECK(counts.toHost() == expected);
}

template <std::size_t SIZE, std::size_t ALIGN>
void checkSize() {
  using T = Blob<SIZE, ALIGN>;
  const std::size_t n = 75000 / SIZE + tileOf<T> + 77;
  checkCounts<T>(n, 0);
  checkCounts<T>(n, ALIGN % 16);
}

template <std::size_t ALIGN, std::size_t... SIZES>
void checkSizes() {
  (checkSize<SIZES, ALIGN>(), ...);
}

template <class T, class A>
void checkSums(std::size_t n, std::size_t offset) {
  INFO(sizeof(T) << " bytes to " << sizeof(A) << ", n = " << n << ", offset " << offset);
  const std::vector<T> values = randomStructs<T>(n);
  std::vector<A> expected(BINS, 0);
  for (const T& value : values) {
    const int bin = BinOf{}(value);
    if (bin >= 0 && bin < static_cast<int>(BINS)) expected[static_cast<std::size_t>(bin)] += static_cast<A>(value);
  }
  const StructArray<T> in(values, offset);
  DeviceArray<A> out(BINS);
  reduceBy(in.data(), n, BinOf{}, BINS, out.data());
  CHECK(out.toHost() == expected);
}

// Not to be copied by bytes.
struct Owner {
  int numbers[15];
  __host__ __device__ Owner() {}
  __host__ __device__ Owner(const Owner& other) { *this = other; }
  __host__ __device__ Owner& operator=(const Owner& other) {
    for (int i = 0; i < 15; ++i) numbers[i] = other.numbers[i];
    return *this;
  }
};

struct NumberOfOwner {
  __host__ __device__ int operator()(const Owner& owner) const { return owner.numbers[3]; }
};

// Without a constructor, and with const members.
struct Fixed {
  const int cell;
  const double position[6];
  Fixed() = delete;
};

struct CellOfFixed {
  __host__ __device__ int operator()(const Fixed& fixed) const { return fixed.cell; }
};

struct Cell {
  double weight;
  int number;
  float position[3];
  __host__ __device__ explicit operator int() const { return number * 3; }
};

struct NumberOfCell {
  __host__ __device__ int operator()(const Cell& cell) const { return cell.number; }
};

}  // namespace

TEST_CASE("staged structures: which sizes are", "[host]") {
  CHECK(staged<Blob<64, 4>>);
  CHECK(staged<Blob<64, 16>>);
  CHECK(staged<Blob<52, 4>>);
  CHECK(staged<Blob<5, 1>>);
  CHECK(staged<Blob<33, 1>>);
  CHECK(staged<Blob<10, 2>>);
  CHECK_FALSE(staged<Blob<48, 4>>);
  CHECK_FALSE(staged<Blob<20, 4>>);
  CHECK_FALSE(staged<Blob<68, 4>>);
  CHECK_FALSE(staged<Blob<65, 1>>);
  CHECK_FALSE(staged<Owner>);
  CHECK(detail::StagedForm<detail::ArraySource<Blob<8, 1>, BinOf, false>>::exists);
  CHECK_FALSE(detail::StagedForm<detail::ArraySource<Blob<8, 1>, BinOf, true>>::exists);
  CHECK_FALSE(detail::StagedForm<detail::ArraySource<Blob<4, 1>, BinOf, false>>::exists);
}

TEST_CASE("staged structures: explainHistogram says so, and where there is no room", "[host]") {
  const auto words = [](std::size_t slots) {
    detail::KeyedRequest request;
    request.n = 1 << 24;
    request.slots = slots;
    request.elementBytes = 64;
    request.cell = detail::countCell<unsigned>();
    request.sharedBytes = 227 << 10;
    request.multiprocessors = 132;
    request.stageBytes = detail::StagedSource<Blob<64, 4>, BinOf>::SHARED_BYTES;
    return detail::planInWords(detail::planKeyed(request));
  };
  const std::string staged = ", structures read through shared memory";
  const auto expected = [](const std::string& way, const char* written) {
    return "shared memory, by elements" + way +
           ", 132 blocks of 1024 threads: all bins fit into shared memory; reads 1073741824 bytes, writes " + written;
  };
  CHECK(words(256) == expected(staged, "1024"));
  CHECK(words(40128) == expected(staged, "160512"));
  CHECK(words(40129) == expected("", "160516"));
  const std::string explained = explainHistogram<Blob<64, 4>>(1 << 20, 256);
  CHECK(explained.find("structures read through shared memory") != std::string::npos);
  CHECK(explainHistogram<Blob<64, 4>>(100, 256).find("through") == std::string::npos);
  CHECK(explainHistogram<Blob<128, 4>>(1 << 20, 256).find("through") == std::string::npos);
}

TEST_CASE("staged structures: counts at both ends of every tile", "[device]") {
  using Long = Blob<64, 4>;
  for (const std::size_t n : std::vector<std::size_t>{1024, 1025, 1151, 1152, 4095, 4096, 4097, 5200})
    for (const std::size_t offset : std::vector<std::size_t>{0, 4, 16, 64}) checkCounts<Long>(n, offset);
  using Short = Blob<5, 1>;
  for (const std::size_t n : std::vector<std::size_t>{13107, 13108, 16383, 16384, 16385, 24703})
    for (const std::size_t offset : std::vector<std::size_t>{0, 1, 15}) checkCounts<Short>(n, offset);
}

TEST_CASE("staged structures: nothing is read beyond the end", "[device]") {
  using T = Blob<64, 4>;
  const std::size_t n = 2049;  // a tile would end with the array, which is misaligned by 4 bytes
  const std::vector<T> values = randomStructs<T>(n);
  unsigned char* memory = nullptr;
  checkCuda(cudaMalloc(reinterpret_cast<void**>(&memory), 4 + n * sizeof(T)), "cudaMalloc");
  T* const in = reinterpret_cast<T*>(memory + 4);
  checkCuda(cudaMemcpy(in, values.data(), n * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  DeviceArray<unsigned> counts(BINS);
  histogramBy(in, n, counts.data(), BINS, BinOf{});
  CHECK(counts.toHost() == insideOf(countsOf<unsigned>(values, BINS, BinOf{})));
  checkCuda(cudaFree(memory), "cudaFree");
}

TEST_CASE("staged structures: arrays of vectors where no vector begins", "[device]") {
  for (const std::size_t offset : std::vector<std::size_t>{1, 7}) {
    checkCounts<Blob<8, 1>>(20001, offset);
    checkCounts<Blob<32, 2>>(5001, 2 * offset);
    checkCounts<Blob<6, 1>>(20001, offset);
  }
}

// Of each alignment, of one vector and less, of several, and where tiles become fewer elements.
TEST_CASE("staged structures: sizes", "[device][sweep]") {
  checkSizes<1, 1, 7, 33, 65>();
  checkSizes<2, 10>();
  checkSizes<4, 20, 52, 80>();
  checkSizes<8, 24>();
  checkSizes<16, 64>();
}

TEST_CASE("staged structures: bins that leave no room", "[device]") {
  using T = Blob<64, 4>;
  const std::vector<T> values = randomStructs<T>(3000);
  const StructArray<T> in(values, 4);
  for (const std::size_t bins : std::vector<std::size_t>{20000, 40159, 57600}) {
    DeviceArray<unsigned> counts(bins);
    histogramBy(in.data(), values.size(), counts.data(), bins, ManyBins{});
    CHECK(counts.toHost() == insideOf(countsOf<unsigned>(values, bins, ManyBins{})));
  }
}

TEST_CASE("staged structures: sums by keys", "[device]") {
  for (const std::size_t n : std::vector<std::size_t>{1000, 1100, 5000})
    for (const std::size_t offset : std::vector<std::size_t>{0, 4}) {
      checkSums<Weight<64, 4>, int>(n, offset);
      checkSums<Weight<64, 4>, long long>(n, offset);
    }
  checkSums<Weight<13, 1>, int>(20000, 3);
}

TEST_CASE("staged structures: those that cannot be copied by bytes, or not be assigned", "[device]") {
  const std::size_t n = 3000;
  std::vector<int> numbers, owned;
  for (const unsigned number : numbersBelow(n * 15, 70, Distribution::uniform, 5))
    numbers.push_back(static_cast<int>(number));
  for (std::size_t i = 0; i < n; ++i) owned.push_back(numbers[15 * i + 3]);
  const DeviceArray<int> owners(numbers);
  DeviceArray<unsigned> counts(60);
  histogramBy(reinterpret_cast<const Owner*>(owners.data()), n, counts.data(), 60, NumberOfOwner{});
  const auto same = [](int x) { return x; };
  CHECK(counts.toHost() == insideOf(countsOf<unsigned>(owned, 60, same)));
  std::vector<long long> eights;
  for (std::size_t i = 0; i < 7 * n; ++i) eights.push_back(static_cast<long long>(i * 7919 % 83));
  std::vector<int> cells;
  for (std::size_t i = 0; i < n; ++i) cells.push_back(static_cast<int>(eights[7 * i]));
  const DeviceArray<long long> fixed(eights, 1);
  histogramBy(reinterpret_cast<const Fixed*>(fixed.data()), n, counts.data(), 60, CellOfFixed{});
  CHECK(counts.toHost() == insideOf(countsOf<unsigned>(cells, 60, same)));
}

TEST_CASE("histogramBy and reduceBy: structures in columns, and one member of each", "[device]") {
  const std::size_t n = 20000, bins = 60;
  std::vector<Cell> cells(n);
  std::vector<int> sums(bins, 0);
  for (std::size_t i = 0; i < n; ++i) {
    cells[i] = {1, static_cast<int>(i * 7919 % 73) - 2, {2, 3, 4}};
    const int number = cells[i].number;
    if (number >= 0 && number < static_cast<int>(bins)) sums[static_cast<std::size_t>(number)] += 3 * number;
  }
  const DeviceArray<Cell> in(cells);
  SoaVector<Cell> columns(n);
  toSoa(in.data(), n, columns.view());
  const std::vector<unsigned> expected = insideOf(countsOf<unsigned>(cells, bins, NumberOfCell{}));
  DeviceArray<unsigned> counts(bins), counted(bins);
  DeviceArray<int> out(bins);
  histogramBy(columns.view().begin(), n, counts.data(), bins, NumberOfCell{});
  CHECK(counts.toHost() == expected);
  bincount(member<&Cell::number>(in.data()), n, counted.data(), bins);
  CHECK(counted.toHost() == expected);
  reduceBy(columns.view().begin(), n, NumberOfCell{}, bins, out.data());
  CHECK(out.toHost() == sums);
}

}  // namespace gpuopt::test::staged_test
