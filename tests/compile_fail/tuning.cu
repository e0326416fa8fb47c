// SPDX-License-Identifier: MIT
#include <gpuopt/tuning.cuh>

#if CASE == 1
// EXPECT: gpuopt: the output of an Experiment must have elements that are trivially copyable and not const
// WRITTEN: `gpuopt::Experiment<const float> experiment("name")`
// DO: Give the type of the elements that candidates write; inputs are further arguments
void fail(gpuopt::Experiment<const float>& experiment) { experiment.tune(nullptr, 1, nullptr); }

#endif
