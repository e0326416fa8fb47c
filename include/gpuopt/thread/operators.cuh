/// \file
/// Binary operations for reductions, their neutral elements, and the type that a reduction accumulates in.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/box.cuh>

#include <limits>
#include <type_traits>

struct __half;
struct __nv_bfloat16;

GPUOPT_NAMESPACE_BEGIN

namespace detail {

template <class Op, class... Others>
inline constexpr bool isOneOf = (std::is_same_v<Op, Others> || ...);

template <class T>
inline constexpr bool isHalf = isOneOf<T, __half, __nv_bfloat16>;

// The larger or smaller value, as Maximum and Minimum say. Adding zeros finds their signs without a look at bits: (+0)
// + (-0) = +0 and (-0) + (-0) = -0. sm_80 and later have an instruction with these semantics, for float.
template <bool LARGER, class T>
__host__ __device__ inline T extremeOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (std::is_same_v<T, float>) {
      if constexpr (LARGER)
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
      else
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
      return a;
    }
#endif
    if (a != a || b != b) return a + b;
    if (a == b) return a == T(0) ? (LARGER ? a + b : -(-a - b)) : a;
    return (a < b) == LARGER ? b : a;
  } else {
    return (LARGER ? a < b : b < a) ? b : a;
  }
}

}  // namespace detail

/// a + b
struct Plus {
  template <class T>
  __host__ __device__ constexpr auto operator()(const T& a, const T& b) const -> decltype(static_cast<T>(a + b)) {
    return static_cast<T>(a + b);
  }
};

/// a * b
struct Multiplies {
  template <class T>
  __host__ __device__ constexpr auto operator()(const T& a, const T& b) const -> decltype(static_cast<T>(a * b)) {
    if constexpr (std::is_integral_v<T> && sizeof(T) < sizeof(int))  // 65535 * 65535 would overflow an int
      return static_cast<T>(static_cast<unsigned>(a) * static_cast<unsigned>(b));
    else
      return static_cast<T>(a * b);
  }
};

/// The smaller value. Floating point as IEEE 754-2019 `minimum`: a NaN on either side gives NaN, and -0 < +0.
struct Minimum {
  template <class T>
  __host__ __device__ auto operator()(const T& a, const T& b) const -> decltype(a < b ? T(a) : T(b)) {
    return detail::extremeOf<false>(a, b);
  }
};

/// The larger value. Floating point as IEEE 754-2019 `maximum`: a NaN on either side gives NaN, and -0 < +0.
struct Maximum {
  template <class T>
  __host__ __device__ auto operator()(const T& a, const T& b) const -> decltype(a < b ? T(a) : T(b)) {
    return detail::extremeOf<true>(a, b);
  }
};

/// a & b
struct BitAnd {
  template <class T>
  __host__ __device__ constexpr auto operator()(const T& a, const T& b) const -> decltype(static_cast<T>(a & b)) {
    return static_cast<T>(a & b);
  }
};

/// a | b
struct BitOr {
  template <class T>
  __host__ __device__ constexpr auto operator()(const T& a, const T& b) const -> decltype(static_cast<T>(a | b)) {
    return static_cast<T>(a | b);
  }
};

/// a ^ b
struct BitXor {
  template <class T>
  __host__ __device__ constexpr auto operator()(const T& a, const T& b) const -> decltype(static_cast<T>(a ^ b)) {
    return static_cast<T>(a ^ b);
  }
};

/// Whether both are true (not zero), as a T.
struct LogicalAnd {
  template <class T>
  __host__ __device__ constexpr auto operator()(const T& a, const T& b) const -> decltype(static_cast<T>(a && b)) {
    return static_cast<T>(a && b);
  }
};

/// Whether one of them is true (not zero), as a T.
struct LogicalOr {
  template <class T>
  __host__ __device__ constexpr auto operator()(const T& a, const T& b) const -> decltype(static_cast<T>(a || b)) {
    return static_cast<T>(a || b);
  }
};

/// The neutral element of an operation Op on T: op(neutral, x) == x for every x. `exists` is false unless a
/// specialisation says otherwise; reductions work without a neutral element, but then need an init for empty input, and
/// keep track of which partial results exist. To save that for your own operations, specialise with `static constexpr
/// bool exists = true;` and `static T value()`.
template <class Op, class T, class = void>
struct NeutralElement {
  static constexpr bool exists = false;  ///< whether it is known
};

namespace detail {

template <class T, auto VALUE>
struct NeutralConstant {
  static constexpr bool exists = true;
  __host__ __device__ static constexpr T value() { return static_cast<T>(VALUE); }
};

// Infinity if T has one, so that the minimum of infinities is infinity and not the largest finite number. A variable,
// because device code may read the host's constexpr variables but not call its functions.
template <class T>
inline constexpr T greatest = std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                   : (std::numeric_limits<T>::max)();
template <class T>
inline constexpr T least = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                                : std::numeric_limits<T>::lowest();

}  // namespace detail

template <class T>
struct NeutralElement<Plus, T, std::enable_if_t<std::is_arithmetic_v<T>>> : detail::NeutralConstant<T, 0> {};

template <class T>
struct NeutralElement<Multiplies, T, std::enable_if_t<std::is_arithmetic_v<T>>> : detail::NeutralConstant<T, 1> {};

template <class T>
struct NeutralElement<Minimum, T, std::enable_if_t<std::is_arithmetic_v<T>>> {
  static constexpr bool exists = true;
  __host__ __device__ static constexpr T value() {
    constexpr T result = detail::greatest<T>;
    return result;
  }
};

template <class T>
struct NeutralElement<Maximum, T, std::enable_if_t<std::is_arithmetic_v<T>>> {
  static constexpr bool exists = true;
  __host__ __device__ static constexpr T value() {
    constexpr T result = detail::least<T>;
    return result;
  }
};

template <class T>
struct NeutralElement<BitAnd, T, std::enable_if_t<std::is_integral_v<T>>> : detail::NeutralConstant<T, ~0ull> {};

template <class T>
struct NeutralElement<BitOr, T, std::enable_if_t<std::is_integral_v<T>>> : detail::NeutralConstant<T, 0> {};

template <class T>
struct NeutralElement<BitXor, T, std::enable_if_t<std::is_integral_v<T>>> : NeutralElement<BitOr, T> {};

// For true and false: a single operand is returned as it is.
template <class T>
struct NeutralElement<LogicalAnd, T, std::enable_if_t<std::is_arithmetic_v<T>>> : NeutralElement<Multiplies, T> {};

template <class T>
struct NeutralElement<LogicalOr, T, std::enable_if_t<std::is_arithmetic_v<T>>> : NeutralElement<Plus, T> {};

/// Whether an Op is known to commute: op(a, b) == op(b, a). Collectives are then faster. Specialise it for your own
/// operations.
template <class Op>
inline constexpr bool isCommutative =
    detail::isOneOf<Op, Plus, Multiplies, Minimum, Maximum, BitAnd, BitOr, BitXor, LogicalAnd, LogicalOr>;

namespace detail {

template <class Op, class T>
struct BoxedNeutralElement {
  static constexpr bool exists = true;
  __host__ __device__ static Box<T> value() { return Box<T>(NeutralElement<Op, T>::value()); }
};

}  // namespace detail

template <class Op, class T>
struct NeutralElement<detail::OnBoxes<Op, T>, detail::Box<T>, std::enable_if_t<NeutralElement<Op, T>::exists>>
    : detail::BoxedNeutralElement<Op, T> {};

template <class Op, class T>
inline constexpr bool isCommutative<detail::OnBoxes<Op, T>> = isCommutative<Op>;

/// Asks for the accumulator that AccumulatorFor chooses.
struct DefaultAccumulator {};

/// The accumulator of a reduction of T by Op unless the caller names one: bool for LogicalAnd and LogicalOr; float for
/// `__half` and `__nv_bfloat16`; int or unsigned for sums and products of narrower integers; T itself otherwise.
template <class Op, class T, class = void>
struct AccumulatorFor {
  using type = T;  ///< the accumulator
};

template <class Op, class T>
struct AccumulatorFor<Op, T, std::enable_if_t<detail::isOneOf<Op, LogicalAnd, LogicalOr>>> {
  using type = bool;
};

template <class Op, class T>
struct AccumulatorFor<Op, T, std::enable_if_t<detail::isHalf<T> && !detail::isOneOf<Op, LogicalAnd, LogicalOr>>> {
  using type = float;
};

template <class Op, class T>
struct AccumulatorFor<
    Op, T,
    std::enable_if_t<detail::isOneOf<Op, Plus, Multiplies> && std::is_integral_v<T> && (sizeof(T) < sizeof(int))>> {
  using type = std::conditional_t<std::is_signed_v<T>, int, unsigned>;
};

namespace detail {

template <class A, class Op, class T>
using Accumulator = std::conditional_t<std::is_same_v<A, DefaultAccumulator>, typename AccumulatorFor<Op, T>::type, A>;

}  // namespace detail

GPUOPT_NAMESPACE_END
