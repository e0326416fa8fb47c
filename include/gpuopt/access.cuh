/// \file
/// Access patterns, analysed: how many lines and sectors a warp touches in global memory, and how its lanes
/// meet in the banks of shared memory.
///
///     #include <gpuopt/access.cuh>
///
///     // A tile of 32 x 33 floats, so that columns are as quick as rows.
///     constexpr unsigned PITCH = 33;
///     struct Column {
///       __host__ __device__ constexpr unsigned operator()(unsigned lane) const { return lane * PITCH; }
///     };
///     static_assert(gpuopt::sharedAccess<float>(Column{}).isConflictFree());
///
/// - globalAccess<T>(pattern, lanes, base): requests, lines, sectors, bytes used of a warp's access to global
///   memory; utilisation() is the share of what moves that is used.
/// - sharedAccess<T>(pattern, lanes, base): requests, phases and wavefronts of a warp's access to shared
///   memory, and the degree of its bank conflicts. sharedLoad: the same, with what loads of 8 and 16 bytes
///   save where lanes read the same.
/// - All with a number of bytes in the place of T: the pattern then gives byte addresses.
/// - LaneMask::first(count), LaneMask::where(predicate): warps of which not all lanes take part.
///
/// A pattern is a function from the lane to an integer: the index of the element that the lane accesses. An
/// index function that a kernel uses can be passed as it is, and a lambda around it can fix its other
/// parameters.
///
/// Cost: none at run time in a constant expression; there some thousand steps of the compiler a request.
/// Everything is also callable on the host and on the device. Nothing is measured: docs/access.md says how
/// the predictions compare with a GPU's counters.
///
/// Errors: an access that is not aligned to its size does not compile in a constant expression, throws
/// std::invalid_argument on the host and traps on the device.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/access.cuh>
