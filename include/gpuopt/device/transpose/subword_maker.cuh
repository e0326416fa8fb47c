/// \file
/// Runs of small matrices of sub-word elements: threads make words of the output in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/run.cuh>

#include <type_traits>

GPUOPT_DETAIL_BEGIN

// How the words of a run are divided among the threads: by periods if columns are short, by segments of columns if they
// are long. Figures are in docs/transpose_kernels.md.
struct SubwordArgs : WalkArgs {
  ShortDivisor byCols;
  unsigned period = 0;         // words after which the pattern of their sources repeats
  unsigned periodsAtOnce = 0;  // that the threads of a block make together
  ShortDivisor byPeriod;
  unsigned segmentRows = 0;  // rows of a column that a thread takes at a time
  unsigned segments = 0;     // of a column; 0: by periods
  ShortDivisor bySegments;

  template <class Problem>
  SubwordArgs(const Problem& problem, const RunSizes& sizes)
      : WalkArgs(problem, sizes, problem.rows * sizeof(*problem.out)), byCols(cols), period(sizes.period) {
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

// Packs results into one word.
template <class Result>
__device__ inline unsigned packWord(const Result* results) {
  constexpr unsigned PACK = 4 / sizeof(Result);
  unsigned bits[PACK];
#pragma unroll
  for (unsigned k = 0; k < PACK; ++k) {
    Word<sizeof(Result)> result;
    __builtin_memcpy(&result, results + k, sizeof result);
    bits[k] = result;
  }
  if constexpr (PACK == 2)
    return __byte_perm(bits[0], bits[1], 0x5410);
  else
    return __byte_perm(__byte_perm(bits[0], bits[1], 0x0040), __byte_perm(bits[2], bits[3], 0x0040), 0x5410);
}

// The output of a run in shared memory.
template <class Result>
struct SubwordResults {
  static constexpr unsigned SIZE = sizeof(Result);

  SwizzledBytes bytes;
  unsigned origin;

  __device__ unsigned offset(unsigned index) const { return origin + index * SIZE; }
  // The number of results from `index` to the next word boundary.
  __device__ unsigned toWord(unsigned index) const { return (0 - offset(index)) % 4 / SIZE; }
  __device__ void store(unsigned index, const Result& value) const {
    *reinterpret_cast<Result*>(bytes.at(offset(index))) = value;
  }
  __device__ void storeWord(unsigned offset, unsigned word) const {
    *reinterpret_cast<unsigned*>(bytes.at(offset)) = word;
  }
  // Stores the first `count` results of a word, which are not all.
  __device__ void storeFirst(unsigned index, unsigned word, unsigned count) const {
#pragma unroll
    for (unsigned k = 0; k + 1 < 4 / SIZE; ++k)
      if (k < count)
        *reinterpret_cast<Word<SIZE>*>(bytes.at(offset(index + k))) = static_cast<Word<SIZE>>(word >> k * 8 * SIZE);
  }
};

// Makes the words of short columns. A thread's words are whole periods apart, so it computes the addresses of their
// sources once and then only advances them.
template <unsigned COUNT, class Source, class Result, class Function>
__device__ inline void packPeriods(const SubwordResults<Result>& made, const Source* sources, unsigned count,
                                   const SubwordArgs& args, const Function& function) {
  constexpr unsigned PACK = 4 / sizeof(Result);
  using Walk = RunWalk<COUNT>;
  const unsigned toWord = made.toWord(0);
  const unsigned head = toWord < count ? toWord : count;
  const unsigned words = (count - head) / PACK;
  const unsigned tail = head + words * PACK;
  const auto makeOne = [&](unsigned i) { made.store(i, function(sources[Walk(args, i).source])); };
  if (threadIdx.x < head) makeOne(threadIdx.x);
  if (threadIdx.x < count - tail) makeOne(tail + threadIdx.x);

  const unsigned group = args.byPeriod.divide(threadIdx.x);
  if (group >= args.periodsAtOnce) return;
  const unsigned step = args.period * args.periodsAtOnce * PACK;
  for (unsigned word = threadIdx.x - group * args.period; word < args.period; word += blockDim.x) {
    unsigned i = head + (word + group * args.period) * PACK;
    Walk walk(args, i);
    const Source* from[PACK];
#pragma unroll
    for (unsigned k = 0; k < PACK; ++k, walk.advance(args)) from[k] = sources + walk.source;
    for (; i < tail; i += step) {
      Result values[PACK];
#pragma unroll
      for (unsigned k = 0; k < PACK; ++k) {
        values[k] = function(*from[k]);
        from[k] += step;
      }
      made.storeWord(made.offset(i), packWord(values));
    }
  }
}

// Reads the elements of a column as words, PACK rows at a time, and goes on with the next column.
template <unsigned COUNT, class Source, class Result, class Function>
struct ColumnReader {
  static constexpr unsigned PACK = 4 / sizeof(Result);

  const Source* from;
  unsigned stride;
  unsigned rowsLeft;
  unsigned back;  // from the end of the column to the next one
  const Function& function;

  __device__ void read(unsigned (&words)[COUNT]) {
    if (rowsLeft >= PACK)
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
      if (ENDS && rowsLeft-- == 0) from -= back;
#pragma unroll
      for (unsigned i = 0; i < COUNT; ++i) results[k * COUNT + i] = function(from[i]);
    }
    if (!ENDS) rowsLeft -= PACK;
#pragma unroll
    for (unsigned w = 0; w < COUNT; ++w) words[w] = packWord(results + w * PACK);
  }
};

// Makes the words from result `first` to the offset `end`. The first word begins `skipped` results later.
template <unsigned COUNT, class Source, class Result, class Function>
__device__ inline void makeSegment(const SubwordResults<Result>& made,
                                   ColumnReader<COUNT, Source, Result, Function>& column, unsigned first,
                                   unsigned skipped, unsigned end) {
  unsigned words[COUNT];
  unsigned next[COUNT];
  column.read(words);
  for (unsigned offset = made.offset(first + skipped); offset < end;) {
    column.read(next);
#pragma unroll
    for (unsigned w = 0; w < COUNT; ++w, offset += 4) {
      const unsigned high = w + 1 < COUNT ? words[(w + 1) % COUNT] : next[0];
      if (COUNT == 1 || offset < end)
        made.storeWord(offset, __funnelshift_r(words[w], high, skipped * 8 * sizeof(Result)));
    }
#pragma unroll
    for (unsigned w = 0; w < COUNT; ++w) words[w] = next[w];
  }
}

// Applies a function to the elements of a segment of a column, PACK rows at a time.
template <class Source, class Result, class Function>
struct SegmentReader {
  static constexpr unsigned PACK = 4 / sizeof(Result);

  const Source* from;
  unsigned stride;
  unsigned rowsLeft;
  const Function& function;

  // The results of the rows that are left, up to PACK, as a word.
  __device__ unsigned read() {
    Result results[PACK] = {};
    if (rowsLeft >= PACK) {
#pragma unroll
      for (unsigned k = 0; k < PACK; ++k) results[k] = function(from[k * stride]);
      rowsLeft -= PACK;
    } else {
#pragma unroll
      for (unsigned k = 0; k + 1 < PACK; ++k)
        if (k < rowsLeft) results[k] = function(from[k * stride]);
      rowsLeft = 0;
    }
    from += PACK * stride;
    return packWord(results);
  }
};

// Makes the results of a segment, from result `first` on, with one call of the function for each: the words within it,
// and single results before the first word boundary and after the last.
template <class Source, class Result, class Function>
__device__ inline void mapSegment(const SubwordResults<Result>& made, SegmentReader<Source, Result, Function>& column,
                                  unsigned first) {
  constexpr unsigned PACK = 4 / sizeof(Result);
  const unsigned count = column.rowsLeft;
  const unsigned toWord = made.toWord(first);
  const unsigned skipped = toWord < count ? toWord : count;
  unsigned word = column.read();
  made.storeFirst(first, word, skipped);
  for (unsigned i = skipped; i < count; i += PACK) {
    const unsigned next = column.read();
    const unsigned shifted = __funnelshift_r(word, next, skipped * 8 * sizeof(Result));
    if (i + PACK <= count)
      made.storeWord(made.offset(first + i), shifted);
    else
      made.storeFirst(first + i, shifted, count - i);
    word = next;
  }
}

// The same as packSegments, below, with a function, which is called once for each element.
template <class Source, class Result, class Function>
__device__ inline void mapSegments(const SubwordResults<Result>& made, const Source* sources, unsigned count,
                                   const SubwordArgs& args, const Function& function) {
  const unsigned segments = args.byRows.divide(count) * args.segments;
  for (unsigned i = threadIdx.x; i < segments; i += blockDim.x) {
    const unsigned segment = args.byCols.divide(i);  // in the run
    const unsigned col = i - segment * args.cols;
    const unsigned matrix = args.bySegments.divide(segment);
    const unsigned row = (segment - matrix * args.segments) * args.segmentRows;
    const unsigned left = args.rows - row;
    SegmentReader<Source, Result, Function> column{sources + matrix * args.area + row * args.cols + col, args.cols,
                                                   left < args.segmentRows ? left : args.segmentRows, function};
    mapSegment(made, column, matrix * args.area + col * args.rows + row);
  }
}

// Makes the words of long columns. Neighbouring threads take neighbouring columns, and make the words that begin in one
// segment of them. All read the same rows, and shift what they read to the next word boundary. Rows at the end of a
// segment are read twice.
template <unsigned COUNT, class Source, class Result, class Function>
__device__ inline void packSegments(const SubwordResults<Result>& made, const Source* sources, unsigned count,
                                    const SubwordArgs& args, const Function& function) {
  if (threadIdx.x < made.toWord(0)) {
    const unsigned source = RunWalk<COUNT>(args, threadIdx.x).source;
    made.store(threadIdx.x, function(sources[source]));
  }
  const unsigned segments = args.byRows.divide(count / COUNT) * args.segments;
  for (unsigned i = threadIdx.x; i < segments; i += blockDim.x) {
    const unsigned segment = args.byCols.divide(i);  // in the run
    const unsigned col = i - segment * args.cols;
    const unsigned matrix = args.bySegments.divide(segment);
    const unsigned row = (segment - matrix * args.segments) * args.segmentRows;
    const unsigned left = args.rows - row;
    const unsigned first = (matrix * args.area + col * args.rows + row) * COUNT;
    const unsigned skipped = made.toWord(first);
    const unsigned end = made.offset(first + (left < args.segmentRows ? left : args.segmentRows) * COUNT);
    // The column after the last one is in the next matrix. After the last matrix any source will do: its results are
    // not stored.
    const unsigned back = col + 1 < args.cols            ? args.area - 1
                          : first + left * COUNT < count ? args.cols - 1
                                                         : args.area;
    ColumnReader<COUNT, Source, Result, Function> column{sources + (matrix * args.area + row * args.cols + col) * COUNT,
                                                         args.cols * COUNT, left, back * COUNT, function};
    makeSegment(made, column, first, skipped, end);
  }
}

// Makes words of the output in shared memory.
template <class Layout>
struct SubwordMaker {
  using Args = SubwordArgs;
  static constexpr int BLOCK = 1024;
  static constexpr int BLOCKS = 0;  // no limit to registers
  static constexpr bool STAGES_OUTPUT = true;

  SwizzledBytes input;
  SwizzledBytes output;  // after the input
  unsigned inBytes;

  __device__ explicit SubwordMaker(const Args& args)
      : input{dynamicShared<unsigned char>(), {0, 0}},
        output{input.bytes, {args.swizzle, Swizzle::VECTORS}},
        inBytes(args.inBytes) {}

  __device__ unsigned outputOrigin(const void* out) const { return inBytes + misalignment(out); }

  template <class In, class Out, class Function>
  __device__ void make(const MatrixRun<In, Out>& run, const Args& args, const Function& function) const {
    const auto* sources = reinterpret_cast<const typename Layout::Source*>(input.at(misalignment(run.in)));
    const SubwordResults<typename Layout::Result> made{output, outputOrigin(run.out)};
    const unsigned count = run.elements * Layout::COUNT;
    if (args.segments == 0) {
      packPeriods<Layout::COUNT>(made, sources, count, args, function);
    } else if constexpr (std::is_same_v<Function, Identity>) {
      packSegments<Layout::COUNT>(made, sources, count, args, function);
    } else {
      static_assert(Layout::COUNT == 1);  // only elements that move are taken apart
      mapSegments(made, sources, count, args, function);
    }
  }
};

GPUOPT_DETAIL_END
