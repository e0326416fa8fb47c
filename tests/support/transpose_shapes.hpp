/// Random transpositions as plain numbers, the same ones with every compiler: what tests of the plan ask
/// about.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

namespace gpuopt::test {

/// The elements of both sides. Without `hasFunction` elements move as they are, and both sides have one type.
struct ElementPair {
  unsigned inSize;
  unsigned inAlign;
  unsigned outSize;
  unsigned outAlign;
  bool hasFunction;
};

inline constexpr ElementPair elementPairs[] = {
    {1, 1, 1, 1, false},       {2, 2, 2, 2, false},     {4, 4, 4, 4, false},     {8, 8, 8, 8, false},
    {16, 16, 16, 16, false},   {3, 1, 3, 1, false},     {12, 4, 12, 4, false},   {2, 1, 2, 1, false},
    {4, 1, 4, 1, false},       {4, 2, 4, 2, false},     {5, 1, 5, 1, false},     {6, 1, 6, 1, false},
    {6, 2, 6, 2, false},       {7, 1, 7, 1, false},     {8, 1, 8, 1, false},     {8, 2, 8, 2, false},
    {8, 4, 8, 4, false},       {12, 1, 12, 1, false},   {16, 1, 16, 1, false},   {16, 2, 16, 2, false},
    {16, 4, 16, 4, false},     {16, 8, 16, 8, false},   {20, 4, 20, 4, false},   {24, 1, 24, 1, false},
    {24, 4, 24, 4, false},     {24, 8, 24, 8, false},   {32, 8, 32, 8, false},   {32, 16, 32, 16, false},
    {36, 4, 36, 4, false},     {40, 8, 40, 8, false},   {48, 16, 48, 16, false}, {64, 64, 64, 64, false},
    {96, 16, 96, 16, false},   {100, 4, 100, 4, false}, {127, 1, 127, 1, false}, {128, 1, 128, 1, false},
    {128, 16, 128, 16, false}, {1, 1, 1, 1, true},      {1, 1, 2, 2, true},      {1, 1, 4, 4, true},
    {1, 1, 8, 8, true},        {1, 1, 16, 16, true},    {2, 2, 1, 1, true},      {2, 2, 2, 2, true},
    {2, 2, 4, 4, true},        {2, 2, 8, 8, true},      {2, 2, 16, 16, true},    {4, 4, 1, 1, true},
    {4, 4, 2, 2, true},        {4, 4, 4, 4, true},      {4, 4, 8, 8, true},      {4, 4, 16, 16, true},
    {8, 8, 1, 1, true},        {8, 8, 2, 2, true},      {8, 8, 4, 4, true},      {8, 8, 8, 8, true},
    {8, 8, 16, 16, true},      {16, 16, 1, 1, true},    {16, 16, 4, 4, true},    {16, 16, 8, 8, true},
    {16, 16, 16, 16, true},    {3, 1, 3, 1, true},      {3, 1, 2, 2, true},      {3, 1, 4, 4, true},
    {1, 1, 12, 4, true},       {12, 4, 4, 4, true},     {12, 4, 12, 4, true},    {24, 8, 8, 8, true},
    {64, 64, 64, 64, true},    {1, 1, 100, 4, true},    {100, 4, 1, 1, true},
};

/// All distances in elements; the addresses are those of no memory.
struct RandomTransposition {
  unsigned elements;  // index in elementPairs
  std::size_t rows, cols, inLd, outLd, batch, inStride, outStride;
  std::uintptr_t in, out;
  std::size_t sharedLimit;
  int architecture;
};

/// Draws transpositions whose sizes are uniform on a logarithmic scale. std::mt19937_64 gives the same
/// numbers everywhere; the distributions of the standard library do not.
class RandomTranspositions {
 public:
  explicit RandomTranspositions(std::uint64_t seed) : generator_(seed) {}

  RandomTransposition next() {
    RandomTransposition t{};
    t.elements = static_cast<unsigned>(below(below(2) == 0 ? 7 : sizeof elementPairs / sizeof *elementPairs));
    drawSizes(t);
    isDense_ = below(2) == 0;
    t.inLd = leadingDimension(t.cols);
    t.outLd = leadingDimension(t.rows);
    t.inStride = t.rows * t.inLd + gap();
    t.outStride = t.cols * t.outLd + gap();
    if (t.rows == 1) t.inLd = t.cols;
    if (t.cols == 1) t.outLd = t.rows;
    if (t.batch == 1) t.inStride = t.rows * t.inLd, t.outStride = t.cols * t.outLd;
    t.in = address(elementPairs[t.elements].inAlign, 1);
    t.out = address(elementPairs[t.elements].outAlign, 2);
    const int architectures[] = {75, 86, 90, 120};
    const std::size_t limits[] = {64 << 10, 99 << 10, 227 << 10, 99 << 10};
    const std::size_t device = below(6) % 4;
    t.architecture = architectures[device];
    t.sharedLimit = limits[device];
    return t;
  }

 private:
  std::size_t below(std::size_t limit) { return generator_() % limit; }

  // One large matrix, a batch of small ones, a vector or a few, or anything.
  void drawSizes(RandomTransposition& t) {
    const std::size_t step = std::size_t{1} << 2 * below(4);  // both sizes are multiples of 1, 4, 16 or 64
    const std::size_t kind = below(4);
    do {
      t.batch = kind == 0 ? 1 : below(2) == 0 ? 1 + below(1000) : size(15, 1);
      t.rows = kind == 0 ? size(16, step) : kind == 1 ? smallSize(step) : kind == 2 ? 1 : size(17, step);
      t.cols = below(4) == 0 ? t.rows : kind == 1 ? smallSize(step) : size(16, step);
    } while (t.rows * t.cols * t.batch > std::size_t{1} << 36);
    if (kind == 2 && below(2) == 0) t.batch = 1;
    if (below(2) == 0) std::swap(t.rows, t.cols);
  }

  // From 1 to below 2^bits, rounded up to a multiple of step.
  std::size_t size(unsigned bits, std::size_t step) {
    const std::size_t power = std::size_t{1} << below(bits);
    return (power + below(power) + step - 1) / step * step;
  }

  std::size_t smallSize(std::size_t step) { return below(2) == 0 ? size(8, step) : (64 + below(100)) / step * step; }

  std::size_t gap() { return isDense_ || below(2) == 0 ? 0 : below(2) == 0 ? below(20) : 16 * below(20); }

  std::size_t leadingDimension(std::size_t length) {
    const std::size_t step = std::size_t{1} << 2 * below(4);
    return isDense_ || below(3) == 0 ? length : (length + gap() + step - 1) / step * step;
  }

  std::uintptr_t address(unsigned alignment, std::uintptr_t number) {
    const std::uintptr_t aligned = number << 44;
    return below(4) > 0 ? aligned : aligned + alignment * below(32);
  }

  bool isDense_ = false;
  std::mt19937_64 generator_;
};

}  // namespace gpuopt::test
