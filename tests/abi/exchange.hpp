/// What a source compiled by nvcc offers to one compiled by the host compiler alone.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/launch.cuh>

#include <cstddef>

namespace exchange {

std::size_t elementsOf(const gpuopt::MatrixView<const float>& matrix);
gpuopt::LaunchConfig withBlocks(unsigned blocks);
void fail();

}  // namespace exchange
