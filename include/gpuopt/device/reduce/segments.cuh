/// \file
/// The kernel of reduceSegments: a merge-based partition of elements and ends of segments among warps, or among blocks
/// where segments are long.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/combine.cuh>
#include <gpuopt/device/reduce/output.cuh>
#include <gpuopt/device/reduce/segments_plan.cuh>
#include <gpuopt/device/reduce/staged.cuh>

#include <cstddef>
#include <iterator>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// The work is a path: segment after segment, one position for each element and END_COST positions for the end. Each
// warp takes a share of equal length, so that neither a giant segment nor a million empty ones make a warp late
// (merge-based partition, Merrill and Garland 2016). Segments a to d, with E for an end:
//
//     path   a a a E b b b b|b b b b b b b b|b b E c c E d d|d d d E
//     warp          0       |       1       |       2       |   3
//
// Warp 0 reduces a and begins b, warp 1 continues b, warp 2 continues b, reduces c and begins d, warp 3 continues d.
// The last of a segment's warps to arrive combines the partial results in scratch memory. Where segments are long on
// average, the same holds of blocks: their threads read one range together, which memory serves faster.
template <class Offset, std::size_t END_COST>
struct SegmentPath {
  const Offset* offsets;
  std::size_t segments;
  std::size_t base;   // offsets[0]
  std::size_t share;  // positions of a warp or block

  __device__ std::size_t begin(std::size_t s) const { return static_cast<std::size_t>(offsets[s]); }
  __device__ std::size_t end(std::size_t s) const { return static_cast<std::size_t>(offsets[s + 1]); }

  // The position of an element of segment s, and the element at a position.
  __device__ std::size_t position(std::size_t element, std::size_t s) const { return element - base + END_COST * s; }
  __device__ std::size_t element(std::size_t position, std::size_t s) const { return base + position - END_COST * s; }
  __device__ std::size_t firstPosition(std::size_t s) const { return position(begin(s), s); }
  __device__ std::size_t endPosition(std::size_t s) const { return position(end(s), s); }
  __device__ std::size_t length() const { return firstPosition(segments); }

  // Where a segment is divided that goes on after a position: at a multiple of 32 elements, so that ranges begin at
  // lines of the cache.
  __device__ std::size_t division(std::size_t position, std::size_t s) const {
    const std::size_t rounded = element(position, s) / 32 * 32;
    return rounded > begin(s) ? rounded : begin(s);
  }

  // The segment at a position. The lanes of a warp search together, 32 probes at a time.
  __device__ std::size_t segmentAt(std::size_t position) const {
    std::size_t low = 0;
    std::size_t high = segments;
    while (low < high) {
      const std::size_t stride = (high - low + 31) / 32;
      const std::size_t probe = low + static_cast<unsigned>(laneIndex()) * stride;
      const bool before = probe < high && endPosition(probe) < position;
      const auto count = static_cast<unsigned>(__popc(__ballot_sync(fullMask, before)));
      high = low + count * stride < high ? low + count * stride : high;
      if (count > 0) low += (count - 1) * stride + 1;
    }
    return low;
  }
};

// Partial results of segments that several warps or blocks share, one of each kind for each of them.
template <class Partial>
struct SegmentScratch {
  Partial* continued;  // of the segment that began before the share
  Partial* begun;      // of the segment that goes on after it
  unsigned* arrivals;
};

// A warp's shared memory: elements, and the bounds of segments relative to the first one, saturated at 2^32
// - 1. No share is that long, up to 2^44 elements in all.
template <class Policy, class T>
struct SegmentStage {
  static constexpr unsigned ELEMENTS = std::is_trivially_copyable_v<T> ? Policy::stagedBytes / sizeof(T) : 0;
  static constexpr unsigned DIRECT = Policy::directBytes / sizeof(T);
  static constexpr unsigned FEW =
      sizeof(T) < 4 ? 0 : clampTo(Policy::fewBytes / sizeof(T), std::size_t{0}, std::size_t{Policy::fewElements});
  StagedStorage<T, ELEMENTS> elements;
  unsigned bounds[Policy::stagedSegments + 1];
};

// How many i in [from, count) fulfil a condition that holds up to some i. The whole warp calls.
template <class Condition>
__device__ inline unsigned countWhile(unsigned from, unsigned count, unsigned lane, Condition holds) {
  if (from < count && holds(count - 1)) return count - from;
  unsigned total = 0;
  for (unsigned first = from; first < count; first += 32) {
    const unsigned within = __ballot_sync(fullMask, first + lane < count && holds(first + lane));
    total += static_cast<unsigned>(__popc(within));
    if (within != fullMask) break;
  }
  return total;
}

// What a warp and a block have in common, as teams of THREADS threads.
template <int THREADS, class Policy, class View, class Offset, class Reducer, class Out>
struct SegmentTeam {
  using Source = typename View::Source;
  using Partial = typename Reducer::Partial;

  const View& view;
  const Reducer& reducer;
  const SegmentPath<Offset, Policy::endCost>& path;
  const SegmentScratch<Partial>& scratch;
  const Out& out;
  const unsigned thread;

  // The fold of the elements [first, end), in thread 0.
  __device__ Partial reduceRange(std::size_t first, std::size_t end) const {
    Partial partial = reducer.neutral();
    addRange<THREADS, itemsFor<16 * Policy::VECTORS, Source>>(partial, view, reducer, first, end - first, thread);
    if constexpr (THREADS == 32) {
      return reduceLanes(partial, reducer.combiner());
    } else {
      partial = reduceWarps<THREADS>(partial, reducer.neutral(), reducer.combiner());
      __syncthreads();  // the next range uses the same shared memory
      return partial;
    }
  }

  __device__ void store(std::size_t segment, const Partial& partial) const {
    if (thread == 0) storeOutput(out, segment, reducer.finish(partial));
  }

  // Publishes this team's partial result of a segment; the last of its teams combines them.
  __device__ void combineShared(std::size_t segment, const Partial& partial, Partial& published) const {
    if (thread >= 32) return;
    const std::size_t first = path.firstPosition(segment) / path.share;
    const std::size_t last = path.endPosition(segment) / path.share;
    const auto others = static_cast<unsigned>(last - first);
    int arrivedLast = 0;
    if (thread == 0) {
      published = partial;
      arrivedLast = arriveLast(scratch.arrivals + first, others + 1);
    }
    if (__shfl_sync(fullMask, arrivedLast, 0) == 0) return;
    __syncwarp();  // makes the writes that thread 0 has acquired visible to the other lanes; a shuffle does not
    const Partial rest = reducePartials(scratch.continued + first + 1, others, reducer.neutral(), reducer.combiner());
    store(segment, reducer.combiner()(scratch.begun[first], rest));
  }

  // Reduces the positions [position, endPosition), the share of team `team`, segment after segment.
  __device__ void run(std::size_t team, std::size_t position, std::size_t endPosition) const {
    std::size_t segment = path.segmentAt(position);
    std::size_t begin = path.begin(segment);
    while (segment < path.segments && path.position(begin, segment) < endPosition) {
      const std::size_t end = path.end(segment);
      const bool begins = path.position(begin, segment) >= position;
      const bool ends = path.position(end, segment) < endPosition;
      const Partial partial = reduceRange(begins ? begin : path.division(position, segment),
                                          ends ? end : path.division(endPosition, segment));
      if (begins && ends)
        store(segment, partial);
      else
        combineShared(segment, partial, begins ? scratch.begun[team] : scratch.continued[team]);
      begin = end;
      ++segment;
    }
  }
};

// The work of one warp.
template <class Policy, class View, class Offset, class Reducer, class Out>
struct SegmentWarp : SegmentTeam<32, Policy, View, Offset, Reducer, Out> {
  using Team = SegmentTeam<32, Policy, View, Offset, Reducer, Out>;
  using typename Team::Partial;
  using typename Team::Source;
  using T = typename View::Element;
  using Stage = SegmentStage<Policy, T>;
  using Team::combineShared;
  using Team::out;
  using Team::path;
  using Team::reducer;
  using Team::reduceRange;
  using Team::scratch;
  using Team::store;
  using Team::view;
  using Value = typename Source::Value;
  static constexpr unsigned BEYOND = 0xffffffffu;
  static constexpr unsigned BATCH = 4;

  Stage& stage;
  const unsigned lane = this->thread;

  __device__ SegmentWarp(const Team& team, Stage& staged) : Team(team), stage(staged) {}

  // Reduces `count` staged segments, of which the first has bounds[from], by groups of lanes. Segments of more than
  // twice the elements that suit a group are then reduced by the whole warp.
  __device__ void reduceStaged(const StagedElements<T>& staged, std::size_t segment, unsigned from, unsigned count,
                               unsigned origin) const {
    const auto op = reducer.combiner();
    const unsigned shift = origin - stage.bounds[from];
    const unsigned elements = stage.bounds[from + count] - stage.bounds[from];
    unsigned lanes = 1;
    while (lanes < 32 && lanes * count * Policy::laneElements < elements) lanes *= 2;
    for (unsigned first = 0; first < count; first += 32 / lanes) {
      const unsigned i = first + lane / lanes;
      const unsigned own = from + (i < count ? i : 0);
      const unsigned begin = stage.bounds[own] + shift;
      const unsigned end = stage.bounds[own + 1] + shift;
      const bool suits = end - begin <= 2 * Policy::laneElements * lanes;
      Partial partial = reducer.neutral();
      if (i < count && suits) partial = addStaged(staged, view.f, reducer, begin, lane % lanes, end, lanes);
      partial = reduceLanes(partial, op, lanes);
      if (i < count && suits && lane % lanes == 0) storeOutput(out, segment + i, reducer.finish(partial));

      const bool leads = i < count && !suits && lane % lanes == 0;
      for (unsigned leaders = __ballot_sync(fullMask, leads); leaders != 0; leaders &= leaders - 1) {
        const int leader = __ffs(static_cast<int>(leaders)) - 1;
        partial = addStaged(staged, view.f, reducer, __shfl_sync(fullMask, begin, leader), lane,
                            __shfl_sync(fullMask, end, leader), 32);
        store(segment + __shfl_sync(fullMask, i, leader), reduceLanes(partial, op));
      }
    }
  }

  // Loads BATCH elements of a segment from `first` on. In place of those after its end, one that exists is loaded.
  __device__ void loadBatch(Value (&values)[BATCH], const Source& source, unsigned first, unsigned end) const {
#pragma unroll
    for (unsigned i = 0; i < BATCH; ++i) values[i] = source.at(first + i < end ? first + i : stage.bounds[0]);
  }

  // Adds those of them that belong to the segment.
  __device__ void addBatch(Partial& partial, const Value (&values)[BATCH], unsigned left) const {
#pragma unroll
    for (unsigned i = 0; i < BATCH; ++i) {
      const Value value[1] = {values[i]};
      if (i < left) reducer.add(partial, value, 0);
    }
  }

  // Whether `count` segments have few elements on average, and none has many.
  __device__ bool haveFew(unsigned count) const {
    const unsigned* bounds = stage.bounds;
    const unsigned elements = bounds[count] - bounds[0];
    if (elements == 0 || elements > count * Stage::FEW) return false;
    unsigned longest = 0;
#pragma unroll
    for (unsigned i = 0; i < Policy::stagedSegments; i += 32)
      if (i + lane < count && bounds[i + lane + 1] - bounds[i + lane] > longest)
        longest = bounds[i + lane + 1] - bounds[i + lane];
    return __all_sync(fullMask, longest <= Policy::laneElements) != 0;
  }

  // Reduces such segments: each lane takes segments of its own straight from memory, where neighbouring lanes read the
  // same lines.
  __device__ void reduceFew(std::size_t segment, unsigned count, std::size_t base) const {
    constexpr unsigned SEGMENTS = 4;  // whose first loads a lane issues together
    const Source source = view.template range<16>(base, 1);
    for (unsigned group = lane; group < count; group += SEGMENTS * 32) {
      Value values[SEGMENTS][BATCH];
#pragma unroll
      for (unsigned s = 0; s < SEGMENTS; ++s) {
        const unsigned i = group + s * 32 < count ? group + s * 32 : group;
        loadBatch(values[s], source, stage.bounds[i], stage.bounds[i + 1]);
      }
#pragma unroll
      for (unsigned s = 0; s < SEGMENTS; ++s)
        if (group + s * 32 < count) reduceByLane(segment, group + s * 32, values[s], source);
    }
  }

  // Segment `i` of those, whose first elements are loaded.
  __device__ void reduceByLane(std::size_t segment, unsigned i, Value (&values)[BATCH], const Source& source) const {
    Partial partial = reducer.neutral();
    const unsigned end = stage.bounds[i + 1];
    unsigned first = stage.bounds[i];
    addBatch(partial, values, end - first);
    for (first += BATCH; first < end; first += BATCH) {
      loadBatch(values, source, first, end);
      addBatch(partial, values, end - first);
    }
    storeOutput(out, segment + i, reducer.finish(partial));
  }

  // Reduces `count` segments from `segment` on, whose bounds are staged relative to element `base`: as many at a time
  // as fit into shared memory, and long ones directly.
  __device__ void reduceBounded(std::size_t segment, unsigned count, std::size_t base) const {
    const unsigned* bounds = stage.bounds;
    if constexpr (Stage::FEW > 0)
      if (haveFew(count)) return reduceFew(segment, count, base);
    for (unsigned done = 0; done < count;) {
      const unsigned first = bounds[done];
      unsigned fitting = 0;
      if (bounds[done + 1] - first < Stage::DIRECT)
        fitting = countWhile(done, count, lane, [=](unsigned i) { return bounds[i + 1] - first <= Stage::ELEMENTS; });
      if (fitting == 0) {
        store(segment + done, reduceRange(base + first, base + bounds[done + 1]));
        done += 1;
      } else {
        const StagedElements<T> staged(stage.elements, true);
        const unsigned origin = stageElements<32, itemsFor<16 * Policy::STAGE_VECTORS, Source>>(
            staged, view.plain(), base + first, bounds[done + fitting] - first, lane);
        __syncwarp();
        reduceStaged(staged, segment + done, done, fitting, origin);
        done += fitting;
        __syncwarp();
      }
    }
  }

  // Stages the bounds of the segments from `segment` on; returns how many of those end before a position.
  __device__ unsigned stageBounds(std::size_t segment, std::size_t base, std::size_t endPosition) const {
    const std::size_t left = path.segments - segment;
    const unsigned count = left < Policy::stagedSegments ? static_cast<unsigned>(left) : Policy::stagedSegments;
    __syncwarp();
#pragma unroll 4
    for (unsigned i = lane; i <= count; i += 32) {
      const std::size_t bound = path.begin(segment + i) - base;
      stage.bounds[i] = bound < BEYOND ? static_cast<unsigned>(bound) : BEYOND;
    }
    __syncwarp();
    const std::size_t room = endPosition - path.position(base, segment);
    const unsigned* bounds = stage.bounds;
    return countWhile(0, count, lane,
                      [=](unsigned i) { return bounds[i + 1] < BEYOND && bounds[i + 1] + Policy::endCost * i < room; });
  }

  // The segments that this warp alone reduces; returns the first one after them.
  __device__ std::size_t reduceComplete(std::size_t segment, std::size_t endPosition) const {
    while (segment < path.segments && path.firstPosition(segment) < endPosition) {
      const std::size_t base = path.begin(segment);
      const unsigned complete = stageBounds(segment, base, endPosition);
      reduceBounded(segment, complete, base);
      segment += complete;
      if (complete < Policy::stagedSegments) break;
    }
    return segment;
  }

  // Reduces the positions [position, endPosition), the share of warp `warp`: the segment that it continues, those that
  // it reduces alone, and the one that it begins.
  __device__ void run(std::size_t warp, std::size_t position, std::size_t endPosition) const {
    std::size_t segment = path.segmentAt(position);
    if (path.firstPosition(segment) < position) {
      const bool ends = path.endPosition(segment) < endPosition;
      const std::size_t end = ends ? path.end(segment) : path.division(endPosition, segment);
      combineShared(segment, reduceRange(path.division(position, segment), end), scratch.continued[warp]);
      if (!ends) return;
      ++segment;
    }
    segment = reduceComplete(segment, endPosition);
    if (segment < path.segments && path.firstPosition(segment) < endPosition)
      combineShared(segment, reduceRange(path.begin(segment), path.division(endPosition, segment)),
                    scratch.begun[warp]);
  }
};

// The mean length from which blocks take segments.
template <class Policy, class T>
inline constexpr std::size_t longSegment = ceilDivide(Policy::blockBytes, sizeof(T));

template <class Policy, class View, class Offset, class Reducer, class Out>
GPUOPT_KERNEL void __launch_bounds__(Policy::BLOCK, 1024 / Policy::BLOCK)
    segmentsKernel(const View view, const Offset* offsets, const std::size_t segments, const std::size_t warps,
                   const Reducer reducer, const SegmentScratch<typename Reducer::Partial> scratch, const Out out) {
  constexpr int WARPS = Policy::BLOCK / 32;
  using Stage = SegmentStage<Policy, typename View::Element>;
  using Block = SegmentTeam<Policy::BLOCK, Policy, View, Offset, Reducer, Out>;
  using Warp = SegmentWarp<Policy, View, Offset, Reducer, Out>;
  alignas(Stage) __shared__ unsigned char storage[WARPS * sizeof(Stage)];
  overlapPreviousKernel();
  SegmentPath<Offset, Policy::endCost> path{offsets, segments, 0, 1};
  path.base = path.begin(0);
  const std::size_t length = path.length();
  const bool isLong = length / segments >= longSegment<Policy, typename View::Element>;
  path.share = (length + warps - 1) / warps;
  if (path.share < Policy::minWarpShare) path.share = Policy::minWarpShare;
  if (isLong) path.share *= WARPS;
  const std::size_t team = isLong ? blockIdx.x : blockIdx.x * std::size_t{WARPS} + threadIdx.x / 32;
  const std::size_t position = team * path.share;
  if (position >= length) return;
  const std::size_t endPosition = position + path.share < length ? position + path.share : length;
  if (isLong) return Block{view, reducer, path, scratch, out, threadIdx.x}.run(team, position, endPosition);
  Stage& stage = reinterpret_cast<Stage*>(storage)[threadIdx.x / 32];
  Warp({view, reducer, path, scratch, out, static_cast<unsigned>(laneIndex())}, stage).run(team, position, endPosition);
}

template <class Reducer, class T, class Offset>
ReduceSegmentsRequest reduceSegmentsRequest(std::size_t segments) {
  return {segments, sizeof(T), sizeof(Offset), sizeof(typename Reducer::Partial), sizeof(typename Reducer::Result)};
}

template <class Policy, class View, class Offset, class Reducer, class Out>
void launchSegmentsOf(const ReduceCall& call, const Reducer& reducer, const View& view, const Offset* offsets,
                      std::size_t segments, const Out& out) {
  using Partial = typename Reducer::Partial;
  const auto plan =
      planReduceSegments<Policy>(reduceSegmentsRequest<Reducer, typename View::Element, Offset>(segments));
  WorkspaceLease scratch(call.workspace, call.stream);
  Partial* partials = static_cast<Partial*>(scratch.data());
  launch(segmentsKernel<Policy, View, Offset, Reducer, Out>,
         gridConfig(Policy::BLOCK, plan.grid.blocks, call.stream, call.function), view, offsets, segments, plan.warps,
         reducer, SegmentScratch<Partial>{partials, partials + plan.warps, scratch.counters()}, out);
  scratch.done();
}

// Reduces f of the elements of each segment.
template <class Policy, class It, class F, class Offset, class Reducer, class Out>
void launchSegments(const ReduceCall& call, const Reducer& reducer, It in, const F& f, const Offset* offsets,
                    std::size_t segments, const Out& results) {
  [[maybe_unused]] const CallRange range(call.function);
  static_assert(std::is_integral_v<Offset>, "gpuopt::reduceSegments: offsets must be integers");
  if (segments == 0) return;
  requireSize(segments, {"segments"}, call.function, largerOf(sizeof(Offset), sizeof(typename Reducer::Result)));
  const auto out = boxedOutput(results);
  [[maybe_unused]] const auto elements = Unwrap<It>::pointer(in);  // how many is known on the device alone
  const char* null = offsets == nullptr ? "offsets" : isNull(out) ? "out" : nullptr;
  if (null != nullptr) throwInvalid({call.function, ": ", null, " is null, but segments is ", segments});
  if constexpr (isMemory<It>)
    if (elements != nullptr) requireArray(namedArray(elements, 1, "in"), call.function);
  const NamedArray bounds = namedArray(offsets, segments + 1, "offsets");
  requireArray(bounds, call.function);
  if constexpr (std::is_pointer_v<std::decay_t<decltype(out)>>) {
    requireArray(namedArray(out, segments, "out"), call.function);
    requireDisjoint(bounds, namedArray(out, segments, "out"), call.function);
    if constexpr (isMemory<It>)
      if (static_cast<const void*>(elements) == static_cast<const void*>(out))
        throwInvalid({call.function, ": in and out are the same"});
  }
  if constexpr (requireOutput<typename Reducer::Result, std::decay_t<decltype(out)>>())
    launchSegmentsOf<Policy>(call, reducer, viewOf(in, f), offsets, segments, out);
}

template <class Policy, class Reducer, class It, class Offset>
std::string explainSegments(const char* function, const Reducer&, It, const Offset* offsets, std::size_t segments) {
  using T = typename std::iterator_traits<It>::value_type;
  requireSize(segments, {"segments"}, function, largerOf(sizeof(Offset), sizeof(typename Reducer::Result)));
  if (segments > 0) requireArray(namedArray(offsets, segments + 1, "offsets"), function);
  return planInWords(planReduceSegments<Policy>(reduceSegmentsRequest<Reducer, T, Offset>(segments)));
}

GPUOPT_DETAIL_END
