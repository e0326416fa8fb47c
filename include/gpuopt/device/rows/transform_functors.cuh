/// \file
/// The statistics and maps of the ready-made transforms of rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/device/rows/transform_row.cuh>
#include <gpuopt/device/rows/transform_values.cuh>
#include <gpuopt/thread/operators.cuh>

#include <cfloat>
#include <cstddef>
#include <cstdint>
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
  __device__ Value start() const { return least<Value>; }
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
  static constexpr bool TAKES_ANY_COLUMN = true;

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
  static constexpr bool TAKES_ANY_COLUMN = true;

  template <class Value>
  __device__ Value operator()(Value x, Value factor, int) const {
    return x * factor;
  }
};

// COUNT words of those in `all`, from byte `offset` of 16 on.
template <int COUNT>
__device__ inline void shiftWords(unsigned (&words)[COUNT], unsigned (&all)[COUNT + 4], unsigned offset) {
  // By two words, one word, and bits of a word.
#pragma unroll
  for (int i = 0; i < COUNT + 2; ++i) all[i] = (offset & 8) != 0 ? all[i + 2] : all[i];
#pragma unroll
  for (int i = 0; i < COUNT + 1; ++i) all[i] = (offset & 4) != 0 ? all[i + 1] : all[i];
#pragma unroll
  for (int i = 0; i < COUNT; ++i) words[i] = __funnelshift_r(all[i], all[i + 1], offset % 4 * 8);
}

// The numbers of columns: an array of `cols`. ALIGNED: at an address that accesses to COUNT of them ask for.
template <class T, bool ALIGNED>
struct ColumnNumbers {
  const T* data;
  int cols;

  template <class Value>
  __device__ Value at(int column, Value otherwise) const {
    return data != nullptr && column >= 0 && column < cols ? static_cast<Value>(data[column]) : otherwise;
  }

  // COUNT of them at an aligned address.
  template <int COUNT, class Value>
  __device__ void loadAligned(Value (&values)[COUNT], int column) const {
    constexpr std::size_t BYTES = RowWords<T, COUNT>::WORD_BYTES;
    RowWords<T, COUNT> packed;
    const auto* const words = reinterpret_cast<const Word<BYTES>*>(data + column);
#pragma unroll
    for (int i = 0; i < RowWords<T, COUNT>::WORDS; ++i) packed.words[i] = __ldg(words + i);
    unpack(values, packed);
  }

  // COUNT of them from any column on; `otherwise` of columns that do not exist.
  template <VectorColumns COLUMNS, int COUNT, class Value>
  __device__ void load(Value (&values)[COUNT], int column, Value otherwise) const {
    bool areVectors = false;
    if constexpr (RowWords<T, COUNT>::BYTES % 16 == 0) {
      const int first = column - shiftOf(column);
      areVectors = COLUMNS == VectorColumns::inside || (first >= 0 && first + COUNT + OF_VECTOR <= cols);
      if (!ALIGNED && data == nullptr) areVectors = false;
      if (areVectors) loadShifted(values, column);
    }
    if (!areVectors)
#pragma unroll
      for (int i = 0; i < COUNT; ++i) values[i] = at(column + i, otherwise);
  }

 private:
  static constexpr int OF_VECTOR = rowVector<T>;

  // Columns between the last boundary of 16 bytes and this column.
  __device__ int shiftOf(int column) const {
    const auto begin = ALIGNED ? 0U : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(data) / sizeof(T));
    return static_cast<int>((begin + static_cast<unsigned>(column)) % OF_VECTOR);
  }

  // COUNT of them, which fill vectors of 16 bytes, from the aligned vectors around them.
  template <int COUNT, class Value>
  __device__ void loadShifted(Value (&values)[COUNT], int column) const {
    constexpr int WORDS = COUNT * static_cast<int>(sizeof(T)) / 4;
    const int shift = shiftOf(column);
    const auto* const vectors = reinterpret_cast<const uint4*>(data + (column - shift));
    unsigned all[WORDS + 4], words[WORDS];
#pragma unroll
    for (int i = 0; i <= WORDS / 4; ++i) {
      const uint4 vector = __ldg(vectors + i);
      all[4 * i] = vector.x, all[4 * i + 1] = vector.y, all[4 * i + 2] = vector.z, all[4 * i + 3] = vector.w;
    }
    shiftWords<WORDS>(words, all, static_cast<unsigned>(shift) * static_cast<unsigned>(sizeof(T)));
    unpack(values, words);
  }

  template <int COUNT, class Value, class Packed>
  __device__ static void unpack(Value (&values)[COUNT], const Packed& packed) {
    T elements[COUNT];
    static_assert(sizeof(elements) == sizeof(packed));
    __builtin_memcpy(elements, &packed, sizeof(elements));
#pragma unroll
    for (int first = 0; first < COUNT; first += OF_VECTOR) {
      if constexpr (std::is_same_v<T, __nv_bfloat16> && COUNT % OF_VECTOR == 0) {
        uint4 vector;
        float numbers[OF_VECTOR];
        __builtin_memcpy(&vector, elements + first, sizeof(vector));
        unpackRow<T>(vector, numbers);
#pragma unroll
        for (int i = 0; i < OF_VECTOR; ++i) values[first + i] = static_cast<Value>(numbers[i]);
      } else {
#pragma unroll
        for (int i = first; i < COUNT && i < first + OF_VECTOR; ++i) values[i] = static_cast<Value>(elements[i]);
      }
    }
  }
};

// The numbers that scale and shift COUNT columns.
template <class Value, int COUNT>
struct NormOperands {
  Value scale[COUNT];
  Value shift[COUNT];
};

// A normalised element, scaled by gamma and shifted by beta of its column. ALIGNED: both exist, at aligned addresses.
// Without SHIFTS there is no beta.
template <class Value, class Gamma, class Beta, bool SHIFTS, bool ALIGNED>
struct NormMap {
  static constexpr bool LOADS_COLUMNS = true;
  static constexpr bool TAKES_ANY_COLUMN = true;
  ColumnNumbers<Gamma, ALIGNED> gamma;
  ColumnNumbers<Beta, ALIGNED> beta;

  NormMap<Value, Gamma, Beta, SHIFTS, false> ofElements() const {
    return {{gamma.data, gamma.cols}, {beta.data, beta.cols}};
  }

  template <class Result>
  __device__ Value operator()(Value x, const Result& result, int column) const {
    return (*this)(x, result, NormOperands<Value, 1>{{gamma.at(column, Value{1})}, {beta.at(column, Value{0})}}, 0);
  }

  template <int COUNT, VectorColumns COLUMNS>
  __device__ NormOperands<Value, COUNT> load(int column) const {
    NormOperands<Value, COUNT> operands{};
    if constexpr (ALIGNED && COLUMNS == VectorColumns::aligned) {
      gamma.loadAligned(operands.scale, column);
      if constexpr (SHIFTS) beta.loadAligned(operands.shift, column);
    } else {
      gamma.template load<COLUMNS>(operands.scale, column, Value{1});
      if constexpr (SHIFTS) beta.template load<COLUMNS>(operands.shift, column, Value{0});
    }
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

// The scale that makes the largest magnitude the largest number of Out. It is 1 where that would be 0, or so small that
// its reciprocal is infinite: below the normal numbers of Value and Scale.
template <class Value, class Out, class Scale>
struct QuantiseScale {
  using Partial = Value;
  __device__ Value start() const { return 0; }
  __device__ void add(Value& partial, Value x) const { partial = larger(partial, x < 0 ? -x : x); }
  __device__ Value merge(Value a, Value b) const { return larger(a, b); }
  __device__ QuantiseResult<Value> finish(Value partial, int) const {
    constexpr bool ARE_DOUBLES = std::is_same_v<Value, double> && std::is_same_v<Scale, double>;
    constexpr Value LEAST = static_cast<Value>(ARE_DOUBLES ? DBL_MIN : FLT_MIN) * largestQuantised<Out>;
    if (partial < LEAST) return {1, 1};
    return {partial / largestQuantised<Out>, largestQuantised<Out> / partial};
  }
};

template <class Value, class Out, class Scale>
struct QuantiseMap {
  static constexpr bool TAKES_ANY_COLUMN = true;
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
