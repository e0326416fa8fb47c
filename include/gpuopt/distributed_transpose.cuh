/// \file
/// Matrices whose rows are divided among the ranks of a team: transpose, redistribute to slabs of columns and back.
///
///     gpuopt::distributed::SymmetricVector<float> slab(team, n);
///     gpuopt::distributed::transpose(team, slab, out, rows, cols, stream);      // even slabs of rows on both sides
///     gpuopt::distributed::redistribute(team, slab, out, rows, cols, stream);   // slabs of columns, not transposed
///     gpuopt::distributed::redistributeToRows(team, columns, out, rows, cols, stream);   // and back
///
///     const gpuopt::distributed::Slabs mine({500, 0, 500});                     // uneven slabs
///     gpuopt::distributed::transpose(team, inView, outView, mine, Slabs::even(cols, 3), ToFloat{}, stream);
///
/// **Slabs.** Each rank has a slab of neighbouring rows, in the order of the ranks. If a call gets only the sizes,
/// slabs are even: rows / ranks rows each, and one more on the first rows % ranks ranks (Slabs::even). Slabs may be
/// uneven and empty; all ranks pass the same ones.
///
/// **Common to all.** Asynchronous on `stream`. Matrices are row-major in device memory. Elements are of any trivially
/// copyable type of up to 128 bytes, at the alignment of that type. Sizes and strides count elements. If `in` or `out`
/// is in symmetric memory, all ranks, even those with an empty slab, pass it at the same offset, with the same leading
/// dimension and batchStride. After the call, in the order of the streams, `out` is complete on all ranks, and `in` may
/// be overwritten.
///
/// **Paths.** With peer access and `out` in symmetric memory, one kernel of `transpose` writes to the memory of all
/// ranks between two barriers; otherwise, with `in` in symmetric memory, one kernel reads it. Copy engines serve
/// `redistribute` of two ranks with long slabs, if `out` is in symmetric memory. If only the ranks of a node reach each
/// other, and `in` is in symmetric memory, kernels read it within nodes, and NCCL sends between nodes; one rank of a
/// node sends the short blocks of all. Otherwise each rank packs blocks for the others, which NCCL sends.
/// `explainTranspose` says which path a call takes. Messages need scratch memory of the size of the slabs, from the
/// library's pool. For them, for copies and for kernels that serve one rank after the other, the ranks' host threads
/// wait for each other before they queue anything, though not for their streams; without peer access they also wait
/// until NCCL has finished its earlier work.
///
/// **Errors.** std::invalid_argument on the rank whose arguments are wrong, before anything is written; on the others a
/// TeamError that names it, at once or after a wait for the stream (Team::check). Then all further calls of the team
/// throw on all ranks.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/slab_arguments.cuh>
#include <gpuopt/distributed_symmetric.cuh>
#include <gpuopt/distributed_team.cuh>

#include <cstddef>
#include <string>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

inline SlabCall slabCall(const char* function, distributed::Team& team, cudaStream_t stream = nullptr) {
  return {function, TeamAccess::of(team), stream};
}

// Even slabs of a matrix of these sizes.
inline MatrixSlabs evenSlabs(const SlabCall& call, std::size_t rows, std::size_t cols) {
  requireShape(rows, cols, call.function);
  return {distributed::Slabs::even(rows, call.team.size), distributed::Slabs::even(cols, call.team.size)};
}

// Passes dense slabs, as views, to use(in, out, slabs).
template <SlabMove MOVE, class In, class Out, class Use>
auto withDenseSlabs(const SlabCall& call, In& in, Out& out, std::size_t rows, std::size_t cols, const Use& use) {
  const MatrixSlabs slabs = evenSlabs(call, rows, cols);
  const std::size_t ownRows = slabs.rows.size(call.team.rank), ownCols = slabs.cols.size(call.team.rank);
  const auto from = [&](std::size_t r, std::size_t c) { return denseView(in, r, c, "in", call.function); };
  const auto to = [&](std::size_t r, std::size_t c) { return denseView(out, r, c, "out", call.function); };
  if constexpr (MOVE == SlabMove::transpose)
    return use(from(ownRows, cols), to(ownCols, rows), slabs);
  else if constexpr (MOVE == SlabMove::toColumns)
    return use(from(ownRows, cols), to(rows, ownCols), slabs);
  else
    return use(from(rows, ownCols), to(ownRows, cols), slabs);
}

// The path of a copy of dense slabs, in words.
template <SlabMove MOVE, class In, class Out>
std::string explainDenseCopy(const SlabCall& call, In& in, Out& out, std::size_t rows, std::size_t cols) {
  return withDenseSlabs<MOVE>(call, in, out, rows, cols, [&](const auto& from, const auto& to, const auto& slabs) {
    return planInWords(checkedCopy<MOVE>(call, from, to, slabs)->plan());
  });
}

}  // namespace detail

namespace distributed {

/// \name Transposition
/// out(c, r) = in(r, c), or function(in(r, c)), for a matrix of rows x cols elements of all ranks: each has a slab of
/// rows of `in`, and a slab of rows of `out`, which are columns of `in`. A function is called once for each element, in
/// any order; its result converts to the element type of `out`. Technique: tiles through shared memory, as on one
/// device, that read or write the rows of other devices by 16-byte accesses, or in whole lines of 128 bytes.
/// \{

/// Transposes a matrix of dense, even slabs.
///
/// \param team the ranks
/// \param in this rank's rows: a pointer, a container or a SymmetricVector
/// \param out receives this rank's rows of the transposed matrix; a pointer, a container or a SymmetricVector
/// \param rows,cols of the matrix of all ranks
/// \param stream the launches are queued there
template <class In, class Out, class = gpuopt::detail::EnableDense<In, Out>>
void transpose(Team& team, In&& in, Out&& out, std::size_t rows, std::size_t cols, StreamRef stream = {}) {
  namespace own = gpuopt::detail;
  const own::SlabCall call = own::slabCall("gpuopt::distributed::transpose", team, stream);
  own::runCollective(call, [&] {
    return own::withDenseSlabs<own::SlabMove::transpose>(call, in, out, rows, cols,
                                                         [&](const auto& from, const auto& to, const auto& slabs) {
                                                           return own::checkedTransposition(call, from, to, slabs);
                                                         });
  });
}

/// The same with a function on the way.
template <class In, class Out, class Function, class = gpuopt::detail::EnableDense<In, Out>,
          class = gpuopt::detail::EnableFunction<Function>>
void transpose(Team& team, In&& in, Out&& out, std::size_t rows, std::size_t cols, Function function,
               StreamRef stream = {}) {
  namespace own = gpuopt::detail;
  const own::SlabCall call = own::slabCall("gpuopt::distributed::transpose", team, stream);
  own::runCollective(call, [&] {
    return own::withDenseSlabs<own::SlabMove::transpose>(
        call, in, out, rows, cols, [&](const auto& from, const auto& to, const auto& slabs) {
          return own::checkedTransposition(call, from, to, slabs, function);
        });
  });
}

/// Transposes matrices of any slabs, with gaps between their rows, and batches.
///
/// \param in this rank's rows of each matrix: rows.size(rank) x cols.total() elements
/// \param out this rank's rows of each transposed matrix: cols.size(rank) x rows.total() elements
/// \param rows,cols the slabs of rows and of columns, the same on all ranks
template <class In, class Out>
void transpose(Team& team, const MatrixView<In>& in, const MatrixView<Out>& out, const Slabs& rows, const Slabs& cols,
               StreamRef stream = {}) {
  namespace own = gpuopt::detail;
  const own::SlabCall call = own::slabCall("gpuopt::distributed::transpose", team, stream);
  own::runCollective(call, [&] { return own::checkedTransposition(call, in, out, own::MatrixSlabs{rows, cols}); });
}

/// The same with a function on the way.
template <class In, class Out, class Function, class = gpuopt::detail::EnableFunction<Function>>
void transpose(Team& team, const MatrixView<In>& in, const MatrixView<Out>& out, const Slabs& rows, const Slabs& cols,
               Function function, StreamRef stream = {}) {
  namespace own = gpuopt::detail;
  const own::SlabCall call = own::slabCall("gpuopt::distributed::transpose", team, stream);
  own::runCollective(call, [&] {
    return own::checkedTransposition(call, in, out, own::MatrixSlabs{rows, cols}, function);
  });
}

/// \}

/// \name Without transposing
/// out(r, c) = in(r, c): each rank has a slab of rows of `in`, and gets a slab of columns, with all rows. This is what
/// distributed FFTs do between their passes, and attention between sequences and heads. Where the columns do not divide
/// evenly, slabs of columns go by NCCL if other ranks would have to know how wide they are.
/// \{

/// Moves a matrix of dense, even slabs of rows to slabs of columns.
///
/// \param in this rank's rows: a pointer, a container or a SymmetricVector
/// \param out receives this rank's columns, rows x its columns elements; a pointer, a container or a SymmetricVector
template <class In, class Out, class = gpuopt::detail::EnableDense<In, Out>>
void redistribute(Team& team, In&& in, Out&& out, std::size_t rows, std::size_t cols, StreamRef stream = {}) {
  namespace own = gpuopt::detail;
  const own::SlabCall call = own::slabCall("gpuopt::distributed::redistribute", team, stream);
  own::runCollective(call, [&] {
    return own::withDenseSlabs<own::SlabMove::toColumns>(
        call, in, out, rows, cols, [&](const auto& from, const auto& to, const auto& slabs) {
          return own::checkedCopy<own::SlabMove::toColumns>(call, from, to, slabs);
        });
  });
}

/// Moves matrices of any slabs, with gaps between their rows, and batches.
///
/// \param in this rank's rows of each matrix: rows.size(rank) x cols.total() elements
/// \param out this rank's columns of each matrix: rows.total() x cols.size(rank) elements
template <class In, class Out>
void redistribute(Team& team, const MatrixView<In>& in, const MatrixView<Out>& out, const Slabs& rows,
                  const Slabs& cols, StreamRef stream = {}) {
  namespace own = gpuopt::detail;
  const own::SlabCall call = own::slabCall("gpuopt::distributed::redistribute", team, stream);
  own::runCollective(call, [&] {
    return own::checkedCopy<own::SlabMove::toColumns>(call, in, out, own::MatrixSlabs{rows, cols});
  });
}

/// The way back of a matrix of dense, even slabs: from slabs of columns to slabs of rows.
///
/// \param in this rank's columns, rows x its columns elements: a pointer, a container or a SymmetricVector
/// \param out receives this rank's rows; a pointer, a container or a SymmetricVector
template <class In, class Out, class = gpuopt::detail::EnableDense<In, Out>>
void redistributeToRows(Team& team, In&& in, Out&& out, std::size_t rows, std::size_t cols, StreamRef stream = {}) {
  namespace own = gpuopt::detail;
  const own::SlabCall call = own::slabCall("gpuopt::distributed::redistributeToRows", team, stream);
  own::runCollective(call, [&] {
    return own::withDenseSlabs<own::SlabMove::toRows>(
        call, in, out, rows, cols, [&](const auto& from, const auto& to, const auto& slabs) {
          return own::checkedCopy<own::SlabMove::toRows>(call, from, to, slabs);
        });
  });
}

/// The same of matrices of any slabs, with gaps between their rows, and batches.
///
/// \param in this rank's columns of each matrix: rows.total() x cols.size(rank) elements
/// \param out this rank's rows of each matrix: rows.size(rank) x cols.total() elements
template <class In, class Out>
void redistributeToRows(Team& team, const MatrixView<In>& in, const MatrixView<Out>& out, const Slabs& rows,
                        const Slabs& cols, StreamRef stream = {}) {
  namespace own = gpuopt::detail;
  const own::SlabCall call = own::slabCall("gpuopt::distributed::redistributeToRows", team, stream);
  own::runCollective(call, [&] {
    return own::checkedCopy<own::SlabMove::toRows>(call, in, out, own::MatrixSlabs{rows, cols});
  });
}

/// \}

/// \name Which path, and why
/// One line about the path that the call takes for the same arguments, such as "one kernel reads the ranks' memory,
/// tile by tile: in is in symmetric memory".
///
/// Nothing is launched, and one rank alone may ask. Errors: those of the call. The words may change from version to
/// version.
/// \{

/// Says in one line which path `transpose` of dense, even slabs takes, and why.
template <class In, class Out, class = gpuopt::detail::EnableDense<In, Out>>
[[nodiscard]] std::string explainTranspose(Team& team, In&& in, Out&& out, std::size_t rows, std::size_t cols) {
  namespace own = gpuopt::detail;
  const own::SlabCall call = own::slabCall("gpuopt::distributed::explainTranspose", team);
  return own::withDenseSlabs<own::SlabMove::transpose>(
      call, in, out, rows, cols, [&](const auto& from, const auto& to, const auto& slabs) {
        return own::planInWords(own::checkedTransposition(call, from, to, slabs)->plan());
      });
}

/// Says in one line which path `transpose` of these slabs takes, and why.
template <class In, class Out>
[[nodiscard]] std::string explainTranspose(Team& team, const MatrixView<In>& in, const MatrixView<Out>& out,
                                           const Slabs& rows, const Slabs& cols) {
  namespace own = gpuopt::detail;
  const own::SlabCall call = own::slabCall("gpuopt::distributed::explainTranspose", team);
  return own::planInWords(own::checkedTransposition(call, in, out, own::MatrixSlabs{rows, cols})->plan());
}

/// Says in one line which path `redistribute` of dense, even slabs takes, and why.
template <class In, class Out, class = gpuopt::detail::EnableDense<In, Out>>
[[nodiscard]] std::string explainRedistribute(Team& team, In&& in, Out&& out, std::size_t rows, std::size_t cols) {
  return gpuopt::detail::explainDenseCopy<gpuopt::detail::SlabMove::toColumns>(
      gpuopt::detail::slabCall("gpuopt::distributed::explainRedistribute", team), in, out, rows, cols);
}

/// Says in one line which path `redistributeToRows` of dense, even slabs takes, and why.
template <class In, class Out, class = gpuopt::detail::EnableDense<In, Out>>
[[nodiscard]] std::string explainRedistributeToRows(Team& team, In&& in, Out&& out, std::size_t rows,
                                                    std::size_t cols) {
  return gpuopt::detail::explainDenseCopy<gpuopt::detail::SlabMove::toRows>(
      gpuopt::detail::slabCall("gpuopt::distributed::explainRedistributeToRows", team), in, out, rows, cols);
}

/// \}

}  // namespace distributed
GPUOPT_NAMESPACE_END
