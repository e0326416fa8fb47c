/// \file
/// What opens and closes the library's namespace, and what declares its kernels.
// SPDX-License-Identifier: MIT
#pragma once

#define GPUOPT_NAMESPACE_BEGIN namespace gpuopt {
#define GPUOPT_NAMESPACE_END }

#define GPUOPT_KERNEL __global__
