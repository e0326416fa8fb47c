/// \file
/// Data between host and device at the speed of the link, from any memory of the host's.
///
///     std::vector<float> samples = ...;
///     gpuopt::upload(samples.data(), n, device, stream);    // samples may change again
///     gpuopt::download(device, n, samples.data(), stream);  // samples has the data
///
///     auto transfer = gpuopt::uploadAsync(samples.data(), n, device, stream);
///     ...                                                   // leave samples alone; queue kernels that need the data
///     transfer.wait();
///
/// Copies of ordinary, pageable memory by the CUDA runtime run at a fraction of the link's speed. Here, a few threads
/// copy it to or from pinned slots, which the copy engine empties or fills meanwhile. Pinned and registered memory
/// (PinnedVector, registerHost) goes to the copy engine at once. explainTransfer says what happens.
///
/// **Common to all functions.** Elements have any trivially copyable type; n counts them. The device's side is in the
/// order of `stream`: what was queued there before is done before the transfer, and what is queued there afterwards
/// finds it done, without a wait; calls that end in Async do so, too. Threads are started by the first transfer that
/// needs them, never more than three quarters of the cores, and sleep between transfers. Any threads may call at the
/// same time.
///
/// **Graphs.** Transfers of pinned memory can be captured, and return at once then. Those of pageable memory cannot.
///
/// **Errors.** Bad arguments throw std::invalid_argument before anything is copied: null pointers with n > 0, a
/// negative n, misaligned addresses, `host` in the memory of a device, pageable memory while `stream` is captured.
/// Pinned slots count towards pinnedCapacity(); std::runtime_error says if that does not suffice. Errors of the runtime
/// throw CudaError; then nothing uses the arrays any more, and the contents of the target are unknown.
///
/// More: docs/transfers.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/transfer_array.cuh>
#include <gpuopt/transfer_blocks.cuh>
