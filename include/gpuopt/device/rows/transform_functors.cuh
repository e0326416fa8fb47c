/// \file
/// The statistics and maps of the ready-made transforms of rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/device/rows/transform_values.cuh>

#include <cstddef>
#include <limits>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

__device__ inline float larger(float a, float b) { return fmaxf(a, b); }
__device__ inline double larger(double a, double b) { return fmax(a, b); }

// e to the power of x, which is at most 0 or NaN.
__device__ inline float expOf(float x) {
  constexpr float LOG2_E = 1.4426950408889634f;
#if defined(__CUDA_ARCH__)
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x * LOG2_E));
  return power;
#else
  return exp2f(x * LOG2_E);
#endif
}
__device__ inline double expOf(double x) { return exp(x); }

__device__ inline float reciprocalRoot(float x) { return rsqrtf(x); }
__device__ inline double reciprocalRoot(double x) { return 1 / sqrt(x); }

// A statistic whose partial is a sum.
template <class Value>
struct RowSums {
  using Partial = Value;
  __device__ Value start() const { return 0; }
  __device__ Value merge(Value a, Value b) const { return a + b; }
};

// The largest element. NaN does not count.
template <class Value>
struct RowMaximum {
  using Partial = Value;
  __device__ Value start() const { return -std::numeric_limits<Value>::infinity(); }
  __device__ void add(Value& partial, Value x) const { partial = larger(partial, x); }
  __device__ Value merge(Value a, Value b) const { return larger(a, b); }
  __device__ Value finish(Value partial, int) const { return partial; }
};

template <class Value>
struct SoftmaxResult {
  Value maximum;
  Value factor;  // 1 / the sum of the powers
};

// The sum of e^(x - maximum). NaN if an element is NaN or the maximum infinite.
template <class Value>
struct SumOfPowers : RowSums<Value> {
  __device__ void add(Value& partial, Value x, Value maximum) const { partial += expOf(x - maximum); }
  __device__ SoftmaxResult<Value> finish(Value partial, int, Value maximum) const { return {maximum, 1 / partial}; }
};

struct SoftmaxMap {
  template <class Value>
  __device__ Value operator()(Value x, const SoftmaxResult<Value>& result, int) const {
    return expOf(x - result.maximum) * result.factor;
  }
};

template <class Value>
struct RowMean : RowSums<Value> {
  __device__ void add(Value& partial, Value x) const { partial += x; }
  __device__ Value finish(Value partial, int cols) const { return partial / static_cast<Value>(cols); }
};

// (x - mean) * factor
template <class Value>
struct NormResult {
  Value mean;
  Value factor;
};

template <class Value>
struct RowDeviation : RowSums<Value> {
  Value eps;
  __device__ void add(Value& partial, Value x, Value mean) const { partial += (x - mean) * (x - mean); }
  __device__ NormResult<Value> finish(Value partial, int cols, Value mean) const {
    return {mean, reciprocalRoot(partial / static_cast<Value>(cols) + eps)};
  }
};

template <class Value>
struct RowMeanSquare : RowSums<Value> {
  Value eps;
  __device__ void add(Value& partial, Value x) const { partial += x * x; }
  __device__ Value finish(Value partial, int cols) const {
    return reciprocalRoot(partial / static_cast<Value>(cols) + eps);
  }
};

// 1 / the larger of the norm and eps.
template <class Value>
struct RowNorm : RowSums<Value> {
  Value eps;
  __device__ void add(Value& partial, Value x) const { partial += x * x; }
  __device__ Value finish(Value partial, int) const { return 1 / larger(sqrt(partial), eps); }
};

struct ScaleMap {
  template <class Value>
  __device__ Value operator()(Value x, Value factor, int) const {
    return x * factor;
  }
};

// COUNT numbers of an array from `column` on, or `otherwise` of each if there is no array.
template <int COUNT, class T, class Value>
__device__ inline void loadOperands(Value (&values)[COUNT], const T* array, int column, Value otherwise) {
#pragma unroll
  for (int i = 0; i < COUNT; ++i) values[i] = otherwise;
  if (array == nullptr) return;
  T elements[COUNT];
  constexpr std::size_t BYTES = RowWords<T, COUNT>::WORD_BYTES;
  if (reinterpret_cast<std::uintptr_t>(array + column) % BYTES == 0) {
    RowWords<T, COUNT> packed;
    const auto* const words = reinterpret_cast<const Word<BYTES>*>(array + column);
#pragma unroll
    for (int i = 0; i < RowWords<T, COUNT>::WORDS; ++i) packed.words[i] = __ldg(words + i);
    __builtin_memcpy(elements, &packed, sizeof(packed));
  } else {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) elements[i] = array[column + i];
  }
#pragma unroll
  for (int i = 0; i < COUNT; ++i) values[i] = static_cast<Value>(elements[i]);
}

// The numbers that scale and shift COUNT columns.
template <class Value, int COUNT>
struct NormOperands {
  Value scale[COUNT];
  Value shift[COUNT];
};

// A normalised element, scaled by gamma and shifted by beta of its column, where those are given.
template <class Value, class Gamma, class Beta>
struct NormMap {
  static constexpr bool LOADS_COLUMNS = true;
  const Gamma* gamma;
  const Beta* beta;

  __device__ Value operator()(Value x, const NormResult<Value>& result, int column) const {
    return (*this)(x, result, load<1>(column), 0);
  }
  __device__ Value operator()(Value x, Value factor, int column) const {
    return (*this)(x, NormResult<Value>{0, factor}, column);
  }

  template <int COUNT>
  __device__ NormOperands<Value, COUNT> load(int column) const {
    NormOperands<Value, COUNT> operands;
    loadOperands(operands.scale, gamma, column, Value{1});
    loadOperands(operands.shift, beta, column, Value{0});
    return operands;
  }
  template <int COUNT>
  __device__ Value operator()(Value x, const NormResult<Value>& result, const NormOperands<Value, COUNT>& operands,
                              int i) const {
    return (x - result.mean) * result.factor * operands.scale[i] + operands.shift[i];
  }
  template <int COUNT>
  __device__ Value operator()(Value x, Value factor, const NormOperands<Value, COUNT>& operands, int i) const {
    return x * factor * operands.scale[i] + operands.shift[i];
  }
};

// The largest number of a type that quantisation writes.
template <class T>
inline constexpr float largestQuantised = std::is_same_v<T, __nv_fp8_e4m3>   ? 448
                                          : std::is_same_v<T, __nv_fp8_e5m2> ? 57344
                                                                             : 127;

template <class Value>
struct QuantiseResult {
  Value scale;
  Value factor;  // 1 / scale
};

// The scale that makes the largest magnitude the largest number of Out; 1 if all elements are 0.
template <class Value, class Out>
struct QuantiseScale {
  using Partial = Value;
  __device__ Value start() const { return 0; }
  __device__ void add(Value& partial, Value x) const { partial = larger(partial, x < 0 ? -x : x); }
  __device__ Value merge(Value a, Value b) const { return larger(a, b); }
  __device__ QuantiseResult<Value> finish(Value partial, int) const {
    if (partial == 0) return {1, 1};
    return {partial / largestQuantised<Out>, largestQuantised<Out> / partial};
  }
};

template <class Value, class Out, class Scale>
struct QuantiseMap {
  Scale* scales;

  __device__ auto operator()(Value x, const QuantiseResult<Value>& result, int) const {
    const auto scaled = static_cast<float>(x * result.factor);
    if constexpr (isFloat8<Out>)
      return scaled;
    else
      return __float2int_rn(scaled);
  }
  __device__ void storeResult(std::size_t row, const QuantiseResult<Value>& result) const {
    scales[row] = static_cast<Scale>(result.scale);
  }
};

GPUOPT_DETAIL_END
