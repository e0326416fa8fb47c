/// \file
/// The run of small matrices that a block transposes: on its way to shared memory and back, and its order.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transpose/problem.cuh>
#include <gpuopt/host/grid_config.cuh>
#include <gpuopt/thread/async_copy.cuh>

#include <cstddef>
#include <cstdint>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

// Division of numbers below 2^15 by one that is known at run time (Granlund and Montgomery 1994).
struct ShortDivisor {
  static constexpr unsigned BITS = 15;
  unsigned multiplier = 1;
  unsigned shift = 0;

  ShortDivisor() = default;
  explicit ShortDivisor(unsigned divisor) : shift(BITS) {
    while ((1u << (shift - BITS)) < divisor) ++shift;
    multiplier = static_cast<unsigned>(ceilDivide(std::size_t{1} << shift, divisor));
  }

  __device__ unsigned divide(unsigned x) const { return x * multiplier >> shift; }
};

template <class Problem>
bool isDense(const Problem& problem) {
  const std::size_t area = problem.rows * problem.cols;
  return problem.inLd == problem.cols && problem.outLd == problem.rows &&
         (problem.batch == 1 || (problem.inStride == area && problem.outStride == area));
}

// The shift that brings to bits 4 to 6 those bits, from 7 on, that differ between neighbouring threads'
// places.
inline unsigned swizzleFor(std::size_t distance) {
  unsigned swizzle = 3;
  while (distance % (std::size_t{32} << swizzle) == 0) ++swizzle;
  return swizzle;
}

// Shared memory for so many bytes at any alignment.
inline std::size_t sharedFor(std::size_t bytes) { return ceilDivide(bytes + 32, 128) * 128; }

// How the matrices are divided among blocks: so many elements each, whole matrices.
struct BatchShape {
  std::size_t elements;  // of all matrices
  unsigned blockElements;
  unsigned rows;
  unsigned cols;
  unsigned area;
  ShortDivisor byArea;
  unsigned inBytes;  // of shared memory, for the input

  template <class Problem>
  BatchShape(const Problem& problem, std::size_t perBlock)
      : elements(problem.batch * problem.rows * problem.cols),
        blockElements(static_cast<unsigned>(perBlock)),
        rows(static_cast<unsigned>(problem.rows)),
        cols(static_cast<unsigned>(problem.cols)),
        area(rows * cols),
        byArea(area),
        inBytes(static_cast<unsigned>(sharedFor(perBlock * sizeof(*problem.in)))) {}
};

// How the elements of a block are divided among its threads.
struct WalkShape : BatchShape {
  ShortDivisor byRows;
  unsigned swizzle;

  template <class Problem>
  WalkShape(const Problem& problem, std::size_t perBlock, unsigned shift)
      : BatchShape(problem, perBlock), byRows(rows), swizzle(shift) {}
};

template <class In, class Out, class Function>
struct BatchLayout : TransposeAtom<In, Out, Function> {
  using typename TransposeAtom<In, Out, Function>::Result;
  // Results of a word.
  static constexpr unsigned PACK = sizeof(Result) < 4 && isWord<Result> ? 4 / sizeof(Result) : 1;
};

// Shared memory in which pieces whose distance is a large power of two do not meet in one bank: in every line
// of 128 bytes, the 16-byte vectors change places as three bits of the line's address say.
template <bool SWIZZLES>
struct SwizzledBytes {
  unsigned char* bytes;
  unsigned swizzle;

  __device__ unsigned char* at(unsigned place) const {
    return bytes + (SWIZZLES ? place ^ (place >> swizzle & 0x70) : place);
  }
};

// The 16-byte vectors of global memory between two addresses, and the bytes before and after them.
struct VectorRange {
  unsigned head;
  unsigned vectors;
  unsigned tail;  // where it begins
  unsigned count;

  __device__ VectorRange(const void* address, unsigned bytes) : count(bytes) {
    const auto toVector = static_cast<unsigned>(0 - reinterpret_cast<std::uintptr_t>(address)) % 16;
    head = toVector < count ? toVector : count;
    vectors = (count - head) / 16;
    tail = head + vectors * 16;
  }
};

// Places in shared memory are those in global memory modulo 32 bytes.
__device__ inline unsigned placeOf(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % 32;
}

template <class Shared>
__device__ inline void stageBytes(const Shared& shared, const unsigned char* source, unsigned count) {
  const VectorRange range(source, count);
  const unsigned origin = placeOf(source);
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < range.vectors; i += blockDim.x)
    copyAsync16(shared.at(origin + range.head + 16 * i), source + range.head + 16 * i);
  if (threadIdx.x < range.head) *shared.at(origin + threadIdx.x) = source[threadIdx.x];
  if (threadIdx.x < count - range.tail)
    *shared.at(origin + range.tail + threadIdx.x) = source[range.tail + threadIdx.x];
}

template <class Shared>
__device__ inline void unstageBytes(const Shared& shared, unsigned origin, unsigned char* out,
                                    unsigned count) {
  const VectorRange range(out, count);
#pragma unroll 4
  for (unsigned i = threadIdx.x; i < range.vectors; i += blockDim.x)
    *reinterpret_cast<uint4*>(out + range.head + 16 * i) =
        *reinterpret_cast<const uint4*>(shared.at(origin + range.head + 16 * i));
  if (threadIdx.x < range.head) out[threadIdx.x] = *shared.at(origin + threadIdx.x);
  if (threadIdx.x < count - range.tail)
    out[range.tail + threadIdx.x] = *shared.at(origin + range.tail + threadIdx.x);
}

// Where the pieces of the input lie, in the order of the output.
template <unsigned COUNT>
struct BatchWalk {
  unsigned part;
  unsigned row;
  unsigned col;
  unsigned place;

  __device__ BatchWalk(const WalkShape& shape, unsigned atom) {
    const unsigned element = atom / COUNT;
    const unsigned matrix = shape.byArea.divide(element);
    const unsigned inside = element - matrix * shape.area;
    part = atom % COUNT;
    col = shape.byRows.divide(inside);
    row = inside - col * shape.rows;
    place = (matrix * shape.area + row * shape.cols + col) * COUNT + part;
  }

  __device__ void advance(const WalkShape& shape) {
    ++place;
    if (++part < COUNT) return;
    part = 0;
    place += (shape.cols - 1) * COUNT;
    if (++row < shape.rows) return;
    row = 0;
    place -= (shape.area - 1) * COUNT;
    if (++col < shape.cols) return;
    col = 0;
    place += (shape.area - shape.cols) * COUNT;
  }
};

// The elements that a block moves.
template <class In, class Out>
struct BatchPart {
  const In* in;
  Out* out;
  unsigned elements;

  __device__ BatchPart(const In* allIn, Out* allOut, const BatchShape& shape) {
    const std::size_t first = std::size_t{blockIdx.x} * shape.blockElements;
    const std::size_t left = shape.elements - first;
    in = allIn + first;
    out = allOut + first;
    elements = left < shape.blockElements ? static_cast<unsigned>(left) : shape.blockElements;
  }

  template <class Shared>
  __device__ void stage(const Shared& shared) const {
    stageBytes(shared, reinterpret_cast<const unsigned char*>(in),
               elements * static_cast<unsigned>(sizeof(In)));
    awaitAsyncCopies();
    __syncthreads();
  }
};

}  // namespace detail
GPUOPT_NAMESPACE_END
