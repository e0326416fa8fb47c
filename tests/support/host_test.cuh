/// What the tests of the host layer share.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/catch.hpp"

#include <gpuopt/host/error.cuh>

#include <cuda_runtime.h>

#include <atomic>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace gpuopt::test {

/// The text of the exception E that `call` throws; a failed test and "" if it throws none.
template <class E, class Call>
std::string messageOf(Call call) {
  try {
    call();
  } catch (const E& error) {
    return error.what();
  }
  FAIL_CHECK("no exception was thrown");
  return {};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Leaves an error behind, as a careless caller's own code may have before it calls the library.
inline cudaError_t leaveEarlierError() {
  const cudaError_t code = cudaSetDevice(12345);
  REQUIRE(code != cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == code);
  return code;
}

/// Runs work(0) ... work(count - 1) at the same time; the number of those that threw or returned false.
inline int failuresAmongThreads(int count, const std::function<bool(int)>& work) {
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&failures, &work, i] {
      try {
        if (!work(i)) ++failures;
      } catch (...) {
        ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failures;
}

/// A stream that synchronises with no other one.
class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

}  // namespace gpuopt::test
