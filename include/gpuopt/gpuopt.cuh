/// \file
/// Everything in one include. Each public header is as good on its own and compiles faster.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/launch.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/transpose.cuh>
#include <gpuopt/version.cuh>
