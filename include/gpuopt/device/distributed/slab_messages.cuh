/// \file
/// What NCCL sends of a matrix: to each rank one message of each rank of the other nodes, or one of each other node,
/// with the blocks of all ranks of that node.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/nodes.cuh>
#include <gpuopt/device/distributed/slab_layout.cuh>

#include <cstddef>
#include <vector>

GPUOPT_DETAIL_BEGIN

// Rows of a packed block, and where they are in scratch memory. Sizes and offsets count elements.
struct SlabPiece {
  int from, to;
  RowRange range;
  std::size_t offset;
};

struct SlabMessage {
  int peer;
  std::size_t offset, size;
  std::vector<SlabPiece> pieces;
};

// The ranks and their nodes, seen from one of them.
struct SlabRoutes {
  const RankNodes& nodes;
  int rank, size;
  bool gathers;  // one rank of a node sends the blocks of all

  bool isSender(int from, int to) const {
    return !nodes.areTogether(from, to) && (!gathers || nodes.sender(from, to) == from);
  }
  std::vector<int> sources(int sender) const { return gathers ? nodes.ranks(sender) : std::vector<int>{sender}; }
};

// The message from one rank to another, after `offset` elements of others.
template <class Layout>
SlabMessage messageOf(const Layout& layout, const SlabRoutes& routes, int sender, int receiver, unsigned chunk,
                      unsigned chunks, std::size_t offset) {
  SlabMessage message{sender == routes.rank ? receiver : sender, offset, 0, {}};
  for (const int from : routes.sources(sender)) {
    const RowRange range = layout.range(from, receiver, chunk, chunks);
    if (layout.isEmpty(from, receiver) || range.size() == 0) continue;
    message.pieces.push_back({from, receiver, range, offset + message.size});
    message.size += layout.batch * range.size() * layout.packedLd(from, receiver);
  }
  return message;
}

// What this rank sends of a chunk, or receives, in an order in which no two ranks begin with the same one. Takes
// elements of scratch memory from `used` on.
template <class Layout>
std::vector<SlabMessage> messagesOf(const Layout& layout, const SlabRoutes& routes, bool areSent, unsigned chunk,
                                    unsigned chunks, std::size_t& used) {
  std::vector<SlabMessage> messages;
  for (int step = 1; step < routes.size; ++step) {
    const int other = (routes.rank + (areSent ? step : routes.size - step)) % routes.size;
    const int sender = areSent ? routes.rank : other, receiver = areSent ? other : routes.rank;
    if (!routes.isSender(sender, receiver)) continue;
    messages.push_back(messageOf(layout, routes, sender, receiver, chunk, chunks, used));
    used += messages.back().size;
    if (messages.back().size == 0) messages.pop_back();
  }
  return messages;
}

GPUOPT_DETAIL_END
