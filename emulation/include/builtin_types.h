/// Stands in front of the CUDA toolkit's header of this name: all of it is in cuda_runtime.h.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda_runtime.h"
