/// \file
/// transform with three inputs.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/device/structs/transform.cuh>

#include <cstddef>
#include <iterator>

GPUOPT_DETAIL_BEGIN

// An element of each of three arrays.
template <class In1, class In2, class In3>
struct ThreeElements {
  In1 first;
  In2 second;
  In3 third;
};

// Three arrays as one input, read element by element.
template <class In1, class In2, class In3>
struct ThreeArrays {
  using value_type = ThreeElements<In1, In2, In3>;
  using difference_type = std::ptrdiff_t;
  using pointer = const value_type*;
  using reference = value_type;
  using iterator_category = std::random_access_iterator_tag;

  const In1* in1;
  const In2* in2;
  const In3* in3;

  __device__ value_type operator[](std::ptrdiff_t i) const { return {in1[i], in2[i], in3[i]}; }
};

// A function of three elements as one of ThreeElements.
template <class Out, class F>
struct OnThree {
  F f;

  template <class In1, class In2, class In3>
  __device__ Out operator()(const ThreeElements<In1, In2, In3>& elements, std::size_t i) const {
    return static_cast<Out>(callForStruct(f, i, elements.first, elements.second, elements.third));
  }
};

// n is not 0.
template <class In1, class In2, class In3, class Out, class F>
GPUOPT_HIDDEN void launchTransformThree(const In1* in1, const In2* in2, const In3* in3, std::size_t n, Out* out,
                                        const F& f, const char* function, cudaStream_t stream) {
  using Arrays = ThreeArrays<In1, In2, In3>;
  using Block = TransformBlockOf<Arrays, Out>;
  const auto request = structsRequest<Block, TransformTiles<Out, In1, In2, In3>>(n, stagesTiles<Block, Out>,
                                                                                 sizeof(Out), out, in1, in2, in3);
  const StructsCall call{planStructs(request), function, stream};
  if (call.plan.algorithm == StructsAlgorithm::words) return launchTransformWords(call, out, f, in1, in2, in3);
  launchTransformTiles(call, Arrays{in1, in2, in3}, out, OnThree<Out, F>{f});
}

// Checks the arguments, and launches if there is anything to do.
template <class It1, class It2, class It3, class OutIt, class F>
void transformThreeChecked(It1 iterator1, It2 iterator2, It3 iterator3, std::size_t n, OutIt iterator, const F& f,
                           const char* function, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  const auto in1 = readFrom(Unwrap<It1>::pointer(iterator1));
  const auto in2 = readFrom(Unwrap<It2>::pointer(iterator2));
  const auto in3 = readFrom(Unwrap<It3>::pointer(iterator3));
  const auto out = Unwrap<OutIt>::pointer(iterator);
  if constexpr (requireStruct<ElementOf<It1>>() && requireStruct<ElementOf<It2>>() && requireStruct<ElementOf<It3>>() &&
                requireStruct<ElementOf<OutIt>>()) {
    requireTransform(in1, n, out, function, "in1");
    requireTransform(in2, n, out, function, "in2");
    requireTransform(in3, n, out, function, "in3");
    if (n > 0) launchTransformThree(in1, in2, in3, n, out, f, function, stream);
  }
}

GPUOPT_DETAIL_END
