/// \file
/// The work by which the constants of kernels are compared, as this source compiles it: with GPUOPT_TUNING_ENTRIES and
/// GPUOPT_TUNING_TAG, which are defined before. All of it moves bytes, so the results of all sources are equal.
// SPDX-License-Identifier: MIT
#pragma once

#include "constants.hpp"

#include <gpuopt/device/transpose/launch.cuh>
#include <gpuopt/soa.cuh>
#include <gpuopt/struct_io.cuh>

#include <cmath>
#include <cstddef>
#include <type_traits>
#include <vector>

namespace {

using gpuopt::tune::ConstantInput;
using gpuopt::tune::ConstantWork;

template <std::size_t SIZE>
using Element = gpuopt::detail::RawElement<SIZE, SIZE>;

// A square matrix of elements of SIZE bytes, about three quarters of the input, whose pitch is an odd multiple of 128
// bytes. Its output has rows that begin at 128-byte boundaries, or, in the middle of sectors, at odd multiples of 16
// bytes.
template <class Tile, std::size_t SIZE, bool IN_SECTORS = false>
void transposeMatrix(const ConstantInput& input, unsigned char* out, cudaStream_t stream) {
  using T = Element<SIZE>;
  using Problem = gpuopt::detail::TransposeProblem<T, T, gpuopt::Identity>;
  constexpr std::size_t MULTIPLE = 128 / (SIZE < 16 ? SIZE : 8);
  const double area = 0.75 * static_cast<double>(input.bytes / SIZE);
  const std::size_t cols = ((static_cast<std::size_t>(std::sqrt(area)) / MULTIPLE - 1) | 1) * MULTIPLE;
  const std::size_t rows = IN_SECTORS ? cols + 16 / SIZE : cols;
  const Problem problem{reinterpret_cast<const T*>(input.data),
                        reinterpret_cast<T*>(out),
                        rows,
                        cols,
                        cols,
                        rows,
                        1,
                        rows * cols,
                        rows * cols,
                        gpuopt::Identity{}};
  gpuopt::detail::launchTile<Tile>(problem, 0, stream);
}

template <std::size_t SIZE>
void transposeTiles(const ConstantInput& input, unsigned char* out, cudaStream_t stream) {
  transposeMatrix<gpuopt::detail::VectorTileOf<Element<SIZE>, Element<SIZE>>, SIZE>(input, out, stream);
}

template <std::size_t SIZE>
void transposeSectors(const ConstantInput& input, unsigned char* out, cudaStream_t stream) {
  transposeMatrix<gpuopt::detail::SectorTileOf<Element<SIZE>>, SIZE, true>(input, out, stream);
}

template <std::size_t SIZE>
void transposeRegisters(const ConstantInput& input, unsigned char* out, cudaStream_t stream) {
  transposeMatrix<gpuopt::detail::RegisterTile<Element<SIZE>, Element<SIZE>>, SIZE>(input, out, stream);
}

template <int WORDS>
struct Words {
  unsigned words[WORDS];
};

template <int WORDS>
struct NextWords {
  __device__ Words<WORDS> operator()(Words<WORDS> value) const {
    ++value.words[0];
    return value;
  }
};

template <int WORDS>
void transformWords(const ConstantInput& input, unsigned char* out, cudaStream_t stream) {
  using Struct = Words<WORDS>;
  gpuopt::transformStructs(reinterpret_cast<const Struct*>(input.data), input.bytes / sizeof(Struct),
                           reinterpret_cast<Struct*>(out), NextWords<WORDS>{}, stream);
}

template <class Out>
struct ConvertElement {
  template <class In>
  __device__ Out operator()(In value) const {
    return static_cast<Out>(value);
  }
};

template <class In, class Out>
void mapElements(const ConstantInput& input, unsigned char* out, cudaStream_t stream) {
  const std::size_t n = input.bytes / (sizeof(In) < sizeof(Out) ? sizeof(Out) : sizeof(In));
  gpuopt::transformStructs(reinterpret_cast<const In*>(input.data), n, reinterpret_cast<Out*>(out),
                           ConvertElement<Out>{}, stream);
}

void gatherWords(const ConstantInput& input, unsigned char* out, cudaStream_t stream) {
  using Struct = Words<ConstantInput::INDEXED_BYTES / 4>;
  gpuopt::gatherStructs(reinterpret_cast<const Struct*>(input.data), input.indices, input.bytes / sizeof(Struct),
                        reinterpret_cast<Struct*>(out), stream);
}

struct Three {
  unsigned a, b, c;
};
struct Six {
  unsigned a, b, c, d, e, f;
};
struct Twelve {
  unsigned a, b, c, d, e, f, g, h, i, j, k, l;
};

// Columns of 16-byte aligned memory, one after the other.
template <class Struct, class Word, std::size_t... COLUMNS>
gpuopt::SoaView<Struct> viewOf(Word* words, std::size_t n, std::index_sequence<COLUMNS...>) {
  return {(words + COLUMNS * n)..., n};
}

// Half of the input to columns, the other half from columns.
template <class Struct>
void convertStructs(const ConstantInput& input, unsigned char* out, cudaStream_t stream) {
  constexpr std::make_index_sequence<sizeof(Struct) / 4> columns{};
  const std::size_t n = input.bytes / 2 / sizeof(Struct) / 4 * 4, half = n * sizeof(Struct);
  gpuopt::toSoa(reinterpret_cast<const Struct*>(input.data), n,
                viewOf<Struct>(reinterpret_cast<unsigned*>(out), n, columns), stream);
  gpuopt::toAos(viewOf<const Struct>(reinterpret_cast<const unsigned*>(input.data + half), n, columns),
                reinterpret_cast<Struct*>(out + half), stream);
}

// The choice that this source is compiled with; null if it has none.
const char* choiceOf(const char* name, int logSize) {
  const char* found = nullptr;
  [[maybe_unused]] const auto visit = [&](const char* each, const char*, int size, const char* choice, const char*, int,
                                          int) {
    if (size == logSize && gpuopt::detail::isSameText(each, name)) found = choice;
  };
#ifdef GPUOPT_TUNING_ENTRIES
  GPUOPT_TUNING_ENTRIES(visit)
#endif
  return found;
}

std::vector<ConstantWork> works(bool isDefault) {
  std::vector<ConstantWork> chosen;
  for (ConstantWork work : {ConstantWork{"gpuopt.transposeTile", 0, nullptr, transposeTiles<1>},
                            {"gpuopt.transposeTile", 1, nullptr, transposeTiles<2>},
                            {"gpuopt.transposeTile", 2, nullptr, transposeTiles<4>},
                            {"gpuopt.transposeTile", 3, nullptr, transposeTiles<8>},
                            {"gpuopt.transposeTile", 4, nullptr, transposeTiles<16>},
                            {"gpuopt.transposeSectorTile", 0, nullptr, transposeSectors<1>},
                            {"gpuopt.transposeSectorTile", 1, nullptr, transposeSectors<2>},
                            {"gpuopt.transposeSectorTile", 2, nullptr, transposeSectors<4>},
                            {"gpuopt.transposeSectorTile", 3, nullptr, transposeSectors<8>},
                            {"gpuopt.transformStructs", 3, nullptr, transformWords<3>},
                            {"gpuopt.transformStructs", 4, nullptr, transformWords<6>},
                            {"gpuopt.transformStructs", 5, nullptr, transformWords<12>},
                            {"gpuopt.transformStructs", 6, nullptr, transformWords<20>},
                            {"gpuopt.gatherStructs", 0, nullptr, gatherWords},
                            {"gpuopt.convertStructs", 4, nullptr, convertStructs<Three>},
                            {"gpuopt.convertStructs", 5, nullptr, convertStructs<Six>},
                            {"gpuopt.convertStructs", 6, nullptr, convertStructs<Twelve>},
                            {"gpuopt.mapElements", 2, nullptr, mapElements<unsigned, int>},
                            {"gpuopt.mapElements", 3, nullptr, mapElements<unsigned long long, long long>},
                            {"gpuopt.mapNarrower", 2, nullptr, mapElements<unsigned, unsigned char>},
                            {"gpuopt.mapWider", 0, nullptr, mapElements<unsigned char, unsigned>},
                            {"gpuopt.mapWider", 2, nullptr, mapElements<unsigned, unsigned long long>}}) {
    work.choice = choiceOf(work.name, work.logSize);
    if (isDefault || work.choice != nullptr) chosen.push_back(work);
  }
  return chosen;
}

}  // namespace
