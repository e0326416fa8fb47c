/// What the tests of the transposition share: elements that tell their place, and memory whose every element
/// is known before and checked after.
// SPDX-License-Identifier: MIT
#pragma once

#include "any_bits.cuh"
#include "catch.hpp"
#include "device_array.cuh"
#include "portion.hpp"

#include <gpuopt/core/integers.cuh>
#include <gpuopt/host/launch.cuh>
#include <gpuopt/transpose.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace gpuopt::test {

/// An element of COUNT * sizeof(Word) bytes at the alignment of Word.
template <class Word, int COUNT>
struct Pack {
  Word words[COUNT];
};

using Bytes3 = Pack<unsigned char, 3>;
using Bytes6 = Pack<unsigned short, 3>;
using Bytes12 = Pack<unsigned, 3>;
using Bytes16 = Pack<uint4, 1>;
using Bytes20 = Pack<unsigned, 5>;
using Bytes24 = Pack<double, 3>;
using Bytes32 = Pack<uint4, 2>;
using Bytes100 = Pack<unsigned, 25>;
using Bytes128 = Pack<uint4, 8>;

/// The element for a place: a whole number from 0 to 100.
struct WholeNumbers {
  template <class T>
  static __host__ __device__ T at(std::uint64_t place) {
    return static_cast<T>(static_cast<float>(static_cast<int>(hashOf(place) % 101)));
  }
};

/// Whether element i of the matrices of `out` is what function makes of the right one of `in`; it is painted
/// over then, so that only what lies between the elements can still be wrong. The values in both memories
/// tell the distance from the memory's begin; nobody looks at those of `in` any more.
template <class Values, class In, class Out, class F>
struct IsTransposed {
  MatrixView<In> in;
  const In* inBegin;
  MatrixView<Out> out;
  Out* outBegin;
  std::uint64_t outCode;
  F function;

  __host__ __device__ bool operator()(std::size_t i) const {
    const std::size_t r = i % in.rows, c = i / in.rows % in.cols, b = i / in.rows / in.cols;
    const std::size_t from = static_cast<std::size_t>(in.data - inBegin) + b * in.batchStride + r * in.ld + c;
    const std::size_t to = static_cast<std::size_t>(out.data - outBegin) + b * out.batchStride + c * out.ld + r;
    using Element = std::remove_const_t<In>;
    const auto expected = static_cast<Out>(function(Values::template at<Element>(from)));
    const bool right = sameBits(outBegin[to], expected);
    outBegin[to] = Values::template at<Out>(outCode + to);
    return right;
  }
};

/// A transposition: shape, and how both sides lie in memory, all in elements.
struct Case {
  std::size_t rows;
  std::size_t cols;
  std::size_t inGap = 0;  ///< between rows
  std::size_t outGap = 0;
  std::size_t inOffset = 0;  ///< off 256-byte alignment
  std::size_t outOffset = 0;
  std::size_t batch = 1;
  std::size_t inSkip = 0;  ///< between matrices
  std::size_t outSkip = 0;

  bool isPlain() const { return batch == 1 && inGap == 0 && outGap == 0; }
};

template <class T>
std::string text(const MatrixView<T>& view) {
  return std::to_string(view.batch) + " of " + std::to_string(view.rows) + " x " + std::to_string(view.cols) + ", ld " +
         std::to_string(view.ld) + ", stride " + std::to_string(view.batchStride) + ", address modulo 256 " +
         std::to_string(reinterpret_cast<std::uintptr_t>(view.data) % 256);
}

/// Memory for transpositions from In to Out that are checked one after another: all elements that must be
/// written, and that nothing else is. Values says what the elements are.
template <class In, class Out = In, class Values = AnyBits>
class TransposeCheck {
 public:
  /// So many elements, gaps and offsets included, on each side at most.
  explicit TransposeCheck(std::size_t elements)
      : inSize_(elements + 2 * GUARD<In>), outSize_(elements + 2 * GUARD<Out>), in_(inSize_), out_(outSize_) {
    static_cast<void>(inspector_.firstFailure(inSize_, Paint<Values, In>{in_.data(), 0}));
  }

  MatrixView<const In> inView(const Case& c) const {
    const std::size_t ld = c.cols + c.inGap;
    return {in_.data() + GUARD<In> + c.inOffset, c.rows, c.cols, ld, c.batch, c.rows * ld + c.inSkip};
  }

  MatrixView<Out> outView(const Case& c) {
    const std::size_t ld = c.rows + c.outGap;
    return {out_.data() + GUARD<Out> + c.outOffset, c.cols, c.rows, ld, c.batch, c.cols * ld + c.outSkip};
  }

  /// Transposes by the simplest call.
  void operator()(const Case& c) {
    if (!runsNextCase()) return;
    const auto in = inView(c);
    const auto out = outView(c);
    expect(in, out, Identity{}, [&] {
      if (c.isPlain())
        transpose(in.data, out.data, c.rows, c.cols);
      else
        transpose(in, out);
    });
  }

  template <class F>
  void operator()(const Case& c, F function) {
    if (!runsNextCase()) return;
    const auto in = inView(c);
    const auto out = outView(c);
    expect(in, out, function, [&] {
      if (c.isPlain())
        transpose(in.data, out.data, c.rows, c.cols, function);
      else
        transpose(in, out, function);
    });
  }

  /// Checks what `call` does to these parts of the memory.
  template <class F, class Call>
  void expect(const MatrixView<const In>& in, const MatrixView<Out>& out, F function, Call call) {
    const std::size_t end = endOf(out);
    static_cast<void>(endOf(in));
    Out* memory = out_.data();
    static_cast<void>(inspector_.firstFailure(end, Paint<Values, Out>{memory, OUT_CODE}));
    call();
    const std::size_t n = in.rows * in.cols * in.batch;
    const std::size_t wrong = inspector_.firstFailure(
        n, IsTransposed<Values, const In, Out, F>{in, in_.data(), out, memory, OUT_CODE, function});
    if (wrong < n)
      fail(in, out,
           "element " + std::to_string(wrong / in.rows % in.cols) + ", " + std::to_string(wrong % in.rows) +
               " of matrix " + std::to_string(wrong / in.rows / in.cols) + " is wrong");
    if (wrong < n) return;  // on the emulated device not all is painted over
    const std::size_t outside = inspector_.firstFailure(end, IsPainted<Values, Out>{memory, OUT_CODE});
    if (outside < end)
      fail(in, out,
           "written outside, " + std::to_string(static_cast<std::ptrdiff_t>(outside) - (out.data - memory)) +
               " elements from the first");
  }

  /// To be called at the end: nothing was wrong, and the input is as it was.
  void finish() {
    CHECK(failures_ == 0);
    CHECK(inspector_.firstFailure(inSize_, IsPainted<Values, In>{in_.data(), 0}) == inSize_);
  }

 private:
  // 256 bytes and more, so that offset 0 means aligned.
  template <class T>
  static constexpr std::size_t GUARD = 256 / detail::greatestCommonDivisor(256, sizeof(T));
  static constexpr std::uint64_t OUT_CODE = std::uint64_t{1} << 50;

  // The number of elements from the memory's begin to behind the view and a guard.
  template <class T>
  std::size_t endOf(const MatrixView<T>& view) const {
    using Element = std::remove_const_t<T>;
    const Element* begin = nullptr;
    std::size_t size = 0;
    if constexpr (std::is_const_v<T>)
      begin = in_.data(), size = inSize_;
    else
      begin = out_.data(), size = outSize_;
    const std::size_t span = detail::isEmpty(view) ? 0 : detail::spanOf(detail::named(view, ""));
    const std::size_t end = static_cast<std::size_t>(view.data - begin) + span + GUARD<Element>;
    if (end > size) throw std::logic_error("TransposeCheck: the memory is too small");
    return end;
  }

  void fail(const MatrixView<const In>& in, const MatrixView<Out>& out, const std::string& problem) {
    if (++failures_ <= 5)
      FAIL_CHECK(sizeof(In) << " to " << sizeof(Out) << " bytes, in " << text(in) << ", out " << text(out) << ": "
                            << problem);
  }

  std::size_t inSize_;
  std::size_t outSize_;
  DeviceArray<In> in_;
  DeviceArray<Out> out_;
  Inspector inspector_;
  int failures_ = 0;
};

}  // namespace gpuopt::test
