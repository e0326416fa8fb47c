/// \file
/// What callers choose in functions of rows, and chains of statistics.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

GPUOPT_TYPES_BEGIN

/// What functions of rows make of a negative index, such as -1.
enum class RowIndices {
  trusted,  ///< there is none
  padded,   ///< it stands for no row: a gathered row gets zeros, and others are skipped. Also of unsigned types
};

/// How rows are combined to one.
enum class RowCombination {
  sum,   ///< their sum
  mean,  ///< their sum divided by their number, without padding; zeros if there are none
};

/// How addRows adds rows that go to one row.
enum class RowAddition {
  deterministic,  ///< grouped by their row, in the order of the indices: the same bits each time
  atomic,         ///< in any order, by atomic operations: other bits each time
};

/// Two statistics of a row, one after the other: what `second` does with an element may depend on the result of
/// `first`. Made by thenStatistic.
///
/// \tparam First,Second the types of the statistics
template <class First, class Second>
struct StatisticChain {
  First first;    ///< any statistic
  Second second;  ///< gets the result of `first` as the last argument of add() and finish()
};

GPUOPT_TYPES_END
