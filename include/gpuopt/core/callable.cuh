/// \file
/// Traits of callables that only the device calls.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <string_view>
#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

// The return type of F(Args...). Not std::invoke_result_t or std::is_invocable_v: with clang++ as the CUDA compiler
// these are host code, which cannot call __device__ functions.
template <class F, class... Args>
using CallResult = decltype(std::declval<F>()(std::declval<Args>()...));

// The same for device functions, within which clang++ refuses std::declval as a host function.
template <class F, class... Args>
struct Call {
  using Result = CallResult<F, Args...>;
};

template <class...>
struct Arguments {};

template <class T>
struct TypeOf {
  using type = T;
};

template <class F, class Args, class = void>
inline constexpr bool takes = false;
template <class F, class... Args>
inline constexpr bool takes<F, Arguments<Args...>, std::void_t<CallResult<F, Args...>>> = true;

// Whether F(Args...) is well-formed.
template <class F, class... Args>
inline constexpr bool isCallable = takes<F, Arguments<Args...>>;

// Whether it also returns what converts to Result. A Result of void takes any return type.
template <class Result, class F, class... Args>
constexpr bool returns() {
  if constexpr (isCallable<F, Args...>)
    return std::is_void_v<Result> || std::is_convertible_v<CallResult<F, Args...>, Result>;
  else
    return false;
}

// Whether static_cast<Result>(F(Args...)) is well-formed.
template <class Result, class F, class... Args>
constexpr bool constructs() {
  if constexpr (isCallable<F, Args...>)
    return std::is_constructible_v<Result, CallResult<F, Args...>>;
  else
    return false;
}

// Whether F is an extended __device__ lambda, whose return type host code cannot ask for.
template <class F>
inline constexpr bool isDeviceLambda =
#ifdef __CUDACC_EXTENDED_LAMBDA__
    __nv_is_extended_device_lambda_closure_type(F);
#else
    false;
#endif

// Whether F is one whose return type host code takes for int: it does not say `-> T`.
template <class F>
inline constexpr bool hidesResult =
#if defined(__CUDACC_EXTENDED_LAMBDA__) && \
    (__CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 3))
    __nv_is_extended_device_lambda_closure_type(F) && !__nv_is_extended_device_lambda_with_preserved_return_type(F);
#else
    false;
#endif

// The name of T, as the compiler writes it.
template <class T>
constexpr std::string_view nameOf() {
  const std::string_view text = __PRETTY_FUNCTION__;
  const std::string_view name = text.substr(text.find('=') + 1);
  return name.substr(name.front() == ' ' ? 1 : 0);
}

template <class T>
constexpr bool isNamed(std::string_view prefix) {
  return nameOf<T>().substr(0, prefix.size()) == prefix;
}

// Whether F is a function object of the standard library, such as std::plus. nvcc cannot call them in kernels.
template <class F>
inline constexpr bool isStandardFunction = std::is_class_v<F>&& isNamed<F>("std::");

// Whether F is a lambda that nvcc does not compile for the device.
template <class F>
inline constexpr bool isHostLambda =
#ifdef __CUDACC_EXTENDED_LAMBDA__
    !__nv_is_extended_device_lambda_closure_type(F) && !__nv_is_extended_host_device_lambda_closure_type(F) &&
#endif
    isNamed<F>("lambda [");  // nvcc's name alone

// Whether kernels can call F as far as its kind says; an error if F is a lambda for the host.
template <class F>
constexpr bool requireNoHostLambda() {
  static_assert(!isHostLambda<F>, "gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}");
  return !isHostLambda<F>;
}

// The same for a function of elements; also an error if the standard library has F.
template <class F>
constexpr bool requireDeviceCode() {
  static_assert(!isStandardFunction<F>,
                "gpuopt: function objects of the standard library are host code: write a lambda for the device");
  return requireNoHostLambda<F>() && !isStandardFunction<F>;
}

// Whether F is what a host compiler sees of an extended __device__ lambda: a call operator that takes anything.
template <class F>
inline constexpr bool hidesCall = isNamed<F>("__nv_dl_wrapper_t<");

// The type of F(Args...), or that of the first argument if F does not take them, which a static_assert then says.
template <class F, class Arg, class... Args>
constexpr auto resultType() {
  if constexpr (isCallable<F, Arg, Args...>)
    return TypeOf<std::decay_t<CallResult<F, Arg, Args...>>>{};
  else
    return TypeOf<Arg>{};
}

template <class F, class... Args>
using ResultOf = typename decltype(resultType<F, Args...>())::type;

GPUOPT_DETAIL_END
