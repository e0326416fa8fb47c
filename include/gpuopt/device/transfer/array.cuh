/// \file
/// Transfers of arrays and of matrices by their types. No kernel belongs to them, so a pass for the device reads the
/// declarations alone: `upload` compiles in three quarters of the time.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/transfer_types.cuh>

#if !defined(__CUDA_ARCH__)
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/transfer/launch.cuh>
#include <gpuopt/device/transfer/rows.cuh>
#include <gpuopt/device/transfer/slots.cuh>
#include <gpuopt/host/host_memory.cuh>
#endif

#include <cuda_runtime.h>

#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

// Of n elements; returns as upload and download do.
template <class H, class D>
void transferArray(H* host, std::size_t n, D* device, TransferDirection direction, const char* function,
                   cudaStream_t stream);

// The same, at once: the handle of what goes on.
template <class H, class D>
TransferHandle beginArray(H* host, std::size_t n, D* device, TransferDirection direction, const char* function,
                          cudaStream_t stream);

// The same of matrices.
template <class H, class D>
void transferViews(const MatrixView<H>& host, const MatrixView<D>& device, TransferDirection direction,
                   const char* function, cudaStream_t stream);
template <class H, class D>
TransferHandle beginViews(const MatrixView<H>& host, const MatrixView<D>& device, TransferDirection direction,
                          const char* function, cudaStream_t stream);

// The plan as text.
template <class T>
std::string arrayInWords(const T* host, std::size_t n, TransferDirection direction, const char* function);

// Gives the slots back.
void trimTransferSlots();

#if !defined(__CUDA_ARCH__)
template <class H, class D>
Transfer checkedTransfer(H* host, std::size_t n, D* device, TransferDirection direction, const char* function,
                         cudaStream_t stream) {
  requireAddress(namedArray(host, n, "host"), function);
  requireAddress(namedArray(device, n, "device"), function);
  return {bytesOf(host), bytesOf(device), n * sizeof(H), direction, stream, function};
}

template <class H, class D>
void transferArray(H* host, std::size_t n, D* device, TransferDirection direction, const char* function,
                   cudaStream_t stream) {
  transferNow(checkedTransfer(host, n, device, direction, function, stream));
}

template <class H, class D>
TransferHandle beginArray(H* host, std::size_t n, D* device, TransferDirection direction, const char* function,
                          cudaStream_t stream) {
  const Transfer transfer = checkedTransfer(host, n, device, direction, function, stream);
  return TransferHandle(beginTransfer(transfer, planOf(transfer, true)));
}

template <class H, class D>
void transferViews(const MatrixView<H>& host, const MatrixView<D>& device, TransferDirection direction,
                   const char* function, cudaStream_t stream) {
  transferMatrix(host, device, direction, function, stream, false);
}

template <class H, class D>
TransferHandle beginViews(const MatrixView<H>& host, const MatrixView<D>& device, TransferDirection direction,
                          const char* function, cudaStream_t stream) {
  return TransferHandle(transferMatrix(host, device, direction, function, stream, true));
}

template <class T>
std::string arrayInWords(const T* host, std::size_t n, TransferDirection direction, const char* function) {
  requireAddress(namedArray(host, n, "host"), function);
  const Transfer transfer{bytesOf(host), nullptr, n * sizeof(T), direction, nullptr, function};
  return planInWords(planFor(transfer, hostMemory(host, transfer.bytes, function), false), transfer.bytes);
}

inline void trimTransferSlots() { TransferSlotsPool::instance().trim(); }
#endif

GPUOPT_DETAIL_END
