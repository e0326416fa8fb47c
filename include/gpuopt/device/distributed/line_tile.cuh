/// \file
/// A tile that is transposed, and written in whole lines of 128 bytes, whatever the alignment of the rows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/parts.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// Whether lines hold whole elements of this size.
constexpr bool fillsLines(std::size_t bytes) { return bytes <= 16 && 16 % bytes == 0; }

// A link between GPUs moves whole lines fastest. Each row of the output begins at another offset from a line, so each
// has its own first and last element within a tile: a tile reads one line more of rows of the input than it writes, and
// the next tile below goes on where this one has stopped.
template <class In_, class Out_, class Function_>
struct LineTile {
  using In = In_;
  using Out = Out_;
  using Function = Function_;
  static constexpr int THREADS = lineTileThreads;
  static constexpr unsigned LINE = 128 / sizeof(Out);  // elements
  static constexpr unsigned ROWS = lineTileLines * LINE, COLS = lineTileCols;
  static constexpr unsigned PITCH = COLS + 1;  // no bank conflicts along a column
  static constexpr unsigned WARPS = THREADS / 32;
  // Elements that a lane writes at once.
  static constexpr unsigned PACKED = sizeof(Out) < 4 && alignof(Out) == sizeof(Out) ? 4 / sizeof(Out) : 1;
  struct Storage {
    alignas(16) unsigned char bytes[sizeof(Out) * (ROWS + LINE) * PITCH];
  };

  __device__ static void move(const MatrixPart<In, Out>& part, std::size_t matrix, std::size_t row, std::size_t col,
                              const Function& function, Storage& storage) {
    auto* const tile = reinterpret_cast<Out*>(storage.bytes);
    const std::size_t below = part.rows - row, beside = part.cols - col;
    const auto cols = static_cast<unsigned>(beside < COLS ? beside : COLS);
    load(part.in + matrix * part.inStride + row * part.inLd + col, part.inLd,
         static_cast<unsigned>(below < ROWS + LINE ? below : ROWS + LINE), cols, function, tile);
    __syncthreads();
    Out* const out = part.out + matrix * part.outStride + col * part.outLd + row;
    for (unsigned c = threadIdx.x / 32; c < cols; c += WARPS) storeRow(out + c * part.outLd, row == 0, below, tile + c);
  }

 private:
  __device__ static void load(const In* in, std::size_t ld, unsigned rows, unsigned cols, const Function& function,
                              Out* tile) {
    constexpr unsigned IN_FLIGHT = 8, LANES = THREADS / COLS;
    const unsigned col = threadIdx.x % COLS;
    if (col >= cols) return;
    for (unsigned first = threadIdx.x / COLS; first < rows; first += IN_FLIGHT * LANES) {
      In values[IN_FLIGHT];
#pragma unroll
      for (unsigned i = 0; i < IN_FLIGHT; ++i)
        if (first + i * LANES < rows) values[i] = in[(first + i * LANES) * ld + col];
#pragma unroll
      for (unsigned i = 0; i < IN_FLIGHT; ++i)
        if (first + i * LANES < rows) tile[(first + i * LANES) * PITCH + col] = function(values[i]);
    }
  }

  // A row of the output from the first line that begins in the tile, or from the row's first element, to the end of the
  // line that the tile's last row is in, or of the row's last one. By one warp.
  __device__ static void storeRow(Out* out, bool isFirst, std::size_t left, const Out* column) {
    const auto behind = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(out) % 128 / sizeof(Out));
    const int start = behind == 0 ? 0 : static_cast<int>(LINE - behind);
    const int begin = isFirst ? 0 : start;
    const int end =
        left < ROWS + static_cast<unsigned>(start) ? static_cast<int>(left) : static_cast<int>(ROWS) + start;
    const int line = isFirst && start > 0 ? start - static_cast<int>(LINE) : start;
    for (int i = line + static_cast<int>(threadIdx.x % 32 * PACKED); i < end; i += 32 * PACKED) {
      if (i >= begin && i + static_cast<int>(PACKED) <= end)
        storePacked(out + i, column + i * static_cast<int>(PITCH));
      else if constexpr (PACKED > 1)
        for (int k = i < begin ? begin : i; k < i + static_cast<int>(PACKED) && k < end; ++k)
          out[k] = column[k * static_cast<int>(PITCH)];
    }
  }

  // Small elements as one word, which begins at a multiple of 4 bytes where elements are aligned to their size.
  __device__ static void storePacked(Out* out, const Out* column) {
    if constexpr (PACKED == 1) {
      *out = *column;
    } else {
      alignas(4) Out elements[PACKED];
#pragma unroll
      for (unsigned i = 0; i < PACKED; ++i) elements[i] = column[i * PITCH];
      unsigned word;
      __builtin_memcpy(&word, elements, 4);
      *reinterpret_cast<unsigned*>(out) = word;
    }
  }
};

GPUOPT_DETAIL_END
