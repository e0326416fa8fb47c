// EXPECT-LATER: gpuopt: the tuning file compiled in has constants of kernels for several devices, but a program has one set: name the device, as in target_link_gpuopt_tuning(program tuning.json DEVICE
// OPTIONS: -DGPUOPT_TUNING_TAG=devices
// WRITTEN: `target_link_gpuopt_tuning(program tuning.json)`, with kernels measured on several devices
// SPDX-License-Identifier: MIT
#include "tuning_constants_device.hpp"

#include <gpuopt/transpose.cuh>
