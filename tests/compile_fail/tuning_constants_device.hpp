// A tuning file with constants of kernels for two devices.
// SPDX-License-Identifier: MIT
#define GPUOPT_TUNING_ENTRIES(ENTRY)                                                         \
  ENTRY("gpuopt.transposeTile", "", 2, "TILE 32, SIDE 4", "NVIDIA A100-SXM4-40GB", 80, 108); \
  ENTRY("gpuopt.transposeTile", "", 3, "default", "NVIDIA H200", 90, 132);
