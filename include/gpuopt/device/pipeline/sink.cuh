/// \file
/// Sinks of pipelines in memory: an array on the host, a callback.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/device/pipeline/ends.cuh>
#include <gpuopt/device/pipeline/staging.cuh>

#include <cstddef>
#include <utility>

GPUOPT_DETAIL_BEGIN

// An array on the host that receives the results, from toHost.
template <class T>
class HostSink final : public ChunkSink {
 public:
  using Element = T;

  // Room for n elements at `data`.
  HostSink(T* data, std::size_t n, const char* name = "data", const char* function = "gpuopt::toHost")
      : data_(data), room_(n), isDirect_(isDirect(namedArray(data, n, name), function)) {}

  void requireRoom(std::size_t elements) const override {
    if (elements > room_)
      throwInvalid(
          {"gpuopt::Pipeline: the sink has room for ", room_, " elements, but the source has ", elements, " or more"});
  }
  bool isStaged() const override { return !isDirect_; }
  void* target(void* slot, std::size_t first) override { return isDirect_ ? data_ + first : slot; }

  bool take(const void* from, std::size_t first, std::size_t count) override {
    if (!isDirect_) emptySlot(data_ + first, from, count * sizeof(T));
    return true;
  }

 private:
  T* data_;
  std::size_t room_;
  bool isDirect_;
};

// A callback that takes the results, from toCallback.
template <class T, class F>
class CallbackSink final : public ChunkSink {
 public:
  using Element = T;

  // f is called as toCallback says.
  explicit CallbackSink(F f) : f_(std::move(f)) {}

  bool take(const void* from, std::size_t, std::size_t count) override {
    return goesOn(f_, static_cast<const T*>(from), count);
  }

 private:
  F f_;
};

GPUOPT_DETAIL_END
