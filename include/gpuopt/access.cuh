/// \file
/// Analysis of access patterns: the cache lines and sectors that a warp touches in global memory, and its bank
/// conflicts in shared memory.
///
///     #include <gpuopt/access.cuh>
///
///     // A 32 x 32 tile padded to 33 columns, so that columns are free of bank conflicts.
///     constexpr unsigned PITCH = 33;
///     struct Column {
///       __host__ __device__ constexpr unsigned operator()(unsigned lane) const { return lane * PITCH; }
///     };
///     static_assert(gpuopt::sharedAccess<float>(Column{}).isConflictFree());
///
/// - globalAccess<T>(pattern, lanes, base): requests, lines, sectors and used bytes of a warp's access to global
///   memory; utilisation() is the used fraction of the traffic.
/// - sharedAccess<T>(pattern, lanes, base): requests, phases and wavefronts of a warp's access to shared memory, and
///   the degree of its bank conflicts. sharedLoad: the same for loads, cheaper where lanes read the same 8 or 16 bytes.
/// - asyncCopy<T>(shared, global, lanes, bases): requests and wavefronts of a warp's asynchronous copy.
/// - All with a number of bytes instead of T: the pattern then gives byte addresses.
/// - LaneMask::first(count), LaneMask::where(predicate): warps with inactive lanes.
///
/// A pattern maps a lane to an integer, the index of its element. Pass the index function of a kernel itself, or a
/// lambda that fixes its other parameters.
///
/// Cost: none at run time in a constant expression, where a request takes the compiler some thousand steps. Also
/// callable at run time, on the host and on the device. Nothing is measured: docs/access.md compares the predictions
/// with a GPU's counters.
///
/// Errors: an access that is not aligned to its size does not compile in a constant expression, throws
/// std::invalid_argument on the host, and traps on the device.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/access.cuh>
