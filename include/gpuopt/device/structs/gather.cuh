/// \file
/// The kernel of gatherStructs and scatterStructs, its launch, and what they check.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/structs/arguments.cuh>
#include <gpuopt/device/structs/plan.cuh>
#include <gpuopt/device/structs/tuning.cuh>
#include <gpuopt/grid/dependency.cuh>
#include <gpuopt/host/launch.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// The side of the copy that is indexed: in for a gather, out for a scatter.
enum class Indexed { in, out };

// The unsigned integer that an index is read as, so that types of one size share a kernel: no index is negative.
template <class Index>
using IndexWord =
    std::conditional_t<sizeof(Index) == 1, unsigned char,
                       std::conditional_t<sizeof(Index) == 2, unsigned short,
                                          std::conditional_t<sizeof(Index) == 4, unsigned, unsigned long long>>>;

// Moves n structures of ATOMS atoms each. Neighbouring lanes move neighbouring atoms, so that each sector of a
// structure is requested once, and the side without indices is contiguous.
template <class Atom, class Index, unsigned ATOMS, Indexed SIDE>
GPUOPT_KERNEL void __launch_bounds__(indexedBlock, indexedBlocksPerSm)
    moveIndexedKernel(const Atom* in, const Index* indices, std::size_t n, Atom* out) {
  waitForPreviousKernel();
  constexpr unsigned TILE = indexedBlock * indexedLoadsInFlight;
  const std::size_t begin = blockIdx.x * std::size_t{TILE};
  const std::size_t left = n * ATOMS - begin;
  const unsigned count = left < TILE ? static_cast<unsigned>(left) : TILE;
  // 32-bit arithmetic within a tile, relative to the structure in which the tile begins.
  const std::size_t firstStruct = begin / ATOMS;
  const auto skipped = static_cast<unsigned>(begin - firstStruct * ATOMS);
  const auto own = [&](unsigned k) { return k * indexedBlock + threadIdx.x; };

  std::size_t indexed[indexedLoadsInFlight];
#pragma unroll
  for (unsigned k = 0; k < indexedLoadsInFlight; ++k) {
    const unsigned atom = skipped + (own(k) < count ? own(k) : 0);
    indexed[k] = static_cast<std::size_t>(indices[firstStruct + atom / ATOMS]) * ATOMS + atom % ATOMS;
  }
  Atom atoms[indexedLoadsInFlight];
#pragma unroll
  for (unsigned k = 0; k < indexedLoadsInFlight; ++k)
    atoms[k] = in[SIDE == Indexed::in ? indexed[k] : begin + (own(k) < count ? own(k) : 0)];
#pragma unroll
  for (unsigned k = 0; k < indexedLoadsInFlight; ++k)
    if (own(k) < count) out[SIDE == Indexed::out ? indexed[k] : begin + own(k)] = atoms[k];
}

// Words of plan.wordBytes; every address allows those of minAlignment<T>.
template <Indexed SIDE, class T, class Index>
void launchMoveStructs(const MoveStructsPlan& plan, const Index* indices, const char* function, cudaStream_t stream) {
  withWordBytes<minAlignment<T>, widestWord<sizeof(T)>>(plan.wordBytes, [&](auto bytes) {
    constexpr std::size_t BYTES = decltype(bytes)::value;
    launch(moveIndexedKernel<Word<BYTES>, IndexWord<Index>, static_cast<unsigned>(sizeof(T) / BYTES), SIDE>,
           gridConfig(indexedBlock, plan.blocks, stream, function),
           reinterpret_cast<const Word<BYTES>*>(plan.request.in), reinterpret_cast<const IndexWord<Index>*>(indices),
           plan.request.n, reinterpret_cast<Word<BYTES>*>(plan.request.out));
  });
}

// The types of a gather or scatter.
template <class T, class Index, class U>
constexpr bool requireIndexable() {
  constexpr bool IS_SAME = std::is_same_v<T, U>;
  constexpr bool IS_INTEGER = std::is_integral_v<Index> && !std::is_same_v<Index, bool>;
  static_assert(IS_SAME, "gpuopt: in and out have structures of different types");
  static_assert(IS_INTEGER, "gpuopt: the indices of structures must be integers");
  return requireStruct<T>() && IS_SAME && IS_INTEGER;
}

// `indexed` is the array being indexed; its length is unknown. `other` has n structures.
inline void requireIndexed(const NamedArray& indexed, const NamedArray& indices, const NamedArray& other,
                           const char* function) {
  requireAddress(indexed, function);
  if (indexed.n > 0) requireAccess(indexed.data, indexed.elementBytes, indexed.name, function);
  requireArray(indices, function);
  requireArray(other, function);
  if (other.n > 0 && indexed.data == other.data) throwInvalid({function, ": in and out are the same"});
}

// Passes the plan of a gather or scatter to use(plan) if types and arguments are right.
template <Indexed SIDE, class T, class Index, class U, class Use>
void withMovedStructs(const T* in, const Index* indices, std::size_t n, U* out, const char* function, const Use& use) {
  if constexpr (requireIndexable<T, Index, std::remove_const_t<U>>() && !std::is_const_v<U>) {
    constexpr bool GATHERS = SIDE == Indexed::in;
    const NamedArray read = namedArray(in, n, "in"), by = namedArray(indices, n, "indices");
    const NamedArray written = namedArray(out, n, "out");
    requireIndexed(GATHERS ? read : written, by, GATHERS ? written : read, function);
    if (GATHERS && n > 0) requireDisjoint(by, written, function);
    use(planMoveStructs({read.begin(), written.begin(), n, sizeof(T), sizeof(Index)}));
  }
}

template <Indexed SIDE, class T, class Index, class U>
void moveStructs(const T* in, const Index* indices, std::size_t n, U* out, const char* function, cudaStream_t stream) {
  [[maybe_unused]] const CallRange range(function);
  withMovedStructs<SIDE>(in, indices, n, out, function, [&](const MoveStructsPlan& plan) {
    if (n > 0) launchMoveStructs<SIDE, T>(plan, indices, function, stream);
  });
}

template <Indexed SIDE, class T, class Index, class U>
std::string explainMoveStructs(const T* in, const Index* indices, std::size_t n, U* out, const char* function) {
  std::string text;
  withMovedStructs<SIDE>(in, indices, n, out, function,
                         [&text](const MoveStructsPlan& plan) { text = planInWords(plan); });
  return text;
}

GPUOPT_DETAIL_END
