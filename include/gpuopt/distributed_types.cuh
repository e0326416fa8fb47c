/// \file
/// What functions of several GPUs take and throw: slabs, errors.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/message.cuh>

#if !__has_include(<nccl.h>)
#error "gpuopt: <gpuopt/distributed.cuh> needs NCCL: put nccl.h on the include path, and link libnccl"
#include <see_the_error_above>
#endif
#include <nccl.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

GPUOPT_NAMESPACE_BEGIN
namespace distributed {

/// A call of NCCL failed. what() reads "<call>: <description>".
class NcclError : public std::runtime_error {
 public:
  /// \param code the error code
  /// \param call the failed call
  NcclError(ncclResult_t code, const std::string& call)
      : std::runtime_error(call + ": " + ncclGetErrorString(code)), code_(code) {}

  /// The error code.
  ncclResult_t code() const noexcept { return code_; }

 private:
  ncclResult_t code_;
};

/// A collective call failed because of another rank: one that had wrong arguments, made another call, or did not come.
class TeamError : public std::runtime_error {
 public:
  /// \param rank the rank that is the cause, or -1
  /// \param what the message
  TeamError(int rank, const std::string& what) : std::runtime_error(what), rank_(rank) {}

  /// The rank that is the cause; -1 if NCCL was waited for, which does not tell.
  int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

/// The slabs of a matrix: neighbouring rows, or columns, of each rank, in the order of the ranks.
///
///     const Slabs rows = Slabs::even(1000, 3);   // 334, 333, 333
///     const Slabs own({500, 0, 500});
class Slabs {
 public:
  /// Even slabs: each rank has total / ranks rows, and the first total % ranks ranks one more.
  ///
  /// Throws std::invalid_argument for a number of ranks below 1 and a negative total.
  static Slabs even(std::size_t total, int ranks) {
    constexpr const char* FUNCTION = "gpuopt::distributed::Slabs::even";
    gpuopt::detail::requireSize(total, {"total"}, FUNCTION);
    if (ranks < 1) gpuopt::detail::throwInvalid({FUNCTION, ": ranks (", ranks, ") is less than 1"});
    const auto count = static_cast<std::size_t>(ranks);
    std::vector<std::size_t> sizes(count, total / count);
    for (std::size_t rank = 0; rank < total % count; ++rank) ++sizes[rank];
    return Slabs(sizes);
  }

  /// Slabs of these sizes, one for each rank. A rank may have none.
  ///
  /// Throws std::invalid_argument for negative sizes, and if all together are too many.
  explicit Slabs(const std::vector<std::size_t>& sizes) : first_(1, 0) {
    for (const std::size_t size : sizes) {
      first_.push_back(gpuopt::detail::cappedSum(first_.back(), size));
      gpuopt::detail::requireSize(size, {"size of rank ", first_.size() - 2}, "gpuopt::distributed::Slabs");
      gpuopt::detail::requireSize(first_.back(), {"total"}, "gpuopt::distributed::Slabs");
    }
  }

  /// The number of ranks.
  [[nodiscard]] int ranks() const noexcept { return static_cast<int>(first_.size()) - 1; }
  /// The rows of all ranks.
  [[nodiscard]] std::size_t total() const noexcept { return first_.back(); }
  /// The first row of a rank.
  [[nodiscard]] std::size_t first(int rank) const { return first_[static_cast<std::size_t>(rank)]; }
  /// The number of rows of a rank.
  [[nodiscard]] std::size_t size(int rank) const { return first_[static_cast<std::size_t>(rank) + 1] - first(rank); }
  /// The number of rows of the rank that has most.
  [[nodiscard]] std::size_t largest() const {
    std::size_t largest = 0;
    for (int rank = 0; rank < ranks(); ++rank) largest = gpuopt::detail::largerOf(largest, size(rank));
    return largest;
  }

 private:
  std::vector<std::size_t> first_;  // of each rank, and the total
};

}  // namespace distributed
GPUOPT_NAMESPACE_END
