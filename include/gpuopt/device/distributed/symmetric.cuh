/// \file
/// Memory that all ranks of a team allocate together, and that each can reach.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/team.cuh>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

class SymmetricMemory {
 public:
  // Throws on all ranks, or on none.
  GPUOPT_HIDDEN SymmetricMemory(TeamState& team, std::size_t n, std::size_t elementBytes) : team_(team) {
    std::exception_ptr refused;
    try {
      requireTeamDevice(team, FUNCTION);
      requireSize(n, {"n"}, FUNCTION, elementBytes);
      allocate(n * elementBytes);
    } catch (...) {
      refused = std::current_exception();
    }
    const auto requests = team.gather(Request{own(), n, elementBytes, refused == nullptr}, FUNCTION);
    if (refused != nullptr) std::rethrow_exception(refused);
    requireAlike(requests);
    if (team.nodes.count() < team.size) connect(requests);
    team.symmetric.push_back(this);
  }
  SymmetricMemory(const SymmetricMemory&) = delete;
  SymmetricMemory& operator=(const SymmetricMemory&) = delete;
  ~SymmetricMemory() {
    auto& all = team_.symmetric;
    all.erase(std::remove(all.begin(), all.end(), this), all.end());
  }

  unsigned char* data() const { return memory_.data(); }

  // Whether an address is in this memory.
  bool contains(const void* address) const {
    const auto* const byte = static_cast<const unsigned char*>(address);
    return byte >= data() && byte < data() + bytes_;
  }

  // The same memory of another rank of the node.
  unsigned char* of(int rank) const {
    return rank == team_.rank ? data() : static_cast<unsigned char*>(connection_.memory(rank));
  }

 private:
  static constexpr const char* FUNCTION = "gpuopt::distributed::SymmetricVector";

  // What a rank tells the others.
  struct Request {
    PeerAddress address;
    std::size_t n, elementBytes;
    bool hasMemory;
  };

  // Also an empty vector has an address.
  void allocate(std::size_t bytes) {
    bytes_ = largerOf<std::size_t>(bytes, 1);
    memory_ = OwnedMemory(PeerMemories::instance().make(bytes_), team_.wait.isStuck());
  }

  PeerAddress own() const { return data() != nullptr ? peerAddress(data(), team_.device) : PeerAddress{}; }

  static void requireAlike(const std::vector<Request>& requests) {
    const Request& first = requests.front();
    for (std::size_t rank = 0; rank < requests.size(); ++rank) {
      const Request& other = requests[rank];
      const auto number = static_cast<int>(rank);
      if (!other.hasMemory)
        throw distributed::TeamError(number, message({FUNCTION, ": rank ", number, " has no memory for it"}));
      if (other.n != first.n || other.elementBytes != first.elementBytes)
        throw distributed::TeamError(
            number, message({FUNCTION, ": rank ", number, " asks for ", other.n, " elements of ", other.elementBytes,
                             " bytes, rank 0 for ", first.n, " of ", first.elementBytes}));
    }
  }

  void connect(const std::vector<Request>& requests) {
    std::vector<PeerAddress> addresses;
    for (const Request& request : requests) addresses.push_back(request.address);
    connection_.connect(addresses, team_.rank);
    const bool reachesNode = connection_.reachesAll(team_.nodes.ranks(team_.rank));
    const auto reached = team_.gather(static_cast<char>(reachesNode), FUNCTION);
    for (std::size_t rank = 0; rank < reached.size(); ++rank) {
      const auto number = static_cast<int>(rank);
      if (reached[rank] == 0)
        throw distributed::TeamError(
            number, message({FUNCTION, ": rank ", number, " cannot reach the memory of the other ranks of its node"}));
    }
  }

  TeamState& team_;
  std::size_t bytes_ = 0;
  OwnedMemory memory_;
  PeerConnection connection_{team_.wait.isStuck()};
};

// An address that means the same on all ranks.
struct SymmetricAddress {
  const SymmetricMemory* memory;
  std::size_t offset;

  template <class T>
  T* of(int rank) const {
    return reinterpret_cast<T*>(memory->of(rank) + offset);
  }
};

// Where peers find what is at this address, if they do.
inline std::optional<SymmetricAddress> symmetricAddress(const TeamState& team, const void* address) {
  for (const SymmetricMemory* const memory : team.symmetric)
    if (memory->contains(address))
      return SymmetricAddress{memory,
                              static_cast<std::size_t>(static_cast<const unsigned char*>(address) - memory->data())};
  return std::nullopt;
}

}  // namespace detail
GPUOPT_NAMESPACE_END
