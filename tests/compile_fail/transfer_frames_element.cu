// EXPECT: gpuopt::FrameRing: the elements of frames and results must be trivially copyable
// WRITTEN: FrameRing<std::string, float>
// SPDX-License-Identifier: MIT
#include <gpuopt/transfer_frames.cuh>

#include <string>

template class gpuopt::FrameRing<std::string, float>;
