/// \file
/// Turns a picture by quarter turns, or transposes it. Whole pixels move: of 1, 2, 3 or 6 bytes.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"
#include "options.hpp"
#include "writer.hpp"

#include <gpuopt/launch.cuh>
#include <gpuopt/transpose.cuh>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace {

constexpr int BLOCK = 256;

template <class Sample, int CHANNELS>
struct Pixel {
  Sample samples[CHANNELS];
};

template <class P>
struct Pixels {
  std::size_t rows;
  std::size_t cols;
  std::vector<P> values;
};

// The rows in the opposite order.
template <class P>
__global__ void flipRows(const P* in, P* out, std::size_t rows, std::size_t cols) {
  for (std::size_t i = blockIdx.x * std::size_t{BLOCK} + threadIdx.x; i < rows * cols;
       i += std::size_t{gridDim.x} * BLOCK)
    out[(rows - 1 - i / cols) * cols + i % cols] = in[i];
}

// A quarter turn clockwise is two mirrors: the upper row becomes the lowest, then rows become columns.
template <class P>
void turnClockwise(P* picture, P* scratch, std::size_t rows, std::size_t cols) {
  const auto config = gpuopt::occupancyConfig(flipRows<P>, rows * cols, BLOCK);
  gpuopt::launch(flipRows<P>, config, picture, scratch, rows, cols);
  gpuopt::transpose(scratch, picture, rows, cols);
}

template <class P>
Pixels<P> changeOnDevice(Pixels<P> picture, const Options& options) {
  const DeviceArray<P> first(picture.values), second(picture.values.size());
  P* current = first.data();
  P* other = second.data();
  if (options.transpose) {
    gpuopt::transpose(current, other, picture.rows, picture.cols);
    std::swap(current, other);
    std::swap(picture.rows, picture.cols);
  }
  for (int turn = 0; !options.transpose && turn < options.turns; ++turn) {
    turnClockwise(current, other, picture.rows, picture.cols);
    std::swap(picture.rows, picture.cols);
  }
  picture.values = (current == first.data() ? first : second).toHost();
  return picture;
}

// The same pixel by pixel: where the pixel (r, c) of the result comes from.
template <class P>
Pixels<P> changeSerially(const Pixels<P>& in, const Options& options) {
  const bool upright = !options.transpose && options.turns == 2;
  Pixels<P> out{upright ? in.rows : in.cols, upright ? in.cols : in.rows, in.values};
  const auto source = [&](std::size_t r, std::size_t c) {
    if (options.transpose) return c * in.cols + r;
    if (options.turns == 1) return (in.rows - 1 - c) * in.cols + r;
    if (options.turns == 2) return (in.rows - 1 - r) * in.cols + (in.cols - 1 - c);
    return c * in.cols + (in.cols - 1 - r);
  };
  for (std::size_t r = 0; r < out.rows; ++r)
    for (std::size_t c = 0; c < out.cols; ++c) out.values[r * out.cols + c] = in.values[source(r, c)];
  return out;
}

template <class P>
bool areEqual(const Pixels<P>& a, const Pixels<P>& b) {
  return a.rows == b.rows && a.cols == b.cols &&
         std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(P)) == 0;
}

// Changes the samples of a picture; false if the device and the reference disagree.
template <int CHANNELS, class Sample>
bool change(Input& picture, std::vector<Sample>& samples, const Options& options) {
  using P = Pixel<Sample, CHANNELS>;
  const std::size_t count = samples.size() / CHANNELS;
  Pixels<P> in{count / picture.width, picture.width, std::vector<P>(count)};
  std::memcpy(in.values.data(), samples.data(), count * sizeof(P));
  const Pixels<P> out = changeOnDevice(in, options);
  std::memcpy(samples.data(), out.values.data(), count * sizeof(P));
  picture.width = out.cols;
  const bool right = areEqual(out, changeSerially(in, options));
  std::printf("%s: %zu x %zu: %s\n", options.output.c_str(), out.cols, out.rows,
              right ? "every pixel as the serial reference has it" : "WRONG");
  return right;
}

bool run(const Options& options) {
  Input picture = readPicture(options.input);
  std::printf("%s: %s\n", options.input.c_str(), picture.description.c_str());
  const bool right = std::visit(
      [&](auto& samples) {
        using Sample = typename std::decay_t<decltype(samples)>::value_type;
        if constexpr (std::is_same_v<Sample, std::uint8_t> || std::is_same_v<Sample, std::uint16_t>)
          return picture.channels == 3 ? change<3>(picture, samples, options) : change<1>(picture, samples, options);
        else
          throw std::logic_error("pictures have samples of 8 or 16 bits");
        return false;
      },
      picture.values);
  writePicture(options.output, picture);
  return right;
}

}  // namespace

int main(int count, char** words) {
  return exitStatusOf("picture_rotate", [&] { return run(parseOptions(count, words)); });
}
