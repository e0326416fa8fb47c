/// The transpose ladder: every step moves every element to its place, whatever the shape, and nothing else.
// SPDX-License-Identifier: MIT
#include "../../examples/ladders/transpose_steps.cuh"

#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace gpuopt::test::transpose_steps_test {
namespace {

using namespace ladders;

std::vector<float> transposed(const std::vector<float>& in, std::size_t rows, std::size_t cols) {
  std::vector<float> out(in.size());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < cols; ++c) out[c * rows + r] = in[r * cols + c];
  return out;
}

void check(unsigned rows, unsigned cols) {
  const std::size_t n = std::size_t{rows} * cols;
  const std::vector<float> values = randomVector<float>(n, rows * 1000 + cols);
  const std::vector<float> expected = transposed(values, rows, cols);
  const DeviceArray<float> in(values);
  DeviceArray<float> out(n);
  for (const TransposeStep& step : transposeSteps({in.data(), out.data(), rows, cols}))
    for (int repeats = 1; repeats <= (step.repeatsInside ? 2 : 1); ++repeats) {
      INFO(step.name << ", " << rows << " x " << cols << ", repeats " << repeats);
      out.fill(std::vector<float>(n, -77));
      step.run(repeats);
      CHECK(out.toHost() == (step.copies ? values : expected));
    }
  CHECK(in.toHost() == values);
}

TEST_CASE("every step of the transpose ladder puts every element into its place") {
  check(1, 1);
  check(1, 33);
  check(33, 1);
  check(31, 32);
  check(32, 32);
  check(33, 33);
  check(64, 64);
  check(65, 63);
  check(64, 130);
  check(7, 200);
  check(161, 97);
}

TEST_CASE("the square form of the diagonal order is for as many tiles in a row as in a column") {
  const auto hasSquareForm = [](unsigned rows, unsigned cols) {
    for (const TransposeStep& step : transposeSteps({nullptr, nullptr, rows, cols}))
      if (step.name.find("square") != std::string::npos) return true;
    return false;
  };
  CHECK(hasSquareForm(64, 64));
  CHECK(hasSquareForm(33, 64));
  CHECK_FALSE(hasSquareForm(32, 64));
  CHECK_FALSE(hasSquareForm(65, 64));
}

}  // namespace
}  // namespace gpuopt::test::transpose_steps_test
