/// Which kernel maps elements, and which words move indexed structures: in numbers, and in words.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/struct_data.cuh"

#include <gpuopt/map.cuh>
#include <gpuopt/struct_io.cuh>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <stdexcept>
#include <string>

namespace gpuopt::test::structs_plan_test {

// An iterator of the device: its elements are read one by one.
struct Squares {
  using value_type = float;
  using difference_type = std::ptrdiff_t;
  using pointer = const float*;
  using reference = float;
  using iterator_category = std::random_access_iterator_tag;
  __device__ float operator[](std::ptrdiff_t i) const { return static_cast<float>(i * i); }
};

namespace {

using detail::StructsAlgorithm;
using detail::StructsPlan;

// Floats to floats: blocks of 256 threads take 1024 elements by words, or 512 by tiles.
StructsPlan planned(std::size_t n, bool fillWords, bool areAligned, bool readsIterator = false) {
  return detail::planStructs({n, 4, 4, fillWords, areAligned, readsIterator, true, {256, 1024}, {256, 512}});
}

TEST_CASE("The kernel of a map follows from types and addresses", "[struct_io]") {
  struct Row {
    StructsPlan plan;
    StructsAlgorithm algorithm;
    std::size_t blocks;
  };
  const Row rows[] = {
      {planned(0, true, true), StructsAlgorithm::nothing, 0},
      {planned(1, true, true), StructsAlgorithm::words, 1},
      {planned(1024, true, true), StructsAlgorithm::words, 1},
      {planned(1025, true, true), StructsAlgorithm::words, 2},
      {planned(1024, true, false), StructsAlgorithm::tiles, 2},
      {planned(1025, true, false), StructsAlgorithm::tiles, 3},
      {planned(512, false, true), StructsAlgorithm::tiles, 1},
      {planned(512, true, true, true), StructsAlgorithm::tiles, 1},
      {planned(std::size_t{1} << 40, true, true), StructsAlgorithm::words, std::size_t{1} << 30},
  };
  for (const Row& row : rows) {
    INFO(planInWords(row.plan));
    CHECK(row.plan.algorithm == row.algorithm);
    CHECK(row.plan.blocks == row.blocks);
  }
}

TEST_CASE("Indexed structures move by the widest words that sizes and addresses allow", "[struct_io]") {
  struct Row {
    std::uintptr_t in, out;
    std::size_t bytes, wordBytes, words;
  };
  constexpr Row rows[] = {{0x100, 0x200, 1, 1, 1},   {0x100, 0x200, 28, 4, 7},  {0x100, 0x200, 32, 16, 2},
                          {0x108, 0x200, 32, 8, 4},  {0x100, 0x204, 32, 4, 8},  {0x102, 0x204, 32, 2, 16},
                          {0x101, 0x204, 32, 1, 32}, {0x100, 0x210, 16, 16, 1}, {0x100, 0x200, 100, 4, 25}};
  for (const Row& row : rows) {
    INFO(row.bytes << " bytes from " << row.in << " to " << row.out);
    const auto plan = detail::planMoveStructs({row.in, row.out, 1000, row.bytes, 4});
    CHECK(plan.wordBytes == row.wordBytes);
    CHECK(plan.words == row.words);
    CHECK(plan.blocks == (1000 * row.words + 1023) / 1024);
  }
  CHECK(detail::planMoveStructs({0x100, 0x200, 0, 4, 4}).blocks == 0);
}

TEST_CASE("A map says how it moves elements", "[struct_io]") {
  const DeviceArray<float> in(5000);
  DeviceArray<float> out(5000);
  CHECK(explainTransformStructs(in.data(), 5000, out.data()) ==
        "words, 1024 elements a block, 5 blocks of 256 threads: elements of all arrays fill aligned words; "
        "reads 20000 bytes, writes 20000");
  CHECK(explainTransformStructs(in.data() + 1, 100, out.data())
            .find("tiles in shared memory, 1024 elements a block, 1 block of 256 threads: an array does not begin at a "
                  "multiple of a thread's word; reads 400 bytes, writes 400") == 0);
  CHECK(explainTransformStructs(in.data(), 0, out.data()) == "nothing to launch: no elements");
  const auto* numbers = reinterpret_cast<const Blob<28, 4>*>(in.data());
  CHECK(explainTransformStructs(numbers, 100, out.data()).find("elements do not fill words of up to 16 bytes") !=
        std::string::npos);
  // Elements that change are written back.
  CHECK(explainForEachStruct(out.data(), 5000).find("; reads 20000 bytes, writes 20000") != std::string::npos);
  const float* read = out.data();
  CHECK(explainForEachStruct(read, 5000) ==
        "words, 4096 elements a block, 2 blocks of 512 threads: elements of all arrays fill aligned words; "
        "reads 20000 bytes, writes 0");
  CHECK(explainForEachStruct(numbers, 100).find("tiles in shared memory") == 0);
}

TEST_CASE("A gather and a scatter say how they move structures", "[struct_io]") {
  const DeviceArray<float> in(8000);
  DeviceArray<float> out(8001);
  const DeviceArray<int> indices(1000);
  using Struct = Blob<28, 4>;
  const auto* from = reinterpret_cast<const Struct*>(in.data());
  auto* to = reinterpret_cast<Struct*>(out.data());
  CHECK(explainGatherStructs(from, indices.data(), 1000, to) ==
        "7 words of 4 bytes a structure, 4 a thread, 7 blocks of 256 threads: the widest words that divide a "
        "structure; reads 32000 bytes, writes 28000");
  CHECK(explainScatterStructs(from, indices.data(), 1000, to) == explainGatherStructs(from, indices.data(), 1000, to));
  using Wide = Blob<32, 4>;
  CHECK(explainGatherStructs(reinterpret_cast<const Wide*>(in.data()), indices.data(), 10,
                             reinterpret_cast<Wide*>(out.data() + 1)) ==
        "8 words of 4 bytes a structure, 4 a thread, 1 block of 256 threads: the addresses are multiples of no more; "
        "reads 360 bytes, writes 320");
  CHECK(explainGatherStructs(from, indices.data(), 0, to) == "nothing to launch: no structures");
  CHECK_THROWS_AS(explainGatherStructs(from, indices.data(), 1000, static_cast<Struct*>(nullptr)),
                  std::invalid_argument);
}

TEST_CASE("A map of an iterator reads no memory", "[struct_io]") {
  DeviceArray<float> out(100);
  const std::string text = explainTransformStructs(Squares{}, 100, out.data());
  INFO(text);
  CHECK(text.find("threads: the input is an iterator; reads 0 bytes, writes 400") != std::string::npos);
}

TEST_CASE("Matrices with gaps between their rows have a kernel of their own", "[struct_io]") {
  using detail::planStructsMatrix;
  using Algorithm = detail::StructsMatrixAlgorithm;
  const char *const gaps = "there are gaps between rows", *const none = "there are no gaps between rows";
  const detail::StructsMatrixPlan plans[] = {
      {Algorithm::nothing, "no elements", {0, 5, 5, 5, 4, 4}, 0},
      {Algorithm::nothing, "no elements", {5, 0, 8, 8, 4, 4}, 0},
      {Algorithm::array, none, {5, 8, 8, 8, 4, 4}, 0},
      {Algorithm::array, none, {1, 8, 9, 10, 4, 4}, 0},
      {Algorithm::pitched, gaps, {2, 8, 9, 8, 4, 0}, 1},
      {Algorithm::pitched, gaps, {2, 8, 8, 9, 4, 4}, 1},
      {Algorithm::pitched, gaps, {4, 256, 257, 256, 4, 4}, 1},
      {Algorithm::pitched, gaps, {5, 205, 256, 256, 4, 4}, 2},
  };
  for (const detail::StructsMatrixPlan& plan : plans) {
    INFO(planInWords(plan));
    CHECK(planStructsMatrix(plan.request) == plan);
  }
  DeviceArray<float> in(600), out(600);
  const MatrixView<const float> dense{in.data(), 20, 30}, gapped{in.data(), 20, 25, 30};
  const MatrixView<float> written{out.data(), 20, 25, 30};
  CHECK(explainTransform(gapped, written) ==
        "elements of rows, 4 a thread, 1 block of 256 threads: there are gaps between rows; reads 2000 bytes, writes "
        "2000");
  CHECK(explainForEach(gapped).find("there are gaps between rows; reads 2000 bytes, writes 0") != std::string::npos);
  CHECK(explainForEach(dense) == explainForEachStruct(static_cast<const float*>(in.data()), 600));
  CHECK(explainForEach(MatrixView<float>{nullptr, 0, 5}) == "nothing to launch: no elements");
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(explainTransform(dense, written)); }) ==
        "gpuopt::explainTransform: in is 20 x 30, but out is 20 x 25");
}

}  // namespace
}  // namespace gpuopt::test::structs_plan_test
