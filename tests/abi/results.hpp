/// What sources that are compiled in different ways pass to each other.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/reduce.cuh>
#include <gpuopt/transfer_pipeline.cuh>

#include <cstddef>
#include <tuple>

using Results = std::tuple<gpuopt::MinMax<float>, gpuopt::SumMinMax<float, float>, gpuopt::ArgResult<float>,
                           gpuopt::MeanVariance<float>, gpuopt::PipelineResult>;

float sumUnchecked(const float* data, std::size_t n);
Results resultsUnchecked(const float* data, std::size_t n);
float valueOf(const gpuopt::ArgResult<float>& result);
