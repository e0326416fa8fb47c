/// Puts the traces of the lanes of a warp together: what they execute as one, in order.
// SPDX-License-Identifier: MIT
#pragma once

#include "block_graph.hpp"
#include "trace.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuopt::emulation::detail {

/// The next event of each lane.
using LaneEvents = std::array<const Event*, WARP_LANES>;

/// One warp between two barriers of its block. Lanes run one after the other here; on a GPU they run together until
/// they part at a branch, and then one part after the other until all have come to the branch's meeting point.
class Warp {
 public:
  /// Counts what is known of the lanes, `count(event, mask, events)` for each instruction, until the end of all traces
  /// or, if lanes have more to do, until one has no event left.
  template <class Count>
  void merge(Trace* traces, unsigned lanes, Count count) {
    traces_ = traces;
    present_ = 0;
    for (unsigned i = 0; i < lanes; ++i)
      if (!traces[i].hasLeft || !traces[i].isEmpty()) present_ |= 1u << i;
    if (parts_.empty()) {
      runTogether(count);
      if (!haveParted()) return;
      parts_.push_back({present_, BlockGraph::END, BlockGraph::BEGIN});
    }
    addPaths();
    while (!parts_.empty() && advance(count)) continue;
  }

  /// Forgets the way of the lanes, at a barrier or the end of the block.
  void clear() {
    parts_.clear();
    graph_.clear();
    for (Path& path : paths_) path = {};
  }

 private:
  using Node = BlockGraph::Node;

  /// Lanes that execute together until they come to a block.
  struct Part {
    unsigned mask;
    Node until;
    Node last;  // the latest block
  };

  /// The function that a lane is in, and how it has come there.
  struct Frame {
    std::uint32_t depth;
    std::uint64_t context;
    std::uintptr_t last;  // the latest event: where it calls from
  };

  /// The blocks of a lane's trace.
  struct Path {
    std::vector<Node> nodes;  // of each event that is not counted; END for accesses
    std::size_t next = 0;
    std::vector<Frame> frames;
    Node last = BlockGraph::BEGIN;
  };

  /// While all lanes are at the same event, which is most of the time, nothing is needed but their events.
  template <class Count>
  void runTogether(Count count) {
    while (present_ != 0) {
      LaneEvents events;
      const auto first = static_cast<unsigned>(__builtin_ctz(present_));
      if (traces_[first].isEmpty()) return;
      for (unsigned mask = present_; mask != 0; mask &= mask - 1) {
        const auto i = static_cast<unsigned>(__builtin_ctz(mask));
        if (traces_[i].isEmpty()) return;
        events[i] = &traces_[i].front();
        if (!events[i]->isAt(*events[first])) return;
      }
      count(*events[first], present_, events);
      forEachLane(present_, [this](unsigned i) { ++traces_[i].next; });
    }
  }

  bool haveParted() const {
    bool isAnyLeft = false;
    forEachLane(present_, [&](unsigned i) { isAnyLeft = isAnyLeft || !traces_[i].isEmpty(); });
    return isAnyLeft;
  }

  /// Adds what is new of the lanes' ways to the graph.
  void addPaths() {
    forEachLane(present_, [this](unsigned i) {
      Path& path = paths_[i];
      const Trace& trace = traces_[i];
      path.nodes.erase(path.nodes.begin(), path.nodes.begin() + static_cast<std::ptrdiff_t>(path.next));
      path.next = 0;
      for (std::size_t k = trace.next + path.nodes.size(); k < trace.events.size(); ++k)
        addEvent(path, trace.events[k]);
      if (trace.isComplete) graph_.addEdge(path.last, BlockGraph::END);
    });
    graph_.findMeetingPoints();
  }

  void addEvent(Path& path, const Event& event) {
    const std::uint64_t context = enter(path.frames, event);
    if (event.kind != EventKind::block) {
      path.nodes.push_back(BlockGraph::END);
      return;
    }
    const Node node = graph_.node(event.pc, context);
    graph_.addEdge(path.last, node);
    path.last = node;
    path.nodes.push_back(node);
  }

  /// The calls that lead to an event, as a number.
  static std::uint64_t enter(std::vector<Frame>& frames, const Event& event) {
    while (!frames.empty() && frames.back().depth > event.depth) frames.pop_back();
    if (frames.empty()) {
      frames.push_back({event.depth, 0, 0});
    } else if (frames.back().depth < event.depth) {
      const std::uint64_t call = (frames.back().context ^ frames.back().last) * 0x9E3779B97F4A7C15u;
      frames.push_back({event.depth, call, 0});
    }
    frames.back().last = event.pc;
    return frames.back().context;
  }

  Node nextNode(unsigned lane) const { return paths_[lane].nodes[paths_[lane].next]; }

  /// Executes one event of the part that runs, or lets it part further, or end. False if a lane's next event is
  /// unknown.
  template <class Count>
  bool advance(Count count) {
    const Part part = parts_.back();
    unsigned running = 0;
    for (unsigned mask = part.mask; mask != 0; mask &= mask - 1) {
      const auto i = static_cast<unsigned>(__builtin_ctz(mask));
      if (traces_[i].isEmpty()) {
        if (!traces_[i].isComplete) return false;
        continue;
      }
      const Node next = nextNode(i);
      if (next == BlockGraph::END || next != part.until) running |= 1u << i;
    }
    if (running == 0) {
      parts_.pop_back();
      return true;
    }
    LaneEvents events;
    const unsigned together = nextEvents(running, events);
    if (together == running)
      execute(together, events, count);
    else
      split(part.last, running, events);
    return true;
  }

  /// Finds the lanes' next events. Returns the lanes whose next event is that of the first one.
  unsigned nextEvents(unsigned mask, LaneEvents& events) const {
    const auto first = static_cast<unsigned>(__builtin_ctz(mask));
    unsigned together = 0;
    for (; mask != 0; mask &= mask - 1) {
      const auto i = static_cast<unsigned>(__builtin_ctz(mask));
      events[i] = &traces_[i].front();
      if (events[i]->isAt(*events[first]) && nextNode(i) == nextNode(first)) together |= 1u << i;
    }
    return together;
  }

  template <class Count>
  void execute(unsigned mask, const LaneEvents& events, Count count) {
    const auto first = static_cast<unsigned>(__builtin_ctz(mask));
    if (nextNode(first) != BlockGraph::END) parts_.back().last = nextNode(first);
    count(*events[first], mask, events);
    forEachLane(mask, [this](unsigned i) {
      ++traces_[i].next;
      ++paths_[i].next;
    });
  }

  /// Lets the lanes go their ways to the block where they meet again.
  void split(Node last, unsigned mask, LaneEvents& events) {
    const Node meetingPoint = graph_.meetingPoint(last);
    while (mask != 0) {
      const unsigned together = nextEvents(mask, events);
      const Node next = nextNode(static_cast<unsigned>(__builtin_ctz(together)));
      if (next == BlockGraph::END || next != meetingPoint) parts_.push_back({together, meetingPoint, last});
      mask &= ~together;
    }
  }

  Trace* traces_ = nullptr;
  unsigned present_ = 0;
  std::vector<Part> parts_;  // the last one runs
  BlockGraph graph_;
  std::array<Path, WARP_LANES> paths_;
};

}  // namespace gpuopt::emulation::detail
