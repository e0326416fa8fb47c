/// \file
/// Directions of transfers, and handles of those that go on after the call.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/host/event.cuh>

#include <memory>
#include <optional>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

/// A transfer that goes on after the call that began it, until an event; without one, it is done.
class PendingTransfer {
 public:
  virtual ~PendingTransfer() { waitQuietly(); }
  /// Returns when the transfer is done; throws what went wrong.
  void wait() const {
    if (end_) end_->wait();
  }
  void waitQuietly() const {
    if (end_) end_->waitQuietly();
  }
  bool isDone() const { return !end_ || end_->isDone(); }

  /// Makes the event. Derived classes that work uses wait for it before their members end.
  const Event& makeEnd() { return end_.emplace(); }

 private:
  std::optional<Event> end_;
};

}  // namespace detail

/// The way of a transfer.
enum class TransferDirection {
  upload,   ///< from host to device
  download  ///< from device to host
};

/// A transfer that has been begun. The host must leave both its arrays alone until wait() has returned, or the
/// destructor. Work that is queued in the stream may use them: it finds the transfer done.
class TransferHandle {
 public:
  /// No transfer.
  TransferHandle() = default;

  TransferHandle(TransferHandle&&) noexcept = default;
  TransferHandle& operator=(TransferHandle&&) noexcept = default;

  /// Waits. Errors that nobody has asked for with wait() are lost.
  ~TransferHandle() = default;

  /// Waits until `host` may be used again. Throws what went wrong, once.
  void wait() {
    const std::unique_ptr<detail::PendingTransfer> pending = std::move(pending_);
    if (pending) pending->wait();
  }

  /// Whether wait() would return at once.
  [[nodiscard]] bool isDone() const { return !pending_ || pending_->isDone(); }

  /// The handle of what has been begun.
  explicit TransferHandle(std::unique_ptr<detail::PendingTransfer> pending) : pending_(std::move(pending)) {}

 private:
  std::unique_ptr<detail::PendingTransfer> pending_;
};

GPUOPT_NAMESPACE_END
