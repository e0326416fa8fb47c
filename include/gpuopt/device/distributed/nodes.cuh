/// \file
/// Which ranks reach each other's memory: those of a node. Between nodes, NCCL moves everything.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <algorithm>
#include <cstddef>
#include <vector>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

class RankNodes {
 public:
  RankNodes() = default;

  // Of each rank, any number that its node has in common.
  explicit RankNodes(const std::vector<int>& numbers) : ranks_(numbers.size()) {
    const auto count = static_cast<int>(numbers.size());
    for (int rank = 0; rank < count; ++rank)
      for (int other = 0; other < count; ++other)
        if (numbers[at(rank)] == numbers[at(other)]) ranks_[at(rank)].push_back(other);
  }

  // Each rank is a node of its own.
  static RankNodes alone(int size) {
    std::vector<int> numbers;
    for (int rank = 0; rank < size; ++rank) numbers.push_back(rank);
    return RankNodes(numbers);
  }

  // The ranks of the node of this rank, in order.
  const std::vector<int>& ranks(int rank) const { return ranks_[at(rank)]; }

  int count() const {
    int first = 0;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      first += ranks_[rank].front() == static_cast<int>(rank) ? 1 : 0;
    return first;
  }

  bool areTogether(int rank, int other) const { return ranks(rank).front() == ranks(other).front(); }

  // The number of a rank within its node.
  int indexOf(int rank) const {
    const auto& own = ranks(rank);
    return static_cast<int>(std::lower_bound(own.begin(), own.end(), rank) - own.begin());
  }

  // The rank that sends to rank `to` what all ranks of the node of `from` have for it: one message for each node.
  int sender(int from, int to) const {
    const auto& candidates = ranks(from);
    return candidates[at(indexOf(to)) % candidates.size()];
  }

 private:
  static std::size_t at(int rank) { return static_cast<std::size_t>(rank); }

  std::vector<std::vector<int>> ranks_;  // for each rank, those of its node
};

}  // namespace detail
GPUOPT_NAMESPACE_END
