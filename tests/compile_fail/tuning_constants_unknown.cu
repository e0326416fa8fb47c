// EXPECT-LATER: gpuopt: the tuning file compiled in has constants of a kernel that this version does not know
// OPTIONS: -DGPUOPT_TUNING_TAG=unknown
// WRITTEN: `target_link_gpuopt_tuning(program tuning.json)`, with a file of another version
// DO: Measure again with the `gpuopt-tune` of this version
// SPDX-License-Identifier: MIT
#include "tuning_constants_unknown.hpp"

#include <gpuopt/struct_io.cuh>
