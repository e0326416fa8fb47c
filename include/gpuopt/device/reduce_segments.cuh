/// \file
/// Reductions of consecutive segments of any lengths: reduceSegments.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/view.cuh>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace gpuopt {

/// How reduceSegments is cut up. Pass a type derived from this one as template argument to change a value.
/// Nothing depends on the device.
struct SegmentsPolicy {
  static constexpr int BLOCK = 128;         ///< threads a block
  static constexpr int VECTORS = 8;         ///< 16-byte loads in flight a thread within a long segment
  static constexpr int STAGE_VECTORS = 8;   ///< the same while short segments are brought into shared memory
  static constexpr unsigned stagedBytes = 4 << 10;  ///< of elements that a warp stages at a time
  static constexpr unsigned ends = 256;             ///< ends of segments that a warp looks at at a time
  static constexpr unsigned laneElements = 64;      ///< up to here one lane adds up a staged segment, above a warp does
  static constexpr std::size_t warps = 4096;        ///< between which elements and segments are divided
  static constexpr std::size_t warpItems = 1024;    ///< but every one takes so many
};

namespace detail {

// The work is a path: segment after segment, its elements one after another and then its end. Every warp takes the same number of
// steps on it, wherever they lie, so neither one giant segment nor a million empty ones make a warp late
// (merge-based partition, Merrill and Garland 2016). A segment that several warps share is joined by the last of them to arrive.
template <class Offset>
struct SegmentPath {
  const Offset* offsets;
  std::size_t segments;
  std::size_t base;   // offsets[0]
  std::size_t share;  // steps of a warp

  __device__ std::size_t begin(std::size_t s) const { return static_cast<std::size_t>(offsets[s]); }
  __device__ std::size_t end(std::size_t s) const { return static_cast<std::size_t>(offsets[s + 1]); }

  // Places on the path: of a segment's first step, of its end, of the whole path's.
  __device__ std::size_t firstStep(std::size_t s) const { return begin(s) - base + s; }
  __device__ std::size_t endStep(std::size_t s) const { return end(s) - base + s; }
  __device__ std::size_t length() const { return firstStep(segments); }

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

// Where warps leave their part of a segment that they share: of one that began before them, and of one that goes on after them.
template <class Partial>
struct SegmentScratch {
  Partial* continued;
  Partial* begun;
  unsigned* arrivals;
};

template <class Policy, class T>
inline constexpr unsigned stagedCount = std::is_trivially_copyable_v<T> ? Policy::stagedBytes / sizeof(T) : 0;

// A warp's shared memory.
template <class Policy, class T>
struct SegmentStage {
  StagedElements<T, stagedCount<Policy, T>> elements;
  std::size_t bounds[Policy::ends + 1];
};

template <class Policy, class View, class Offset, class Reducer>
struct SegmentWarp {
  using Source = typename View::Source;
  using Partial = typename Reducer::Partial;
  using Op = decltype(std::declval<const Reducer&>().combiner());
  using T = typename View::Element;

  const View& view;
  const Reducer& reducer;
  const SegmentPath<Offset>& path;
  const SegmentScratch<Partial>& scratch;
  SegmentStage<Policy, T>& stage;
  typename Reducer::Result* out;

  // The fold of the elements [first, end), in lane 0.
  __device__ Partial fold(std::size_t first, std::size_t end) const {
    Partial partial = reducer.empty();
    addPart<32, itemsFor<Policy::VECTORS, Source>>(partial, view, reducer, first, end - first,
                                                   static_cast<unsigned>(laneIndex()));
    return warpReduce(partial, reducer.combiner());
  }

  __device__ void store(std::size_t segment, const Partial& partial) const {
    if (laneIndex() == 0) out[segment] = reducer.finish(partial);
  }

  // Leaves this warp's part of a segment; the last of its warps joins all of them.
  __device__ void share(std::size_t segment, const Partial& partial, Partial& place) const {
    const std::size_t first = path.firstStep(segment) / path.share;
    const std::size_t last = path.endStep(segment) / path.share;
    const auto parts = static_cast<unsigned>(last - first);
    int arrivedLast = 0;
    if (laneIndex() == 0) {
      place = partial;
      arrivedLast = arriveLast(scratch.arrivals + first, parts + 1);
    }
    if (__shfl_sync(fullMask, arrivedLast, 0) == 0) return;
    const Partial rest = joinPartials(scratch.continued + first + 1, parts, reducer.empty(), reducer.combiner());
    store(segment, reducer.combiner()(scratch.begun[first], rest));
  }

  // How many of the segments from `from` on end at `end` or before: their bounds rise.
  __device__ unsigned countUpTo(unsigned from, unsigned count, std::size_t end) const {
    unsigned total = 0;
    for (unsigned first = from; first < count; first += 32) {
      const unsigned i = first + static_cast<unsigned>(laneIndex());
      const unsigned within = __ballot_sync(fullMask, i < count && stage.bounds[i + 1] <= end);
      total += static_cast<unsigned>(__popc(within));
      if (within != fullMask) break;
    }
    return total;
  }

  // Adds up segments that lie in shared memory, short ones by a lane each, others by all lanes.
  __device__ void reduceStaged(std::size_t segment, unsigned from, unsigned count) const {
    const std::size_t tile = stage.bounds[from];
    for (unsigned first = 0; first < count; first += 32) {
      const unsigned i = first + static_cast<unsigned>(laneIndex());
      const unsigned mine = from + (i < count ? i : count - 1);
      const auto begin = static_cast<unsigned>(stage.bounds[mine] - tile);
      const auto end = static_cast<unsigned>(stage.bounds[mine + 1] - tile);
      const bool alone = end - begin <= Policy::laneElements;
      if (i < count && alone) {
        Partial partial = reducer.empty();
        addStaged(partial, stage.elements, reducer, begin, end, 1);
        out[segment + i] = reducer.finish(partial);
      }
      for (unsigned others = __ballot_sync(fullMask, i < count && !alone); others != 0; others &= others - 1) {
        const int lane = __ffs(static_cast<int>(others)) - 1;
        Partial partial = reducer.empty();
        addStaged(partial, stage.elements, reducer, __shfl_sync(fullMask, begin, lane) + static_cast<unsigned>(laneIndex()),
                  __shfl_sync(fullMask, end, lane), 32);
        store(segment + first + static_cast<unsigned>(lane), warpReduce(partial, reducer.combiner()));
      }
    }
  }

  // `count` whole segments from `segment` on, whose bounds are staged.
  __device__ void reduceWhole(std::size_t segment, unsigned count) const {
    for (unsigned done = 0; done < count;) {
      const std::size_t first = stage.bounds[done];
      const unsigned fitting = countUpTo(done, count, first + stagedCount<Policy, T>);
      if (fitting == 0) {
        store(segment + done, fold(first, stage.bounds[done + 1]));
        done += 1;
      } else {
        if constexpr (stagedCount<Policy, T> > 0)
          stageElements<32, itemsFor<Policy::STAGE_VECTORS, Source>>(stage.elements, view, first,
                                                                     static_cast<unsigned>(stage.bounds[done + fitting] - first),
                                                                     static_cast<unsigned>(laneIndex()));
        __syncwarp();
        reduceStaged(segment + done, done, fitting);
        done += fitting;
        __syncwarp();
      }
    }
  }

  // Stages the bounds of the segments from `segment` on; returns how many of them end before `endStep` on the path.
  __device__ unsigned stageBounds(std::size_t segment, std::size_t endStep) const {
    const std::size_t left = path.segments - segment;
    const unsigned count = left < Policy::ends ? static_cast<unsigned>(left) : Policy::ends;
    __syncwarp();
    for (unsigned i = static_cast<unsigned>(laneIndex()); i <= count; i += 32) stage.bounds[i] = path.begin(segment + i);
    __syncwarp();
    unsigned total = 0;
    for (unsigned first = 0; first < count; first += 32) {
      const unsigned i = first + static_cast<unsigned>(laneIndex());
      const bool before = i < count && stage.bounds[i + 1] - path.base + segment + i < endStep;
      const unsigned within = __ballot_sync(fullMask, before);
      total += static_cast<unsigned>(__popc(within));
      if (within != fullMask) break;
    }
    return total;
  }

  // The steps [step, endStep) of the path, the share of warp `warp`.
  __device__ void run(std::size_t warp, std::size_t step, std::size_t endStep) const {
    std::size_t segment = path.segmentAt(step);
    if (path.firstStep(segment) < step) {
      const bool ends = path.endStep(segment) < endStep;
      const std::size_t end = ends ? path.end(segment) : path.base + endStep - segment;
      share(segment, fold(path.base + step - segment, end), scratch.continued[warp]);
      if (!ends) return;
      ++segment;
    }
    while (segment < path.segments) {
      const unsigned whole = stageBounds(segment, endStep);
      reduceWhole(segment, whole);
      segment += whole;
      if (whole < Policy::ends) break;
    }
    if (segment < path.segments && path.firstStep(segment) < endStep)
      share(segment, fold(path.begin(segment), path.base + endStep - segment), scratch.begun[warp]);
  }
};

template <class Policy, class View, class Offset, class Reducer>
__global__ void __launch_bounds__(Policy::BLOCK, 1)
    segmentsKernel(const View view, const Offset* offsets, const std::size_t segments, const std::size_t warps,
                   const Reducer reducer, const SegmentScratch<typename Reducer::Partial> scratch,
                   typename Reducer::Result* out) {
  constexpr int WARPS = Policy::BLOCK / 32;
  using Stage = SegmentStage<Policy, typename View::Element>;
  alignas(Stage) __shared__ unsigned char storage[WARPS * sizeof(Stage)];
  overlapPreviousKernel();
  SegmentPath<Offset> path{offsets, segments, 0, 1};
  path.base = path.begin(0);
  const std::size_t steps = path.length();
  path.share = (steps + warps - 1) / warps;
  if (path.share < Policy::warpItems) path.share = Policy::warpItems;
  const std::size_t warp = blockIdx.x * std::size_t{WARPS} + threadIdx.x / 32;
  const std::size_t step = warp * path.share;
  if (step >= steps) return;
  Stage& stage = reinterpret_cast<Stage*>(storage)[threadIdx.x / 32];
  const SegmentWarp<Policy, View, Offset, Reducer> work{view, reducer, path, scratch, stage, out};
  work.run(warp, step, step + path.share < steps ? step + path.share : steps);
}

template <class Policy, class View, class Offset, class Reducer>
void launchSegments(const View& view, const Offset* offsets, std::size_t segments, const Reducer& reducer,
                    typename Reducer::Result* out, cudaStream_t stream, Workspace* workspace) {
  using Partial = typename Reducer::Partial;
  const std::size_t most = (std::min)(Workspace::capacity / (2 * sizeof(Partial)), std::size_t{Workspace::counterCount});
  const std::size_t warps = (std::min)(Policy::warps, most);
  WorkspaceLease lent = lease(workspace, stream);
  Partial* partials = static_cast<Partial*>(lent.data());
  launch(segmentsKernel<Policy, View, Offset, Reducer>,
         matrixConfig(Policy::BLOCK, ceilDivide(warps, Policy::BLOCK / 32), stream, "gpuopt::reduceSegments"), view, offsets,
         segments, warps, reducer, SegmentScratch<Partial>{partials, partials + warps, lent.counters()}, out);
  lent.done();
}

template <class Policy, class It, class Offset, class Reducer>
void reduceSegmentsTo(It in, const Offset* offsets, std::size_t segments, const Reducer& reducer,
                      typename Reducer::Result* out, cudaStream_t stream, Workspace* workspace) {
  static_assert(std::is_integral_v<Offset>, "gpuopt::reduceSegments: offsets must be integers");
  const auto requireNotNull = [segments](bool null, const char* name) {
    if (null)
      throw std::invalid_argument(std::string("gpuopt::reduceSegments: ") + name + " is null, but segments is " +
                                  std::to_string(segments));
  };
  if (segments == 0) return;
  requireNotNull(offsets == nullptr, "offsets");
  requireNotNull(out == nullptr, "out");
  withView(in, [&](const auto& view) { launchSegments<Policy>(view, offsets, segments, reducer, out, stream, workspace); });
}

}  // namespace detail

/// \name Segments
/// out[s] = op over in[i] for offsets[s] <= i < offsets[s + 1], and over `init` where it is given, for every segment s.
/// `in` is a device pointer of any element alignment or a random-access iterator; `offsets` device memory of segments + 1
/// integers of any type, ascending; `out` device memory for `segments` accumulators. An empty segment gives `init`, or the identity, or
/// where neither exists A{}. `in` may be null if all segments are empty. No segments: nothing happens.
/// Asynchronous; one launch; uses the Workspace. Throws std::invalid_argument for null pointers.
///
/// Cost: one read of elements and offsets at near the speed of a plain sum, whatever the lengths: elements and segments are divided evenly among 4096 warps
/// wherever segments begin and end. The order of operations depends on the offsets, the types and the alignment of `in`.
/// Technique: merge-based partition (Merrill and Garland, "Merge-based parallel sparse matrix-vector multiplication", 2016).
/// \{

template <class A = DefaultAccumulator, class Policy = SegmentsPolicy, class It, class Offset, class Op, class Init,
          class = detail::EnableInit<Init, Reduced<A, Op, It>>>
void reduceSegments(It in, const Offset* offsets, std::size_t segments, Reduced<A, Op, It>* out, Op op, Init init,
                    cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const detail::Fold<Reduced<A, Op, It>, Op> fold{op, detail::some<Reduced<A, Op, It>>(init)};
  detail::reduceSegmentsTo<Policy>(in, offsets, segments, fold, out, stream, workspace);
}

template <class A = DefaultAccumulator, class Policy = SegmentsPolicy, class It, class Offset, class Op = Plus>
void reduceSegments(It in, const Offset* offsets, std::size_t segments, Reduced<A, Op, It>* out, Op op = {},
                    cudaStream_t stream = nullptr, Workspace* workspace = nullptr) {
  const detail::Fold<Reduced<A, Op, It>, Op> fold{op, detail::nothing<Reduced<A, Op, It>>()};
  detail::reduceSegmentsTo<Policy>(in, offsets, segments, fold, out, stream, workspace);
}

/// \}

}  // namespace gpuopt
