/// \file
/// Rows whose length is known at run time. Includes the parts; single ones compile faster.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/rows_add.cuh>
#include <gpuopt/rows_combine.cuh>
#include <gpuopt/rows_gather.cuh>
#include <gpuopt/rows_scan.cuh>
#include <gpuopt/rows_transform.cuh>
