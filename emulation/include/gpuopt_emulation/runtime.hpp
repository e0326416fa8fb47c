/// The CUDA runtime's functions. Every call completes before it returns.
// SPDX-License-Identifier: MIT
#pragma once

#include "device.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "streams.hpp"
#include "textures.hpp"
