/// \file
/// A bf16 matrix becomes fp8 in both directions that training needs, in one read of it: row-major in blocks of 1 x 128
/// with scales [rows][cols / 128], and transposed in blocks of 128 x 1 with scales [cols][rows / 128]. A block has a
/// tile of 128 x 128 in its registers; the transposed bytes pass through shared memory.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"
#include "timing.cuh"

#include <gpuopt/launch.cuh>
#include <gpuopt/warp/shuffle.cuh>

#include <cuda_bf16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <vector>

namespace {

constexpr std::size_t TILE = 128;
constexpr unsigned SQUARE = 8;               // a thread has 8 x 8 elements
constexpr unsigned SQUARES = TILE / SQUARE;  // side by side
constexpr unsigned THREADS = SQUARES * SQUARES, WARPS = THREADS / 32;
constexpr float LARGEST = 448;  // of fp8 e4m3

// A matrix of bf16 and what it becomes. Sizes are multiples of TILE, pointers of 16 bytes.
struct BothWays {
  const __nv_bfloat16* in;
  __nv_fp8_e4m3* rowMajor;
  __nv_fp8_e4m3* transposed;
  float* rowScales;
  float* colScales;
  std::size_t rows;
  std::size_t cols;
};

// The factor that makes the largest magnitude the largest number of fp8, and its reciprocal. Zeros have 1.
__host__ __device__ float factorOf(float largest) { return largest == 0 ? 1 : LARGEST / largest; }
__host__ __device__ float scaleOf(float largest) { return largest == 0 ? 1 : largest / LARGEST; }

// The bits of a bf16 are the upper half of a float's.
__device__ float floatOf(unsigned bits) { return __uint_as_float(bits << 16); }
__device__ unsigned half(unsigned word, unsigned i) { return i % 2 == 0 ? word & 0xffff : word >> 16; }

// 8 rows of 8 elements, two in a word. Magnitudes are ordered as their bits are.
struct Square {
  unsigned words[SQUARE][SQUARE / 2];

  __device__ float at(unsigned row, unsigned col) const { return floatOf(half(words[row][col / 2], col)); }
  __device__ unsigned magnitudes(unsigned row, unsigned pair) const { return words[row][pair] & 0x7fff7fff; }
};

__device__ Square loadSquare(const __nv_bfloat16* in, std::size_t cols) {
  Square square;
#pragma unroll
  for (unsigned r = 0; r < SQUARE; ++r) {
    const uint4 row = *reinterpret_cast<const uint4*>(in + r * cols);
    square.words[r][0] = row.x, square.words[r][1] = row.y, square.words[r][2] = row.z, square.words[r][3] = row.w;
  }
  return square;
}

// The largest magnitude of a row of the tile: lane i of the 16 that share 8 rows gets that of row i % 8. Two magnitudes
// are in a word.
__device__ float rowMaximum(const Square& square) {
  unsigned maxima[SQUARE / 2];
#pragma unroll
  for (unsigned pair = 0; pair < SQUARE / 2; ++pair) {
    unsigned ofRow[2];
#pragma unroll
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned row = 2 * pair + i;
      const unsigned most = __vmaxu2(__vmaxu2(square.magnitudes(row, 0), square.magnitudes(row, 1)),
                                     __vmaxu2(square.magnitudes(row, 2), square.magnitudes(row, 3)));
      ofRow[i] = max(half(most, 0), half(most, 1));
    }
    maxima[pair] = ofRow[0] | ofRow[1] << 16;
#pragma unroll
    for (int distance = 1; distance < 16; distance *= 2)
      maxima[pair] = __vmaxu2(maxima[pair], __shfl_xor_sync(0xffffffff, maxima[pair], distance));
  }
  const unsigned row = threadIdx.x % SQUARE;
  const unsigned upper = row < 2 ? maxima[0] : maxima[1], lower = row < 6 ? maxima[2] : maxima[3];
  return floatOf(half(row < 4 ? upper : lower, row));
}

// What a block shares about the columns of its tile.
struct Columns {
  uint4 warpMaxima[WARPS][SQUARES];  // of the rows of a warp, 16 bits each
  float factors[SQUARE * 20];

  // Those of equal columns of all squares are neighbours. The gaps spread neighbouring columns over all banks.
  __device__ float& factor(unsigned col) { return factors[col % SQUARE * 20 + col / SQUARE]; }
};

// Thread i gets the largest magnitude of column i. All threads call.
__device__ float colMaximum(const Square& square, Columns& shared) {
  unsigned maxima[SQUARE / 2];
#pragma unroll
  for (unsigned pair = 0; pair < SQUARE / 2; ++pair) {
    maxima[pair] = square.magnitudes(0, pair);
#pragma unroll
    for (unsigned r = 1; r < SQUARE; ++r) maxima[pair] = __vmaxu2(maxima[pair], square.magnitudes(r, pair));
    maxima[pair] = __vmaxu2(maxima[pair], __shfl_xor_sync(0xffffffff, maxima[pair], 16));
  }
  if (threadIdx.x % 32 < SQUARES) {
    const uint4 word = {maxima[0], maxima[1], maxima[2], maxima[3]};
    shared.warpMaxima[threadIdx.x / 32][threadIdx.x % 32] = word;
  }
  __syncthreads();
  unsigned most = 0;
  const auto* const words = reinterpret_cast<const unsigned*>(shared.warpMaxima) + threadIdx.x % TILE / 2;
#pragma unroll
  for (unsigned w = 0; w < WARPS; ++w) most = __vmaxu2(most, words[w * TILE / 2]);
  return floatOf(half(most, threadIdx.x));
}

__device__ unsigned quantised(float a, float b, float c, float d) {
  return __nv_fp8x4_e4m3(make_float4(a, b, c, d)).__x;
}

// Neighbouring lanes exchange halves, so that each writes 16 bytes of four rows. Lane i of 16 has the factor of row i.
__device__ void storeRows(const Square& square, float factor, __nv_fp8_e4m3* out, std::size_t cols) {
  const auto quantisedRow = [&](unsigned r) {
    const float ofRow = __shfl_sync(0xffffffff, factor, static_cast<int>(r), 16);
    const auto x = [&](unsigned c) { return square.at(r, c) * ofRow; };
    return uint2{quantised(x(0), x(1), x(2), x(3)), quantised(x(4), x(5), x(6), x(7))};
  };
  const bool isOdd = threadIdx.x % 2 == 1;
  if (isOdd) out += SQUARE / 2 * cols - SQUARE;
#pragma unroll
  for (unsigned r = 0; r < SQUARE / 2; ++r, out += cols) {
    const uint2 upper = quantisedRow(r), lower = quantisedRow(r + SQUARE / 2);
    const uint2 given = isOdd ? upper : lower, own = isOdd ? lower : upper;
    const uint2 taken = {__shfl_xor_sync(0xffffffff, given.x, 1), __shfl_xor_sync(0xffffffff, given.y, 1)};
    const uint4 vector = isOdd ? uint4{taken.x, taken.y, own.x, own.y} : uint4{own.x, own.y, taken.x, taken.y};
    *reinterpret_cast<uint4*>(out) = vector;
  }
}

// The transposed tile in shared memory: column after column, of 16 words of 8 bytes. The XOR with the number of a
// column's square spreads what neighbouring threads write over all banks, and keeps pairs of words together.
__device__ unsigned wordOf(unsigned col, unsigned word) { return col * SQUARES + (word ^ (col / SQUARE)); }

__device__ void putColumns(const Square& square, Columns& columns, uint2* tile) {
  const unsigned row = threadIdx.x / SQUARES, col = threadIdx.x % SQUARES * SQUARE;
#pragma unroll
  for (unsigned c = 0; c < SQUARE; ++c) {
    const float factor = columns.factor(col + c);
    const auto x = [&](unsigned r) { return square.at(r, c) * factor; };
    const uint2 word = {quantised(x(0), x(1), x(2), x(3)), quantised(x(4), x(5), x(6), x(7))};
    tile[wordOf(col + c, row)] = word;
  }
}

// Eight threads write the 128 bytes of a column.
__device__ void storeColumns(const uint2* tile, __nv_fp8_e4m3* out, std::size_t rows) {
  constexpr unsigned VECTORS = TILE / 16;
  const unsigned vector = threadIdx.x % VECTORS;
#pragma unroll
  for (unsigned col = threadIdx.x / VECTORS; col < TILE; col += THREADS / VECTORS) {
    const unsigned first = wordOf(col, 2 * vector);
    const uint4 pair = reinterpret_cast<const uint4*>(tile)[first / 2];
    const uint4 inOrder = first % 2 == 0 ? pair : uint4{pair.z, pair.w, pair.x, pair.y};
    *reinterpret_cast<uint4*>(out + col * rows + vector * 16) = inOrder;
  }
}

__global__ void __launch_bounds__(THREADS, 3) quantizeBothWays(const BothWays both) {
  __shared__ Columns columns;
  __shared__ __align__(16) uint2 tile[TILE * SQUARES];
  const std::size_t firstRow = blockIdx.y * TILE, firstCol = blockIdx.x * TILE;
  const unsigned squareRow = threadIdx.x / SQUARES, squareCol = threadIdx.x % SQUARES;
  const std::size_t row = firstRow + squareRow * SQUARE, first = row * both.cols + firstCol + squareCol * SQUARE;
  const Square square = loadSquare(both.in + first, both.cols);

  const float ofRow = rowMaximum(square);
  if (squareCol < SQUARE) both.rowScales[(row + squareCol) * (both.cols / TILE) + blockIdx.x] = scaleOf(ofRow);
  storeRows(square, factorOf(ofRow), both.rowMajor + first, both.cols);

  const float ofCol = colMaximum(square, columns);
  if (threadIdx.x < TILE) {
    columns.factor(threadIdx.x) = factorOf(ofCol);
    both.colScales[(firstCol + threadIdx.x) * (both.rows / TILE) + blockIdx.y] = scaleOf(ofCol);
  }
  __syncthreads();
  putColumns(square, columns, tile);
  __syncthreads();
  storeColumns(tile, both.transposed + firstCol * both.rows + firstRow, both.rows);
}

void launchBothWays(const BothWays& both) {
  if (both.rows % TILE != 0 || both.cols % TILE != 0)
    throw std::invalid_argument("rows and cols must be multiples of 128");
  gpuopt::LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(both.cols / TILE), static_cast<unsigned>(both.rows / TILE));
  config.block = dim3(THREADS);
  gpuopt::launch(quantizeBothWays, config, both);
}

// Serial: the blocks of one direction. Element i of block b is at in[b.first + i * step].
struct Quantised {
  std::vector<std::uint8_t> bytes;
  std::vector<float> scales;
};

Quantised quantizeSerially(const std::vector<__nv_bfloat16>& in, std::size_t lines, std::size_t length,
                           std::size_t lineStep, std::size_t step) {
  Quantised out{std::vector<std::uint8_t>(in.size()), std::vector<float>(in.size() / TILE)};
  for (std::size_t line = 0; line < lines; ++line)
    for (std::size_t first = 0; first < length; first += TILE) {
      const auto at = [&](std::size_t i) { return static_cast<float>(in[line * lineStep + (first + i) * step]); };
      float largest = 0;
      for (std::size_t i = 0; i < TILE; ++i) largest = std::max(largest, std::abs(at(i)));
      const std::size_t begin = line * length + first;
      for (std::size_t i = 0; i < TILE; ++i) out.bytes[begin + i] = __nv_fp8_e4m3(at(i) * factorOf(largest)).__x;
      out.scales[begin / TILE] = scaleOf(largest);
    }
  return out;
}

// Numbers of many magnitudes, both signs, and a block of zeros.
std::vector<__nv_bfloat16> numbers(std::size_t rows, std::size_t cols) {
  std::vector<__nv_bfloat16> values(rows * cols);
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    const auto mantissa = static_cast<float>(static_cast<int>(state >> 8) - (1 << 23));
    const bool isZero = i / cols < TILE && i % cols < TILE;
    values[i] = static_cast<__nv_bfloat16>(isZero ? 0 : std::ldexp(mantissa, -static_cast<int>(state % 31)));
  }
  return values;
}

bool isBlockRight(const DeviceArray<__nv_fp8_e4m3>& bytes, const DeviceArray<float>& scales,
                  const Quantised& expected) {
  const auto found = bytes.toHost();
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i].__x != expected.bytes[i]) return false;
  return scales.toHost() == expected.scales;
}

bool runSize(std::size_t rows, std::size_t cols) {
  const std::vector<__nv_bfloat16> values = numbers(rows, cols);
  const DeviceArray<__nv_bfloat16> in(values);
  const DeviceArray<__nv_fp8_e4m3> rowMajor(rows * cols), transposed(rows * cols);
  const DeviceArray<float> rowScales(rows * cols / TILE), colScales(rows * cols / TILE);
  rowMajor.poison(), transposed.poison(), rowScales.poison(), colScales.poison();
  const BothWays both{in.data(), rowMajor.data(), transposed.data(), rowScales.data(), colScales.data(), rows, cols};
  launchBothWays(both);
  const bool right = isBlockRight(rowMajor, rowScales, quantizeSerially(values, rows, cols, cols, 1)) &&
                     isBlockRight(transposed, colScales, quantizeSerially(values, cols, rows, 1, cols));
  std::printf("%zu x %zu in blocks of 1 x 128 and of 128 x 1: %s\n", rows, cols, right ? "ok" : "WRONG");
  if (emulated) return right;
  const std::size_t bytes = in.bytes() + 2 * (rowMajor.bytes() + rowScales.bytes());
  const double copy = copyBandwidth();
  printSpeedHeader(bytes, "read and written", copy);
  const auto call = [&] { launchBothWays(both); };
  // The clock of an idle GPU is low: it was idle while the host computed.
  for (int i = 0; i < 2000; ++i) call();
  // Each timed call follows another one, during which the host queues it: the time is the GPU's alone.
  printSpeed("both ways", medianAfter(21, call, call), bytes, copy);
  return right;
}

bool run() {
  printDevice("quantize_both_ways");
  return runSize(256, 384) && (emulated || runSize(8192, 8192));
}

}  // namespace

int main() { return exitStatusOf("quantize_both_ways", run); }
