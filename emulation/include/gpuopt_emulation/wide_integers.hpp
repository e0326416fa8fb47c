/// Integers of 128 bits. ISO C++ has none: __extension__ keeps -Wpedantic quiet.
// SPDX-License-Identifier: MIT
#pragma once

namespace gpuopt::emulation::detail {

__extension__ typedef __int128 WideInt;
__extension__ typedef unsigned __int128 WideUnsigned;

}  // namespace gpuopt::emulation::detail
