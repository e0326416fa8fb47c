/// Chains of kernels in streams, and programs whose parts the host or the device does.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/host.cuh"

#include "../../examples/experiments/limits.cuh"
#include "../../examples/experiments/streams.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <vector>

namespace host_test {

using namespace experiments;

TEST_CASE("a kernel passes a word on") {
  gpuopt::test::DeviceArray<unsigned> values(std::vector<unsigned>{41, 7, 9});
  launchPassOn(values.data(), 0, 2, 10);
  launchWriteNumber(values.data() + 1);
  CHECK(values.toHost() == std::vector<unsigned>{41, 20, 42});
}

TEST_CASE("the default stream puts kernels in order, unless streams forbid it") {
  for (const Ordering ordering : {Ordering::twoStreams, Ordering::defaultBesideBlocking, Ordering::defaultBesideOther,
                                  Ordering::defaultBetween, Ordering::otherBetween}) {
    const Streams streams(3, streamFlags(ordering));
    gpuopt::test::DeviceArray<unsigned> values(std::vector<unsigned>{5, 100, 100, 100});
    launchChain(ordering, values.data(), 1000, streams);
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const auto found = values.toHost();
    for (unsigned i = 1; i < 4; ++i)
      CHECK(found[i] == (i > kernelsOf(ordering) ? 100 : isInOrder(ordering) ? 5 + i : 6));
  }
}

TEST_CASE("theoretical speeds are clock times width") {
  CHECK(theoreticalBandwidth(1107e6, 512) == 141.696e9);  // GTX 280
  CHECK(theoreticalFlops(1e9, 132, floatLanes(90)) == 2 * 132 * 128e9);
  CHECK(floatLanes(75) == 64);
  CHECK(floatLanes(80) == 64);
  CHECK(floatLanes(86) == 128);
  CHECK(roofline(0.25, 60e12, 4e12) == 1e12);
  CHECK(roofline(100, 60e12, 4e12) == 60e12);
}

TEST_CASE("a program has the same result, whoever does which part") {
  for (const std::size_t n : {1, 100, 70001}) {
    std::vector<unsigned> in(n), out(n);
    gpuopt::test::DeviceArray<unsigned> deviceIn(n), deviceOut(n);
    unsigned expected = 0;
    for (std::size_t i = 1; i <= n; ++i) expected += worked(static_cast<unsigned>(i), 3);
    const ProgramData data{in.data(), out.data(), deviceIn.data(), deviceOut.data(), n, 3};
    for (const Parts parts :
         {Parts::host, Parts::memcpy, Parts::transfers, Parts::streamed, Parts::sumOnDevice, Parts::dataOnDevice}) {
      std::fill(in.begin(), in.end(), 99u);
      std::fill(out.begin(), out.end(), 99u);
      CHECK(runProgram(parts, data) == expected);
    }
  }
}

TEST_CASE("a thread, a warp, a block, or the host does the work") {
  for (const std::size_t n : {1, 31, 1025, 5003}) {
    const auto in = gpuopt::test::randomVector<unsigned>(n, 6);
    std::vector<unsigned> expected(n), buffer(n);
    workOnHost(in.data(), expected.data(), n, 3);
    const gpuopt::test::DeviceArray<unsigned> device(in);
    for (const unsigned threads : {1u, 32u, 1024u}) {
      gpuopt::test::DeviceArray<unsigned> out(n);
      launchWorkInBlock(device.data(), out.data(), n, threads, 3);
      CHECK(out.toHost() == expected);
    }
    gpuopt::test::DeviceArray<unsigned> out(n);
    workBetweenCopies(device.data(), out.data(), buffer.data(), n, 3);
    CHECK(out.toHost() == expected);
  }
}

TEST_CASE("what belongs to an element is computed or loaded") {
  const auto in = gpuopt::test::randomVector<unsigned>(1003, 5);
  std::vector<unsigned> table(in.size()), expected(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    table[i] = worked(static_cast<unsigned>(i), 9);
    expected[i] = in[i] ^ table[i];
  }
  gpuopt::test::DeviceArray<unsigned> device(in), deviceTable(table), out(in.size());
  gpuopt::transform(device.data(), in.size(), out.data(), WithComputed{9});
  CHECK(out.toHost() == expected);
  gpuopt::check(cudaMemset(out.data(), 0, in.size() * sizeof(unsigned)), "cudaMemset");
  gpuopt::transform(device.data(), deviceTable.data(), in.size(), out.data(), WithLoaded{});
  CHECK(out.toHost() == expected);
}

}  // namespace host_test
