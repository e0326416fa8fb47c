/// Divisions by a number known at run time against the operator, at every divisor and around its multiples.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"

#include <gpuopt/core/integers.cuh>

namespace {

using gpuopt::detail::FixedShiftDivisor;
using gpuopt::detail::ShortDivisor;

// The first dividend that divide() gets wrong below `end`; `end` if there is none. Quotients change at
// multiples.
template <class Divisor>
unsigned firstWrong(const Divisor& fast, unsigned divisor, unsigned end) {
  for (unsigned multiple = 0; multiple < end; multiple += divisor) {
    if (fast.divide(multiple) != multiple / divisor) return multiple;
    if (multiple > 0 && fast.divide(multiple - 1) != (multiple - 1) / divisor) return multiple - 1;
  }
  return fast.divide(end - 1) == (end - 1) / divisor ? end : end - 1;
}

}  // namespace

TEST_CASE("a short divisor divides everything below 2^15") {
  constexpr unsigned END = 1U << ShortDivisor::BITS;
  for (unsigned divisor = 1; divisor < END; ++divisor) {
    CAPTURE(divisor);
    REQUIRE(firstWrong(ShortDivisor(divisor), divisor, END) == END);
  }
}

TEST_CASE("a short divisor that was given none divides by 1") { CHECK(ShortDivisor().divide(1234) == 1234); }

TEST_CASE("a divisor with a fixed shift divides everything below 2^shift / divisor that stays in 32 bits") {
  for (unsigned divisor = 1; divisor <= 32; ++divisor) {
    const unsigned end = divisor <= 16 ? 1U << 14 : (1U << 18) / divisor;
    CAPTURE(divisor);
    REQUIRE(firstWrong(FixedShiftDivisor<18>(divisor), divisor, end) == end);
  }
  CHECK(FixedShiftDivisor<18>().divide(1234) == 1234);
}
