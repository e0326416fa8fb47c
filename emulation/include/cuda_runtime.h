/// CPU stand-in for the CUDA runtime and device language: put this folder first on the include path and
/// compile CUDA C++ with an ordinary C++17 compiler (`g++ -x c++ kernel.cu -lboost_context -lpthread`). See
/// docs/emulation.md.
// SPDX-License-Identifier: MIT
#pragma once

#define GPUOPT_EMULATION 1
#define GPUOPT_ABI_ARCHITECTURES emulated  // in the name of the library's inline namespace

#include "gpuopt_emulation/language.hpp"

#include "gpuopt_emulation/vector_types.hpp"

#include "gpuopt_emulation/atomics.hpp"
#include "gpuopt_emulation/collectives.hpp"
#include "gpuopt_emulation/intrinsics.hpp"
#include "gpuopt_emulation/runtime.hpp"
