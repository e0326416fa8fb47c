/// CPU stand-in for the toolkit's cooperative_groups.h.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda_runtime.h"
#include "gpuopt_emulation/block_groups.hpp"
#include "gpuopt_emulation/warp_groups.hpp"
