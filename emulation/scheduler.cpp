/// The emulated device's scheduler, optimised, for programs that are not: they take half the time with it. A program
/// has this file first, so that the linker takes from here what other files have, too.
// SPDX-License-Identifier: MIT
#define GPUOPT_EMULATION_SCHEDULER
#include <cuda_runtime.h>
