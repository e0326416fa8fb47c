/// Which kernel a permutation takes, and the canonical form of its axes: pure host code.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/permute_data.cuh"

#include <gpuopt/device/permute/plan.cuh>
#include <gpuopt/permute.cuh>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace gpuopt::test::plan_test {
namespace {

// No element is touched: the addresses are aligned to 256 bytes and `shift` more.
template <class T>
detail::PermuteKernelPlan planOf(const Layout& in, const Layout& out, const AxisNumbers& axes, bool onlyMoves = true) {
  const auto address = [](std::uintptr_t base) { return reinterpret_cast<T*>(base << 40); };
  detail::PermuteKernelPlan plan;
  plan.request = detail::permuteRequest(in.view(address(1)).permuted(axes), out.view(address(2)), onlyMoves);
  detail::PermuteTuning tuning;
  tuning.smallElements = 100;
  detail::planPermute(plan, tuning, {std::size_t{227} << 10, 132});
  return plan;
}

template <class T>
std::string planned(const Layout& in, const Layout& out, const AxisNumbers& axes, bool onlyMoves = true) {
  const detail::PermuteKernelPlan plan = planOf<T>(in, out, axes, onlyMoves);
  return std::string(detail::nameOf(plan.algorithm)) + ": " + plan.reason + "; " +
         std::to_string(plan.request.inBytes) + " bytes along " + detail::axesInWords(plan.request);
}

template <class T>
std::string planned(const AxisNumbers& extents, const AxisNumbers& axes, std::size_t shift = 0) {
  return planned<T>(Layout::dense(extents).moved(shift), Layout::dense(permuted(extents, axes)), axes);
}

using Bytes3 = Words<unsigned char, 3>;
using Bytes12 = Words<unsigned, 3>;
using Bytes48 = Words<unsigned, 12>;

TEST_CASE("Axes that stay neighbours are merged", "[permute]") {
  CHECK(planned<float>({}, {}) == "transpose: two groups of axes change places; 4 bytes along ");
  CHECK(planned<float>({2, 3, 4, 5}, {0, 1, 2, 3}) ==
        "transpose: two groups of axes change places; 4 bytes along 120 (1 to 1)");
  CHECK(planned<float>({2, 3, 4, 5}, {2, 3, 0, 1}) ==
        "transpose: two groups of axes change places; 4 bytes along 20 (1 to 6), 6 (20 to 1)");
  CHECK(planned<float>({1, 30, 1, 50, 1}, {3, 4, 2, 1, 0}) ==
        "transpose: two groups of axes change places; 4 bytes along 50 (1 to 30), 30 (50 to 1)");
  CHECK(planned<float>({8, 30, 50}, {0, 2, 1}) ==
        "transpose: two groups of axes change places; 4 bytes along 8 (1500 to 1500), 50 (1 to 30), 30 (50 to 1)");
  CHECK(planned<float>({8, 5, 6, 7}, {3, 1, 2, 0}) ==
        "tile of runs: runs of several axes; 4 bytes along 7 (1 to 240), 30 (7 to 8), 8 (210 to 1)");
  CHECK(planned<float>({8, 32, 32, 3}, {0, 3, 1, 2}) ==
        "transpose: two groups of axes change places; 4 bytes along 8 (3072 to 3072), 3 (1 to 1024), 1024 (3 to 1)");
}

TEST_CASE("Axes that count downwards in both tensors count upwards", "[permute]") {
  CHECK(planned<float>(Layout::spread({30, 50}, 0, 3), Layout::spread({50, 30}, 0, 3), {1, 0}) ==
        "transpose: two groups of axes change places; 4 bytes along 50 (1 to 30), 30 (50 to 1)");
  CHECK(planned<float>(Layout::spread({1000}, 0, 1), Layout::spread({1000}, 0, 1), {0}) ==
        "transpose: two groups of axes change places; 4 bytes along 1000 (1 to 1)");
}

TEST_CASE("An axis that would make few, long rows of the output is split", "[permute]") {
  const std::string tile = "tile of runs: runs of several axes; 4 bytes along ";
  CHECK(planned<float>({15, 4, 3, 225}, {2, 1, 3, 0}) ==
        tile + "3 (225 to 13500), 4 (675 to 3375), 9 (25 to 375), 25 (1 to 15), 15 (2700 to 1)");
  CHECK(planned<float>({15, 4, 3, 227}, {2, 1, 3, 0}) ==
        tile + "3 (227 to 13620), 4 (681 to 3405), 227 (1 to 15), 15 (2724 to 1)");
  CHECK(planned<float>({16, 4, 3, 256}, {2, 1, 3, 0}) ==
        tile + "3 (256 to 16384), 4 (768 to 4096), 256 (1 to 16), 16 (3072 to 1)");
}

TEST_CASE("Elements become words, and runs that both tensors keep wider ones", "[permute]") {
  CHECK(planned<Bytes12>({5, 7, 9}, {2, 1, 0}) ==
        "tile of runs: runs of several axes; 4 bytes along 9 (3 to 105), 7 (27 to 15), 5 (189 to 3), 3 (1 to 1)");
  CHECK(planned<Bytes48>({5, 7, 9}, {2, 1, 0}) ==
        "tile of runs: runs of several axes; 16 bytes along 9 (3 to 105), 7 (27 to 15), 5 (189 to 3), 3 (1 to 1)");
  CHECK(planned<Bytes48>({5, 7, 9}, {2, 1, 0}, 4) ==
        "tile of runs: runs of several axes; 4 bytes along 9 (12 to 420), 7 (108 to 60), 5 (756 to 12), 12 (1 to 1)");
  CHECK(planned<unsigned char>({5, 7, 12}, {1, 0, 2}) ==
        "tile of runs: runs of several axes; 4 bytes along 7 (3 to 15), 5 (21 to 3), 3 (1 to 1)");
  CHECK(planned<unsigned char>({5, 7, 12}, {1, 0, 2}, 1) ==
        "tile of runs: runs of several axes; 1 bytes along 7 (12 to 60), 5 (84 to 12), 12 (1 to 1)");
  CHECK(planned<Bytes3>({5, 7, 16}, {1, 0, 2}) ==
        "tile of runs: runs of several axes; 16 bytes along 7 (3 to 15), 5 (21 to 3), 3 (1 to 1)");
}

TEST_CASE("Every kernel has its shapes", "[permute]") {
  CHECK(planned<float>({5, 7, 64}, {1, 0, 2}) ==
        "elements: both tensors keep runs of 16 bytes; 16 bytes along 7 (16 to 80), 5 (112 to 16), 16 (1 to 1)");
  CHECK(planned<float>({5, 7, 60}, {1, 0, 2}) ==
        "tile of runs: runs of several axes; 16 bytes along 7 (15 to 75), 5 (105 to 15), 15 (1 to 1)");
  CHECK(planned<float>({64, 2, 64, 4}, {2, 1, 3, 0}) ==
        "tile of runs: runs of several axes; 4 bytes along 64 (4 to 512), 2 (256 to 256), 4 (1 to 64), 64 (512 to 1)");
  CHECK(planned<float>({128, 3, 128}, {2, 1, 0}) ==
        "matrix tile: both tensors have long aligned runs along one axis; 4 bytes along 128 (1 to 384), 3 (128 to "
        "128), 128 (384 to 1)");
  CHECK(planned<float>({128, 3, 128}, {2, 1, 0}, 4) ==
        "tile of runs: runs of several axes; 4 bytes along 128 (1 to 384), 3 (128 to 128), 128 (384 to 1)");
  CHECK(planned<float>({33, 3, 33}, {2, 1, 0}) ==
        "tile of runs: runs of several axes; 4 bytes along 33 (1 to 99), 3 (33 to 33), 33 (99 to 1)");
  CHECK(planned<float>({{33, 5, 9}, {0, 9, 1}}, Layout::dense({9, 33, 5}), {2, 0, 1}) ==
        "elements: neighbours of one tensor are no neighbours in either; 4 bytes along 9 (1 to 165), 33 (0 to 5), 5 (9 "
        "to "
        "1)");
  CHECK(
      planned<float>({{5, 7, 9}, {190, 22, 2}}, Layout::dense({9, 5, 7}), {2, 0, 1}) ==
      "elements: neighbours of one tensor are no neighbours in either; 4 bytes along 9 (2 to 35), 5 (190 to 7), 7 (22 "
      "to 1)");
  CHECK(planned<float>(Layout::spread({1000}, 0, 1), Layout::dense({1000}), {0}) ==
        "elements: neighbours of one tensor are no neighbours in either; 4 bytes along 1000 (-1 to 1)");
  CHECK(planned<Bytes12>(Layout::dense({5, 7, 9}), Layout::dense({9, 7, 5}), {2, 1, 0}, false) ==
        "tile of runs: runs of several axes; 12 bytes along 9 (1 to 35), 7 (9 to 5), 5 (63 to 1)");
}

TEST_CASE("Lines of the input are fetched whole unless most of them is a gap", "[permute]") {
  const auto fetchesLines = [](const AxisNumbers& strides) {
    const Layout in{{64, 64, 8}, strides};
    return planOf<float>(in, Layout::dense({8, 64, 64}), {2, 1, 0}).tile.inLines;
  };
  CHECK(fetchesLines({512, 8, 1}));
  CHECK(fetchesLines({1024, 16, 1}));
  CHECK_FALSE(fetchesLines({2048, 32, 1}));
}

TEST_CASE("A multiprocessor has room for the blocks that hide latency", "[permute]") {
  const auto blocksOf = [](const detail::PermuteKernelPlan& plan) {
    return (std::size_t{228} << 10) / (plan.sharedBytes + 1024);
  };
  const AxisNumbers cube{101, 101, 101, 101};
  CHECK(blocksOf(planOf<float>(Layout::dense({75, 90, 87, 85}), Layout::dense({85, 90, 75, 87}), {3, 1, 0, 2})) == 2);
  CHECK(blocksOf(planOf<std::uint16_t>(Layout::dense(cube), Layout::dense(cube), {2, 1, 3, 0})) == 3);
}

TEST_CASE("Vectors of output rows are counted from sectors on", "[permute]") {
  const Layout in = Layout::dense({49, 57, 28, 10, 8, 8});
  const auto tile = planOf<double>(in, Layout::dense({8, 28, 8, 57, 49, 10}), {4, 2, 5, 1, 0, 3}).tile;
  CHECK(tile.outBoundary == 32);
  CHECK(tile.outVectors == 66);  // 1040 bytes, which begin at a sector or in its middle
}

TEST_CASE("Small tensors move word by word", "[permute]") {
  CHECK(planned<float>({5, 5, 4}, {2, 1, 0}) ==
        "elements: a small tensor; 4 bytes along 4 (1 to 25), 5 (4 to 5), 5 (20 to 1)");
  CHECK(planned<float>({5, 5, 5}, {2, 1, 0}) ==
        "tile of runs: runs of several axes; 4 bytes along 5 (1 to 25), 5 (5 to 5), 5 (25 to 1)");
}

TEST_CASE("An axis of words on top of 32 axes", "[permute]") {
  const std::vector<int> twos(32, 2);
  auto* const in = reinterpret_cast<const Bytes3*>(std::uintptr_t{1} << 40);
  auto* const out = reinterpret_cast<Bytes3*>(std::uintptr_t{2} << 40);
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(explainPermute(in, out, twos, reversedAxes(32))); }) ==
        "gpuopt::permute: 33 axes cannot be merged into 32");
}

}  // namespace
}  // namespace gpuopt::test::plan_test
