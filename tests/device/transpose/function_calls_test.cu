/// How often a transposition calls its function: once for each element, whatever the kernel.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/portion.hpp"
#include "support/transpose_data.cuh"

#include <gpuopt/transpose.cuh>

#include <cstddef>
#include <random>
#include <vector>

namespace gpuopt::test::function_calls_test {
namespace {

// Counts its calls.
template <class Out>
struct Counted {
  unsigned* calls;

  template <class In>
  __device__ Out operator()(const In&) const {
    atomicAdd(calls, 1u);
    return Out{};
  }
};

template <class In, class Out>
void checkCalls(const std::vector<Case>& shapes) {
  constexpr std::size_t MOST = 40000;
  const DeviceArray<In> in(MOST);
  DeviceArray<Out> out(MOST);
  for (const Case& c : shapes) {
    if (!runsNextCase()) continue;
    DeviceArray<unsigned> calls(std::vector<unsigned>{0});
    const MatrixView<const In> from{in.data() + c.inOffset, c.rows, c.cols, c.cols + c.inGap, c.batch};
    const MatrixView<Out> to{out.data() + c.outOffset, c.cols, c.rows, c.rows + c.outGap, c.batch};
    const Counted<Out> function{calls.data()};
    transpose(from, to, function);
    INFO(sizeof(In) << " to " << sizeof(Out) << " bytes, in " << text(from) << ", out " << text(to));
    INFO(explainTranspose(from, to, function));
    CHECK(calls.toHost()[0] == c.rows * c.cols * c.batch);
  }
}

std::vector<Case> randomShapes(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&random](std::size_t n) { return random() % n; };
  std::vector<Case> shapes{{67, 130}, {8, 1, 0, 0, 0, 0, 1072}, {16, 6, 0, 0, 0, 0, 99}, {31, 7, 0, 0, 0, 0, 60}};
  for (int i = 0; i < 12; ++i) {  // runs of small matrices
    const std::size_t rows = 1 + below(60), cols = 1 + below(i % 2 == 0 ? 9 : 40);
    shapes.push_back({rows, cols, 0, 0, below(9), below(9), 1 + below(30000 / (rows * cols))});
  }
  for (int i = 0; i < 12; ++i) {  // tiles, skinny and unaligned matrices
    const std::size_t rows = 1 + below(150), cols = 1 + below(i % 3 == 0 ? 9 : 150);
    shapes.push_back({rows, cols, below(2) * below(50), below(2) * below(50), below(9), below(9)});
  }
  return shapes;
}

template <class In>
void checkCallsToNumbers(unsigned seed) {
  checkCalls<In, unsigned char>(randomShapes(seed));
  checkCalls<In, unsigned short>(randomShapes(seed + 1));
  checkCalls<In, unsigned>(randomShapes(seed + 2));
  checkCalls<In, double>(randomShapes(seed + 3));
}

TEST_CASE("The function is called once for each number, whatever the two sizes", "[transpose][sweep]") {
  checkCallsToNumbers<unsigned char>(10);
  checkCallsToNumbers<unsigned short>(20);
  checkCallsToNumbers<unsigned>(30);
  checkCallsToNumbers<double>(40);
}

// Each structure from a smaller element, from a larger one, and from itself.
TEST_CASE("The function is called once for each structure", "[transpose][sweep]") {
  checkCalls<unsigned char, Bytes3>(randomShapes(14));
  checkCalls<double, Bytes3>(randomShapes(44));
  checkCalls<unsigned short, Bytes16>(randomShapes(25));
  checkCalls<unsigned, Bytes20>(randomShapes(36));
  checkCalls<Bytes3, Bytes3>(randomShapes(54));
  checkCalls<Bytes3, unsigned>(randomShapes(52));
  checkCalls<Bytes20, Bytes16>(randomShapes(65));
  checkCalls<Bytes20, Bytes20>(randomShapes(66));
  checkCalls<Bytes20, unsigned char>(randomShapes(60));
}

}  // namespace
}  // namespace gpuopt::test::function_calls_test
