/// Stands in front of the CUDA toolkit's header of this name, whose functions would do nothing here.
// SPDX-License-Identifier: MIT
#pragma once

#error "gpuopt's emulated device has no tensor cores: nvcuda::wmma of mma.h cannot be executed"
#include <see_the_error_above>
