/// CPU stand-in for NCCL between the emulated devices of one process: see "NCCL" in docs/emulation.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include "gpuopt_emulation/nccl/calls.hpp"
#include "gpuopt_emulation/nccl/communicators.hpp"
