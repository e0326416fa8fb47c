/// \file
/// The calls of <gpuopt/transfer.cuh>: arrays up and down, one in the background, blocks gathered and scattered, and a
/// sum of pinned memory where it is.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/map.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/transfer.cuh>
#include <gpuopt/transfer_blocks.cuh>

#include <cstddef>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

constexpr std::size_t PAGE = 1024;  // elements

struct Double {
  __device__ void operator()(int& value) const { value *= 2; }
};

// Any memory of the host's goes up, is changed, and comes back.
bool roundTrip() {
  std::vector<int> values(1000003);
  std::iota(values.begin(), values.end(), 0);
  const DeviceArray<int> device(values.size());

  gpuopt::upload(values.data(), values.size(), device.data());
  gpuopt::forEach(device.data(), values.size(), Double{});
  gpuopt::TransferHandle transfer = gpuopt::downloadAsync(device.data(), values.size(), values.data());
  const std::string how =
      gpuopt::explainTransfer(values.data(), values.size(), gpuopt::TransferDirection::download);  // meanwhile
  transfer.wait();

  std::printf("%zu values: %s\n", values.size(), how.c_str());
  return values[1] == 2 && values[1000002] == 2000004;
}

// A cache of pages in pinned memory: some go to the device in one call, and go back.
bool pages() {
  gpuopt::PinnedVector<int> cache(64 * PAGE);
  std::iota(cache.begin(), cache.end(), 0);
  std::vector<std::size_t> offsets;  // in bytes
  for (std::size_t page = 3; page < 64; page += 5) offsets.push_back(page * PAGE * sizeof(int));
  const DeviceArray<int> device(offsets.size() * PAGE);

  gpuopt::gatherBlocks(cache.data(), offsets.data(), offsets.size(), PAGE * sizeof(int), device.data());
  gpuopt::forEach(device.data(), offsets.size() * PAGE, Double{});
  gpuopt::scatterBlocks(device.data(), cache.data(), offsets.data(), offsets.size(), PAGE * sizeof(int));

  bool right = true;
  for (std::size_t i = 0; i < cache.size(); ++i)
    right = right && cache[i] == static_cast<int>(i / PAGE % 5 == 3 ? 2 * i : i);
  std::printf("%zu pages of 64: %s\n", offsets.size(), right ? "ok" : "WRONG");
  return right;
}

// A kernel reads a small array where it is: there is nothing to copy.
bool smallSum() {
  const gpuopt::PinnedVector<int> samples(4096, 3);
  const int sum = gpuopt::reduce(samples.devicePointer(), samples.size());
  std::printf("sum of pinned memory: %d\n", sum);
  return sum == 3 * 4096;
}

int main() {
  return exitStatusOf("transfer_basics", [] { return roundTrip() && pages() && smallSum(); });
}
