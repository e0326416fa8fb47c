/// CPU stand-in for the toolkit's cooperative_groups/memcpy_async.h.
// SPDX-License-Identifier: MIT
#pragma once

#include "../cooperative_groups.h"
#include "../gpuopt_emulation/group_algorithms.hpp"
