/// \file
/// The launch of a plan of transformRows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/transform_kernels.cuh>
#include <gpuopt/device/rows/transform_plan.cuh>
#include <gpuopt/host/launch.cuh>

GPUOPT_DETAIL_BEGIN

// Rows that lanes hold. Only rows that are not whole have ends.
template <int VECTORS, class Transform>
void launchLanes(const TransformPlan& plan, const Transform& transform, const LaunchConfig& config) {
  if constexpr (VECTORS <= 3)
    if (plan.hasEnds && plan.lanes == 16) return launch(endsTransformKernel<VECTORS, 16, Transform>, config, transform);
  if constexpr (VECTORS % 2 == 0)
    if (plan.hasEnds) return launch(endsTransformKernel<VECTORS, 32, Transform>, config, transform);
  if constexpr (VECTORS != 3)
    if (plan.request.isWhole)
      return launch(laneTransformKernel<VECTORS, true, Transform>, config, transform, plan.lanes);
  if constexpr (VECTORS <= 2) launch(laneTransformKernel<VECTORS, false, Transform>, config, transform, plan.lanes);
}

template <int LANES, class Transform>
GPUOPT_HIDDEN auto stagedLanesKernel(const TransformPlan& plan) {
  return plan.elements == 11   ? stagedTransformKernel<LANES, 11, Transform>
         : plan.elements == 14 ? stagedTransformKernel<LANES, 14, Transform>
                               : stagedTransformKernel<LANES, 17, Transform>;
}

template <class Transform>
GPUOPT_HIDDEN auto stagedKernel(const TransformPlan& plan) {
  if (plan.lanes == 4) return stagedLanesKernel<4, Transform>(plan);
  if (plan.lanes == 8) return stagedLanesKernel<8, Transform>(plan);
  if constexpr (loadsColumns<decltype(Transform::map)>) {
    if (plan.elements == 20) return stagedTransformKernel<16, 20, Transform>;
    if (plan.elements == 23) return stagedTransformKernel<16, 23, Transform>;
  } else {
    if (plan.lanes == 32) return stagedTransformKernel<32, 11, Transform>;
  }
  return stagedLanesKernel<16, Transform>(plan);
}

// Rows that warps stage in shared memory.
template <class Transform>
void launchStaged(const TransformPlan& plan, const Transform& transform, LaunchConfig config) {
  const auto spanBytes = static_cast<unsigned>(stagedBytes(plan.spanRows * plan.request.cols * plan.request.inBytes));
  config.sharedBytes = plan.threads / 32 * WarpSpans<Transform>::SPANS * spanBytes;
  launch(stagedKernel<Transform>(plan), config, transform, plan.spanRows, spanBytes);
}

// Rows that the registers of a block or of a cluster hold.
template <int VECTORS, class Transform>
void launchBlocks(const TransformPlan& plan, const Transform& transform, const LaunchConfig& config) {
  const bool isWhole = plan.request.isWhole;
  if constexpr (VECTORS != 2)
    if (plan.algorithm == TransformAlgorithm::block)
      return launch(
          isWhole ? blockTransformKernel<VECTORS, true, Transform> : blockTransformKernel<VECTORS, false, Transform>,
          config, transform);
  launch(isWhole ? clusterTransformKernel<VECTORS, true, Transform> : clusterTransformKernel<VECTORS, false, Transform>,
         config, transform, plan.cluster, plan.ahead);
}

// The numbers of vectors are those that the plan chooses.
template <class Transform>
void launchTransform(const TransformPlan& plan, const Transform& transform, cudaStream_t stream, const char* function) {
  LaunchConfig config = gridConfig(static_cast<int>(plan.threads), plan.blocks, stream, function);
  config.cluster = plan.cluster;
  switch (plan.algorithm) {
    case TransformAlgorithm::nothing:
      return;
    case TransformAlgorithm::lanes:
      return plan.vectors == 1   ? launchLanes<1>(plan, transform, config)
             : plan.vectors == 2 ? launchLanes<2>(plan, transform, config)
             : plan.vectors == 3 ? launchLanes<3>(plan, transform, config)
                                 : launchLanes<4>(plan, transform, config);
    case TransformAlgorithm::staged:
      if constexpr (Transform::IS_ONE_TYPE && sizeof(typename Transform::Element) <= stagedElementBytes)
        launchStaged(plan, withElementMap(transform), config);
      return;
    case TransformAlgorithm::block:
    case TransformAlgorithm::cluster:
      return plan.vectors == 1   ? launchBlocks<1>(plan, transform, config)
             : plan.vectors == 2 ? launchBlocks<2>(plan, transform, config)
             : plan.vectors == 4 ? launchBlocks<4>(plan, transform, config)
                                 : launchBlocks<8>(plan, transform, config);
    case TransformAlgorithm::reread:
      return launch(
          plan.request.isWhole ? rereadTransformKernel<4, true, Transform> : rereadTransformKernel<4, false, Transform>,
          config, transform, plan.cluster);
  }
}

GPUOPT_DETAIL_END
