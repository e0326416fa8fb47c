/// Parts of vectors that are stored: every part, and nothing beside it.
// SPDX-License-Identifier: MIT
#include "support/reduction_data.cuh"
#include "support/transpose_launch.cuh"

#include <gpuopt/thread/vector_part.cuh>

#include <cstddef>
#include <vector>

namespace vector_part_test {

using namespace gpuopt::test;

// Block b stores bytes begins[b]..ends[b] of the vector of bytes 1 to 16.
template <unsigned ELEMENT>
__global__ void partsKernel(unsigned char* out, const unsigned* begins, const unsigned* ends) {
  const unsigned i = blockIdx.x;
  const uint4 vector{0x04030201, 0x08070605, 0x0C0B0A09, 0x100F0E0D};
  gpuopt::detail::storeVectorPart<ELEMENT>(out + i * 16, vector, begins[i], ends[i]);
}

template <unsigned ELEMENT>
void checkParts() {
  constexpr unsigned char GUARD = 0xEE;
  std::vector<unsigned> begins, ends;
  std::vector<unsigned char> expected;
  for (unsigned begin = 0; begin <= 16; begin += ELEMENT)
    for (unsigned end = begin; end <= 16; end += ELEMENT) {
      if (end - begin == 16) continue;
      begins.push_back(begin);
      ends.push_back(end);
      for (unsigned i = 0; i < 16; ++i)
        expected.push_back(i >= begin && i < end ? static_cast<unsigned char>(i + 1) : GUARD);
    }
  DeviceArray<unsigned char> out(std::vector<unsigned char>(expected.size(), GUARD), 0);
  const DeviceArray<unsigned> deviceBegins(begins, 0), deviceEnds(ends, 0);
  const gpuopt::LaunchConfig config{dim3{static_cast<unsigned>(begins.size())}, dim3{1}};
  gpuopt::launch(partsKernel<ELEMENT>, config, out.data(), deviceBegins.data(), deviceEnds.data());
  CHECK(out.toHost() == expected);
}

TEST_CASE("storeVectorPart stores the elements of a part, and no other bytes") {
  checkParts<1>();
  checkParts<2>();
  checkParts<4>();
  checkParts<8>();
}

}  // namespace vector_part_test
