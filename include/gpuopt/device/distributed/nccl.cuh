/// \file
/// Errors of NCCL as exceptions.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/distributed_types.cuh>

GPUOPT_DETAIL_BEGIN

// Call it by detail::, since a program may have a function of this name, which its argument would find.
inline void checkNccl(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw distributed::NcclError(code, call);
}

GPUOPT_DETAIL_END
