/// Stands in front of the CUDA toolkit's header of this name: what there is of it, without modules, is in
/// cuda_runtime.h.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda_runtime.h"
