/// The older name of nvtx3/nvToolsExt.h.
// SPDX-License-Identifier: MIT
#pragma once

#include "nvtx3/nvToolsExt.h"
