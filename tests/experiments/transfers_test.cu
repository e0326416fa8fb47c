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

/// Whether call(rows, group, device) brings the rows to the device one after the other, and nothing else.
template <class Call>
bool bringsRows(std::size_t count, std::size_t bytes, std::size_t pitch, const Call& call) {
  constexpr std::size_t GUARD = 64;
  const auto values = gpuopt::test::randomVector<unsigned char>(count * pitch, 4);
  const HostBuffer host(HostMemory::pinned, values.size()), group(HostMemory::pinned, count * bytes);
  std::memcpy(host.as<void>(), values.data(), values.size());
  gpuopt::test::DeviceArray<unsigned char> device(count * bytes + GUARD);
  gpuopt::check(cudaMemset(device.data(), 0x5A, count * bytes + GUARD), "cudaMemset");
  call(HostRows{host.as<unsigned char>(), count, bytes, pitch}, group.as<unsigned char>(), device.data());
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::vector<unsigned char> expected(count * bytes + GUARD, 0x5A), found(expected.size());
  for (std::size_t i = 0; i < count; ++i) std::memcpy(&expected[i * bytes], &values[i * pitch], bytes);
  gpuopt::check(cudaMemcpy(found.data(), device.data(), found.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return found == expected;
}

TEST_CASE("all ways to copy rows bring the same bytes") {
  const Streams streams(1, cudaStreamDefault);
  constexpr struct {
    std::size_t count, bytes, pitch;
  } sizes[] = {{1, 1, 1}, {7, 13, 13}, {33, 52, 128}, {100, 64, 65}, {5, 4096, 8192}};
  for (const auto& size : sizes) {
    CAPTURE(size.count, size.bytes, size.pitch);
    const auto check = [&](const auto& call) { return bringsRows(size.count, size.bytes, size.pitch, call); };
    CHECK(check([](const HostRows& rows, unsigned char*, unsigned char* device) { copyRowByRow(rows, device); }));
    CHECK(
        check([](const HostRows& rows, unsigned char*, unsigned char* device) { copyInTwoDimensions(rows, device); }));
    CHECK(check(
        [](const HostRows& rows, unsigned char* group, unsigned char* device) { copyGrouped(rows, group, device); }));
    CHECK(check(
        [&](const HostRows& rows, unsigned char*, unsigned char* device) { RowBatch(rows, device)(streams[0]); }));
    CHECK(check([](const HostRows& rows, unsigned char*, unsigned char* device) { RowGathering{rows}(device); }));
  }
}

TEST_CASE("the host writes and adds up memory of every kind") {
  constexpr std::size_t N = 1003;
  for (const HostMemory kind :
       {HostMemory::pageable, HostMemory::pinned, HostMemory::writeCombined, HostMemory::mapped}) {
    const HostBuffer memory(kind, N * sizeof(unsigned));
    writeWords(memory.as<unsigned>(), N, 7);
    CHECK(memory.as<unsigned>()[N - 1] == 7 + N - 1);
    CHECK(sumOfWords(memory.as<unsigned>(), N) == 7 * N + N * (N - 1) / 2);
  }
}

}  // namespace transfers_test
