/// \file
/// Streams that destroy themselves.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/error.cuh>

#include <cstddef>
#include <vector>

namespace experiments {

/// Several streams. Those made with cudaStreamDefault wait for the default stream, and it for them.
class Streams {
 public:
  explicit Streams(std::size_t count, unsigned flags = cudaStreamNonBlocking) : streams_(count) {
    for (cudaStream_t& stream : streams_)
      gpuopt::check(cudaStreamCreateWithFlags(&stream, flags), "cudaStreamCreateWithFlags");
  }
  Streams(const Streams&) = delete;
  Streams& operator=(const Streams&) = delete;
  ~Streams() {
    for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }

  std::size_t size() const { return streams_.size(); }
  cudaStream_t operator[](std::size_t i) const { return streams_[i]; }

  void synchronize() const {
    for (const cudaStream_t stream : streams_) gpuopt::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

 private:
  std::vector<cudaStream_t> streams_;
};

}  // namespace experiments
