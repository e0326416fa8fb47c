/// \file
/// What the host can say of functions that only the device calls.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// What F returns for such arguments. Instead of std::invoke_result_t and std::is_invocable_v: where clang++
// compiles CUDA those ask as host code, which cannot call __device__ functions.
template <class F, class... Args>
using CallResult = decltype(std::declval<F>()(std::declval<Args>()...));

template <class...>
struct Arguments {};

template <class F, class Args, class = void>
inline constexpr bool takes = false;
template <class F, class... Args>
inline constexpr bool takes<F, Arguments<Args...>, std::void_t<CallResult<F, Args...>>> = true;

// Whether F takes such arguments,
template <class F, class... Args>
inline constexpr bool isCallable = takes<F, Arguments<Args...>>;

// and returns what converts to Result, or anything if that is void.
template <class Result, class F, class... Args>
constexpr bool returns() {
  if constexpr (isCallable<F, Args...>)
    return std::is_void_v<Result> || std::is_convertible_v<CallResult<F, Args...>, Result>;
  else
    return false;
}

// Whether F is an extended __device__ lambda: host code cannot ask what that returns.
template <class F>
inline constexpr bool isDeviceLambda =
#ifdef __CUDACC_EXTENDED_LAMBDA__
    __nv_is_extended_device_lambda_closure_type(F);
#else
    false;
#endif

}  // namespace detail
GPUOPT_NAMESPACE_END
