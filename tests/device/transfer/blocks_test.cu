/// \file
/// gatherBlocks and scatterBlocks: every byte, of any size and alignment, of pinned and of pageable memory.
// SPDX-License-Identifier: MIT
#include "support/host_test.cuh"

#include <gpuopt/transfer.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace transfer_test::blocks {

using gpuopt::test::messageOf;
using gpuopt::test::Stream;

constexpr std::size_t GUARD = 64;
constexpr unsigned char POISON = 0xA5;

inline unsigned char byteOf(std::size_t i) {
  const auto x = static_cast<std::uint32_t>(i * 2654435761u + 12345u);
  return static_cast<unsigned char>(x >> 13 ^ x >> 24);
}

// Where blocks are on the host: in a random order, with gaps of the same size, so that none overlap.
struct Case {
  std::vector<std::size_t> offsets, sizes;
  std::size_t hostBytes = 0, deviceBytes = 0;
};

inline Case blocksOf(std::size_t count, std::size_t blockBytes, std::size_t gap, bool isVarying = false) {
  Case made;
  std::mt19937 random(static_cast<unsigned>(count * 31 + blockBytes));
  std::vector<std::size_t> places(count);
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::shuffle(places.begin(), places.end(), random);
  for (const std::size_t place : places) {
    made.offsets.push_back(place * (blockBytes + gap) + gap);
    made.sizes.push_back(isVarying ? random() % (blockBytes + 1) : blockBytes);
    made.deviceBytes += made.sizes.back();
  }
  made.hostBytes = count * (blockBytes + gap) + gap;
  return made;
}

// Host and device memory between guard bytes.
struct Memory {
  Memory(const Case& blocks, bool isPinned, std::size_t misalignment)
      : hostBytes(blocks.hostBytes), deviceBytes(blocks.deviceBytes), offset(GUARD + misalignment) {
    if (isPinned) pinned = gpuopt::PinnedVector<unsigned char>(hostBytes + offset + GUARD);
    pageable.resize(isPinned ? 0 : hostBytes + offset + GUARD);
    all = isPinned ? pinned.data() : pageable.data();
    gpuopt::check(cudaMalloc(&memory, deviceBytes + offset + GUARD), "cudaMalloc");
    poison();
  }
  ~Memory() { static_cast<void>(cudaFree(memory)); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  unsigned char* host() const { return all + offset; }
  unsigned char* device() const { return memory + offset; }

  void poison() const {
    std::fill_n(all, hostBytes + offset + GUARD, POISON);
    gpuopt::check(cudaMemset(memory, POISON, deviceBytes + offset + GUARD), "cudaMemset");
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  std::vector<unsigned char> deviceCopy() const {
    std::vector<unsigned char> copy(deviceBytes + offset + GUARD);
    gpuopt::check(cudaMemcpy(copy.data(), memory, copy.size(), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return copy;
  }
  void setDevice(const std::vector<unsigned char>& bytes) const {
    gpuopt::check(cudaMemcpy(memory, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }

  std::size_t hostBytes, deviceBytes, offset;
  gpuopt::PinnedVector<unsigned char> pinned;
  std::vector<unsigned char> pageable;
  unsigned char* all = nullptr;
  unsigned char* memory = nullptr;
};

// What the device's memory must be after a gather of host bytes byteOf(i), guards included.
inline std::vector<unsigned char> gathered(const Case& blocks, const Memory& memory) {
  std::vector<unsigned char> expected(memory.deviceBytes + memory.offset + GUARD, POISON);
  std::size_t at = memory.offset;
  for (std::size_t i = 0; i < blocks.offsets.size(); ++i)
    for (std::size_t k = 0; k < blocks.sizes[i]; ++k) expected[at++] = byteOf(blocks.offsets[i] + k);
  return expected;
}

// The same of the host after a scatter of that.
inline std::vector<unsigned char> scattered(const Case& blocks, const Memory& memory) {
  std::vector<unsigned char> expected(memory.hostBytes + memory.offset + GUARD, POISON);
  for (std::size_t i = 0; i < blocks.offsets.size(); ++i)
    for (std::size_t k = 0; k < blocks.sizes[i]; ++k)
      expected[memory.offset + blocks.offsets[i] + k] = byteOf(blocks.offsets[i] + k);
  return expected;
}

// Gathers with `gather`, then scatters the same with `scatter`: (host, device, stream).
template <class Gather, class Scatter>
void checkBothWays(const Case& blocks, bool isPinned, std::size_t misalignment, const Gather& gather,
                   const Scatter& scatter) {
  const Stream stream;
  const Memory memory(blocks, isPinned, misalignment);
  for (std::size_t i = 0; i < blocks.hostBytes; ++i) memory.host()[i] = byteOf(i);
  gather(memory.host(), memory.device(), stream);
  std::fill_n(memory.all, memory.hostBytes + memory.offset + GUARD, POISON);  // the blocks may change again
  const std::vector<unsigned char> onDevice = gathered(blocks, memory);
  stream.wait();
  REQUIRE(memory.deviceCopy() == onDevice);
  memory.setDevice(onDevice);
  scatter(memory.device(), memory.host(), stream);
  const std::vector<unsigned char> onHost = scattered(blocks, memory);
  REQUIRE(std::equal(onHost.begin(), onHost.end(), memory.all));
}

}  // namespace transfer_test::blocks

using namespace transfer_test::blocks;

TEST_CASE("Blocks of equal size arrive, of any size and alignment", "[transfer]") {
  const bool isPinned = GENERATE(true, false);
  for (const std::size_t blockBytes : {1, 4, 15, 16, 17, 100, 256, 4096, 5000})
    for (const std::size_t gap : {std::size_t{0}, std::size_t{3}, std::size_t{8}}) {
      CAPTURE(isPinned, blockBytes, gap);
      const std::size_t count = blockBytes > 1000 ? 9 : 67;
      const Case blocks = blocksOf(count, blockBytes, gap);
      checkBothWays(
          blocks, isPinned, gap == 8 ? 4 : 0,
          [&](const void* host, unsigned char* device, cudaStream_t stream) {
            gpuopt::gatherBlocks(host, blocks.offsets.data(), count, blockBytes, device, stream);
          },
          [&](const unsigned char* device, void* host, cudaStream_t stream) {
            gpuopt::scatterBlocks(device, host, blocks.offsets.data(), count, blockBytes, stream);
          });
    }
}

TEST_CASE("Blocks of different sizes arrive, empty ones among them", "[transfer]") {
  const bool isPinned = GENERATE(true, false);
  for (const std::size_t most : {1, 16, 300, 5000}) {
    CAPTURE(isPinned, most);
    const Case blocks = blocksOf(50, most, 3, true);
    const std::vector<unsigned short> sizes(blocks.sizes.begin(), blocks.sizes.end());
    const std::vector<int> offsets(blocks.offsets.begin(), blocks.offsets.end());
    checkBothWays(
        blocks, isPinned, 0,
        [&](const void* host, unsigned char* device, cudaStream_t stream) {
          gpuopt::gatherBlocks(host, offsets.data(), sizes.data(), sizes.size(), device, stream);
        },
        [&](const unsigned char* device, void* host, cudaStream_t stream) {
          gpuopt::scatterBlocks(device, host, offsets.data(), sizes.data(), sizes.size(), stream);
        });
  }
}

TEST_CASE("Blocks are found by pointers, and handles end their transfers", "[transfer]") {
  const bool isPinned = GENERATE(true, false);
  const Case blocks = blocksOf(40, 48, 16);
  const auto pointers = [&](unsigned char* host) {
    std::vector<unsigned char*> found;
    for (const std::size_t offset : blocks.offsets) found.push_back(host + offset);
    return found;
  };
  checkBothWays(
      blocks, isPinned, 0,
      [&](unsigned char* host, unsigned char* device, cudaStream_t stream) {
        auto list = pointers(host);
        gpuopt::TransferHandle handle = gpuopt::gatherBlocksAsync(list.data(), list.size(), 48, device, stream);
        list.assign(list.size(), nullptr);  // the list may change again
        handle.wait();
        REQUIRE(handle.isDone());
      },
      [&](const unsigned char* device, unsigned char* host, cudaStream_t stream) {
        const auto list = pointers(host);
        const gpuopt::TransferHandle handle =
            gpuopt::scatterBlocksAsync(device, list.data(), list.size(), 48, stream);  // its destructor waits
      });
}

TEST_CASE("Blocks are found by a table of their numbers", "[transfer]") {
  const Stream stream;
  constexpr std::size_t BYTES = 48, COUNT = 300, TABLE = 77;
  std::vector<unsigned char> pages(BYTES * COUNT), expected(BYTES * TABLE);
  std::vector<std::uint32_t> table(TABLE);
  for (std::size_t i = 0; i < pages.size(); ++i) pages[i] = byteOf(i);
  for (std::size_t i = 0; i < TABLE; ++i) {
    table[i] = static_cast<std::uint32_t>((i * 131 + 299) % COUNT);
    std::copy_n(pages.begin() + table[i] * BYTES, BYTES, expected.begin() + i * BYTES);
  }
  unsigned char* device = nullptr;
  gpuopt::check(cudaMalloc(&device, BYTES * TABLE), "cudaMalloc");
  const auto indices = gpuopt::blockIndices(table.data());
  std::vector<unsigned char> copy(BYTES * TABLE), back(pages.size());
  for (const bool isPinned : {false, true}) {
    const auto registered = gpuopt::registerHost(pages.data(), isPinned ? pages.size() : 0);
    gpuopt::gatherBlocks(pages, indices, TABLE, BYTES, device, stream);
    gpuopt::download(device, copy, stream);
    CHECK(copy == expected);
    gpuopt::check(cudaMemsetAsync(device, 0, BYTES * TABLE, stream), "cudaMemsetAsync");
    gpuopt::gatherBlocksAsync(pages.data(), indices, TABLE, BYTES, device, stream).wait();
    gpuopt::scatterBlocks(device, back, gpuopt::blockIndices(table), TABLE, BYTES, stream);
    std::fill(copy.begin(), copy.end(), POISON);
    gpuopt::scatterBlocksAsync(device, back.data(), indices, TABLE, BYTES, stream).wait();
    gpuopt::download(device, copy, stream);
    CHECK(copy == expected);
    std::size_t wrong = 0;
    for (const std::uint32_t block : table)
      wrong +=
          !std::equal(back.begin() + block * BYTES, back.begin() + (block + 1) * BYTES, pages.begin() + block * BYTES);
    CHECK(wrong == 0);
  }
  const int beyond[] = {0, 300}, negative[] = {-1};
  // WRITTEN transfer: gatherBlocks(pages, blockIndices(table), 2, 48, device), where table has a number of no block
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::gatherBlocks(pages, gpuopt::blockIndices(beyond), 2, BYTES, device);
        }) == "gpuopt::gatherBlocks: indices[1] is 300, but host has 300 blocks of 48 bytes");
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::gatherBlocks(pages.data(), gpuopt::blockIndices(negative), 1, BYTES, device);
        }) == "gpuopt::gatherBlocks: indices[0] (-1) is negative");
  CHECK(messageOf<std::invalid_argument>([&] {
          gpuopt::gatherBlocks(pages, gpuopt::blockIndices(std::vector<short>(3)), 4, BYTES, device);
        }) == "gpuopt::gatherBlocks: indices has 3 elements, but count is 4");
  gpuopt::check(cudaFree(device), "cudaFree");
}

TEST_CASE("More blocks than a group arrive", "[transfer]") {
  const std::size_t count = gpuopt::detail::blocksGroup + 5;
  const Case blocks = blocksOf(count, 8, 0);
  for (const bool isPinned : {true, false})
    checkBothWays(
        blocks, isPinned, 0,
        [&](const void* host, unsigned char* device, cudaStream_t stream) {
          gpuopt::gatherBlocks(host, blocks.offsets.data(), count, 8, device, stream);
        },
        [&](const unsigned char* device, void* host, cudaStream_t stream) {
          gpuopt::scatterBlocks(device, host, blocks.offsets.data(), blocks.sizes.data(), count, stream);
        });
}

TEST_CASE("The blocks after a group are more than a slot holds", "[transfer]") {
  const std::size_t count = gpuopt::detail::blocksGroup + 1500;
  const Case blocks = blocksOf(count, 400, 0, true);
  checkBothWays(
      blocks, false, 0,
      [&](const void* host, unsigned char* device, cudaStream_t stream) {
        gpuopt::gatherBlocks(host, blocks.offsets.data(), blocks.sizes.data(), count, device, stream);
      },
      [&](const unsigned char* device, void* host, cudaStream_t stream) {
        gpuopt::scatterBlocks(device, host, blocks.offsets.data(), blocks.sizes.data(), count, stream);
      });
}

TEST_CASE("Large blocks go through the copy engine", "[transfer]") {
  const std::size_t blockBytes = gpuopt::detail::engineBlockBytes;
  const Case blocks = blocksOf(3, blockBytes, 5);
  checkBothWays(
      blocks, true, 0,
      [&](const void* host, unsigned char* device, cudaStream_t stream) {
        gpuopt::gatherBlocks(host, blocks.offsets.data(), 3, blockBytes, device, stream);
      },
      [&](const unsigned char* device, void* host, cudaStream_t stream) {
        gpuopt::scatterBlocks(device, host, blocks.offsets.data(), 3, blockBytes, stream);
      });
}

TEST_CASE("The plan of blocks", "[transfer]") {
  using namespace gpuopt::detail;
  using gpuopt::TransferDirection;
  const auto planned = [](std::size_t bytes, HostMemory memory, std::size_t count) {
    return planInWords(planBlocks({bytes, TransferDirection::download, memory, 16}, count));
  };
  REQUIRE(planned(0, HostMemory::pinned, 10) == "nothing: there is nothing to copy");
  REQUIRE(planned(4096 * 100, HostMemory::pinned, 100) ==
          "a kernel that accesses the host's memory: the host's memory is pinned");
  REQUIRE(planned(engineBlockBytes * 100 - 1, HostMemory::pinned, 100).find("a kernel") == 0);
  REQUIRE(planned(engineBlockBytes * 100, HostMemory::pinned, 100) == "the copy engine: the blocks are large");
  const std::size_t many = 64 * MIB / 256;
  REQUIRE(planned(256 * many, HostMemory::pageable, many) ==
          "ring of 24 pinned slots of 2097152 bytes, 12 threads: the host's memory is pageable");
  REQUIRE_FALSE(planBlocks({256 * many, TransferDirection::download, HostMemory::pageable, 16}, many).isStreaming);
  REQUIRE(planBlocks({4096 * many, TransferDirection::download, HostMemory::pageable, 16}, many).isStreaming);
}

TEST_CASE("Blocks that are there at a glance are there", "[transfer]") {
  using gpuopt::detail::BlocksAtIndices, gpuopt::detail::BlocksAtOffsets;
  unsigned char memory[1]{};
  const long long values[] = {0, 1, 5, 6, 7, 8, 63, 64, -1, -7, PTRDIFF_MAX, PTRDIFF_MIN};
  std::size_t seen = 0;
  for (const std::size_t extent : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{PTRDIFF_MAX}})
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{65}})
      for (const long long a : values)
        for (const long long b : values) {
          const long long list[] = {a, b};
          const BlocksAtOffsets<long long> offsets{memory, extent, 1, list};
          const BlocksAtIndices<long long> indices{memory, extent, list, bytes};
          if (offsets.areThere(2, bytes))
            REQUIRE((++seen > 0 && offsets.isThere(0, bytes) && offsets.isThere(1, bytes)));
          if (indices.areThere(2, bytes))
            REQUIRE((++seen > 0 && indices.isThere(0, bytes) && indices.isThere(1, bytes)));
        }
  REQUIRE(seen > 100);
}

TEST_CASE("Blocks with bad arguments", "[transfer]") {
  unsigned char host[64] = {};
  const Stream stream;
  void* device = nullptr;
  gpuopt::check(cudaMalloc(&device, 64), "cudaMalloc");
  const std::size_t offsets[] = {0, 16};
  const std::size_t* noOffsets = nullptr;
  const int sizes[] = {16, -17};
  unsigned char* const* noBlocks = nullptr;
  const auto gather = [&](const auto&... arguments) {
    return messageOf<std::invalid_argument>([&] { gpuopt::gatherBlocks(arguments..., stream); });
  };
  // WRITTEN transfer: gatherBlocks(pages, offsets, 2, 16, device), where pages is null
  REQUIRE(gather(static_cast<void*>(nullptr), offsets, 2, 16, device) ==
          "gpuopt::gatherBlocks: host is null, but n is 2");
  REQUIRE(gather(host, noOffsets, 2, 16, device) == "gpuopt::gatherBlocks: offsets is null, but n is 2");
  REQUIRE(gather(noBlocks, 2, 16, device) == "gpuopt::gatherBlocks: blocks is null, but n is 2");
  REQUIRE(gather(host, offsets, static_cast<const int*>(nullptr), 2, device) ==
          "gpuopt::gatherBlocks: sizes is null, but n is 2");
  REQUIRE(gather(host, offsets, 2, 16, static_cast<void*>(nullptr)) ==
          "gpuopt::gatherBlocks: device is null, but n is 32");
  REQUIRE(gather(host, offsets, 2, static_cast<std::size_t>(-16), device) ==
          "gpuopt::gatherBlocks: blockBytes (-16) is negative");
  // WRITTEN transfer: gatherBlocks(pages, offsets, sizes, 2, device), where sizes are 16 and -17
  REQUIRE(gather(host, offsets, sizes, 2, device) == "gpuopt::gatherBlocks: sizes[1] (-17) is negative");
  const int sizesOfOneSum[] = {-50, 150};
  REQUIRE(gather(host, offsets, sizesOfOneSum, 2, device) == "gpuopt::gatherBlocks: sizes[0] (-50) is negative");
  const std::size_t hugeSizes[] = {PTRDIFF_MAX, PTRDIFF_MAX, 2};
  REQUIRE(gather(host, offsets, hugeSizes, 3, device) ==
          "gpuopt::gatherBlocks: the sum of sizes is more than memory can hold");
  const unsigned char* const pages[] = {host, nullptr};
  // WRITTEN transfer: gatherBlocks(pages, 2, 16, device), where pages[1] is null
  REQUIRE(gather(pages, 2, 16, device) == "gpuopt::gatherBlocks: blocks[1] is null");
  gpuopt::gatherBlocks(pages, 2, 0, device);
  gpuopt::gatherBlocks(pages, 1, 16, device);
  const long negative[] = {0, -1};
  // WRITTEN transfer: gatherBlocks(pages, offsets, 2, 16, device), where offsets are 0 and -1
  // DO: offsets are in bytes from `host`, and not negative
  REQUIRE(gather(host, negative, 2, 16, device) == "gpuopt::gatherBlocks: offsets[1] (-1) is negative");
  std::vector<float> samples(100, 1);
  const unsigned beyond[] = {0, 384, 388};
  gpuopt::gatherBlocks(samples, beyond, 2, 16, device, stream);
  // WRITTEN transfer: gatherBlocks(samples, offsets, 3, 16, device), where offsets reach beyond a std::vector
  REQUIRE(
      gather(samples, beyond, 3, 16, device) ==
      "gpuopt::gatherBlocks: offsets[2] is 388: the 16 bytes there reach beyond the end of host, which has 400 bytes");
  REQUIRE(messageOf<std::invalid_argument>([&] {
            static_cast<void>(gpuopt::scatterBlocksAsync(device, samples, beyond, 3, 16, stream));
          }).find("gpuopt::scatterBlocksAsync: offsets[2] is 388: ") == 0);
#if GPUOPT_CHECK_POINTERS
  const auto* const onDevice = static_cast<const std::size_t*>(device);
  REQUIRE(gather(host, onDevice, 2, 16, device) ==
          "gpuopt::gatherBlocks: offsets is in memory that the host cannot access");
  const void* const ofDevice[] = {host, device};
  REQUIRE(gather(ofDevice, 2, 16, device) == "gpuopt::gatherBlocks: the host cannot access the 16 bytes at blocks[1]");
  const std::size_t nowhere[] = {0, std::size_t{1} << 46};
  REQUIRE(gather(host, nowhere, 2, 16, device) ==
          "gpuopt::gatherBlocks: the host cannot access the 16 bytes at host + offsets[1], which is 70368744177664");
  const int indices[] = {0, 1};
  // WRITTEN transfer: scatterBlocks(device, pages, indices, 2, 16), where indices count blocks
  // DO: offsets are in bytes: multiply indices of blocks by their size
  REQUIRE(messageOf<std::invalid_argument>([&] { gpuopt::scatterBlocks(device, host, indices, 2, 16, stream); }) ==
          "gpuopt::scatterBlocks: blocks 0 and 1 overlap on the host: offsets are in bytes");
  // WRITTEN transfer: gatherBlocks(samples, indices, 2, 16, device), where indices count blocks
  // DO: `blockIndices(indices)` instead of `indices`
  REQUIRE(gather(samples, indices, 2, 16, device) ==
          "gpuopt::gatherBlocks: offsets[1] (1) is no multiple of 4, the alignment of host's elements: offsets are in "
          "bytes; of numbers of blocks call blockIndices");
  REQUIRE(messageOf<std::invalid_argument>([&] {
            gpuopt::scatterBlocks(device, samples.data(), indices, 2, 4, stream);
          }).find("gpuopt::scatterBlocks: offsets[1] (1) is no multiple of 4, ") == 0);
  gpuopt::gatherBlocks(static_cast<const void*>(samples.data()), indices, 2, 16, device);  // bytes have no alignment
#endif
  gpuopt::gatherBlocks(host, noOffsets, 0, 16, device);
  gpuopt::gatherBlocks(host, offsets, 2, 0, device);
  static_cast<void>(cudaFree(device));
}
