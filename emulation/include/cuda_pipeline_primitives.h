/// CPU stand-in for the toolkit's cuda_pipeline_primitives.h.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda_runtime.h"

#include "gpuopt_emulation/async_copies.hpp"
