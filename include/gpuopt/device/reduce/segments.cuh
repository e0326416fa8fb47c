/// \file
/// Reductions of consecutive segments of any lengths: reduceSegments.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/reduce/view.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

/// How reduceSegments is cut up. Pass a type derived from this one as template argument to change a value.
/// Nothing depends on the device. Measured on an H200, 2026-11-21, sums of 1 GiB of floats, elements, offsets
/// and results counted, in percent of a plain sum's GB/s: 78 to 87 for segments of 8 to 256, 90 to 94 from
/// 512 on, one giant segment included; 65 to 90 for random lengths of 64 to 1024 on average; 38 to 67 for
/// segments of 1 to 4.
struct ReduceSegmentsPolicy {
  static constexpr int BLOCK = 128;  ///< threads a block
  static constexpr int VECTORS = 4;  ///< 16-byte loads in flight a thread within a long segment: 8 cost 3 %
  static constexpr int STAGE_VECTORS = 8;  ///< the same while short segments are brought into shared memory
  static constexpr unsigned stagedBytes = 4 << 10;  ///< of elements that a warp stages at a time
  static constexpr unsigned directBytes =
      1536;                              ///< a segment from here on is read by a warp alone, without staging
  static constexpr unsigned ends = 256;  ///< ends of segments that a warp looks at at a time
  static constexpr unsigned laneElements =
      32;                                     ///< that one lane adds up of a staged segment of average length
  static constexpr std::size_t endSteps = 8;  ///< what a segment costs beside its elements, in elements
  static constexpr std::size_t warps = 4096;  ///< between which elements and segments are divided
  static constexpr std::size_t warpItems = 1024;  ///< but every one takes so many
};

namespace detail {

// The work is a path: segment after segment, a step for each element and then END_STEPS for its end. Every
// warp takes the same number of steps on it, wherever they lie, so neither one giant segment nor a million
// empty ones make a warp late (merge-based partition, Merrill and Garland 2016). A segment that several warps
// share is joined by the last of them to arrive.
template <class Offset, std::size_t END_STEPS>
struct SegmentPath {
  const Offset* offsets;
  std::size_t segments;
  std::size_t base;   // offsets[0]
  std::size_t share;  // steps of a warp

  __device__ std::size_t begin(std::size_t s) const { return static_cast<std::size_t>(offsets[s]); }
  __device__ std::size_t end(std::size_t s) const { return static_cast<std::size_t>(offsets[s + 1]); }

  // Places on the path: of an element of a segment, of a segment's first step, of its end, of the whole
  // path's; and back.
  __device__ std::size_t step(std::size_t element, std::size_t s) const {
    return element - base + END_STEPS * s;
  }
  __device__ std::size_t firstStep(std::size_t s) const { return step(begin(s), s); }
  __device__ std::size_t endStep(std::size_t s) const { return step(end(s), s); }
  __device__ std::size_t length() const { return firstStep(segments); }
  __device__ std::size_t element(std::size_t step, std::size_t s) const {
    return base + step - END_STEPS * s;
  }

  // The segment in which a step lies. The lanes of a warp look at 32 places at a time.
  __device__ std::size_t segmentAt(std::size_t step) const {
    std::size_t low = 0;
    std::size_t high = segments;
    while (low < high) {
      const std::size_t stride = (high - low + 31) / 32;
      const std::size_t probe = low + static_cast<unsigned>(laneIndex()) * stride;
      const bool before = probe < high && endStep(probe) < step;
      const auto count = static_cast<unsigned>(__popc(__ballot_sync(fullMask, before)));
      high = low + count * stride < high ? low + count * stride : high;
      if (count > 0) low += (count - 1) * stride + 1;
    }
    return low;
  }
};

// Where warps leave their part of a segment that they share: of one that began before them, and of one that
// goes on after them.
template <class Partial>
struct SegmentScratch {
  Partial* continued;
  Partial* begun;
  unsigned* arrivals;
};

// A warp's shared memory: elements, and the bounds of segments, counted from the first and cut off at 2^32 -
// 1 (which is more than a warp's share, up to 2^44 elements in all).
template <class Policy, class T>
struct SegmentStage {
  static constexpr unsigned ELEMENTS = std::is_trivially_copyable_v<T> ? Policy::stagedBytes / sizeof(T) : 0;
  static constexpr unsigned DIRECT = Policy::directBytes / sizeof(T);
  StagedStorage<T, ELEMENTS> elements;
  unsigned bounds[Policy::ends + 1];
};

template <class Policy, class View, class Offset, class Reducer>
struct SegmentWarp {
  using Source = typename View::Source;
  using Partial = typename Reducer::Partial;
  using T = typename View::Element;
  using Stage = SegmentStage<Policy, T>;
  static constexpr unsigned FAR = 0xffffffffu;

  const View& view;
  const Reducer& reducer;
  const SegmentPath<Offset, Policy::endSteps>& path;
  const SegmentScratch<Partial>& scratch;
  Stage& stage;
  typename Reducer::Result* out;
  const unsigned lane;

  // The fold of the elements [first, end), in lane 0.
  __device__ Partial fold(std::size_t first, std::size_t end) const {
    Partial partial = reducer.empty();
    addPart<32, itemsFor<Policy::VECTORS, Source>>(partial, view, reducer, first, end - first, lane);
    return warpReduce(partial, reducer.combiner());
  }

  __device__ void store(std::size_t segment, const Partial& partial) const {
    if (lane == 0) out[segment] = reducer.finish(partial);
  }

  // Leaves this warp's part of a segment; the last of its warps joins all of them.
  __device__ void share(std::size_t segment, const Partial& partial, Partial& place) const {
    const std::size_t first = path.firstStep(segment) / path.share;
    const std::size_t last = path.endStep(segment) / path.share;
    const auto parts = static_cast<unsigned>(last - first);
    int arrivedLast = 0;
    if (lane == 0) {
      place = partial;
      arrivedLast = arriveLast(scratch.arrivals + first, parts + 1);
    }
    if (__shfl_sync(fullMask, arrivedLast, 0) == 0) return;
    const Partial rest =
        joinPartials(scratch.continued + first + 1, parts, reducer.empty(), reducer.combiner());
    store(segment, reducer.combiner()(scratch.begun[first], rest));
  }

  // How many i in [from, count) fulfil a condition that holds up to some i.
  template <class Condition>
  __device__ static unsigned countWhile(unsigned from, unsigned count, unsigned lane, Condition holds) {
    if (from < count && holds(count - 1)) return count - from;
    unsigned total = 0;
    for (unsigned first = from; first < count; first += 32) {
      const unsigned within = __ballot_sync(fullMask, first + lane < count && holds(first + lane));
      total += static_cast<unsigned>(__popc(within));
      if (within != fullMask) break;
    }
    return total;
  }

  // Adds up `count` segments that lie in shared memory, as many at a time as there are groups of lanes. Those
  // of more than twice the elements that a group is meant for are left to all lanes together.
  __device__ void reduceStaged(const StagedElements<T>& staged, std::size_t segment, unsigned from,
                               unsigned count, unsigned origin) const {
    const auto op = reducer.combiner();
    const unsigned shift = origin - stage.bounds[from];
    const unsigned elements = stage.bounds[from + count] - stage.bounds[from];
    unsigned lanes = 1;
    while (lanes < 32 && lanes * count * Policy::laneElements < elements) lanes *= 2;
    for (unsigned first = 0; first < count; first += 32 / lanes) {
      const unsigned i = first + lane / lanes;
      const unsigned mine = from + (i < count ? i : 0);
      const unsigned begin = stage.bounds[mine] + shift;
      const unsigned end = stage.bounds[mine + 1] + shift;
      const bool grouped = end - begin <= 2 * Policy::laneElements * lanes;
      Partial partial = reducer.empty();
      if (i < count && grouped) addStaged(partial, staged, reducer, begin + lane % lanes, end, lanes);
      partial = reduceLanes(partial, op, lanes);
      if (i < count && grouped && lane % lanes == 0) out[segment + i] = reducer.finish(partial);

      const bool leads = i < count && !grouped && lane % lanes == 0;
      for (unsigned others = __ballot_sync(fullMask, leads); others != 0; others &= others - 1) {
        const int leader = __ffs(static_cast<int>(others)) - 1;
        partial = reducer.empty();
        addStaged(partial, staged, reducer, __shfl_sync(fullMask, begin, leader) + lane,
                  __shfl_sync(fullMask, end, leader), 32);
        store(segment + __shfl_sync(fullMask, i, leader), warpReduce(partial, op));
      }
    }
  }

  // `count` whole segments from `segment` on, the first of which begins at element `base`; their bounds are
  // staged.
  __device__ void reduceWhole(std::size_t segment, unsigned count, std::size_t base) const {
    const unsigned* bounds = stage.bounds;
    for (unsigned done = 0; done < count;) {
      const unsigned first = bounds[done];
      unsigned fitting = 0;
      if (bounds[done + 1] - first < Stage::DIRECT)
        fitting = countWhile(done, count, lane,
                             [=](unsigned i) { return bounds[i + 1] - first <= Stage::ELEMENTS; });
      if (fitting == 0) {
        store(segment + done, fold(base + first, base + bounds[done + 1]));
        done += 1;
      } else {
        const StagedElements<T> staged(stage.elements, true);
        const unsigned origin = stageElements<32, itemsFor<Policy::STAGE_VECTORS, Source>>(
            staged, view, base + first, bounds[done + fitting] - first, lane);
        __syncwarp();
        reduceStaged(staged, segment + done, done, fitting, origin);
        done += fitting;
        __syncwarp();
      }
    }
  }

  // Stages the bounds of the segments from `segment` on; returns how many of them end before `endStep` on the
  // path.
  __device__ unsigned stageBounds(std::size_t segment, std::size_t base, std::size_t endStep) const {
    const std::size_t left = path.segments - segment;
    const unsigned count = left < Policy::ends ? static_cast<unsigned>(left) : Policy::ends;
    __syncwarp();
#pragma unroll 4
    for (unsigned i = lane; i <= count; i += 32) {
      const std::size_t bound = path.begin(segment + i) - base;
      stage.bounds[i] = bound < FAR ? static_cast<unsigned>(bound) : FAR;
    }
    __syncwarp();
    const std::size_t room = endStep - path.step(base, segment);
    const unsigned* bounds = stage.bounds;
    return countWhile(0, count, lane, [=](unsigned i) {
      return bounds[i + 1] < FAR && bounds[i + 1] + Policy::endSteps * i < room;
    });
  }

  // The steps [step, endStep) of the path, the share of warp `warp`.
  __device__ void run(std::size_t warp, std::size_t step, std::size_t endStep) const {
    std::size_t segment = path.segmentAt(step);
    if (path.firstStep(segment) < step) {
      const bool ends = path.endStep(segment) < endStep;
      const std::size_t end = ends ? path.end(segment) : path.element(endStep, segment);
      share(segment, fold(path.element(step, segment), end), scratch.continued[warp]);
      if (!ends) return;
      ++segment;
    }
    while (segment < path.segments && path.firstStep(segment) < endStep) {
      const std::size_t base = path.begin(segment);
      const unsigned whole = stageBounds(segment, base, endStep);
      reduceWhole(segment, whole, base);
      segment += whole;
      if (whole < Policy::ends) break;
    }
    if (segment < path.segments && path.firstStep(segment) < endStep)
      share(segment, fold(path.begin(segment), path.element(endStep, segment)), scratch.begun[warp]);
  }
};

template <class Policy, class View, class Offset, class Reducer>
GPUOPT_KERNEL void __launch_bounds__(Policy::BLOCK, 1024 / Policy::BLOCK)
    segmentsKernel(const View view, const Offset* offsets, const std::size_t segments,
                   const std::size_t warps, const Reducer reducer,
                   const SegmentScratch<typename Reducer::Partial> scratch, typename Reducer::Result* out) {
  constexpr int WARPS = Policy::BLOCK / 32;
  using Stage = SegmentStage<Policy, typename View::Element>;
  alignas(Stage) __shared__ unsigned char storage[WARPS * sizeof(Stage)];
  overlapPreviousKernel();
  SegmentPath<Offset, Policy::endSteps> path{offsets, segments, 0, 1};
  path.base = path.begin(0);
  const std::size_t steps = path.length();
  path.share = (steps + warps - 1) / warps;
  if (path.share < Policy::warpItems) path.share = Policy::warpItems;
  const std::size_t warp = blockIdx.x * std::size_t{WARPS} + threadIdx.x / 32;
  const std::size_t step = warp * path.share;
  if (step >= steps) return;
  Stage& stage = reinterpret_cast<Stage*>(storage)[threadIdx.x / 32];
  const SegmentWarp<Policy, View, Offset, Reducer> work{
      view, reducer, path, scratch, stage, out, static_cast<unsigned>(laneIndex())};
  work.run(warp, step, step + path.share < steps ? step + path.share : steps);
}

template <class Policy, class View, class Offset, class Reducer>
void launchSegments(const View& view, const Offset* offsets, std::size_t segments, const Reducer& reducer,
                    typename Reducer::Result* out, cudaStream_t stream, Workspace* workspace) {
  using Partial = typename Reducer::Partial;
  const std::size_t most =
      smallerOf(Workspace::capacity / (2 * sizeof(Partial)), std::size_t{Workspace::counterCount});
  const std::size_t warps = smallerOf(Policy::warps, most);
  WorkspaceLease lent = lease(workspace, stream);
  Partial* partials = static_cast<Partial*>(lent.data());
  launch(segmentsKernel<Policy, View, Offset, Reducer>,
         gridConfig(Policy::BLOCK, ceilDivide(warps, Policy::BLOCK / 32), stream, "gpuopt::reduceSegments"),
         view, offsets, segments, warps, reducer,
         SegmentScratch<Partial>{partials, partials + warps, lent.counters()}, out);
  lent.done();
}

template <class Policy, class It, class Offset, class Reducer>
void reduceSegmentsTo(It in, const Offset* offsets, std::size_t segments, const Reducer& reducer,
                      typename Reducer::Result* out, cudaStream_t stream, Workspace* workspace) {
  static_assert(std::is_integral_v<Offset>, "gpuopt::reduceSegments: offsets must be integers");
  const auto requireNotNull = [segments](bool null, const char* name) {
    if (null) throwInvalid({"gpuopt::reduceSegments: ", name, " is null, but segments is ", segments});
  };
  if (segments == 0) return;
  requireNotNull(offsets == nullptr, "offsets");
  requireNotNull(out == nullptr, "out");
  withView(in, [&](const auto& view) {
    launchSegments<Policy>(view, offsets, segments, reducer, out, stream, workspace);
  });
}

}  // namespace detail

/// \name Segments
/// out[s] = op over in[i] for offsets[s] <= i < offsets[s + 1], and over `init` where it is given, for every
/// segment s. `in` is a device pointer of any element alignment or a random-access iterator; `offsets` device
/// memory of segments + 1 integers of any type, ascending; `out` device memory for `segments` accumulators.
/// An empty segment gives `init`, or the identity, or where neither exists A{}. `in` may be null if all
/// segments are empty. No segments: nothing happens. Up to 2^44 elements. Asynchronous; one launch; uses the
/// Workspace. Throws std::invalid_argument for null pointers.
///
/// Cost: one read of elements and offsets, near the speed of a plain sum from 512 floats a segment on, two
/// thirds of it for short ones of random lengths, and never that of one block for a giant one: elements and
/// segments are divided evenly among 4096 warps wherever segments begin and end. The order of operations
/// depends on the offsets, the types and the alignment of `in`. Technique: merge-based partition (Merrill and
/// Garland, "Merge-based parallel sparse matrix-vector multiplication", 2016).
/// \{

/// \param op the operation, Plus unless given
/// \param stream the launch is queued there
/// \param workspace scratch memory; the library's own for this stream unless given
/// \tparam Policy ReduceSegmentsPolicy, or a type derived from it
template <class A = DefaultAccumulator, class Policy = ReduceSegmentsPolicy, class It, class Offset, class Op,
          class Init, class = detail::EnableInit<Init, Reduced<A, Op, It>>>
void reduceSegments(It in, const Offset* offsets, std::size_t segments, Reduced<A, Op, It>* out, Op op,
                    Init init, cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const detail::Fold<Reduced<A, Op, It>, Op> fold{op, detail::some<Reduced<A, Op, It>>(init)};
  detail::reduceSegmentsTo<Policy>(in, offsets, segments, fold, out, stream, workspace);
}

template <class A = DefaultAccumulator, class Policy = ReduceSegmentsPolicy, class It, class Offset,
          class Op = Plus>
void reduceSegments(It in, const Offset* offsets, std::size_t segments, Reduced<A, Op, It>* out, Op op = {},
                    cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const detail::Fold<Reduced<A, Op, It>, Op> fold{op, detail::nothing<Reduced<A, Op, It>>()};
  detail::reduceSegmentsTo<Policy>(in, offsets, segments, fold, out, stream, workspace);
}

/// \}

GPUOPT_NAMESPACE_END
