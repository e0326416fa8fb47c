/// \file
/// Transfers of matrices: rows with gaps between them on the host, on the device, or on both.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/call_range.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/device/transfer/launch.cuh>
#include <gpuopt/host/memory.cuh>

#include <cstddef>
#include <memory>
#include <optional>

GPUOPT_DETAIL_BEGIN

// Rows of `rowBytes` bytes, from one to the next a pitch. `transfer` has the bytes of all rows, without the gaps.
struct RowsTransfer {
  Transfer transfer;
  std::size_t rows, rowBytes, hostPitch, devicePitch;

  bool isDense(std::size_t pitch) const { return pitch == rowBytes || rows == 1; }
};

// The rows as pieces of the host's memory.
struct RowPieces {
  unsigned char* data;
  std::size_t rowBytes, pitch;

  template <class F>
  void visit(std::size_t at, std::size_t bytes, const F& f) const {
    std::size_t row = at / rowBytes, skipped = at % rowBytes;
    for (std::size_t offset = 0; offset < bytes; ++row, skipped = 0) {
      const std::size_t n = smallerOf(rowBytes - skipped, bytes - offset);
      f(data + row * pitch + skipped, offset, n);
      offset += n;
    }
  }
};

// A side of a copy of rows.
struct Pitched {
  unsigned char* data;
  std::size_t pitch;
};

inline void queueRows(const RowsTransfer& rows, Pitched to, Pitched from, cudaMemcpyKind kind) {
  check(
      cudaMemcpy2DAsync(to.data, to.pitch, from.data, from.pitch, rows.rowBytes, rows.rows, kind, rows.transfer.stream),
      "cudaMemcpy2DAsync");
}

// A copy by the copy engine.
inline std::unique_ptr<PendingTransfer> engineRows(const RowsTransfer& rows, bool isAsync) {
  const RelaxedCapture relaxed;
  const Transfer& transfer = rows.transfer;
  const Pitched host{transfer.host, rows.hostPitch}, device{transfer.device, rows.devicePitch};
  if (transfer.isUpload())
    queueRows(rows, device, host, cudaMemcpyHostToDevice);
  else
    queueRows(rows, host, device, cudaMemcpyDeviceToHost);
  return endCopy(transfer, isAsync);
}

// A copy of pageable memory. Dense rows are what goes through the ring: if there are gaps on the device, it makes them
// in memory of the call's own, whose copy costs little beside the link.
inline std::unique_ptr<PendingTransfer> stageRows(const RowsTransfer& rows, const TransferPlan& plan) {
  Transfer dense = rows.transfer;
  requireNoCapture(dense);
  const bool isUpload = dense.isUpload();
  const Pitched device{dense.device, rows.devicePitch};
  std::optional<ScratchMemory> scratch;
  if (plan.packsRows) dense.device = scratch.emplace(dense.bytes, dense.stream).data();
  const Pitched between{dense.device, rows.rowBytes};
  if (scratch && !isUpload) queueRows(rows, between, device, cudaMemcpyDeviceToDevice);

  const RowPieces pieces{dense.host, rows.rowBytes, rows.hostPitch};
  auto pending = stageTransfer(std::make_unique<HostPieces<RowPieces>>(pieces, plan.isStreaming), dense, plan);
  if (scratch && isUpload) queueRows(rows, device, between, cudaMemcpyDeviceToDevice);
  return pending;
}

// Returns what goes on after a call that is to return at once. There is something to transfer.
inline std::unique_ptr<PendingTransfer> transferRows(const RowsTransfer& rows, bool isAsync) {
  const Transfer& transfer = rows.transfer;
  const bool isUpload = transfer.isUpload();
  const HostMemory memory = hostMemory(transfer.host, (rows.rows - 1) * rows.hostPitch + rows.rowBytes,
                                       transfer.function, isUpload ? "(host, device)" : "(device, host)");
  const TransferPlan plan =
      planRows(transferRequest(transfer, memory, isAsync), rows.rowBytes, !rows.isDense(rows.devicePitch));
  return plan.algorithm == TransferAlgorithm::engine ? engineRows(rows, isAsync) : stageRows(rows, plan);
}

// The rows of a matrix, or of a batch of matrices that follow each other.
inline void requireRows(const NamedView& view, const NamedView& other, std::size_t alignment, const char* function) {
  requireSizes(view, function);
  if (view.rows != other.rows || view.cols != other.cols || view.batch != other.batch)
    throwInvalid({function, ": host is ", shapeOf(view), ", but device is ", shapeOf(other)});
  if (isEmpty(view)) return;
  requireLayout(view, function);
  requireAddress({view.data, 1, view.elementBytes, alignment, view.name}, function);
  if (view.batch > 1 && view.batchStride != view.rows * view.ld)
    throwInvalid({function, ": matrices of ", view.name, " do not follow each other: ", layoutOf(view)});
}

// The transfer of a matrix that is checked; nothing if it is empty.
template <class H, class D>
std::unique_ptr<PendingTransfer> transferMatrix(const MatrixView<H>& host, const MatrixView<D>& device,
                                                TransferDirection direction, const char* function, cudaStream_t stream,
                                                bool isAsync) {
  [[maybe_unused]] const CallRange range(function);
  const NamedView onHost = named(host, "host"), onDevice = named(device, "device");
  requireRows(onHost, onDevice, alignof(H), function);
  requireRows(onDevice, onHost, alignof(D), function);
  if (isEmpty(host)) return nullptr;
  requireOnDevice(onDevice, function);
  const std::size_t rows = host.rows * host.batch, rowBytes = host.cols * sizeof(H);
  return transferRows({{bytesOf(host.data), bytesOf(device.data), rows * rowBytes, direction, stream, function},
                       rows,
                       rowBytes,
                       host.ld * sizeof(H),
                       device.ld * sizeof(H)},
                      isAsync);
}

GPUOPT_DETAIL_END
