/// \file
/// Histograms: how many elements are in each of a number of bins.
///
///     gpuopt::histogram(samples, n, counts, 256, 0.0f, 1.0f, stream);     // 256 even bins over [0, 1)
///     gpuopt::bincount(ids, n, counts, bins, stream);                     // ++counts[ids[i]]
///     gpuopt::histogramBy(pixels, n, counts, bins, Brightness{}, stream); // ++counts[Brightness{}(pixels[i])]
///     gpuopt::histogramEdges(samples, n, edges, bins, counts, stream);    // bins of any width
///     gpuopt::histogramChannels<3>(rgb, pixels, counts, 256, 0, 256);     // one for each channel
///     gpuopt::histogramRows(matrix, rows, cols, ld, counts, 64, 0, 1);    // one for each row
///     gpuopt::reduceBy(weights, n, ids, bins, sums, gpuopt::Plus{});      // sums[ids[i]] += weights[i]
///     gpuopt::meanBy(weights, n, ids, bins, means);
///     gpuopt::histogram(vector, counters, 0.0f, 1.0f);                    // containers or spans
///
/// In your own kernel, `BlockHistogram<BLOCK, BINS>` from <gpuopt/block/histogram.cuh> counts in shared memory.
///
/// `counts` is an array of integers of 4 or 8 bytes in device memory. Counts replace what is there, or are added to it
/// with the policy AddCounts: histogram<gpuopt::AddCounts>(...). Elements in no bin are not counted, or with the policy
/// CountOutside in two further counters.
///
/// **Common to all functions.** Asynchronous on `stream`, without synchronisation; can be captured into a graph. The
/// counts are exact, the same on every run. Counters of 4 bytes wrap around at 2^32. `in` is a pointer to device memory
/// at any address that its type allows, or an iterator that the device can index; n is up to 2^40. Where the counters
/// fit into shared memory (57600 on sm_90) one kernel reads the input once. Where they do not, explainHistogram says
/// what happens instead. Many bins need scratch memory, about 2 bytes for each of up to 2^28 elements, in the order of
/// the stream; nothing else is allocated.
///
/// **Errors.** Bad arguments throw std::invalid_argument before anything is written: bins is 0, lower is not less than
/// upper, null pointers, misaligned addresses, counts that overlap the input. The message names the function, the
/// parameter and the values. Errors of the runtime throw CudaError.
///
/// More: docs/histogram.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/histogram.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/other_calls.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/keyed/arguments.cuh>
#include <gpuopt/device/keyed/bins.cuh>
#include <gpuopt/device/keyed/edge_arguments.cuh>
#include <gpuopt/device/keyed/launch.cuh>
#include <gpuopt/device/keyed/mean_by.cuh>
#include <gpuopt/device/keyed/reduce_by.cuh>
#include <gpuopt/device/keyed/reduce_by_half.cuh>
#include <gpuopt/device/keyed/rows.cuh>
#include <gpuopt/histogram_channels.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// Counts the elements in each of `bins` bins of equal width over [lower, upper).
///
/// Which bin an element x of [lower, upper) is in:
/// - integers: floor((x - lower) * bins / (upper - lower)), computed exactly
/// - floating point: the last bin b whose edge lower + b * (upper - lower) / bins, rounded to the nearest number of the
///   type, is not above x; halves are converted to float first
///
/// So every such element is in one bin. Elements below lower, from upper on, and NaN are in none. With the policy
/// CloseLastBin, elements that equal upper are in the last bin.
///
/// \tparam Policy HistogramPolicy, AddCounts, CountOutside, CloseLastBin, or a type derived from one
/// \param in n integers or floating-point numbers
/// \param counts `bins` counters; bins + 2 with CountOutside
/// \param bins 1 to 2^31 - 3
/// \param lower,upper the limits: of the type of the elements; std::int64_t for integers, so that 256 is an upper limit
/// of bytes, and std::uint64_t for unsigned ones of 8 bytes. upper - lower is up to 2^32 for integers of up to 4 bytes.
template <class Policy = HistogramPolicy, class It, class CountIt>
void histogram(It in, std::size_t n, CountIt counts, std::size_t bins, detail::LimitOf<It> lower,
               detail::LimitOf<It> upper, StreamRef stream = {}) {
  using T = detail::HistogramElement<It>;
  constexpr bool HAS_BINS = detail::requireNumbers<T>(), WRITES = detail::requireCounters<CountIt>();
  if constexpr (HAS_BINS && WRITES) {
    constexpr const char* function = "gpuopt::histogram";
    const auto slotOf = detail::binsBetween<Policy, T>(bins, lower, upper, function);
    detail::histogramOf<Policy>(function, in, n, detail::Unwrap<CountIt>::pointer(counts),
                                detail::slotsOf<Policy>(bins), slotOf, stream);
  }
}

/// The same for containers or spans, such as thrust::device_vector: as many bins as `counts` has elements, two fewer
/// with CountOutside.
template <class Policy = HistogramPolicy, class In, class Counts, class = detail::EnableRange<In>,
          class = detail::EnableRange<Counts>>
void histogram(In&& in, Counts&& counts, detail::LimitOfRange<In> lower, detail::LimitOfRange<In> upper,
               StreamRef stream = {}) {
  gpuopt::histogram<Policy>(detail::dataOf(in), detail::sizeOf(in), detail::dataOf(counts),
                            detail::binsOf<Policy>(counts, "gpuopt::histogram"), lower, upper, stream);
}

/// Counts how often each of the numbers 0 to bins - 1 occurs. Other numbers are in no bin.
///
/// \tparam Policy HistogramPolicy, AddCounts, CountOutside, or a type derived from one
/// \param in n integers
/// \param counts `bins` counters; bins + 2 with CountOutside
/// \param bins 1 to 2^31 - 3
template <class Policy = HistogramPolicy, class It, class CountIt>
void bincount(It in, std::size_t n, CountIt counts, std::size_t bins, StreamRef stream = {}) {
  using T = detail::HistogramElement<It>;
  constexpr bool IS_INTEGER = std::is_integral_v<T>, WRITES = detail::requireCounters<CountIt>();
  static_assert(IS_INTEGER,
                "gpuopt::bincount: the elements must be integers: histogram() takes floating-point numbers");
  if constexpr (IS_INTEGER && WRITES) {
    constexpr const char* function = "gpuopt::bincount";
    detail::requireBins(bins, function);
    const detail::NumberedBins<Identity, Policy::COUNTS_OUTSIDE> slotOf{{}, static_cast<unsigned>(bins)};
    detail::histogramOf<Policy>(function, in, n, detail::Unwrap<CountIt>::pointer(counts),
                                detail::slotsOf<Policy>(bins), slotOf, stream);
  }
}

/// The same for containers or spans: as many bins as `counts` has elements, two fewer with CountOutside.
template <class Policy = HistogramPolicy, class In, class Counts, class = detail::EnableRange<In>,
          class = detail::EnableRange<Counts>>
void bincount(In&& in, Counts&& counts, StreamRef stream = {}) {
  gpuopt::bincount<Policy>(detail::dataOf(in), detail::sizeOf(in), detail::dataOf(counts),
                           detail::binsOf<Policy>(counts, "gpuopt::bincount"), stream);
}

/// Counts the elements of each bin by a function that returns the bin of an element.
///
///     gpuopt::histogramBy(particles, n, counts, 64, [] __device__(const Particle& p) { return int(p.energy); });
///
/// Cost: structures are read through shared memory where that is faster and the counters leave room: explainHistogram
/// says so, docs/histogram.md why.
///
/// \tparam Policy HistogramPolicy, AddCounts, CountOutside, or a type derived from one
/// \param in n elements of any type
/// \param counts `bins` counters; bins + 2 with CountOutside
/// \param bins 1 to 2^31 - 3
/// \param binOf returns an integer, the bin, the same whenever it is called with an element. Other numbers than 0 to
/// bins - 1 are in no bin. It is called in no particular order, once for each element; two or three times where the
/// input is read as often, which explainHistogram says; of elements of one byte, for each value instead. Any functor or
/// extended lambda for device code with a const call operator.
template <class Policy = HistogramPolicy, class It, class CountIt, class BinOf>
void histogramBy(It in, std::size_t n, CountIt counts, std::size_t bins, BinOf binOf, StreamRef stream = {}) {
  constexpr bool TELLS = detail::requireBinOf<BinOf, detail::HistogramElement<It>>();
  constexpr bool WRITES = detail::requireCounters<CountIt>();
  if constexpr (TELLS && WRITES) {
    constexpr const char* function = "gpuopt::histogramBy";
    detail::requireBins(bins, function);
    const detail::NumberedBins<BinOf, Policy::COUNTS_OUTSIDE> slotOf{binOf, static_cast<unsigned>(bins)};
    detail::histogramOf<Policy>(function, in, n, detail::Unwrap<CountIt>::pointer(counts),
                                detail::slotsOf<Policy>(bins), slotOf, stream);
  }
}

/// The same for containers or spans: as many bins as `counts` has elements, two fewer with CountOutside.
template <class Policy = HistogramPolicy, class In, class Counts, class BinOf, class = detail::EnableRange<In>,
          class = detail::EnableRange<Counts>>
void histogramBy(In&& in, Counts&& counts, BinOf binOf, StreamRef stream = {}) {
  gpuopt::histogramBy<Policy>(detail::dataOf(in), detail::sizeOf(in), detail::dataOf(counts),
                              detail::binsOf<Policy>(counts, "gpuopt::histogramBy"), binOf, stream);
}

/// Counts the elements between sorted edges: bin b has the elements x with edges[b] <= x < edges[b + 1].
///
/// Elements below edges[0], from edges[bins] on, and NaN are in no bin. Of several bins with the same lower edge, the
/// last one has the elements. Each block searches the edges in shared memory, if they fit beside the counters.
///
/// \tparam Policy HistogramPolicy, AddCounts, CountOutside, or a type derived from one
/// \param in n integers or floating-point numbers
/// \param edges bins + 1 edges in device memory, of the type of the elements (float for halves), in ascending order,
/// none of them NaN. That is checked with GPUOPT_CHECK_POINTERS alone, because the call would have to wait for them.
/// \param bins 1 to 2^31 - 3
/// \param counts `bins` counters; bins + 2 with CountOutside
template <class Policy = HistogramPolicy, class It, class Edge, class CountIt>
void histogramEdges(It in, std::size_t n, const Edge* edges, std::size_t bins, CountIt counts, StreamRef stream = {}) {
  constexpr bool HAS_EDGES = detail::requireEdges<It, Edge>(), WRITES = detail::requireCounters<CountIt>();
  if constexpr (HAS_EDGES && WRITES)
    detail::histogramDeviceEdges<Policy>(in, n, edges, bins, detail::Unwrap<CountIt>::pointer(counts), stream);
}

/// The same for edges in the host's memory, which may be gone when the call returns.
///
/// Cost: in addition, a small kernel and an allocation in the order of the stream that take the edges to the device, a
/// kernel for each 2 KiB of them.
///
/// \param edges a std::vector or std::array of two edges or more: ascending, which is checked
/// \param counts a counter for each bin, one fewer than edges; two more with CountOutside
template <class Policy = HistogramPolicy, class It, class Edges, class CountIt,
          class = std::enable_if_t<detail::isHostRange<Edges>>>
void histogramEdges(It in, std::size_t n, const Edges& edges, CountIt counts, StreamRef stream = {}) {
  using Edge = std::decay_t<decltype(*edges.data())>;
  constexpr bool HAS_EDGES = detail::requireEdges<It, Edge>(), WRITES = detail::requireCounters<CountIt>();
  if constexpr (HAS_EDGES && WRITES)
    detail::histogramHostEdges<Policy>(in, n, edges.data(), edges.size(), detail::Unwrap<CountIt>::pointer(counts),
                                       stream);
}

/// The same for containers or spans: as many bins as there are edges, less one. Edges in a std::vector or std::array
/// are on the host, others on the device. `counts` has a counter for each bin, or more; two more with CountOutside.
template <class Policy = HistogramPolicy, class In, class Edges, class Counts, class = detail::EnableRange<In>,
          class = detail::EnableRange<const Edges>, class = detail::EnableRange<Counts>>
void histogramEdges(In&& in, const Edges& edges, Counts&& counts, StreamRef stream = {}) {
  constexpr const char* function = "gpuopt::histogramEdges";
  const std::size_t bins = detail::binsBetweenEdges(detail::sizeOf(edges), function);
  detail::requireSize(counts, detail::slotsOf<Policy>(bins), "counts", function);
  if constexpr (detail::isHostRange<Edges>) {
    gpuopt::histogramEdges<Policy>(detail::dataOf(in), detail::sizeOf(in), edges, detail::dataOf(counts), stream);
  } else {
    const auto* const first = detail::toAddress(edges.data());
    gpuopt::histogramEdges<Policy>(detail::dataOf(in), detail::sizeOf(in), first, bins, detail::dataOf(counts), stream);
  }
}

/// A histogram of each row of a matrix: counts[row * bins + bin].
///
/// The bins are those of histogram(), the same for all rows. One kernel; rows that are short keep few threads of a
/// block busy, and more counters than fit into shared memory are updated in global memory.
///
/// \tparam Policy HistogramPolicy, AddCounts, CountOutside, or a type derived from one
/// \param in integers or floating-point numbers: element (r, c) is in[r * ld + c]
/// \param rows,cols the shape
/// \param ld elements from the start of a row to the start of the next one, at least cols
/// \param counts rows * bins counters; each row has two more with CountOutside
/// \param bins 1 to 2^31 - 3
/// \param lower,upper the limits, as for histogram()
template <class Policy = HistogramPolicy, class It, class CountIt>
void histogramRows(It in, std::size_t rows, std::size_t cols, std::size_t ld, CountIt counts, std::size_t bins,
                   detail::LimitOf<It> lower, detail::LimitOf<It> upper, StreamRef stream = {}) {
  using T = detail::HistogramElement<It>;
  constexpr bool HAS_BINS = detail::requireNumbers<T>(), WRITES = detail::requireCounters<CountIt>();
  if constexpr (HAS_BINS && WRITES) {
    constexpr const char* function = "gpuopt::histogramRows";
    const auto slotOf = detail::binsBetween<Policy, T>(bins, lower, upper, function);
    detail::histogramOfRows<Policy>(function, in, {rows, cols, ld}, detail::Unwrap<CountIt>::pointer(counts),
                                    detail::slotsOf<Policy>(bins), slotOf, stream);
  }
}

/// The same for a view of a matrix, not of a batch, and a container of counters: of as many bins for each row.
template <class Policy = HistogramPolicy, class T, class Counts, class = detail::EnableRange<Counts>>
void histogramRows(MatrixView<T> in, Counts&& counts, detail::LimitOf<const T*> lower, detail::LimitOf<const T*> upper,
                   StreamRef stream = {}) {
  detail::requireOneMatrix(in.batch, "gpuopt::histogramRows");
  if (in.rows == 0) return;
  const std::size_t slots = detail::perRow(detail::sizeOf(counts), in.rows, "gpuopt::histogramRows");
  gpuopt::histogramRows<Policy>(static_cast<const T*>(in.data), in.rows, in.cols, in.ld, detail::dataOf(counts),
                                detail::binsOfSlots<Policy>(slots, "gpuopt::histogramRows"), lower, upper, stream);
}

/// Reduces values by a small integer key: out[b] = op over all values whose key is b.
///
///     gpuopt::reduceBy(weights, n, cells, bins, sums);                       // sums[cells[i]] += weights[i]
///     gpuopt::reduceBy(weights, cells, sums);                                // containers
///     gpuopt::reduceBy(times, n, ids, bins, last, gpuopt::Maximum{});
///     gpuopt::reduceBy<gpuopt::CombineWithOut>(more, n, cells, bins, sums);  // added to what is in sums
///     gpuopt::reduceBy<gpuopt::FastSums>(weights, n, cells, bins, sums);
///
/// A bin without values gets the neutral element: 0, or the greatest or least number. Values with other keys than 0 to
/// bins - 1 are left out. Integers are exact; sums wrap around. Extremes are those of Minimum and Maximum. Operations
/// without an instruction of the GPU, such as Multiplies, are loops of compare-and-swap: slow where many values share a
/// bin, and of floating-point numbers they depend on the order of values, which differs between runs. With the policy
/// CombineWithOut, results are combined with what is in `out`.
///
/// Sums of floating-point numbers are the same bits on every run and every device: each value is rounded to a multiple
/// of 2^(e - 62) times the least power of two from n on, where 2^e is above the largest magnitude in any of the bins,
/// and the sum is exact from there on. So a value is off by at most n * 2^-61 of that magnitude, which may be that of
/// another bin. A bin with an infinity or NaN gets what their sum is. With the policy FastSums the order of additions
/// differs between runs, and nothing is rounded to fixed point: blocks add floats as integers where these are exact by
/// a sample of their magnitudes, else in loops, as no instruction adds floating-point numbers in shared memory.
///
/// Cost: reads values and keys once. Reproducible sums first look at a sample of 2^20 pairs, and read all pairs once
/// more if the sample has missed the largest magnitude's power of two; they take scratch memory of 20 bytes a bin, in
/// the order of the stream. Asynchronous; up to four small kernels or memsets besides. Where the bins do not fit into
/// shared memory (57600 of 4 bytes, 28800 of 8, 38400 sums of 8 on sm_90), pairs are read two to five times; beyond
/// that, atomics go to global memory.
///
/// \tparam Policy ReduceByPolicy, FastSums, CombineWithOut, or a type derived from one
/// \param values n numbers, each converted to the type of `out`
/// \param keys n integers, or a function that tells the bin of a value: the same whenever it is called with a value,
/// because values may be read several times
/// \param bins 1 to 2^31 - 3
/// \param out `bins` numbers of 4 or 8 bytes, or halves, which are combined as floats in scratch memory and rounded at
/// the end; with an op of your own, anything of 4 or 8 bytes at multiples of its size
/// \param op Plus, Minimum, Maximum; or any functor for device code that is associative and commutative, for which
/// there is a NeutralElement, as there is for Multiplies, BitAnd, BitOr, BitXor, LogicalAnd and LogicalOr
template <class Policy = ReduceByPolicy, class It, class Keys, class OutIt, class Op = Plus,
          class = std::enable_if_t<!detail::isStream<Op>>>
void reduceBy(It values, std::size_t n, Keys keys, std::size_t bins, OutIt out, Op op = {}, StreamRef stream = {}) {
  if constexpr (detail::requireReduceBy<It, Keys, OutIt, Op>()) {
    constexpr const char* function = "gpuopt::reduceBy";
    auto* const results = detail::Unwrap<OutIt>::pointer(out);
    if constexpr (detail::isHalf<std::decay_t<decltype(*results)>>)
      detail::reduceByHalves<Policy>(function, values, n, keys, bins, results, op, stream);
    else
      detail::reduceByChecked<Policy>(function, values, n, keys, bins, results, op, stream);
  }
}

/// The same for sums in a stream.
template <class Policy = ReduceByPolicy, class It, class Keys, class OutIt, class S, class = detail::EnableStream<S>>
void reduceBy(It values, std::size_t n, Keys keys, std::size_t bins, OutIt out, const S& stream) {
  gpuopt::reduceBy<Policy>(values, n, keys, bins, out, Plus{}, stream);
}

/// The same for containers or spans, `reduceBy(values, keys, out[, op][, stream])`: as many bins as `out` has elements.
/// `keys` is a container of as many elements as `values` or more, an iterator, or a function.
template <class Policy = ReduceByPolicy, class Values, class Keys, class Out, class... Rest,
          class = detail::EnableRange<Values>, class = detail::EnableRange<Out>>
void reduceBy(Values&& values, Keys&& keys, Out&& out, const Rest&... rest) {
  gpuopt::reduceBy<Policy>(detail::dataOf(values), detail::sizeOf(values),
                           detail::keysOf(keys, detail::sizeOf(values), "gpuopt::reduceBy"), detail::sizeOf(out),
                           detail::dataOf(out), rest...);
}

/// Means of values by a small integer key: out[b] is the mean of all values whose key is b; NaN if there are none.
///
/// Cost: that of reduceBy with Plus, bincount() of the keys and a small kernel, with scratch memory of 8 bytes a bin in
/// the order of the stream. Sums are those of reduceBy: the same bits on every run unless the policy is FastSums.
///
/// \tparam Policy ReduceByPolicy or FastSums
/// \param values,keys,bins as for reduceBy
/// \param n the number of values
/// \param out `bins` floating-point numbers; what is there is replaced
template <class Policy = ReduceByPolicy, class It, class Keys, class OutIt>
void meanBy(It values, std::size_t n, Keys keys, std::size_t bins, OutIt out, StreamRef stream = {}) {
  static_assert(!Policy::KEEPS, "gpuopt::meanBy: means cannot be combined with what is in out");
  if constexpr (!Policy::KEEPS && detail::requireMeanBy<It, Keys, OutIt>())
    detail::meanByChecked<Policy>(values, n, keys, bins, detail::Unwrap<OutIt>::pointer(out), stream);
}

/// The same for containers or spans, as reduceBy takes them.
template <class Policy = ReduceByPolicy, class Values, class Keys, class Out, class = detail::EnableRange<Values>,
          class = detail::EnableRange<Out>>
void meanBy(Values&& values, Keys&& keys, Out&& out, StreamRef stream = {}) {
  gpuopt::meanBy<Policy>(detail::dataOf(values), detail::sizeOf(values),
                         detail::keysOf(keys, detail::sizeOf(values), "gpuopt::meanBy"), detail::sizeOf(out),
                         detail::dataOf(out), stream);
}

/// Says in one line which kernel reduceBy launches for this input, with its grid, the bytes to read and write, and why.
/// Nothing is launched. Errors are those of the call. The words may change from version to version.
///
///     gpuopt::explainReduceBy(weights, n, cells, bins, sums);  // "fixed point, shared memory, by vectors, ..."
///
/// \tparam Policy ReduceByPolicy, FastSums, CombineWithOut, or a type derived from one
/// \param values,n,keys,bins,out,op as for reduceBy
template <class Policy = ReduceByPolicy, class It, class Keys, class OutIt, class Op = Plus>
[[nodiscard]] std::string explainReduceBy(It values, std::size_t n, Keys keys, std::size_t bins, OutIt out,
                                          Op op = {}) {
  if constexpr (detail::requireReduceBy<It, Keys, OutIt, Op>())
    return detail::explainReduceByChecked<Policy>("gpuopt::explainReduceBy", values, n, keys, bins,
                                                  detail::Unwrap<OutIt>::pointer(out), op);
  else
    return {};
}

/// The same for containers or spans, `explainReduceBy(values, keys, out[, op])`.
template <class Policy = ReduceByPolicy, class Values, class Keys, class Out, class... Op,
          class = detail::EnableRange<Values>, class = detail::EnableRange<Out>>
[[nodiscard]] std::string explainReduceBy(Values&& values, Keys&& keys, Out&& out, const Op&... op) {
  return gpuopt::explainReduceBy<Policy>(detail::dataOf(values), detail::sizeOf(values),
                                         detail::keysOf(keys, detail::sizeOf(values), "gpuopt::explainReduceBy"),
                                         detail::sizeOf(out), detail::dataOf(out), op...);
}

/// Says in one line which kernel histogram(), bincount(), or histogramBy() of structures launches for n elements of
/// type T and `bins` bins on the current device, with its grid, the bytes to read and write, and why. Nothing is
/// launched. The words may change from version to version.
///
///     gpuopt::explainHistogram<float>(n, 256);  // "shared memory, by vectors, 132 blocks of ..."
///
/// Not for alignments that rule out 16-byte loads: those read element by element.
///
/// \tparam T,Count an element; a counter
template <class T, class Count = unsigned>
[[nodiscard]] std::string explainHistogram(std::size_t n, std::size_t bins) {
  detail::requireBins(bins, "gpuopt::explainHistogram");
  const detail::PlannedSource<T, detail::NumberedBins<Identity, false>> source{};
  return detail::planInWords(detail::planKeyed(detail::histogramRequest<Count>(source, n, bins)));
}

/// The same for histogramEdges() of elements of type T.
///
/// \tparam T,Count an element; a counter
template <class T, class Count = unsigned>
[[nodiscard]] std::string explainHistogramEdges(std::size_t n, std::size_t bins) {
  detail::requireBins(bins, "gpuopt::explainHistogramEdges");
  auto source = detail::PlannedSource<T, detail::EdgeBins<detail::BinNumber<T>, false>>{};
  source.f.bins = static_cast<unsigned>(bins);
  return detail::planInWords(detail::planKeyed(detail::histogramRequest<Count>(source, n, bins)));
}

/// The same for histogramRows() of a matrix of `rows` x `cols` elements of type T, with `bins` bins for each row.
///
/// \tparam T,Count an element; a counter
template <class T, class Count = unsigned>
[[nodiscard]] std::string explainHistogramRows(std::size_t rows, std::size_t cols, std::size_t bins) {
  detail::requireBins(bins, "gpuopt::explainHistogramRows");
  using Source = detail::PlannedSource<T, detail::NumberedBins<Identity, false>>;
  return detail::planInWords(
      detail::planKeyedRows({detail::keyedRequest<Source>(cols, bins, detail::countCell<Count>()), rows}));
}

GPUOPT_OTHER_CALLS(
    histogram, "(in, n, counts, bins, lower, upper), or containers for in and counts without n and bins, then a stream")
GPUOPT_OTHER_CALLS(bincount, "(in, n, counts, bins), or containers for in and counts without n and bins, then a stream")
GPUOPT_OTHER_CALLS(histogramBy,
                   "(in, n, counts, bins, binOf), or containers for in and counts without n and bins, then a stream")
GPUOPT_OTHER_CALLS(histogramEdges,
                   "(in, n, edges, bins, counts), (in, n, edges, counts) with a std::vector or std::array of edges, or "
                   "containers (in, edges, counts), then a stream")
GPUOPT_OTHER_CALLS(reduceBy, "(values, n, keys, bins, out), or containers (values, keys, out), then op and stream")
GPUOPT_OTHER_CALLS(explainReduceBy, "(values, n, keys, bins, out), or containers (values, keys, out), then op")
GPUOPT_OTHER_CALLS(meanBy, "(values, n, keys, bins, out), or containers (values, keys, out), then a stream")

GPUOPT_NAMESPACE_END
