/// Instructions on the two halves or four bytes of a word: __vadd4 and its relatives.
// SPDX-License-Identifier: MIT
#pragma once

#include "language.hpp"

#include <cstdlib>
#include <type_traits>

namespace gpuopt::emulation::detail {

/// Applies a function to the parts of words, and puts the results side by side.
template <class Part, class Function, class... Words>
unsigned onParts(Function function, Words... words) {
  constexpr unsigned BITS = 8 * sizeof(Part);
  unsigned result = 0;
  for (unsigned at = 0; at < 32; at += BITS) {
    const auto part =
        static_cast<std::make_unsigned_t<Part>>(function(static_cast<int>(static_cast<Part>(words >> at))...));
    result |= static_cast<unsigned>(part) << at;
  }
  return result;
}

/// The sum of a function's values.
template <class Part, class Function>
unsigned sumOfParts(Function function, unsigned a, unsigned b) {
  unsigned sum = 0;
  for (unsigned at = 0; at < 32; at += 8 * sizeof(Part))
    sum += static_cast<unsigned>(
        function(static_cast<int>(static_cast<Part>(a >> at)), static_cast<int>(static_cast<Part>(b >> at))));
  return sum;
}

template <class Part>
int saturated(int value) {
  constexpr int LEAST = std::is_signed_v<Part> ? -(1 << (8 * sizeof(Part) - 1)) : 0;
  constexpr int MOST = LEAST + (1 << 8 * sizeof(Part)) - 1;
  return value < LEAST ? LEAST : value > MOST ? MOST : value;
}

}  // namespace gpuopt::emulation::detail

#define GPUOPT_EMULATION_ON_PARTS(name, Part, expression)                                                  \
  inline unsigned name(unsigned a, unsigned b) {                                                           \
    return gpuopt::emulation::detail::onParts<Part>([](int x, int y) -> int { return expression; }, a, b); \
  }
#define GPUOPT_EMULATION_ON_PART(name, Part, expression)                                         \
  inline unsigned name(unsigned a) {                                                             \
    return gpuopt::emulation::detail::onParts<Part>([](int x) -> int { return expression; }, a); \
  }
#define GPUOPT_EMULATION_SUM(name, Part, expression)                                                          \
  inline unsigned name(unsigned a, unsigned b) {                                                              \
    return gpuopt::emulation::detail::sumOfParts<Part>([](int x, int y) -> int { return expression; }, a, b); \
  }

// Comparisons: all bits of a part are set, or with __vset its lowest bit.
#define GPUOPT_EMULATION_COMPARE(relation, sign, count, Part, operation)                 \
  GPUOPT_EMULATION_ON_PARTS(__vcmp##relation##sign##count, Part, x operation y ? -1 : 0) \
  GPUOPT_EMULATION_ON_PARTS(__vset##relation##sign##count, Part, x operation y ? 1 : 0)

#define GPUOPT_EMULATION_SIMD(count, Signed, Unsigned)                                                         \
  GPUOPT_EMULATION_ON_PARTS(__vadd##count, Unsigned, x + y)                                                    \
  GPUOPT_EMULATION_ON_PARTS(__vsub##count, Unsigned, x - y)                                                    \
  GPUOPT_EMULATION_ON_PARTS(__vaddss##count, Signed, gpuopt::emulation::detail::saturated<Signed>(x + y))      \
  GPUOPT_EMULATION_ON_PARTS(__vaddus##count, Unsigned, gpuopt::emulation::detail::saturated<Unsigned>(x + y))  \
  GPUOPT_EMULATION_ON_PARTS(__vsubss##count, Signed, gpuopt::emulation::detail::saturated<Signed>(x - y))      \
  GPUOPT_EMULATION_ON_PARTS(__vsubus##count, Unsigned, gpuopt::emulation::detail::saturated<Unsigned>(x - y))  \
  GPUOPT_EMULATION_ON_PARTS(__vavgs##count, Signed, (x + y + (x + y >= 0 ? 1 : 0)) >> 1)                       \
  GPUOPT_EMULATION_ON_PARTS(__vavgu##count, Unsigned, (x + y + 1) >> 1)                                        \
  GPUOPT_EMULATION_ON_PARTS(__vhaddu##count, Unsigned, (x + y) >> 1)                                           \
  GPUOPT_EMULATION_ON_PARTS(__vmaxs##count, Signed, x < y ? y : x)                                             \
  GPUOPT_EMULATION_ON_PARTS(__vmaxu##count, Unsigned, x < y ? y : x)                                           \
  GPUOPT_EMULATION_ON_PARTS(__vmins##count, Signed, y < x ? y : x)                                             \
  GPUOPT_EMULATION_ON_PARTS(__vminu##count, Unsigned, y < x ? y : x)                                           \
  GPUOPT_EMULATION_ON_PARTS(__vabsdiffs##count, Signed, std::abs(x - y))                                       \
  GPUOPT_EMULATION_ON_PARTS(__vabsdiffu##count, Unsigned, std::abs(x - y))                                     \
  GPUOPT_EMULATION_ON_PART(__vabs##count, Signed, std::abs(x))                                                 \
  GPUOPT_EMULATION_ON_PART(__vabsss##count, Signed, gpuopt::emulation::detail::saturated<Signed>(std::abs(x))) \
  GPUOPT_EMULATION_ON_PART(__vneg##count, Signed, -x)                                                          \
  GPUOPT_EMULATION_ON_PART(__vnegss##count, Signed, gpuopt::emulation::detail::saturated<Signed>(-x))          \
  GPUOPT_EMULATION_SUM(__vsads##count, Signed, std::abs(x - y))                                                \
  GPUOPT_EMULATION_SUM(__vsadu##count, Unsigned, std::abs(x - y))                                              \
  GPUOPT_EMULATION_COMPARE(eq, , count, Unsigned, ==)                                                          \
  GPUOPT_EMULATION_COMPARE(ne, , count, Unsigned, !=)                                                          \
  GPUOPT_EMULATION_COMPARE(gt, s, count, Signed, >)                                                            \
  GPUOPT_EMULATION_COMPARE(gt, u, count, Unsigned, >)                                                          \
  GPUOPT_EMULATION_COMPARE(ge, s, count, Signed, >=)                                                           \
  GPUOPT_EMULATION_COMPARE(ge, u, count, Unsigned, >=)                                                         \
  GPUOPT_EMULATION_COMPARE(lt, s, count, Signed, <)                                                            \
  GPUOPT_EMULATION_COMPARE(lt, u, count, Unsigned, <)                                                          \
  GPUOPT_EMULATION_COMPARE(le, s, count, Signed, <=)                                                           \
  GPUOPT_EMULATION_COMPARE(le, u, count, Unsigned, <=)
GPUOPT_EMULATION_SIMD(2, short, unsigned short)
GPUOPT_EMULATION_SIMD(4, signed char, unsigned char)
#undef GPUOPT_EMULATION_SIMD
#undef GPUOPT_EMULATION_COMPARE
#undef GPUOPT_EMULATION_SUM
#undef GPUOPT_EMULATION_ON_PART
#undef GPUOPT_EMULATION_ON_PARTS
