/// \file
/// Handles of transfers that go on after the call.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/transfer/ring.cuh>

#include <memory>
#include <utility>

GPUOPT_NAMESPACE_BEGIN

/// A transfer that has been begun. Both its arrays must be left alone until wait() has returned, or the destructor.
///
/// The stream may be used meanwhile, for work that needs neither array. Use a handle in the thread that made it.
class TransferHandle {
 public:
  /// No transfer.
  TransferHandle() = default;

  TransferHandle(TransferHandle&&) noexcept = default;
  TransferHandle& operator=(TransferHandle&&) noexcept = default;

  /// Waits. Errors that nobody has asked for with wait() are lost.
  ~TransferHandle() = default;

  /// Waits for the transfer, and helps with it: afterwards `host` may be used again, and work that is queued in the
  /// stream finds the transfer done. Throws what went wrong, once.
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
