/// \file
/// What a call that moves a distributed matrix checks on each rank, and how the ranks learn of a mistake of one.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/slab_transfer.cuh>
#include <gpuopt/device/transpose/arguments.cuh>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

GPUOPT_DETAIL_BEGIN

// What all forms of these calls have in common.
struct SlabCall {
  const char* function;
  TeamState& team;
  cudaStream_t stream;
};

// The slabs of a whole matrix, one part for each rank of the team.
struct MatrixSlabs {
  distributed::Slabs rows, cols;
};

inline void requireRanks(const distributed::Slabs& slabs, const char* name, const SlabCall& call) {
  if (slabs.ranks() != call.team.size)
    throwInvalid(
        {call.function, ": ", name, " has slabs of ", slabs.ranks(), " ranks, but the team has ", call.team.size});
}

inline void requireView(const NamedView& view, std::size_t rows, std::size_t cols, const SlabCall& call) {
  requireSizes(view, call.function);
  if (view.rows != rows || view.cols != cols)
    throwInvalid({call.function, ": ", view.name, " must be ", rows, " x ", cols, " on rank ", call.team.rank,
                  ", but it is ", shapeOf(view)});
  if (isEmpty(view)) return;
  requireMemory(view, call.function);
}

// This rank's slabs, before anything is written.
inline void requireSlabs(const SlabCall& call, const NamedView& in, const NamedView& out, const MatrixSlabs& slabs,
                         SlabMove move) {
  const int rank = call.team.rank;
  requireTeamDevice(call.team, call.function);
  requireRanks(slabs.rows, "rows", call);
  requireRanks(slabs.cols, "cols", call);
  const auto require = [&](const NamedView& view, std::size_t rows, std::size_t cols) {
    requireView(view, rows, cols, call);
  };
  if (move == SlabMove::toRows)
    require(in, slabs.rows.total(), slabs.cols.size(rank));
  else
    require(in, slabs.rows.size(rank), slabs.cols.total());
  if (move == SlabMove::transpose)
    require(out, slabs.cols.size(rank), slabs.rows.total());
  else if (move == SlabMove::toColumns)
    require(out, slabs.rows.total(), slabs.cols.size(rank));
  else
    require(out, slabs.rows.size(rank), slabs.cols.total());
  if (in.batch != out.batch) throwInvalid({call.function, ": in has ", in.batch, " matrices, but out has ", out.batch});
  if (isEmpty(out)) return;
  requireApart(out, call.function);
  if (!isEmpty(in) && viewsOverlap(in, out))
    throwInvalid({call.function, ": in and out overlap: ", overlapOf(in, out)});
}

// A transposition of elements that only move, as raw bytes: types of one size and alignment share their kernels.
template <class T>
auto transferOf(const SlabCall& call, const MatrixView<const T>& in, const MatrixView<T>& out,
                const MatrixSlabs& slabs) {
  using Raw = RawElement<sizeof(T), minAlignment<T>>;
  using Move = TransposingMove<Raw, Raw, Identity>;
  return std::make_unique<SlabTransfer<Move>>(
      call.function, call.team, call.stream, reinterpret_cast<const Raw*>(in.data), reinterpret_cast<Raw*>(out.data),
      SlabLayout<Raw, Raw, SlabMove::transpose>{slabs.rows, slabs.cols, in.batch, in.ld, in.batchStride, out.ld,
                                                out.batchStride},
      Move{});
}

// One with a function on the way.
template <class T, class U, class F>
auto transferOf(const SlabCall& call, const MatrixView<const T>& in, const MatrixView<U>& out, const MatrixSlabs& slabs,
                const F& function) {
  using Move = TransposingMove<Boxed<T>, Boxed<U>, Converting<U, F>>;
  return std::make_unique<SlabTransfer<Move>>(
      call.function, call.team, call.stream, boxes(in.data), boxes(out.data),
      SlabLayout<Boxed<T>, Boxed<U>, SlabMove::transpose>{slabs.rows, slabs.cols, in.batch, in.ld, in.batchStride,
                                                          out.ld, out.batchStride},
      Move{{function}});
}

inline distributed::Slabs inBytes(const distributed::Slabs& slabs, std::size_t elementBytes) {
  std::vector<std::size_t> sizes;
  for (int rank = 0; rank < slabs.ranks(); ++rank) sizes.push_back(slabs.size(rank) * elementBytes);
  return distributed::Slabs(sizes);
}

// A copy, of bytes whatever the elements are.
template <SlabMove MOVE, class T>
auto copyOf(const SlabCall& call, const MatrixView<const T>& in, const MatrixView<T>& out, const MatrixSlabs& slabs) {
  using Byte = unsigned char;
  constexpr std::size_t SIZE = sizeof(T);
  return std::make_unique<SlabTransfer<CopyingMove<MOVE>>>(
      call.function, call.team, call.stream, reinterpret_cast<const Byte*>(in.data), reinterpret_cast<Byte*>(out.data),
      SlabLayout<Byte, Byte, MOVE>{slabs.rows, inBytes(slabs.cols, SIZE), in.batch, in.ld * SIZE, in.batchStride * SIZE,
                                   out.ld * SIZE, out.batchStride * SIZE},
      CopyingMove<MOVE>{});
}

// The types of a call. If they are wrong, the messages of gpuopt::transpose say why.
template <class In, class Out, class... F>
constexpr bool requireSlabTypes() {
  static_assert(!std::is_const_v<Out>, "gpuopt::transpose: the elements of out are const: in comes before out");
  constexpr bool IS_MOVABLE = requireMovable<std::remove_const_t<In>>() && requireMovable<Out>();
  if constexpr (sizeof...(F) == 0)
    return IS_MOVABLE && requireSame<In, Out>();
  else
    return IS_MOVABLE && requireFunction<std::remove_const_t<In>, Out, F...>();
}

// The transposition of these arguments, checked. The last one may be a function.
template <class In, class Out, class... F>
auto checkedTransposition(const SlabCall& call, const MatrixView<In>& in, const MatrixView<Out>& out,
                          const MatrixSlabs& slabs, const F&... function) {
  using T = std::remove_const_t<In>;
  static_assert(requireSlabTypes<In, Out, F...>());
  requireSlabs(call, named(in, "in"), named(out, "out"), slabs, SlabMove::transpose);
  return transferOf(call, MatrixView<const T>{in.data, in.rows, in.cols, in.ld, in.batch, in.batchStride}, out, slabs,
                    function...);
}

template <SlabMove MOVE, class In, class Out>
auto checkedCopy(const SlabCall& call, const MatrixView<In>& in, const MatrixView<Out>& out, const MatrixSlabs& slabs) {
  using T = std::remove_const_t<In>;
  static_assert(requireSlabTypes<In, Out>());
  requireSlabs(call, named(in, "in"), named(out, "out"), slabs, MOVE);
  return copyOf<MOVE>(call, MatrixView<const T>{in.data, in.rows, in.cols, in.ld, in.batch, in.batchStride}, out,
                      slabs);
}

// Runs what make() returns. If that throws, the other ranks learn of it.
template <class Make>
void runCollective(const SlabCall& call, const Make& make) {
  decltype(make()) transfer;
  try {
    call.team.requireSuccess(call.function);
    transfer = make();
    transfer->prepare();
  } catch (...) {
    call.team.leave(call.stream);
    throw;
  }
  transfer->run();
}

GPUOPT_DETAIL_END
