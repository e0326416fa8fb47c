/// \file
/// meanBy: sums by keys, counts, and their quotients.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/keyed/reduce_by.cuh>
#include <gpuopt/device/structs/transform_pair.cuh>
#include <gpuopt/host/memory.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

struct MeanOf {
  template <class A, class Count>
  __device__ A operator()(A sum, Count count) const {
    return sum / static_cast<A>(count);  // NaN of no values
  }
};

template <class It, class Keys, class OutIt>
constexpr bool requireMeanBy() {
  using A = std::remove_pointer_t<Unwrapped<OutIt>>;
  constexpr bool IS_FLOATING = std::is_floating_point_v<A>;
  static_assert(IS_FLOATING, "gpuopt::meanBy: out must have floating-point numbers");
  return IS_FLOATING && requireReduceBy<It, Keys, OutIt, Plus>();
}

template <class Policy, class It, class Keys, class A>
void meanByChecked(It values, std::size_t n, const Keys& keys, std::size_t bins, A* out, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range("gpuopt::meanBy");
  constexpr const char* function = "gpuopt::meanBy";
  reduceByChecked<Policy>(function, values, n, keys, bins, out, Plus{}, stream);
  using Count = unsigned long long;
  const ScratchMemory scratch(bins * sizeof(Count), stream);
  auto* const counts = reinterpret_cast<Count*>(scratch.data());
  const auto count = [&](auto in, const auto& binOf) {
    const NumberedBins<std::decay_t<decltype(binOf)>, false> slotOf{binOf, static_cast<unsigned>(bins)};
    histogramOf<HistogramPolicy>(function, in, n, counts, bins, slotOf, stream);
  };
  if constexpr (isKeys<Keys>)
    count(keys, Identity{});
  else
    count(values, keys);
  transformPairChecked(out, counts, bins, out, MeanOf{}, function, stream);
}

GPUOPT_DETAIL_END
