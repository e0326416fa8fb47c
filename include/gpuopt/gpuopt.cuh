/// \file
/// All public headers. Including single ones compiles faster.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/access.cuh>
#include <gpuopt/core/device_code.cuh>
#include <gpuopt/device_vector.cuh>
#include <gpuopt/histogram.cuh>
#include <gpuopt/histogram_2d.cuh>
#include <gpuopt/histogram_automatic.cuh>
#include <gpuopt/histogram_channels.cuh>
#include <gpuopt/histogram_weighted.cuh>
#include <gpuopt/launch.cuh>
#include <gpuopt/map.cuh>
#include <gpuopt/permute.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/reduce_columns.cuh>
#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/reduce_segments.cuh>
#include <gpuopt/reduce_statistics.cuh>
#include <gpuopt/reduce_transform.cuh>
#include <gpuopt/rows.cuh>
#include <gpuopt/rows_combine.cuh>
#include <gpuopt/rows_gather.cuh>
#include <gpuopt/rows_scan.cuh>
#include <gpuopt/rows_transform.cuh>
#include <gpuopt/soa.cuh>
#include <gpuopt/struct_io.cuh>
#include <gpuopt/transfer.cuh>
#include <gpuopt/transfer_array.cuh>
#include <gpuopt/transfer_blocks.cuh>
#include <gpuopt/transfer_chunks.cuh>
#include <gpuopt/transfer_frames.cuh>
#include <gpuopt/transfer_pipeline.cuh>
#include <gpuopt/transpose.cuh>
#include <gpuopt/tuning.cuh>
#include <gpuopt/version.cuh>
