// A tuning file with constants of a kernel that another version has written.
// SPDX-License-Identifier: MIT
#define GPUOPT_TUNING_ENTRIES(ENTRY) ENTRY("gpuopt.gatherStructs", "", 0, "BLOCK 256", "NVIDIA H200", 90, 132);
