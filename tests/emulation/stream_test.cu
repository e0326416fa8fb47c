/// Streams and events: in order, complete at once, and honest about graphs.
// SPDX-License-Identifier: MIT
#include "kernel.hpp"
#include "support/catch.hpp"

#include <string>

namespace stream_test {

__global__ void append(int* log, int value) {
  const int n = log[0];
  log[n + 1] = value;
  log[0] = n + 1;
}

cudaError_t appendOn(cudaStream_t stream, int* log, int value) {
  cudaLaunchConfig_t config{};
  config.stream = stream;
  return cudaLaunchKernelEx(&config, append, log, value);
}

TEST_CASE("work of one stream and of several keeps its order") {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  REQUIRE(cudaStreamCreate(&first) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithPriority(&second, cudaStreamNonBlocking, 0) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  Managed<int> log(4, 0);
  REQUIRE(appendOn(first, log.data(), 10) == cudaSuccess);
  REQUIRE(cudaEventRecord(event, first) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(second, event, 0) == cudaSuccess);
  REQUIRE(appendOn(second, log.data(), 20) == cudaSuccess);
  REQUIRE(cudaLaunchHostFunc(
              second, [](void* data) { static_cast<int*>(data)[0] += 1; }, log.data()) == cudaSuccess);
  REQUIRE(cudaStreamQuery(second) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(second) == cudaSuccess);
  REQUIRE((log[0] == 3 && log[1] == 10 && log[2] == 20));
  REQUIRE(cudaEventDestroy(event) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(first) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(second) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
  cudaGetLastError();
}

TEST_CASE("work in a destroyed stream is refused, and the stream is named as the cause") {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  Managed<int> log(4, 0);
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  const std::string kernel = gpuopt::emulation::detail::kernelName(reinterpret_cast<const void*>(append));
  const auto report = [](cudaError_t code) {
    return code == cudaErrorInvalidResourceHandle ? gpuopt::emulation::lastReport() : "accepted";
  };
  CHECK(report(appendOn(stream, log.data(), 1)) == "launch of " + kernel + ": the stream was destroyed");
  CHECK(log[0] == 0);
  int device = 0;
  CHECK(report(cudaStreamGetDevice(stream, &device)) == "cudaStreamGetDevice: the stream was destroyed");
  CHECK(report(cudaStreamSynchronize(stream)) == "cudaStreamSynchronize: the stream was destroyed");
  CHECK(report(cudaStreamQuery(stream)) == "cudaStreamQuery: the stream was destroyed");
  CHECK(report(cudaStreamWaitEvent(stream, event)) == "cudaStreamWaitEvent: the stream was destroyed");
  CHECK(report(cudaEventRecord(event, stream)) == "cudaEventRecord: the stream was destroyed");
  CHECK(report(cudaMemsetAsync(log.data(), 0, 4, stream)) == "work is queued: the stream was destroyed");
  CHECK(report(cudaMemcpyAsync(log.data(), log.data() + 1, 4, cudaMemcpyDefault, stream)) ==
        "cudaMemcpyAsync: the stream was destroyed");
  CHECK(report(cudaStreamDestroy(stream)) == "cudaStreamDestroy: the stream was destroyed");
  REQUIRE(cudaEventDestroy(event) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("streams have different identities") {
  cudaStream_t first = nullptr, second = nullptr;
  unsigned long long ids[4] = {};
  REQUIRE(cudaStreamCreate(&first) == cudaSuccess);
  REQUIRE(cudaStreamCreate(&second) == cudaSuccess);
  const cudaStream_t streams[] = {first, second, cudaStreamLegacy, cudaStreamPerThread};
  for (int i = 0; i < 4; ++i) REQUIRE(cudaStreamGetId(streams[i], &ids[i]) == cudaSuccess);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < i; ++j) REQUIRE(ids[i] != ids[j]);
  REQUIRE(cudaStreamDestroy(first) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(second) == cudaSuccess);
}

TEST_CASE("elapsed time needs two recorded, timed events") {
  cudaEvent_t begin = nullptr, end = nullptr, untimed = nullptr;
  REQUIRE(cudaEventCreate(&begin) == cudaSuccess);
  REQUIRE(cudaEventCreate(&end) == cudaSuccess);
  REQUIRE(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming) == cudaSuccess);
  float milliseconds = -1;
  REQUIRE(cudaEventRecord(begin) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&milliseconds, begin, end) == cudaErrorInvalidResourceHandle);
  REQUIRE(cudaEventRecord(end) == cudaSuccess);
  REQUIRE(cudaEventRecord(untimed) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess);
  REQUIRE(milliseconds >= 0.0f);
  REQUIRE(cudaEventElapsedTime(&milliseconds, begin, untimed) == cudaErrorInvalidResourceHandle);
  for (cudaEvent_t event : {begin, end, untimed}) REQUIRE(cudaEventDestroy(event) == cudaSuccess);
  cudaGetLastError();
}

TEST_CASE("a stream that nobody captures says so") {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  REQUIRE(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  REQUIRE(status == cudaStreamCaptureStatusNone);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  REQUIRE(mode == cudaStreamCaptureModeGlobal);
  REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  REQUIRE(mode == cudaStreamCaptureModeRelaxed);
  REQUIRE(cudaStreamDestroy(stream) == cudaSuccess);
  cudaGetLastError();
}

}  // namespace stream_test
