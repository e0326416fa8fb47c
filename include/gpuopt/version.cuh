/// \file
/// The version of gpuopt, the only place it is written down (CMake and the packages read it here).
// SPDX-License-Identifier: MIT
#pragma once

/// Changes when programs may have to.
#define GPUOPT_VERSION_MAJOR 0
/// Changes with new names, and under major version 0 when programs may have to.
#define GPUOPT_VERSION_MINOR 1
/// Changes with corrections.
#define GPUOPT_VERSION_PATCH 0

/// One number to compare with: 10000 * major + 100 * minor + patch.
#define GPUOPT_VERSION (GPUOPT_VERSION_MAJOR * 10000 + GPUOPT_VERSION_MINOR * 100 + GPUOPT_VERSION_PATCH)
