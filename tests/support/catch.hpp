/// One spelling of Catch2 for its versions 2 and 3. Floating-point comparisons are written out in the tests:
/// Approx and the matchers live in other headers in each version.
// SPDX-License-Identifier: MIT
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#else
#include <catch2/catch.hpp>
#endif

namespace gpuopt::test {

/// CHECK and REQUIRE for constructors, destructors and members that they call: with the macros of Catch2 3 there, the
/// front end of CUDA 13.0 never ends.
inline void checkTrue(bool isTrue) { CHECK(isTrue); }
inline void requireTrue(bool isTrue) { REQUIRE(isTrue); }

}  // namespace gpuopt::test
