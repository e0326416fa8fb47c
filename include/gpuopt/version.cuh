/// \file
/// The version of gpuopt, which CMake and the packages read from here, and the mark of names that will go.
// SPDX-License-Identifier: MIT
#pragma once

/// Changes with incompatible changes.
#define GPUOPT_VERSION_MAJOR 0
/// Changes with new features, and in major version 0 with incompatible changes, too.
#define GPUOPT_VERSION_MINOR 1
/// Changes with bug fixes.
#define GPUOPT_VERSION_PATCH 0

/// The version as one number: 10000 * major + 100 * minor + patch.
#define GPUOPT_VERSION (GPUOPT_VERSION_MAJOR * 10000 + GPUOPT_VERSION_MINOR * 100 + GPUOPT_VERSION_PATCH)

/// Marks a name that a later version removes: compilers warn of its use. `since` is the version that marked it,
/// `advice` what to write instead, both of them string literals. docs/versions.md says how long such names stay.
#define GPUOPT_DEPRECATED(since, advice) [[deprecated("since gpuopt " since ": " advice)]]
