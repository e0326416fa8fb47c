/// \file
/// Plans of transfers: whole plans, those of rows and of blocks, and what is explained.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"

#include <gpuopt/transfer_array.cuh>
#include <gpuopt/transfer_blocks.cuh>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace transfer_plan_test {

using gpuopt::PinnedVector;
using gpuopt::TransferDirection;
using gpuopt::detail::HostMemory;
using gpuopt::detail::planBlocks;
using gpuopt::detail::planInWords;
using gpuopt::detail::planRows;
using gpuopt::detail::planTransfer;
using gpuopt::detail::TransferAlgorithm;
using gpuopt::detail::TransferPlan;
using gpuopt::detail::TransferRequest;
using gpuopt::detail::TunedValue;

constexpr std::size_t KIB = 1024, MIB = 1024 * KIB;
constexpr auto UP = TransferDirection::upload, DOWN = TransferDirection::download;
constexpr auto PAGEABLE = HostMemory::pageable, PINNED = HostMemory::pinned, IN_PART = HostMemory::partlyPinned;
constexpr const char *isPageable = "the host's memory is pageable", *isPinned = "the host's memory is pinned",
                     *isInPart = "the host's memory is registered in part, or in several parts";

TransferPlan ring(const char* reason, unsigned threads, std::size_t slotBytes, std::size_t slots, bool isStreaming,
                  bool fitsSlot = false) {
  TransferPlan plan{TransferAlgorithm::ring, reason, threads, slotBytes, slots, isStreaming};
  plan.fitsSlot = fitsSlot;
  return plan;
}

TransferRequest async(TransferRequest request) {
  request.isAsync = true;
  return request;
}

TEST_CASE("Whole plans of transfers", "[transfer]") {
  struct Row {
    TransferRequest request;
    TransferPlan plan;
  };
  const Row rows[] = {
      {{0, UP, PAGEABLE, 16}, {TransferAlgorithm::none, "there is nothing to copy"}},
      {{MIB, UP, PINNED, 16}, {TransferAlgorithm::engine, isPinned}},
      {async({MIB, DOWN, PINNED, 16}), {TransferAlgorithm::engine, isPinned}},
      {{32 * KIB, UP, PAGEABLE, 16},
       {TransferAlgorithm::runtime, "the host's memory is pageable, and the array is small"}},
      {{64 * KIB, UP, PAGEABLE, 16}, ring(isPageable, 1, 64 * KIB, 1, false)},
      {{64 * KIB, DOWN, PAGEABLE, 16}, ring(isPageable, 1, 64 * KIB, 1, true, true)},
      {{256 * KIB, DOWN, PAGEABLE, 16}, ring(isPageable, 1, 256 * KIB, 1, true, true)},
      {{256 * KIB + 1, DOWN, PAGEABLE, 16}, ring(isPageable, 2, 128 * KIB, 3, true)},
      {{100, DOWN, IN_PART, 16}, ring(isInPart, 1, 64 * KIB, 1, true, true)},
      {{100, UP, IN_PART, 16}, ring(isInPart, 1, 64 * KIB, 1, false)},
      {{16 * MIB, UP, PAGEABLE, 16}, ring(isPageable, 12, 256 * KIB, 32, true)},
      {{16 * MIB, UP, PAGEABLE, 4}, ring(isPageable, 3, 256 * KIB, 32, true)},
      {{4 * MIB, UP, PAGEABLE, 16, TunedValue{2, 512 * KIB}}, ring("the tuning file says so", 2, 512 * KIB, 8, true)},
      {async({4 * MIB, UP, PAGEABLE, 16}), {TransferAlgorithm::queue, isPageable, 0, MIB, 4, true}},
  };
  for (const Row& row : rows) {
    INFO(row.request.bytes << " bytes: " << planInWords(row.plan)
                           << "; planned: " << planInWords(planTransfer(row.request)));
    CHECK(planTransfer(row.request) == row.plan);
  }
}

TEST_CASE("Plans of rows", "[transfer]") {
  const auto packed = [](TransferPlan plan, bool isStreaming) {
    plan.packsRows = true;
    plan.isStreaming = isStreaming;
    return plan;
  };
  CHECK(planRows({MIB, UP, PINNED, 16}, 4096, true) == TransferPlan{TransferAlgorithm::engine, isPinned});
  const TransferPlan dense = planTransfer({MIB, UP, IN_PART, 16}),
                     queued = planTransfer(async({MIB, UP, PAGEABLE, 16}));
  REQUIRE(dense.isStreaming);
  REQUIRE(queued.isStreaming);
  CHECK(planRows({MIB, UP, PAGEABLE, 16}, 4096, false) == dense);  // the runtime does not copy rows
  CHECK(planRows({MIB, UP, IN_PART, 16}, 4096, true) == packed(dense, true));
  CHECK(planRows({MIB, UP, IN_PART, 16}, 4095, true) == packed(dense, false));
  CHECK(planRows(async({MIB, UP, PAGEABLE, 16}), 4096, true) == packed(queued, true));
  CHECK(planRows({KIB, UP, PAGEABLE, 16}, 64, false).algorithm == TransferAlgorithm::ring);
}

TEST_CASE("Plans of blocks", "[transfer]") {
  const auto kernel = [](unsigned blocks, unsigned wordBytes, const char* reason = isPinned) {
    TransferPlan plan{TransferAlgorithm::kernel, reason};
    plan.blocks = blocks;
    plan.wordBytes = wordBytes;
    return plan;
  };
  const TransferRequest up{MIB, UP, PINNED, 16}, down{MIB, DOWN, PINNED, 16};
  CHECK(planBlocks(up, 1024) == kernel(16, 16));
  CHECK(planBlocks(up, 4096) == kernel(64, 16));
  CHECK(planBlocks(down, 4096) == kernel(32, 16));
  for (const auto& [alignment, word] : {std::pair<std::size_t, unsigned>{16, 16}, {8, 4}, {4, 4}, {2, 1}, {1, 1}})
    CHECK(planBlocks(up, 1024, alignment) == kernel(16, word));
  CHECK(planBlocks({MIB, UP, PINNED, 16, TunedValue{7, 0}}, 1024, 4) == kernel(7, 4, "the tuning file says so"));
  CHECK(planBlocks({4 * MIB, UP, PINNED, 16}, 2) == TransferPlan{TransferAlgorithm::engine, "the blocks are large"});
  TransferPlan pageable = planTransfer({16 * MIB, UP, PAGEABLE, 16});
  CHECK(planBlocks({16 * MIB, UP, PAGEABLE, 16}, 4096) == pageable);
  pageable.isStreaming = false;
  CHECK(planBlocks({16 * MIB, UP, PAGEABLE, 16}, 4097) == pageable);
}

TEST_CASE("explainTransfer and explainBlocks", "[transfer]") {
  std::vector<float> few(10);
  PinnedVector<float> pinned(1 << 16);
  CHECK(gpuopt::explainTransfer(few.data(), 0, UP) == "nothing to launch: there is nothing to copy");
  CHECK(gpuopt::explainTransfer(pinned.data(), 10, DOWN) ==
        "the copy engine: the host's memory is pinned; reads 40 bytes, writes 40");
  CHECK(gpuopt::explainBlocks(pinned.data(), 64, 4096, UP) ==
        "a kernel that accesses the host's memory, words of 16 bytes, up to 16 blocks of 512 threads: the host's "
        "memory is "
        "pinned; reads 262144 bytes, writes 262144");
  CHECK(gpuopt::explainBlocks(pinned, 2, 4 << 20, DOWN) ==
        "the copy engine: the blocks are large; reads 8388608 bytes, writes 8388608");
  CHECK(gpuopt::explainBlocks(few, 10, 4, UP) ==
        "ring of 1 pinned slot of 65536 bytes, 1 thread: the host's memory is pageable; reads 40 bytes, writes 40");
  CHECK(gpuopt::explainBlocks(few, 0, 4, UP) == "nothing to launch: no bytes");
  CHECK(gpuopt::test::messageOf<std::invalid_argument>([&] {
          static_cast<void>(gpuopt::explainBlocks(few, static_cast<std::size_t>(-1), 4, UP));
        }).find("gpuopt::explainBlocks: count") == 0);
}

}  // namespace transfer_plan_test
