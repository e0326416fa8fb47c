/// What the tests of permutations share: tensors anywhere in memory whose every element is known before and checked
/// after.
// SPDX-License-Identifier: MIT
#pragma once

#include "any_bits.cuh"
#include "catch.hpp"
#include "device_array.cuh"
#include "host_test.cuh"
#include "portion.hpp"

#include <gpuopt/permute.cuh>

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt::test {

/// COUNT words as one element.
template <class Word, int COUNT>
struct Words {
  Word word[COUNT];
};

/// Where a tensor is in its memory. Numbers count elements, `shift` bytes.
struct Layout {
  AxisNumbers extents;
  AxisNumbers strides;
  std::ptrdiff_t first = 0;  ///< the element with all indices 0
  std::size_t shift = 0;

  /// A dense tensor, `first` elements after the memory's begin.
  static Layout dense(const AxisNumbers& extents, std::ptrdiff_t first = 0) {
    return {extents, TensorView<char>(nullptr, extents).strides, first};
  }

  /// Bit k of `reversed`: the indices of axis k count downwards. `gap` elements follow the end of each axis.
  static Layout spread(const AxisNumbers& extents, std::ptrdiff_t gap, unsigned reversed = 0,
                       std::ptrdiff_t first = 0) {
    Layout layout{extents, extents, first};
    std::ptrdiff_t stride = 1;
    for (std::size_t k = extents.rank; k-- > 0;) {
      const bool isReversed = (reversed >> k & 1) != 0;
      layout.strides.value[k] = isReversed ? -stride : stride;
      if (isReversed && extents[k] > 0) layout.first += stride * (extents[k] - 1);
      stride = stride * extents[k] + gap;
    }
    return layout;
  }

  Layout moved(std::size_t bytes) const {
    Layout layout = *this;
    layout.shift = bytes;
    return layout;
  }

  /// The elements in memory from its begin to behind the last one.
  std::size_t end() const {
    std::ptrdiff_t last = first;
    for (std::size_t k = 0; k < extents.rank; ++k) last += std::max<std::ptrdiff_t>(0, strides[k]) * (extents[k] - 1);
    return static_cast<std::size_t>(last + 1);
  }

  template <class T>
  TensorView<T> view(T* memory) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const unsigned char, unsigned char>;
    return {reinterpret_cast<T*>(reinterpret_cast<Byte*>(memory) + shift) + first, extents, strides};
  }
};

inline AxisNumbers permuted(const AxisNumbers& numbers, const AxisNumbers& axes) {
  AxisNumbers result;
  for (std::size_t i = 0; i < axes.rank; ++i) result.add(numbers[static_cast<std::size_t>(axes[i])]);
  return result;
}

inline AxisNumbers reversedAxes(std::size_t rank) {
  AxisNumbers axes;
  for (std::size_t i = rank; i-- > 0;) axes.add(static_cast<std::ptrdiff_t>(i));
  return axes;
}

/// Calls visit(position in `a`, position in `b`) for all indices.
template <class Visit>
void visitPairs(const AxisNumbers& extents, const AxisNumbers& a, const AxisNumbers& b, Visit visit) {
  std::size_t n = 1;
  for (std::size_t k = 0; k < extents.rank; ++k) n *= static_cast<std::size_t>(extents[k]);
  std::ptrdiff_t index[AxisNumbers::CAPACITY] = {}, inA = 0, inB = 0;
  for (std::size_t i = 0; i < n; ++i) {
    visit(inA, inB);
    for (std::size_t k = extents.rank; k-- > 0;) {
      inA += a[k], inB += b[k];
      if (++index[k] < extents[k]) break;
      inA -= a[k] * index[k], inB -= b[k] * index[k], index[k] = 0;
    }
  }
}

/// Calls use(axes) for every order of `rank` axes.
template <class Use>
void forEveryOrder(std::size_t rank, Use use) {
  std::vector<int> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  do use(AxisNumbers(axes));
  while (std::next_permutation(axes.begin(), axes.end()));
}

/// Memory for permutations from In to Out that are checked one after another: all elements that must be written, and
/// that nothing else is.
template <class In, class Out = In>
class PermuteCheck {
 public:
  /// The elements of each memory, in which tensors begin at 0.
  explicit PermuteCheck(std::size_t elements)
      : elements_(elements),
        in_(elements + 2 * GUARD),
        out_(elements + 2 * GUARD),
        inValues_(indexCoded<In>(elements + 2 * GUARD)),
        outValues_(indexCoded<Out>(elements + 2 * GUARD, OUT_CODE)) {
    in_.fill(inValues_);
    out_.fill(outValues_);
  }

  TensorView<const In> inView(const Layout& layout) const { return layout.view<const In>(in_.data() + GUARD); }
  TensorView<Out> outView(const Layout& layout) { return layout.view<Out>(out_.data() + GUARD); }

  /// Permutes views, with a function on the way if there is one.
  template <class... F>
  void operator()(const Layout& in, const Layout& out, const AxisNumbers& axes, F... function) {
    if (!runsNextCase()) return;
    expect(
        in, out, axes, [&] { permute(inView(in), outView(out), axes, function...); }, function...);
    expect(
        in, out, axes, [&] { permuteAsLarge(inView(in).permuted(axes), outView(out), function...); }, function...);
  }

  /// Checks what `call` does to these tensors.
  template <class Call, class... F>
  void expect(const Layout& in, const Layout& out, const AxisNumbers& axes, Call call, F... function) {
    if (in.end() * sizeof(In) + in.shift > elements_ * sizeof(In)) throw std::logic_error("in: no room");
    if (out.end() * sizeof(Out) + out.shift > elements_ * sizeof(Out)) throw std::logic_error("out: no room");
    call();
    std::vector<Out> expected = outValues_;
    const auto* from = reinterpret_cast<const unsigned char*>(inValues_.data() + GUARD) + in.shift;
    auto* to = reinterpret_cast<unsigned char*>(expected.data() + GUARD) + out.shift;
    const auto move = [&](std::ptrdiff_t i, std::ptrdiff_t o) {
      In element;
      std::memcpy(static_cast<void*>(&element), from + (in.first + i) * size<In>, sizeof(In));
      const Out result = resultOf(element, function...);
      std::memcpy(to + (out.first + o) * size<Out>, &result, sizeof(Out));
    };
    visitPairs(out.extents, permuted(in.strides, axes), out.strides, move);
    const std::vector<Out> found = readBack();
    if (!sameBytes(found, expected)) fail(in, out, axes, found, expected);
  }

  /// To be called at the end: nothing was wrong, and the input is as it was.
  void finish() {
    CHECK(failures_ == 0);
    CHECK(sameBytes(in_.toHost(), inValues_));
    CHECK(sameBytes(out_.toHost(), outValues_));
  }

 private:
  static constexpr std::size_t GUARD = 256;
  static constexpr std::uint64_t OUT_CODE = std::uint64_t{1} << 50;
  template <class T>
  static constexpr auto size = static_cast<std::ptrdiff_t>(sizeof(T));

  // By the kernel that takes tensors of this shape when they have many elements.
  template <class... F>
  static void permuteAsLarge(const TensorView<const In>& in, const TensorView<Out>& out, F... function) {
    detail::PermuteTuning tuning;
    tuning.smallElements = 0;
    const detail::PermuteKernelPlan plan = detail::permutePlan(in, out, sizeof...(F) == 0, tuning);
    const auto applied = detail::appliedTo<Out>(function...);
    using Element = detail::Boxed<In>;
    using Result = detail::Boxed<Out>;
    if (plan.algorithm == detail::PermuteAlgorithm::transpose) {
      const auto problem = detail::permuteMatrixProblem<Element, Result>(plan, applied);
      detail::launchTranspose(problem, detail::planOf(problem), nullptr);
    } else {
      detail::launchPermute<Element, Result>(plan, applied, nullptr);
    }
  }

  static Out resultOf(const In& element) { return element; }
  template <class F>
  static Out resultOf(const In& element, F function) {
    return static_cast<Out>(function(element));
  }

  // The output's memory, which then is as it was.
  std::vector<Out> readBack() {
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::vector<Out> found(outValues_.size());
    const std::size_t bytes = found.size() * sizeof(Out);
    checkCuda(cudaMemcpy(found.data(), out_.data(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    checkCuda(cudaMemcpy(out_.data(), outValues_.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    return found;
  }

  void fail(const Layout& in, const Layout& out, const AxisNumbers& axes, const std::vector<Out>& found,
            const std::vector<Out>& expected) {
    if (++failures_ > 5) return;
    std::size_t wrong = 0;
    while (sameBits(found[wrong], expected[wrong])) ++wrong;
    std::string plan = explainPermute(inView(in), inOut(out), axes);
    FAIL_CHECK(sizeof(In) << " to " << sizeof(Out) << " bytes, axes " << detail::inWords(axes) << ", in "
                          << detail::inWords(in.extents) << " strides " << detail::inWords(in.strides) << " first "
                          << in.first << " shift " << in.shift << ", out strides " << detail::inWords(out.strides)
                          << " first " << out.first << " shift " << out.shift << ": element "
                          << static_cast<std::ptrdiff_t>(wrong - GUARD) << " of the memory is wrong; " << plan);
  }

  // The output's layout over elements of the input's type, for the words of the plan.
  TensorView<In> inOut(const Layout& layout) { return layout.view<In>(reinterpret_cast<In*>(out_.data() + GUARD)); }

  std::size_t elements_;
  DeviceArray<In> in_;
  DeviceArray<Out> out_;
  std::vector<In> inValues_;
  std::vector<Out> outValues_;
  int failures_ = 0;
};

/// Calls that must be refused with this message, on memory that stays as it was.
class Refusals {
 public:
  template <class Call>
  void operator()(const std::string& expected, Call call) {
    CHECK(messageOf<std::invalid_argument>([&] { call(memory_.data()); }) == expected);
  }
  ~Refusals() { checkTrue(sameBytes(memory_.toHost(), values_)); }

 private:
  std::vector<int> values_ = indexCoded<int>(315);
  DeviceArray<int> memory_{values_};
};

}  // namespace gpuopt::test
