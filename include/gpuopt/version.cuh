/// The version of gpuopt, the only place it is written down (CMake and the packages read it here).
// SPDX-License-Identifier: MIT
#pragma once

#define GPUOPT_VERSION_MAJOR 0
#define GPUOPT_VERSION_MINOR 1
#define GPUOPT_VERSION_PATCH 0

/// One number to compare with: 10000 * major + 100 * minor + patch.
#define GPUOPT_VERSION (GPUOPT_VERSION_MAJOR * 10000 + GPUOPT_VERSION_MINOR * 100 + GPUOPT_VERSION_PATCH)
