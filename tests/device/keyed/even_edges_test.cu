/// Floating-point elements at and beside the edges of even bins, against exact arithmetic: limits of any magnitudes,
/// edges halfway between two numbers, ranges that no number is great enough for.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/histogram.cuh>
#include <gpuopt/map.cuh>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace gpuopt::test::even_edges_test {
namespace {

__extension__ typedef unsigned __int128 Wide;

// A sum of doubles times integers, in an integer of 2304 bits that counts units of 2^-1130.
class ExactSum {
 public:
  ExactSum& add(double number, std::uint64_t factor, bool isSubtracted) {
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(number), &exponent);
    const int place = exponent - 53 + 1130;
    const Wide product = static_cast<Wide>(static_cast<std::uint64_t>(std::ldexp(fraction, 53))) * factor << place % 32;
    if (product == 0) return *this;
    const bool isNegative = (number < 0) != isSubtracted;
    std::int64_t carry = 0;
    for (std::size_t i = static_cast<std::size_t>(place) / 32, digit = 0; i < DIGITS; ++i, ++digit) {
      const auto own = static_cast<std::int64_t>(digit < 4 ? static_cast<std::uint32_t>(product >> 32 * digit) : 0);
      const std::int64_t sum = static_cast<std::int64_t>(digits_[i]) + (isNegative ? -own : own) + carry;
      digits_[i] = static_cast<std::uint32_t>(sum);
      carry = sum >> 32;
    }
    return *this;
  }

  int sign() const {
    if (digits_[DIGITS - 1] >> 31 != 0) return -1;
    for (const std::uint32_t digit : digits_)
      if (digit != 0) return 1;
    return 0;
  }

 private:
  static constexpr std::size_t DIGITS = 72;
  std::uint32_t digits_[DIGITS] = {};
};

// The limits of `bins` bins.
template <class N>
struct Limits {
  std::uint64_t bins;
  N lower, upper;

  // Whether lower + bin * (upper - lower) / bins is rounded to a number above x: compared with the middle between x
  // and the next number, 2 * bins times as large.
  bool isEdgeAbove(std::uint64_t bin, N x) const {
    const N next = std::nextafter(x, std::numeric_limits<N>::infinity());
    const int sign = ExactSum{}
                         .add(lower, 2 * (bins - bin), false)
                         .add(upper, 2 * bin, false)
                         .add(x, bins, true)
                         .add(next, bins, true)
                         .sign();
    int exponent = 0;  // of the last digit of x
    std::frexp(x, &exponent);
    exponent = std::max(exponent, std::numeric_limits<N>::min_exponent) - std::numeric_limits<N>::digits;
    const bool isEven = std::fmod(std::ldexp(static_cast<long double>(x), -exponent), 2) == 0;
    return sign > 0 || (sign == 0 && !isEven);
  }

  // The slot with CountOutside.
  unsigned slotOf(N x) const {
    if (!(x >= lower && x < upper)) return static_cast<unsigned>(x < lower ? bins : bins + 1);
    std::uint64_t bin = 0, above = bins;
    while (above - bin > 1) {
      const std::uint64_t middle = (bin + above) / 2;
      (isEdgeAbove(middle, x) ? above : bin) = middle;
    }
    return static_cast<unsigned>(bin);
  }

  // Close to an edge.
  N near(std::uint64_t bin) const {
    const long double part = static_cast<long double>(bin) / static_cast<long double>(bins);
    return static_cast<N>(static_cast<long double>(lower) * (1 - part) + static_cast<long double>(upper) * part);
  }
};

// Elements beside some edges and in between, and those of a list.
template <class N>
void checkBins(const Limits<N>& limits, std::mt19937_64& generator) {
  constexpr N INFINITE = std::numeric_limits<N>::infinity();
  std::vector<N> values{limits.lower,
                        limits.upper,
                        std::nextafter(limits.lower, -INFINITE),
                        0,
                        -N(0),
                        std::nextafter(limits.upper, -INFINITE),
                        INFINITE,
                        -INFINITE,
                        std::nextafter(N(0), INFINITE),
                        std::numeric_limits<N>::quiet_NaN()};
  for (int i = 0; i < 12; ++i) {
    const N edge = limits.near(i == 0 ? limits.bins - 1 : generator() % limits.bins);
    const N below = std::nextafter(edge, -INFINITE), above = std::nextafter(edge, INFINITE);
    values.insert(values.end(),
                  {std::nextafter(below, -INFINITE), below, edge, above, std::nextafter(above, INFINITE)});
    values.push_back(limits.lower + (limits.upper / 2 - limits.lower / 2) * static_cast<N>(generator() % 1000) / 501);
  }
  INFO(limits.bins << " bins of " << sizeof(N) << " bytes over [" << std::hexfloat << limits.lower << ", "
                   << limits.upper << ")");
  const DeviceArray<N> in(values);
  DeviceArray<unsigned> out(values.size());
  transform(in.data(), values.size(), out.data(), detail::evenBins<N>(limits.bins, limits.lower, limits.upper, "test"));
  const std::vector<unsigned> slots = out.toHost();
  std::size_t wrong = 0;
  N wrongValue = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (slots[i] == limits.slotOf(values[i])) continue;
    ++wrong;
    wrongValue = values[i];
  }
  INFO("the last wrong one: " << std::hexfloat << wrongValue);
  CHECK(wrong == 0);
}

// A number of either sign, whose exponent is up to `spread` below `exponent`, with few digits or all.
template <class N>
N numberOf(std::mt19937_64& generator, int exponent, int spread) {
  const N fraction = 1 + std::ldexp(static_cast<N>(generator() >> 12), -52);
  const N digits = generator() % 3 == 0 ? std::floor(fraction * 16) / 16 : fraction;
  const N number = std::ldexp(digits, exponent - static_cast<int>(generator() % static_cast<unsigned>(spread)));
  return generator() % 2 == 0 ? number : -number;
}

constexpr std::uint64_t binsToTry[] = {1, 2, 3, 4, 7, 10, 16, 100, 256, 1000, 65536, 1000003, 1 << 28, 0x7ffffffd};

template <class N>
void checkRandom(int cases) {
  std::mt19937_64 generator(17);
  constexpr int MOST = std::numeric_limits<N>::max_exponent - 1;
  constexpr int LEAST = std::numeric_limits<N>::min_exponent - std::numeric_limits<N>::digits;
  for (int i = 0; i < cases; ++i) {
    const int spreads[] = {1, 3, 20, 60, 130, MOST - LEAST};
    const int spread = std::min(spreads[i % 6], MOST - LEAST);
    const int exponent = i % 4 == 0 ? MOST - i % 3 : MOST - static_cast<int>(generator() % (MOST - LEAST - spread + 1));
    N lower = numberOf<N>(generator, exponent, spread), upper = numberOf<N>(generator, exponent, spread);
    if (i % 5 == 0) (i % 2 == 0 ? lower : upper) = 0;
    if (lower > upper) std::swap(lower, upper);
    if (lower < upper) checkBins<N>({binsToTry[generator() % std::size(binsToTry)], lower, upper}, generator);
  }
}

// Of 4 bins over [0, upper), edge 3 is halfway between two numbers; a tiny lower limit decides.
template <class N>
void checkHalfway(int cases) {
  std::mt19937_64 generator(18);
  constexpr int DIGITS = std::numeric_limits<N>::digits, MOST = std::numeric_limits<N>::max_exponent;
  for (int i = 0; i < cases; ++i) {
    const std::uint64_t digits = (std::uint64_t{3} << (DIGITS - 2)) + (generator() >> (66 - DIGITS)) / 4 * 4 + 2;
    const int exponent = static_cast<int>(generator() % static_cast<unsigned>(MOST - 20));
    const N large = std::ldexp(static_cast<N>(digits), (i % 2 == 0 ? exponent : -exponent) - DIGITS);
    const N tiny = std::ldexp(large, -static_cast<int>(generator() % static_cast<unsigned>(MOST)));
    const std::uint64_t bins = std::uint64_t{4} << generator() % 10;
    for (const N lower : {N(0), tiny, -tiny}) {
      if (lower < large) checkBins<N>({bins, lower, large}, generator);
      if (-large < lower) checkBins<N>({bins, -large, lower}, generator);
    }
  }
}

}  // namespace

TEST_CASE("Even bins: limits of any magnitude", "[device][sweep]") {
  checkRandom<float>(600);
  checkRandom<double>(600);
}

TEST_CASE("Even bins: edges halfway between two numbers", "[device][sweep]") {
  checkHalfway<float>(60);
  checkHalfway<double>(60);
}

TEST_CASE("Even bins: single cases of each form", "[device]") {
  std::mt19937_64 generator(19);
  constexpr float MOST = std::numeric_limits<float>::max();
  checkBins<float>({2, 0, std::numeric_limits<float>::min()}, generator);
  checkBins<float>({1000, 0, 1e-37F}, generator);
  checkBins<float>({10, 0, 1e-25F}, generator);
  checkBins<float>({10, -1, 1}, generator);
  checkBins<float>({16, -0x1.3d6a4ep+26F, -0x1.b7f05cp-38F}, generator);
  for (const std::uint64_t bins : {1, 2, 10, 1 << 20}) {
    checkBins<float>({bins, -MOST, MOST}, generator);
    checkBins<float>({bins, -0x1.fffffcp+126F, 0x1.fffffcp+126F}, generator);
    checkBins<float>({bins, 1, MOST}, generator);
    checkBins<double>({bins, -1e308, 1e308}, generator);
    checkBins<double>({bins, -1, 1}, generator);
    checkBins<double>({bins, 0x1p-118, 0x1.30352c0aab78fp+3}, generator);
    checkBins<double>({bins, -5e-324, 5e-324}, generator);
  }
}

}  // namespace gpuopt::test::even_edges_test
