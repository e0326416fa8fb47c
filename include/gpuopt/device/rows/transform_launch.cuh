/// \file
/// The launch of a plan of transformRows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/transform_kernels.cuh>
#include <gpuopt/device/rows/transform_plan.cuh>
#include <gpuopt/host/launch.cuh>

GPUOPT_DETAIL_BEGIN

template <int VECTORS, int ROWS, bool WHOLE, class Transform>
void launchLanes(const TransformPlan& plan, const Transform& transform, const LaunchConfig& config) {
  launch(laneTransformKernel<VECTORS, ROWS, WHOLE, Transform>, config, transform, plan.lanes);
}

template <bool WHOLE, class Transform>
void launchLaneTransform(const TransformPlan& plan, const Transform& transform, const LaunchConfig& config) {
  if (plan.vectors == 4) return launchLanes<4, 1, WHOLE>(plan, transform, config);
  if (plan.vectors == 2 && plan.laneRows == 2) return launchLanes<2, 2, WHOLE>(plan, transform, config);
  if (plan.vectors == 2) return launchLanes<2, 1, WHOLE>(plan, transform, config);
  if (plan.laneRows == 4) return launchLanes<1, 4, WHOLE>(plan, transform, config);
  launchLanes<1, 1, WHOLE>(plan, transform, config);
}

template <int VECTORS, bool KEEPS, bool WHOLE, class Transform>
void launchBlocks(const TransformPlan& plan, const Transform& transform, const LaunchConfig& config) {
  launch(blockTransformKernel<VECTORS, KEEPS, WHOLE, Transform>, config, transform, plan.cluster);
}

template <bool WHOLE, class Transform>
void launchTransformKernel(const TransformPlan& plan, const Transform& transform, const LaunchConfig& config) {
  switch (plan.algorithm) {
    case TransformAlgorithm::nothing:
      return;
    case TransformAlgorithm::lanes:
      return launchLaneTransform<WHOLE>(plan, transform, config);
    case TransformAlgorithm::block:
    case TransformAlgorithm::cluster:
      if (plan.vectors == 4) return launchBlocks<4, true, WHOLE>(plan, transform, config);
      return launchBlocks<8, true, WHOLE>(plan, transform, config);
    case TransformAlgorithm::reread:
      return launchBlocks<4, false, WHOLE>(plan, transform, config);
  }
}

template <class Transform>
void launchTransform(const TransformPlan& plan, const Transform& transform, bool isWhole, cudaStream_t stream,
                     const char* function) {
  LaunchConfig config = gridConfig(static_cast<int>(plan.threads), plan.blocks, stream, function);
  config.cluster = plan.cluster;
  if (isWhole)
    launchTransformKernel<true>(plan, transform, config);
  else
    launchTransformKernel<false>(plan, transform, config);
}

GPUOPT_DETAIL_END
