/// \file
/// Transposition of small matrices of elements smaller than a word: words are made in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/fast_divide.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/run.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// How the words of a block are divided among its threads.
struct SubwordShape : WalkShape {
  ShortDivisor byCols;
  unsigned period = 0;         // words after which the places of their sources are the same again
  unsigned periodsAtOnce = 0;  // that the threads make at a time
  ShortDivisor byPeriod;
  unsigned segmentRows = 0;  // rows that a thread takes at a time
  unsigned segments = 0;     // of a column, 0 if words are made by periods
  ShortDivisor bySegments;

  template <class Problem>
  SubwordShape(const Problem& problem, const RunSizes& sizes)
      : WalkShape(problem, sizes, problem.rows * sizeof(*problem.out)), byCols(cols), period(sizes.period) {
    if (period > 0) {
      periodsAtOnce = largerOf(sizes.threads / period, 1U);
      byPeriod = ShortDivisor(period);
    } else {
      segmentRows = sizes.segmentRows;
      segments = static_cast<unsigned>(ceilDivide(rows, segmentRows));
      bySegments = ShortDivisor(segments);
    }
  }
};

// Results as one word.
template <class Result>
__device__ inline unsigned packWord(const Result* results) {
  constexpr unsigned PACK = 4 / sizeof(Result);
  unsigned bits[PACK];
#pragma unroll
  for (unsigned k = 0; k < PACK; ++k) {
    Word<sizeof(Result)> part;
    __builtin_memcpy(&part, results + k, sizeof part);
    bits[k] = part;
  }
  if constexpr (PACK == 2)
    return __byte_perm(bits[0], bits[1], 0x5410);
  else
    return __byte_perm(__byte_perm(bits[0], bits[1], 0x0040), __byte_perm(bits[2], bits[3], 0x0040), 0x5410);
}

// The results of a block in shared memory, smaller than a word each.
template <class Result>
struct SubwordResults {
  static constexpr unsigned SIZE = sizeof(Result);

  SwizzledBytes bytes;
  unsigned origin;

  __device__ unsigned placeAt(unsigned number) const { return origin + number * SIZE; }
  // How many results there are from a number on to the next word.
  __device__ unsigned toWord(unsigned number) const { return (0 - placeAt(number)) % 4 / SIZE; }
  __device__ void store(unsigned number, const Result& value) const {
    *reinterpret_cast<Result*>(bytes.at(placeAt(number))) = value;
  }
  __device__ void storeWord(unsigned place, unsigned word) const {
    *reinterpret_cast<unsigned*>(bytes.at(place)) = word;
  }
};

// Makes the words of short columns. A thread's words are periods apart: it looks for the places of their
// sources once.
template <unsigned COUNT, class Source, class Result, class Function>
__device__ inline void packPeriods(const SubwordResults<Result>& made, const Source* sources, unsigned count,
                                   const SubwordShape& shape, const Function& function) {
  constexpr unsigned PACK = 4 / sizeof(Result);
  using Walk = RunWalk<COUNT>;
  const unsigned lead = made.toWord(0);
  const unsigned head = lead < count ? lead : count;
  const unsigned words = (count - head) / PACK;
  const unsigned tail = head + words * PACK;
  const auto moveOne = [&](unsigned i) { made.store(i, function(sources[Walk(shape, i).source])); };
  if (threadIdx.x < head) moveOne(threadIdx.x);
  if (threadIdx.x < count - tail) moveOne(tail + threadIdx.x);

  const unsigned group = shape.byPeriod.divide(threadIdx.x);
  if (group >= shape.periodsAtOnce) return;
  const unsigned step = shape.period * shape.periodsAtOnce * PACK;
  for (unsigned word = threadIdx.x - group * shape.period; word < shape.period; word += blockDim.x) {
    unsigned i = head + (word + group * shape.period) * PACK;
    Walk walk(shape, i);
    const Source* from[PACK];
#pragma unroll
    for (unsigned k = 0; k < PACK; ++k, walk.advance(shape)) from[k] = sources + walk.source;
    for (; i < tail; i += step) {
      Result values[PACK];
#pragma unroll
      for (unsigned k = 0; k < PACK; ++k) {
        values[k] = function(*from[k]);
        from[k] += step;
      }
      made.storeWord(made.placeAt(i), packWord(values));
    }
  }
}

// A column's elements as words, PACK rows at a time. Behind the last row the next column begins.
template <unsigned COUNT, class Source, class Result, class Function>
struct ColumnReader {
  static constexpr unsigned PACK = 4 / sizeof(Result);

  const Source* from;
  unsigned stride;
  unsigned left;  // rows
  unsigned back;  // from behind the last row to the next column
  const Function& function;

  __device__ void read(unsigned (&words)[COUNT]) {
    if (left >= PACK)
      readRows<false>(words);
    else
      readRows<true>(words);
  }

 private:
  template <bool ENDS>
  __device__ void readRows(unsigned (&words)[COUNT]) {
    Result results[PACK * COUNT];
#pragma unroll
    for (unsigned k = 0; k < PACK; ++k, from += stride) {
      if (ENDS && left-- == 0) from -= back;
#pragma unroll
      for (unsigned i = 0; i < COUNT; ++i) results[k * COUNT + i] = function(from[i]);
    }
    if (!ENDS) left -= PACK;
#pragma unroll
    for (unsigned w = 0; w < COUNT; ++w) words[w] = packWord(results + w * PACK);
  }
};

// Makes the words of long columns: neighbouring threads take neighbouring columns, and of each the words that
// begin in a run of rows. All of them read the same rows, and shift what they have read to where words begin.
template <unsigned COUNT, class Source, class Result, class Function>
__device__ inline void packSegments(const SubwordResults<Result>& made, const Source* sources, unsigned count,
                                    const SubwordShape& shape, const Function& function) {
  if (threadIdx.x < made.toWord(0)) {
    const unsigned place = RunWalk<COUNT>(shape, threadIdx.x).source;
    made.store(threadIdx.x, function(sources[place]));
  }
  const unsigned runs = shape.byRows.divide(count / COUNT) * shape.segments;
  for (unsigned i = threadIdx.x; i < runs; i += blockDim.x) {
    const unsigned line = shape.byCols.divide(i);
    const unsigned col = i - line * shape.cols;
    const unsigned matrix = shape.bySegments.divide(line);
    const unsigned row = (line - matrix * shape.segments) * shape.segmentRows;
    const unsigned left = shape.rows - row;
    const unsigned first = (matrix * shape.area + col * shape.rows + row) * COUNT;
    const unsigned skipped = made.toWord(first);
    const unsigned end = made.placeAt(first + (left < shape.segmentRows ? left : shape.segmentRows) * COUNT);
    // Behind the last column of all, any source will do.
    const unsigned back = col + 1 < shape.cols           ? shape.area - 1
                          : first + left * COUNT < count ? shape.cols - 1
                                                         : shape.area;
    ColumnReader<COUNT, Source, Result, Function> column{
        sources + (matrix * shape.area + row * shape.cols + col) * COUNT, shape.cols * COUNT, left,
        back * COUNT, function};
    unsigned words[COUNT];
    unsigned next[COUNT];
    column.read(words);
    for (unsigned place = made.placeAt(first + skipped); place < end;) {
      column.read(next);
#pragma unroll
      for (unsigned w = 0; w < COUNT; ++w, place += 4) {
        const unsigned high = w + 1 < COUNT ? words[(w + 1) % COUNT] : next[0];
        if (COUNT == 1 || place < end)
          made.storeWord(place, __funnelshift_r(words[w], high, skipped * 8 * sizeof(Result)));
      }
#pragma unroll
      for (unsigned w = 0; w < COUNT; ++w) words[w] = next[w];
    }
  }
}

// Makes words of the output in shared memory.
template <class Layout>
struct SubwordMaker {
  using Shape = SubwordShape;
  static constexpr int BLOCK = 1024;
  static constexpr int BLOCKS = 0;  // any number of a multiprocessor
  static constexpr bool STAGES_OUTPUT = true;

  SwizzledBytes input;
  SwizzledBytes output;  // after the input
  unsigned inBytes;

  __device__ explicit SubwordMaker(const Shape& shape)
      : input{dynamicShared<unsigned char>(), {0, 0}},
        output{input.bytes, {shape.swizzle, Swizzle::VECTORS}},
        inBytes(shape.inBytes) {}

  __device__ unsigned outputOrigin(const void* out) const { return inBytes + misalignment(out); }

  template <class In, class Out, class Function>
  __device__ void make(const MatrixRun<In, Out>& run, const Shape& shape, const Function& function) const {
    const auto* sources = reinterpret_cast<const typename Layout::Source*>(input.at(misalignment(run.in)));
    const SubwordResults<typename Layout::Result> made{output, outputOrigin(run.out)};
    const unsigned count = run.elements * Layout::COUNT;
    if (shape.segments == 0)
      packPeriods<Layout::COUNT>(made, sources, count, shape, function);
    else
      packSegments<Layout::COUNT>(made, sources, count, shape, function);
  }
};

}  // namespace detail
GPUOPT_NAMESPACE_END
