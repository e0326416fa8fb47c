/// \file
/// One sentence for calls whose arguments fit no form of a function.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

GPUOPT_DETAIL_BEGIN

// Takes any argument, by a conversion that overload resolution likes less than a parameter of the function's own forms.
struct AnyArgument {
  AnyArgument() = default;
  template <class T>
  constexpr AnyArgument(T&&) {}
};

// What a refused call returns, so that no second error follows from the use of it.
struct AnyResult {
  template <class T>
  operator T() const;
};

GPUOPT_DETAIL_END

// The last resort among the overloads of a function. Without it, compilers print why each of the others does not fit.
#define GPUOPT_OTHER_CALLS(function, forms)                                                                            \
  template <class... Named>                                                                                            \
  detail::AnyResult function(detail::AnyArgument, detail::AnyArgument = {}, detail::AnyArgument = {},                  \
                             detail::AnyArgument = {}, detail::AnyArgument = {}, detail::AnyArgument = {},             \
                             detail::AnyArgument = {}, detail::AnyArgument = {}) {                                     \
    static_assert(sizeof...(Named) > 99, "gpuopt::" #function ": these arguments fit no form of it: it takes " forms); \
    return {};                                                                                                         \
  }
