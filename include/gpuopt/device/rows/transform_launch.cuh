/// \file
/// The launch of a plan of transformRows.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/device/rows/transform_kernels.cuh>
#include <gpuopt/device/rows/transform_plan.cuh>
#include <gpuopt/host/launch.cuh>

GPUOPT_DETAIL_BEGIN

// Rows with ends that lanes hold.
template <int VECTORS, class Transform>
void launchEnds(const TransformPlan& plan, const Transform& transform, const LaunchConfig& config) {
  if constexpr (VECTORS <= 3)
    if (plan.lanes == 16) return launch(endsTransformKernel<VECTORS, 16, Transform>, config, transform);
  if constexpr (VECTORS % 2 == 0) launch(endsTransformKernel<VECTORS, 32, Transform>, config, transform);
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

// Rows that registers hold.
template <int VECTORS, bool WHOLE, class Transform>
void launchHeld(const TransformPlan& plan, const Transform& transform, const LaunchConfig& config) {
  if constexpr (VECTORS <= 4 && !WHOLE)
    if (plan.algorithm == TransformAlgorithm::lanes && plan.hasEnds)
      return launchEnds<VECTORS>(plan, transform, config);
  if constexpr (VECTORS <= 2 || (VECTORS == 4 && WHOLE))
    if (plan.algorithm == TransformAlgorithm::lanes)
      return launch(laneTransformKernel<VECTORS, WHOLE, Transform>, config, transform, plan.lanes);
  if constexpr (VECTORS != 2 && VECTORS != 3)
    if (plan.algorithm == TransformAlgorithm::block)
      return launch(blockTransformKernel<VECTORS, WHOLE, Transform>, config, transform);
  if constexpr (VECTORS != 3)
    launch(clusterTransformKernel<VECTORS, WHOLE, Transform>, config, transform, plan.cluster, plan.ahead);
}

template <bool WHOLE, class Transform>
void launchTransformKernel(const TransformPlan& plan, const Transform& transform, const LaunchConfig& config) {
  if constexpr (!WHOLE)
    if (plan.algorithm == TransformAlgorithm::staged) return launchStaged(plan, transform, config);
  if (plan.algorithm == TransformAlgorithm::reread)
    launch(rereadTransformKernel<4, WHOLE, Transform>, config, transform, plan.cluster);
  else if (plan.vectors == 1)
    launchHeld<1, WHOLE>(plan, transform, config);
  else if (plan.vectors == 2)
    launchHeld<2, WHOLE>(plan, transform, config);
  else if (plan.vectors == 3)
    launchHeld<3, WHOLE>(plan, transform, config);
  else if (plan.vectors == 4)
    launchHeld<4, WHOLE>(plan, transform, config);
  else
    launchHeld<8, WHOLE>(plan, transform, config);
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
