/// \file
/// Windows of a matrix that a thread keeps in registers while it goes down the rows: WindowRows, Window2D.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/device_code.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/thread/vector.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN

/// What a window has beyond the edges of the matrix.
enum class WindowEdge {
  zero,     ///< zero bytes
  nearest,  ///< the nearest element of the matrix
};

namespace detail {

// Loads COUNT neighbours, or makes them zero: by words of BYTES, to which `from` is aligned. Whether they are there is
// a predicate of the load, no branch, so that later loads need not wait. Through the read-only path: the kernel does
// not write what it reads.
template <std::size_t BYTES, int COUNT, class T>
__device__ inline void loadNeighbours(const T* from, bool areThere, T* to) {
  constexpr int WORDS = static_cast<int>(COUNT * sizeof(T) / BYTES);
  const auto* const words = reinterpret_cast<const Word<BYTES>*>(from);
#pragma unroll
  for (int i = 0; i < WORDS; ++i) {
    Word<BYTES> word{};
    if (areThere) word = __ldg(words + i);
    __builtin_memcpy(reinterpret_cast<unsigned char*>(to) + static_cast<std::size_t>(i) * BYTES, &word, BYTES);
  }
}

__device__ inline int nearestIndex(int i, int size) { return i < 0 ? 0 : i < size ? i : size - 1; }

}  // namespace detail

/// The rows of a matrix as they pass a thread: COLUMNS neighbouring columns of its own, and RADIUS on either side. Each
/// row is loaded once, AHEAD rows before it is used, and stays in registers as long as it is used.
///
///     const gpuopt::WindowRows<float, 2> rows(in, x);  // x: the thread's first column, a multiple of COLUMNS
///     float sums[5][4] = {};                           // of five results, which each row belongs to
///     rows.forEach(first, last, [&](auto turn, int y, const auto& row) {
///       // add row[0] to row[7], the columns x - 2 to x + 5, to sums[(turn + j) % 5]; sums[turn] is then complete
///     });
///
/// Cost: a load of 16 bytes for the own columns, if they fill that much, and one or more for either side, which L1
/// shares between neighbouring threads; registers for (AHEAD + 1) * (COLUMNS + 2 * RADIUS) elements. Where the data is
/// not aligned to 16 bytes, or ld or cols are no multiples of COLUMNS, every element is a load. The function is
/// compiled (2 * RADIUS + 1) * AHEAD times for each of both cases: keep it short.
///
/// Needs no shared memory and no barrier: threads may leave early. The elements must not be written by the kernel that
/// reads them. Technique: the "register window" of stencils, here with loads ahead (docs/experiments/reuse.md).
///
/// \tparam T an element of 1, 2, 4, 8 or 16 bytes, aligned to its size, and trivially copyable
/// \tparam RADIUS neighbours on either side, from 0 on
/// \tparam COLUMNS a power of two; best those that fill 16 bytes
/// \tparam AHEAD rows on their way while one is used, from 1 on
/// \tparam EDGE what there is outside of the matrix
template <class T, int RADIUS, int COLUMNS = 4, int AHEAD = 2, WindowEdge EDGE = WindowEdge::zero>
class WindowRows {
  static_assert(detail::isWord<T> && std::is_trivially_copyable_v<T>,
                "gpuopt::WindowRows: elements must have 1, 2, 4, 8 or 16 bytes, be aligned to their size, and be "
                "trivially copyable");
  static_assert(RADIUS >= 0, "gpuopt::WindowRows: RADIUS must not be negative");
  static_assert(COLUMNS > 0 && detail::isPowerOfTwo<COLUMNS>, "gpuopt::WindowRows: COLUMNS must be a power of two");
  static_assert(AHEAD > 0, "gpuopt::WindowRows: AHEAD must be at least 1");

 public:
  static constexpr int SIDE = 2 * RADIUS + 1;         ///< rows of a window
  static constexpr int WIDTH = COLUMNS + 2 * RADIUS;  ///< elements of a row
  using Row = T[WIDTH];                               ///< a row: element RADIUS is the first own column

  /// Of one matrix, which must have at least one element and fewer than 2^31 rows and columns.
  ///
  /// \param in the matrix; of a batch, its first one
  /// \param x the first column of the thread: a multiple of COLUMNS. Columns from in.cols on are outside of the
  ///          matrix, as EDGE says
  __device__ WindowRows(const MatrixView<const T>& in, int x)
      : in_(in.data), rows_(static_cast<int>(in.rows)), cols_(static_cast<int>(in.cols)), ld_(in.ld), x_(x) {}

  /// Calls f(turn, y, row) for the rows y from first - RADIUS to before last + RADIUS, in this order. Rows outside of
  /// the matrix are as EDGE says.
  ///
  /// \param first,last the rows of the results
  /// \param f `turn` converts to the number of the call, modulo SIDE, as a constant: registers that it indexes stay
  /// registers. `row` is a Row
  template <class F>
  __device__ void forEach(int first, int last, F f) const {
    if (isAligned())
      forEachOf<true>(first, last, f);
    else
      forEachOf<false>(first, last, f);
  }

 private:
  static constexpr int PERIOD = SIDE * AHEAD;  // calls after which the registers are the same again
  static constexpr std::size_t OWN_BYTES = detail::widestWord<COLUMNS * sizeof(T)>;
  static constexpr std::size_t SIDE_BYTES = detail::widestWord<(RADIUS > 0 ? RADIUS : 1) * sizeof(T)>;
  static constexpr std::size_t SIDE_WORD = SIDE_BYTES < OWN_BYTES ? SIDE_BYTES : OWN_BYTES;

  __device__ bool isAligned() const {
    return reinterpret_cast<std::uintptr_t>(in_) % OWN_BYTES == 0 && ld_ * sizeof(T) % OWN_BYTES == 0 &&
           cols_ % COLUMNS == 0;
  }

  // Neighbours on one side, from column `from` on, which is at a multiple of SIDE_WORD.
  __device__ void loadSide(const T* row, int from, bool isWanted, T* to) const {
    if constexpr (RADIUS > 0 && EDGE == WindowEdge::zero && RADIUS <= COLUMNS) {
      const bool areThere = isWanted && from >= 0 && from + RADIUS <= cols_;
      detail::loadNeighbours<SIDE_WORD, RADIUS>(row + from, areThere, to);
    } else {
      loadEach<RADIUS>(row, from, isWanted, to);
    }
  }

  template <int COUNT>
  __device__ void loadEach(const T* row, int from, bool isWanted, T* to) const {
#pragma unroll
    for (int i = 0; i < COUNT; ++i) {
      const bool isThere = EDGE == WindowEdge::nearest || (from + i >= 0 && from + i < cols_);
      const int column = EDGE == WindowEdge::nearest ? detail::nearestIndex(from + i, cols_) : from + i;
      detail::loadNeighbours<sizeof(T), 1>(row + column, isWanted && isThere, to + i);
    }
  }

  template <bool IS_ALIGNED>
  __device__ void load(int y, bool isWanted, Row& to) const {
    if constexpr (EDGE == WindowEdge::nearest) y = detail::nearestIndex(y, rows_);
    const bool isThere = isWanted && y >= 0 && y < rows_;
    const T* const row = in_ + static_cast<std::ptrdiff_t>(y) * static_cast<std::ptrdiff_t>(ld_);
    if constexpr (IS_ALIGNED) {
      loadSide(row, x_ - RADIUS, isThere, to);
      if (EDGE == WindowEdge::zero || x_ < cols_)
        detail::loadNeighbours<OWN_BYTES, COLUMNS>(row + x_, isThere && x_ < cols_, to + RADIUS);
      else
        loadEach<COLUMNS>(row, x_, isThere, to + RADIUS);
      loadSide(row, x_ + COLUMNS, isThere, to + RADIUS + COLUMNS);
    } else {
      loadEach<WIDTH>(row, x_ - RADIUS, isThere, to);
    }
  }

  template <bool IS_ALIGNED, class F, int... U>
  __device__ void forPeriod(int base, int end, F& f, Row (&ahead)[AHEAD], std::integer_sequence<int, U...>) const {
    const auto step = [&](auto turn, int row, Row& held) {
      if (row < end) f(turn, row, static_cast<const Row&>(held));
      load<IS_ALIGNED>(row + AHEAD, row + AHEAD < end, held);
    };
    (step(std::integral_constant<int, U % SIDE>{}, base + U, ahead[U % AHEAD]), ...);
  }

  template <bool IS_ALIGNED, class F>
  __device__ void forEachOf(int first, int last, F& f) const {
    const int begin = first - RADIUS, end = last + RADIUS;
    Row ahead[AHEAD];
#pragma unroll
    for (int a = 0; a < AHEAD; ++a) load<IS_ALIGNED>(begin + a, begin + a < end, ahead[a]);
    for (int base = begin; base < end; base += PERIOD)
      forPeriod<IS_ALIGNED>(base, end, f, ahead, std::make_integer_sequence<int, PERIOD>{});
  }

  const T* in_;
  int rows_, cols_;
  std::size_t ld_;
  int x_;
};

/// A window of SIDE x WIDTH elements that goes down the rows: for functions that need all neighbours at once, such as a
/// median. Sums need fewer registers with WindowRows.
///
///     const gpuopt::Window2D<float, 1> window(in, x);
///     window.forEach(first, last, [&](const auto& at, int y) {
///       float results[4];
///       for (int k = 0; k < 4; ++k) results[k] = at(-1, k) + at(1, k) + at(0, k - 1) + at(0, k + 1) - 4 * at(0, k);
///       gpuopt::storeColumns(out, x, y, results);
///     });
///
/// Cost: as WindowRows, and registers for 2 * RADIUS + 1 rows more. Requirements are those of WindowRows.
///
/// \tparam T an element of 1, 2, 4, 8 or 16 bytes, aligned to its size, and trivially copyable
/// \tparam RADIUS neighbours on either side, from 0 on
/// \tparam COLUMNS a power of two; best those that fill 16 bytes
/// \tparam AHEAD rows on their way while one is used, from 1 on
/// \tparam EDGE what there is outside of the matrix
template <class T, int RADIUS, int COLUMNS = 4, int AHEAD = 2, WindowEdge EDGE = WindowEdge::zero>
class Window2D {
  using Rows = WindowRows<T, RADIUS, COLUMNS, AHEAD, EDGE>;

  // The rows in registers, of which number TURN is the newest.
  template <int TURN>
  struct Neighbours {
    const typename Rows::Row (&rows)[Rows::SIDE];

    // dy rows below and dx columns right of the thread's first column. Constants, after unrolling.
    __device__ const T& operator()(int dy, int dx) const {
      return rows[(TURN + RADIUS + 1 + dy) % Rows::SIDE][RADIUS + dx];
    }
  };

 public:
  /// Of a matrix, from column `x` on, a multiple of COLUMNS.
  __device__ Window2D(const MatrixView<const T>& in, int x) : rows_(in, x) {}

  /// Calls f(at, y) for the rows y from first to before last, in this order. `at(dy, dx)` is the element dy rows below
  /// and dx columns right of the thread's first column in row y: dy from -RADIUS to RADIUS, dx from -RADIUS to COLUMNS
  /// - 1 + RADIUS. Both have to be constants once loops are unrolled.
  template <class F>
  __device__ void forEach(int first, int last, F f) const {
    typename Rows::Row held[Rows::SIDE];
    rows_.forEach(first, last, [&](auto turn, int y, const typename Rows::Row& row) {
      constexpr int TURN = decltype(turn)::value;
#pragma unroll
      for (int i = 0; i < Rows::WIDTH; ++i) held[TURN][i] = row[i];
      if (y - RADIUS >= first) f(Neighbours<TURN>{held}, y - RADIUS);
    });
  }

 private:
  Rows rows_;
};

/// Stores the results of COLUMNS neighbouring columns: out(y, x + k) = results[k]. In one access where out.data, ld and
/// cols allow. Columns from out.cols on are left out.
///
/// \param out a matrix of elements of 1, 2, 4, 8 or 16 bytes
/// \param x the first column, a multiple of COLUMNS
/// \param y the row, less than out.rows
/// \param results a value for each column
template <class T, int COLUMNS>
__device__ inline void storeColumns(const MatrixView<T>& out, int x, int y, const T (&results)[COLUMNS]) {
  constexpr std::size_t BYTES = detail::widestWord<COLUMNS * sizeof(T)>;
  T* const to = out.data + static_cast<std::size_t>(y) * out.ld + x;
  if (static_cast<std::size_t>(x) + COLUMNS <= out.cols && reinterpret_cast<std::uintptr_t>(to) % BYTES == 0) {
#pragma unroll
    for (std::size_t i = 0; i < COLUMNS * sizeof(T) / BYTES; ++i) {
      detail::Word<BYTES> word;
      __builtin_memcpy(&word, reinterpret_cast<const unsigned char*>(results) + i * BYTES, BYTES);
      detail::storeWord<BYTES>(reinterpret_cast<unsigned char*>(to) + i * BYTES, word);
    }
  } else {
#pragma unroll
    for (int k = 0; k < COLUMNS; ++k)
      if (static_cast<std::size_t>(x + k) < out.cols) to[k] = results[k];
  }
}

GPUOPT_NAMESPACE_END
