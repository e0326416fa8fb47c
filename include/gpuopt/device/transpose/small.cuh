/// \file
/// The simplest kernels: a vector is copied, a small matrix transposed element by element.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/shared.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/device/transpose/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_DETAIL_BEGIN

// Both addresses are equal modulo 16. A thread copies a 16-byte vector; words of WORD bytes complete the ends.
template <std::size_t WORD>
GPUOPT_KERNEL void __launch_bounds__(copyThreads)
    copyVectorKernel(const unsigned char* in, unsigned char* out, std::size_t bytes) {
  waitForPreviousKernel();
  const std::size_t head = (16 - reinterpret_cast<std::uintptr_t>(out) % 16) % 16;
  const std::size_t i = blockIdx.x * std::size_t{copyThreads} + threadIdx.x;
  const std::size_t byte = head + 16 * i;
  if (byte + 16 <= bytes) *reinterpret_cast<uint4*>(out + byte) = loadVector<Caching::normal>(in + byte);
  const auto copyWord = [&](std::size_t offset) {
    *reinterpret_cast<Word<WORD>*>(out + offset) = *reinterpret_cast<const Word<WORD>*>(in + offset);
  };
  if (i * WORD < 16) {
    const std::size_t tail = bytes < head ? bytes : bytes - (bytes - head) % 16;
    if (i * WORD < head && i * WORD < bytes) copyWord(i * WORD);
    if (tail + i * WORD < bytes) copyWord(tail + i * WORD);
  }
}

// Reads and registers that an element takes at least.
template <class In, class Out>
inline constexpr std::size_t smallReads = largerOf(sizeof(In) / alignof(In), sizeof(Out) / alignof(Out));

// A thread keeps several elements in registers.
template <class In, class Out>
inline constexpr bool smallTakes = largerOf(sizeof(In), sizeof(Out)) <= 16 && smallReads<In, Out> <= 8;

// A tile's results in shared memory, column by column. Columns begin in different banks.
template <class T, unsigned ROWS, unsigned COLS>
struct SmallTile {
  static constexpr unsigned PITCH = ROWS + (sizeof(T) < 4 ? 4 / sizeof(T) : 1);

  alignas(16) unsigned char bytes[sizeof(T) * COLS * PITCH];

  __device__ T& at(unsigned row, unsigned col) { return reinterpret_cast<T*>(bytes)[col * PITCH + row]; }
};

template <int ROWS, int COLS, int THREADS, class In, class Out, class Function>
GPUOPT_KERNEL void __launch_bounds__(THREADS, RESIDENT_THREADS / THREADS / (smallReads<In, Out> <= 4 ? 1 : 2))
    transposeSmallKernel(const TransposeProblem<In, Out, Function> problem) {
  constexpr unsigned DOWN = THREADS / COLS;    // rows that the threads load at a time
  constexpr unsigned ACROSS = THREADS / ROWS;  // columns that they store
  constexpr unsigned COUNT = ROWS / DOWN;
  __shared__ SmallTile<Out, ROWS, COLS> storage;
  auto& tile = keepAddress(storage);
  const auto rows = static_cast<unsigned>(problem.rows) - blockIdx.x * ROWS;
  const auto cols = static_cast<unsigned>(problem.cols) - blockIdx.y * COLS;

  const unsigned row = threadIdx.x / COLS;
  const unsigned col = threadIdx.x % COLS;
  const In* in = problem.in + std::size_t{blockIdx.x * ROWS + row} * problem.inLd + blockIdx.y * COLS + col;
  Out results[COUNT];
  waitForPreviousKernel();  // with addresses ready
#pragma unroll
  for (unsigned i = 0; i < COUNT; ++i, in += DOWN * problem.inLd)
    if (row + i * DOWN < rows && col < cols) results[i] = problem.function(*in);
#pragma unroll
  for (unsigned i = 0; i < COUNT; ++i) tile.at(row + i * DOWN, col) = results[i];
  __syncthreads();

  const unsigned outRow = threadIdx.x % ROWS;
  const unsigned outCol = threadIdx.x / ROWS;
  Out* out = problem.out + std::size_t{blockIdx.y * COLS + outCol} * problem.outLd + blockIdx.x * ROWS + outRow;
#pragma unroll
  for (unsigned i = 0; i < COUNT; ++i, out += ACROSS * problem.outLd)
    if (outRow < rows && outCol + i * ACROSS < cols) *out = tile.at(outRow, outCol + i * ACROSS);
}

GPUOPT_DETAIL_END
