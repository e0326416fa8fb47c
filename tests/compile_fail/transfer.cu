// SPDX-License-Identifier: MIT
#include <gpuopt/device_vector.cuh>
#include <gpuopt/host/pinned.cuh>
#include <gpuopt/transfer.cuh>
#include <gpuopt/transfer_frames.cuh>
#include <gpuopt/transfer_pipeline.cuh>

#include <string>
#include <vector>

#if CASE == 1
// EXPECT: gpuopt::upload: these arguments fit no form of it: it takes (host, n, device) or, if one of the arrays is a container or span, or both are a MatrixView, (host, device); then a stream
// DO: the source comes first, then the number of elements, then the target
void fail(const float* host, float* device) { gpuopt::upload(host, device, 100); }

#elif CASE == 2
// EXPECT: gpuopt::downloadAsync: these arguments fit no form of it: it takes (device, n, host) or, if one of the arrays is a container or span, or both are a MatrixView, (device, host); then a stream
// WRITTEN: downloadAsync(device, n, vector)
void fail(const float* device, std::vector<float>& host) { (void)gpuopt::downloadAsync(device, 100, host); }

#elif CASE == 3
// EXPECT: gpuopt: transferred elements must be trivially copyable
// WRITTEN: download(strings, n, host)
void copy(const std::string* device, std::string* host) { gpuopt::download(device, 10, host); }

#elif CASE == 4
// EXPECT: gpuopt::FrameRing: the elements of frames and results must be trivially copyable
// WRITTEN: FrameRing<std::string, float>
template class gpuopt::FrameRing<std::string, float>;

#elif CASE == 5
// EXPECT: gpuopt::PinnedVector: the elements must be trivially copyable and not const
// WRITTEN: PinnedVector<std::string>
template class gpuopt::PinnedVector<std::string>;

#elif CASE == 6
// EXPECT: gpuopt::Pipeline: the elements at both ends must be trivially copyable
// WRITTEN: pipeline.run(gpuopt::fromHost(strings), work)
void fail(gpuopt::Pipeline& pipeline, const std::string* strings) {
  pipeline.run(gpuopt::fromHost(strings, 3), [](const gpuopt::PipelineChunk<std::string>&) {});
}

#elif CASE == 7
// EXPECT: gpuopt::Pipeline: the work must take a PipelineChunk<In, Out>, or a PipelineChunk<In> if there is no sink
// WRITTEN: pipeline.run(gpuopt::fromHost(samples, n), [](float* chunk) {})
void fail(gpuopt::Pipeline& pipeline, const float* samples) {
  pipeline.run(gpuopt::fromHost(samples, 3), [](float*) {});
}

#elif CASE == 8
// EXPECT: gpuopt: the elements of a transfer's target are const
// WRITTEN: upload(host, n, device), where device is a const float*
void copy(const float* host, const float* device) { gpuopt::upload(host, 10, device); }

#elif CASE == 9
// EXPECT: gpuopt: host and device have elements of different types
// WRITTEN: upload(doubles, n, floats)
void copy(const double* host, float* device) { gpuopt::upload(host, 10, device); }

#elif CASE == 10
// EXPECT: gpuopt::DeviceVector: a std::vector<bool> has no array of bool: download to another container
void fail(const gpuopt::DeviceVector<bool>& flags) { static_cast<void>(flags.toHost()); }

#elif CASE == 11
// EXPECT: gpuopt::DeviceVector: the elements must be trivially copyable, not const, and aligned to at most 256 bytes
// WRITTEN: DeviceVector<std::string>
template class gpuopt::DeviceVector<std::string>;

#elif CASE == 12
// EXPECT: gpuopt::gatherBlocks: these arguments fit no form of it: it takes (host, offsets, count, blockBytes, device), (host, offsets, sizes, count, device) or (blocks, count, blockBytes, device), then a stream; lists are pointers, offsets also blockIndices(pointer)
// WRITTEN: gatherBlocks(pages, offsets, 8, 4096, device)
// DO: `offsets.data()`, where `offsets` is a `std::vector`
void fail(const float* pages, const std::vector<int>& offsets, float* device) {
  gpuopt::gatherBlocks(pages, offsets, 8, 4096, device);
}

#elif CASE == 13
// EXPECT: gpuopt::scatterBlocks: these arguments fit no form of it: it takes (device, host, offsets, count, blockBytes), (device, host, offsets, sizes, count) or (device, blocks, count, blockBytes), then a stream; lists are pointers, offsets also blockIndices(pointer)
void fail(const float* device, float* pages, const float* offsets) {
  gpuopt::scatterBlocks(device, pages, offsets, 8, 64);
}

#endif
