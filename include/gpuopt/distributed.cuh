/// \file
/// Several GPUs, on NCCL: reductions over the parts of all ranks of a communicator, and matrices that move between
/// them.
///
///     gpuopt::distributed::Team team(comm);                                  // made once, by all ranks
///     float total = gpuopt::distributed::reduce(team, part, n);              // of all ranks' parts, on every rank
///     gpuopt::distributed::reduceInto(team, part, n, out, stream);           // asynchronous
///     gpuopt::distributed::SymmetricVector<float> slab(team, size);          // memory that all ranks reach
///     gpuopt::distributed::transpose(team, slab, out, rows, cols, stream);   // a matrix in slabs of rows
///
/// It needs NCCL: nccl.h on the include path, and libnccl (docs/packaging.md); <gpuopt/gpuopt.cuh> does not include it.
/// The communicator comes from the caller, with a thread for each GPU, or a process for each by MPI or torchrun.
///
/// **Common to all calls.** They are collective, like NCCL's: all ranks make the same calls in the same order, each in
/// one stream, or in streams that wait for each other. Only one host thread may use a team at a time. Asynchronous
/// calls can be captured into a graph.
///
/// **Errors.** A rank with wrong arguments throws std::invalid_argument before anything is written. The other ranks
/// throw a TeamError that names this rank. A call that returns a value throws it itself; after an asynchronous call,
/// the next call throws it, or Team::check() after a wait for the stream. After an asynchronous call has failed, all
/// calls of the team throw on every rank: make another team. TeamOptions::timeout says how long ranks wait for another.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/distributed_columns.cuh>
#include <gpuopt/distributed_reduce.cuh>
#include <gpuopt/distributed_statistics.cuh>
#include <gpuopt/distributed_symmetric.cuh>
#include <gpuopt/distributed_team.cuh>
#include <gpuopt/distributed_transpose.cuh>
