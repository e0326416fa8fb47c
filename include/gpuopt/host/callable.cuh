/// \file
/// What the host can say of functions that only the device calls.
// SPDX-License-Identifier: MIT
#pragma once

namespace gpuopt::detail {

// Whether F is an extended __device__ lambda: host code cannot ask what that returns.
template <class F>
inline constexpr bool isDeviceLambda =
#ifdef __CUDACC_EXTENDED_LAMBDA__
    __nv_is_extended_device_lambda_closure_type(F);
#else
    false;
#endif

}  // namespace gpuopt::detail
