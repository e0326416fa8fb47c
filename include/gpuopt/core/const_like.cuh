/// \file
/// Copies the constness of one type to another.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// T, const if Model is.
template <class Model, class T>
using ConstLike = std::conditional_t<std::is_const_v<Model>, const T, T>;

}  // namespace detail
GPUOPT_NAMESPACE_END
