/// The CUDA runtime's functions.
// SPDX-License-Identifier: MIT
#pragma once

#include "arrays.hpp"
#include "copies.hpp"
#include "device.hpp"
#include "driver.hpp"
#include "graphs.hpp"
#include "kernel_call.hpp"
#include "launch.hpp"
#include "memory.hpp"
#include "older_names.hpp"
#include "peers.hpp"
#include "pitched.hpp"
#include "pools.hpp"
#include "preferences.hpp"
#include "streams.hpp"
#include "surfaces.hpp"
#include "textures.hpp"
