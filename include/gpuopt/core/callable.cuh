/// \file
/// Traits of callables that only the device calls.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <type_traits>
#include <utility>

GPUOPT_DETAIL_BEGIN

// The return type of F(Args...). Not std::invoke_result_t or std::is_invocable_v: with clang++ as the CUDA compiler
// these are host code, which cannot call __device__ functions.
template <class F, class... Args>
using CallResult = decltype(std::declval<F>()(std::declval<Args>()...));

template <class...>
struct Arguments {};

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

// Whether F is an extended __device__ lambda, whose return type host code cannot ask for.
template <class F>
inline constexpr bool isDeviceLambda =
#ifdef __CUDACC_EXTENDED_LAMBDA__
    __nv_is_extended_device_lambda_closure_type(F);
#else
    false;
#endif

GPUOPT_DETAIL_END
