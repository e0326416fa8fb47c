/// The basic blocks that the lanes of a warp pass through, and where lanes that part meet again.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpuopt::emulation::detail {

/// A graph of the blocks that were executed. Lanes that part meet where all ways from there pass: in the immediate
/// post-dominator, as GPUs do it. A block that is reached through another call is another node.
class BlockGraph {
 public:
  using Node = std::uint32_t;
  static constexpr Node END = 0;    // of the kernel, or of what is known of it
  static constexpr Node BEGIN = 1;  // what has been executed before

  BlockGraph() { clear(); }

  void clear() {
    numbers_.clear();
    nodes_.assign(2, {});
  }

  Node node(std::uintptr_t pc, std::uint64_t context) {
    const auto [entry, isNew] = numbers_.try_emplace(pc ^ context, static_cast<Node>(nodes_.size()));
    if (isNew) nodes_.emplace_back();
    return entry->second;
  }

  void addEdge(Node from, Node to) {
    auto& after = nodes_[from].after;
    if (std::find(after.begin(), after.end(), to) != after.end()) return;
    after.push_back(to);
    nodes_[to].before.push_back(from);
  }

  /// Finds the meeting points, once all edges are there.
  void findMeetingPoints() {
    addMissingEnds();
    orderBackwards();
    meetingPoint_[END] = END;
    for (bool changes = true; changes;) {
      changes = false;
      for (const Node node : order_) changes = improve(node) || changes;
    }
  }

  /// Where lanes meet that part after a block.
  Node meetingPoint(Node node) const { return meetingPoint_[node] == NONE ? END : meetingPoint_[node]; }

 private:
  static constexpr Node NONE = ~Node{0};

  struct Block {
    std::vector<Node> after, before;
  };

  /// Blocks that nothing follows yet are followed by the end. Where there are none, all that is known is a loop: it
  /// ends where it begins.
  void addMissingEnds() {
    Node loop = NONE;
    for (Node node = BEGIN; node < nodes_.size(); ++node) {
      if (nodes_[node].after.empty()) addEdge(node, END);
      const auto& before = nodes_[node].before;
      const bool isLoop = std::any_of(before.begin(), before.end(), [node](Node other) { return other >= node; });
      if (isLoop && loop == NONE) loop = node;
    }
    if (nodes_[END].before.empty() && loop != NONE) addEdge(loop, END);
  }

  /// The nodes from which the end can be reached, each after all that follow it but for loops.
  void orderBackwards() {
    meetingPoint_.assign(nodes_.size(), NONE);
    rank_.assign(nodes_.size(), NONE);
    order_.clear();
    std::vector<std::pair<Node, std::size_t>> path{{END, 0}};
    rank_[END] = 0;
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next == nodes_[node].before.size()) {
        order_.push_back(node);
        path.pop_back();
        continue;
      }
      const Node before = nodes_[node].before[next++];
      if (rank_[before] != NONE) continue;
      rank_[before] = 0;
      path.emplace_back(before, 0);
    }
    std::reverse(order_.begin(), order_.end());
    for (Node i = 0; i < order_.size(); ++i) rank_[order_[i]] = i;
    order_.erase(order_.begin());  // the end itself
  }

  /// One step of Cooper, Harvey and Kennedy: A simple, fast dominance algorithm, 2001.
  bool improve(Node node) {
    Node common = NONE;
    for (const Node after : nodes_[node].after) {
      if (meetingPoint_[after] == NONE) continue;
      common = common == NONE ? after : commonPoint(common, after);
    }
    if (common == meetingPoint_[node]) return false;
    meetingPoint_[node] = common;
    return true;
  }

  Node commonPoint(Node a, Node b) const {
    while (a != b) {
      while (rank_[a] > rank_[b]) a = meetingPoint_[a];
      while (rank_[b] > rank_[a]) b = meetingPoint_[b];
    }
    return a;
  }

  std::unordered_map<std::uint64_t, Node> numbers_;
  std::vector<Block> nodes_;
  std::vector<Node> meetingPoint_, order_, rank_;
};

}  // namespace gpuopt::emulation::detail
