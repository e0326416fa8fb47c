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
/// **Common to all calls.** They are collective, as NCCL's: all ranks make the same calls in the same order, each in
/// one stream, or in streams that wait for each other. One host thread uses a team at a time. Asynchronous calls can
/// be captured into a graph.
///
/// **Errors.** A rank with wrong arguments throws std::invalid_argument before anything is written, and the other ranks
/// throw a TeamError that names it: calls that return a value at once, for asynchronous ones the next call, or
/// Team::check() after a wait for the stream. After an asynchronous call has failed, the team's calls throw on every
/// rank: make another team. A rank that does not come is waited for as long as TeamOptions says.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/distributed_columns.cuh>
#include <gpuopt/distributed_reduce.cuh>
#include <gpuopt/distributed_statistics.cuh>
#include <gpuopt/distributed_symmetric.cuh>
#include <gpuopt/distributed_team.cuh>
#include <gpuopt/distributed_transpose.cuh>
