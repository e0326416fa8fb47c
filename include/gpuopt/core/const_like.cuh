/// \file
/// Copies the constness of one type to another.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <type_traits>

GPUOPT_DETAIL_BEGIN

// T, const if Model is.
template <class Model, class T>
using ConstLike = std::conditional_t<std::is_const_v<Model>, const T, T>;

GPUOPT_DETAIL_END
