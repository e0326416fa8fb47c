/// CPU stand-in for the toolkit's cuda_pipeline.h.
// SPDX-License-Identifier: MIT
#pragma once

#include "cuda_pipeline_primitives.h"
