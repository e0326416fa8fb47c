/// \file
/// Memory that the ranks of a team allocate together, and that each can reach: SymmetricVector.
///
///     gpuopt::distributed::SymmetricVector<float> slab(team, n);
///     gpuopt::distributed::transpose(team, slab, out, rows, cols, stream);
///
/// <gpuopt/distributed.cuh>, which includes this header, says what the calls of a team have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/distributed/symmetric.cuh>
#include <gpuopt/distributed_team.cuh>

#include <cstddef>
#include <memory>

GPUOPT_NAMESPACE_BEGIN
namespace distributed {

/// An array of n elements on each rank's device, with the same n on all ranks, whose addresses all ranks know. Calls
/// that move matrices between ranks access such memory directly, at any offset. Elements are not initialised. It can be
/// moved; a moved-from vector can only be destroyed.
///
/// The team must outlive it. A rank may destroy it once its own stream has finished the calls that use it: each of them
/// ends with a barrier of all ranks. If ranks are processes, all of them have to be finished (Team::barrier).
///
/// Ranks of one process own its memory together, since late ones may still write to that of others: it is freed when
/// the last of them has destroyed its vector; if that is another rank, when its own next makes or destroys one, or a
/// team. It comes from cudaMalloc, which processes can share. CUDA's IPC cannot
/// open memory of ncclMemAlloc.
///
/// \tparam T any type that needs no construction
template <class T>
class SymmetricVector {
 public:
  /// Allocates it. Collective; waits for all ranks.
  ///
  /// If it fails on one rank, it throws on all: std::invalid_argument or CudaError on that rank, and on the others a
  /// TeamError that names it. Throws TeamError if the ranks ask for different sizes.
  SymmetricVector(Team& team, std::size_t n)
      : memory_(std::make_unique<gpuopt::detail::SymmetricMemory>(gpuopt::detail::TeamAccess::of(team), n, sizeof(T))),
        size_(n) {}

  /// The elements of this rank, in device memory.
  [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(memory_->data()); }
  /// The elements of this rank, to read.
  [[nodiscard]] const T* data() const noexcept { return reinterpret_cast<const T*>(memory_->data()); }

  /// The number of elements, the same on each rank.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::unique_ptr<gpuopt::detail::SymmetricMemory> memory_;
  std::size_t size_;
};

}  // namespace distributed
GPUOPT_NAMESPACE_END
