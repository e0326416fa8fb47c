/// Memory of the host of every kind, and pipelines of chunks.
// SPDX-License-Identifier: MIT
#include "../../examples/experiments/transfers.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <cstring>
#include <vector>

namespace transfers_test {

using namespace experiments;

constexpr unsigned ROUNDS = 3;

std::vector<unsigned> workedVector(std::vector<unsigned> values) {
  for (unsigned& value : values) value = worked(value, ROUNDS);
  return values;
}

TEST_CASE("memory of every kind goes up and comes down") {
  const auto values = gpuopt::test::randomVector<unsigned>(5001, 1);
  const std::size_t bytes = values.size() * sizeof(unsigned);
  for (const HostMemory kind :
       {HostMemory::pageable, HostMemory::pinned, HostMemory::writeCombined, HostMemory::mapped}) {
    const HostBuffer from(kind, bytes), to(kind, bytes);
    gpuopt::test::DeviceArray<unsigned> in(values.size()), out(values.size());
    std::memcpy(from.as<void>(), values.data(), bytes);
    gpuopt::check(cudaMemcpyAsync(in.data(), from.as<void>(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    launchWork(in.data(), out.data(), values.size(), ROUNDS);
    gpuopt::check(cudaMemcpyAsync(to.as<void>(), out.data(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    CHECK(std::vector<unsigned>(to.as<unsigned>(), to.as<unsigned>() + values.size()) == workedVector(values));
  }
}

TEST_CASE("a kernel works on mapped memory in place") {
  const auto values = gpuopt::test::randomVector<unsigned>(1003, 2);
  const std::size_t bytes = values.size() * sizeof(unsigned);
  const HostBuffer memory(HostMemory::mapped, bytes);
  std::memcpy(memory.as<void>(), values.data(), bytes);
  launchWork(memory.onDevice<unsigned>(), memory.onDevice<unsigned>(), values.size(), ROUNDS);
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  CHECK(std::vector<unsigned>(memory.as<unsigned>(), memory.as<unsigned>() + values.size()) == workedVector(values));
}

TEST_CASE("pipelines do all chunks, with one, two and three buffers, and with the host's help") {
  constexpr std::size_t CHUNK = 500;
  for (const std::size_t n : {1, 500, 501, 2999, 3000, 4100}) {
    const auto values = gpuopt::test::randomVector<unsigned>(n, 3);
    const HostBuffer in(HostMemory::pinned, n * sizeof(unsigned)), out(HostMemory::pinned, n * sizeof(unsigned));
    std::memcpy(in.as<void>(), values.data(), n * sizeof(unsigned));
    for (const unsigned buffers : {1u, 2u, 3u}) {
      const Pipeline pipeline(CHUNK, buffers);
      for (const IssueOrder order : {IssueOrder::depthFirst, IssueOrder::breadthFirst})
        for (const std::size_t onHost : {std::size_t{0}, n / 3, n}) {
          std::memset(out.as<void>(), 0xA5, n * sizeof(unsigned));
          pipeline.run(in.as<unsigned>(), out.as<unsigned>(), n, ROUNDS, order, onHost);
          CHECK(std::vector<unsigned>(out.as<unsigned>(), out.as<unsigned>() + n) == workedVector(values));
        }
    }
  }
}

}  // namespace transfers_test
