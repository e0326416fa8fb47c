/// \file
/// Memory that is registered in part, or in several parts: what is copied, and by what.
// SPDX-License-Identifier: MIT
#include "support/device_array.cuh"
#include "support/host_test.cuh"

#include <gpuopt/transfer.cuh>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace transfer_test::registered {

using gpuopt::TransferDirection;
using gpuopt::test::Stream;
using Bytes = std::vector<unsigned char>;
using DeviceBytes = gpuopt::test::DeviceArray<unsigned char>;

constexpr std::size_t PAGE = 4096, PAGES = 64, N = PAGES * PAGE;

// Whole pages, of which some are registered, from one page to another each.
class PartlyRegistered {
 public:
  explicit PartlyRegistered(const std::vector<std::pair<std::size_t, std::size_t>>& parts) : bytes_(N + PAGE) {
    for (std::size_t i = 0; i < N; ++i) data()[i] = static_cast<unsigned char>(i * 7 + i / 251);
    for (const auto& [from, to] : parts)
      registered_.push_back(gpuopt::registerHost(data() + from * PAGE, (to - from) * PAGE));
  }

  unsigned char* data() {
    return bytes_.data() + (PAGE - reinterpret_cast<std::uintptr_t>(bytes_.data()) % PAGE) % PAGE;
  }
  Bytes values() { return {data(), data() + N}; }

 private:
  Bytes bytes_;
  std::vector<gpuopt::RegisteredHost<unsigned char>> registered_;
};

inline bool isIn(const std::string& part, const std::string& text) { return text.find(part) != std::string::npos; }

}  // namespace transfer_test::registered

using namespace transfer_test::registered;

TEST_CASE("Memory that is registered in parts is transferred", "[transfer]") {
  const Stream stream;
  const std::vector<std::vector<std::pair<std::size_t, std::size_t>>> cases{{},                      // pageable
                                                                            {{0, PAGES}},            // pinned
                                                                            {{0, 32}},               // the beginning
                                                                            {{32, PAGES}},           // the end
                                                                            {{16, 48}},              // the middle
                                                                            {{0, 1}, {63, PAGES}},   // a hole
                                                                            {{0, 32}, {32, PAGES}},  // side by side
                                                                            {{0, 20}, {30, 40}, {50, PAGES}}};
  for (std::size_t i = 0; i < cases.size(); ++i)
    for (const std::size_t n : {N, N - 5, 10 * PAGE}) {
      CAPTURE(i, n);
      PartlyRegistered memory(cases[i]);
      const Bytes expected(memory.data(), memory.data() + n);
      DeviceBytes device(n);
      gpuopt::upload(memory.data(), n, device.data(), stream);
      stream.wait();
      REQUIRE(device.toHost() == expected);
      device.fill(Bytes(n, 1));
      gpuopt::uploadAsync(memory.data(), n, device.data(), stream).wait();
      stream.wait();
      REQUIRE(device.toHost() == expected);
      device.fill(Bytes(n, 2));
      gpuopt::download(device.data(), n, memory.data(), stream);
      REQUIRE(Bytes(memory.data(), memory.data() + n) == Bytes(n, 2));
      device.fill(Bytes(n, 3));
      gpuopt::downloadAsync(device.data(), n, memory.data(), stream).wait();
      REQUIRE(Bytes(memory.data(), memory.data() + n) == Bytes(n, 3));
    }
}

TEST_CASE("The plan sees that memory is not in one registration", "[transfer]") {
  const auto explain = [](PartlyRegistered memory) {
    return gpuopt::explainTransfer(memory.data(), N, TransferDirection::upload);
  };
  const std::string inPart = "the host's memory is registered in part, or in several parts";
  REQUIRE(explain(PartlyRegistered({{0, PAGES}})).find("the copy engine: the host's memory is pinned; reads ") == 0);
  REQUIRE(isIn(inPart, explain(PartlyRegistered({{0, 1}, {63, PAGES}}))));
  REQUIRE(isIn(inPart, explain(PartlyRegistered({{0, 32}, {32, PAGES}}))));
  REQUIRE(isIn(inPart, explain(PartlyRegistered({{0, 32}}))));
  REQUIRE(isIn(inPart, explain(PartlyRegistered({{32, PAGES}}))));
}

TEST_CASE("Blocks of registered memory are read where all of each is registered", "[transfer]") {
  const Stream stream;
  const auto gather = [&](PartlyRegistered& memory, const std::vector<std::size_t>& offsets) {
    constexpr std::size_t BLOCK = 1000;
    DeviceBytes device(offsets.size() * BLOCK);
    gpuopt::gatherBlocks(memory.data(), offsets.data(), offsets.size(), BLOCK, device.data(), stream);
    const Bytes all = memory.values(), found = device.toHost();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < offsets.size(); ++i)
      for (std::size_t k = 0; k < BLOCK; ++k) wrong += found[i * BLOCK + k] != all[offsets[i] + k];
    return wrong;
  };
  PartlyRegistered hole({{0, 16}, {48, PAGES}}), neighbours({{0, 32}, {32, PAGES}});
  REQUIRE(gather(hole, {0, N - 1000, 100, 50 * PAGE}) == 0);              // none in the hole
  REQUIRE(gather(hole, {0, N - 1000, 16 * PAGE - 500, 30 * PAGE}) == 0);  // some in the hole
  REQUIRE(gather(neighbours, {0, N - 1000, 32 * PAGE}) == 0);
  REQUIRE(gather(neighbours, {0, N - 1000, 32 * PAGE - 500}) == 0);  // one in both
}

TEST_CASE("Blocks of several allocations are found in each", "[transfer]") {
  using gpuopt::detail::Allocations;
  PartlyRegistered memory({{0, 16}, {32, 40}, {48, PAGES}});
  const unsigned char* data = memory.data();
  Allocations allocations;
  for (int round = 0; round < 2; ++round) {
    REQUIRE(allocations.contain(data + 50 * PAGE, 14 * PAGE));
    REQUIRE(allocations.contain(data, 16 * PAGE));
    REQUIRE(allocations.contain(data + 39 * PAGE, PAGE));
    REQUIRE_FALSE(allocations.contain(data + 39 * PAGE, PAGE + 1));
    REQUIRE_FALSE(allocations.contain(data + 20 * PAGE, 1));
    REQUIRE_FALSE(allocations.contain(data + 31 * PAGE, 2 * PAGE));
    REQUIRE_FALSE(allocations.contain(data, 17 * PAGE));
  }
}
