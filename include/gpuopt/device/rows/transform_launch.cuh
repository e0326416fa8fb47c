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

// Rows that warps stage in shared memory.
template <int LANES, int ELEMENTS, class Transform>
void launchStagedKernel(const TransformPlan& plan, const Transform& transform, const LaunchConfig& config) {
  const auto warpBytes = static_cast<unsigned>(config.sharedBytes / (plan.threads / 32));
  launch(stagedTransformKernel<LANES, ELEMENTS, Transform>, config, transform, plan.spanRows, warpBytes);
}

template <int LANES, class Transform>
void launchStagedLanes(const TransformPlan& plan, const Transform& transform, const LaunchConfig& config) {
  if (plan.elements == 11)
    launchStagedKernel<LANES, 11>(plan, transform, config);
  else if (plan.elements == 14)
    launchStagedKernel<LANES, 14>(plan, transform, config);
  else
    launchStagedKernel<LANES, 17>(plan, transform, config);
}

template <class Transform>
void launchStaged(const TransformPlan& plan, const Transform& transform, LaunchConfig config) {
  if constexpr (Transform::IS_ONE_TYPE && sizeof(typename Transform::Element) <= stagedElementBytes) {
    const auto byElement = withElementMap(transform);
    using Operands = StagedOperands<std::decay_t<decltype(byElement.map)>>;
    const std::size_t cols = plan.request.cols, span = plan.spanRows * cols * plan.request.inBytes;
    config.sharedBytes = plan.threads / 32 * (stagedBytes(Operands::BYTES * cols) + stagedBytes(span));
    if (plan.lanes == 4)
      launchStagedLanes<4>(plan, byElement, config);
    else if (plan.lanes == 8)
      launchStagedLanes<8>(plan, byElement, config);
    else if (plan.lanes == 16)
      launchStagedLanes<16>(plan, byElement, config);
    else
      launchStagedKernel<32, 11>(plan, byElement, config);
  }
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
      return launchStaged(plan, transform, config);
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
