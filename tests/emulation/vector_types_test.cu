/// Sizes and alignments of the vector types as in CUDA's programming guide, and the meaning of their members.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <cstddef>

namespace vector_types_test {

#define CHECK_VECTORS(name, size, alignment2, alignment4)                       \
  static_assert(sizeof(name##1) == size && alignof(name##1) == size);           \
  static_assert(sizeof(name##2) == 2 * size && alignof(name##2) == alignment2); \
  static_assert(sizeof(name##3) == 3 * size && alignof(name##3) == size);       \
  static_assert(sizeof(name##4) == 4 * size && alignof(name##4) == alignment4); \
  static_assert(offsetof(name##4, y) == size && offsetof(name##4, w) == 3 * size);

CHECK_VECTORS(char, 1, 2, 4)
CHECK_VECTORS(uchar, 1, 2, 4)
CHECK_VECTORS(short, 2, 4, 8)
CHECK_VECTORS(ushort, 2, 4, 8)
CHECK_VECTORS(int, 4, 8, 16)
CHECK_VECTORS(uint, 4, 8, 16)
CHECK_VECTORS(long, 8, 16, 16)
CHECK_VECTORS(ulong, 8, 16, 16)
CHECK_VECTORS(longlong, 8, 16, 16)
CHECK_VECTORS(ulonglong, 8, 16, 16)
CHECK_VECTORS(float, 4, 8, 16)
CHECK_VECTORS(double, 8, 16, 16)
static_assert(alignof(double4_16a) == 16 && alignof(double4_32a) == 32 && alignof(ulonglong4_32a) == 32);

struct __align__(32) Aligned {
  float value;
};
static_assert(alignof(Aligned) == 32 && sizeof(Aligned) == 32);

TEST_CASE("vectors are made in the order of their members") {
  const float4 f = make_float4(1, 2, 3, 4);
  REQUIRE((f.x == 1 && f.y == 2 && f.z == 3 && f.w == 4));
  const longlong3 l = make_longlong3(-1, 1ll << 40, 3);
  REQUIRE((l.x == -1 && l.y == 1ll << 40 && l.z == 3));
  const uchar2 c = make_uchar2(255, 1);
  REQUIRE((c.x == 255 && c.y == 1));
}

TEST_CASE("dim3 fills up with ones and converts to and from uint3") {
  const dim3 flat = 7;
  REQUIRE((flat.x == 7 && flat.y == 1 && flat.z == 1));
  const uint3 indices = dim3(2, 3, 4);
  REQUIRE((indices.x == 2 && indices.y == 3 && indices.z == 4));
  REQUIRE(dim3(indices).z == 4);
}

}  // namespace vector_types_test
