/// \file
/// Sources of pipelines in memory: an array on the host, a callback.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/pipeline/ends.cuh>
#include <gpuopt/device/pipeline/staging.cuh>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

// The elements of an array on the host, from fromHost.
template <class T>
class HostSource final : public ChunkSource {
 public:
  using Element = T;

  // n elements at `data`, which must stay until the run has ended.
  HostSource(const T* data, std::size_t n, const char* name = "data", const char* function = "gpuopt::fromHost")
      : data_(data),
        left_(n),
        isDirect_(isDirect(namedArray(data, n, name), function)),
        isStreaming_(fillsPastCaches(n * sizeof(T))) {}

  std::size_t length() const override { return left_; }
  bool isStaged() const override { return !isDirect_; }

  bool begin(void* slot, std::size_t capacity) override {
    const std::size_t count = smallerOf(capacity, left_);
    if (isDirect_ || count == 0) return false;
    fills_.push_back({std::make_unique<SlotFill>(count * sizeof(T), CopyPieces{slot, data_, isStreaming_}), count});
    fills_.back().job->begin();
    advance(count);
    return true;
  }

  SourceChunk next(void* slot, std::size_t capacity) override {
    const std::size_t count = smallerOf(capacity, left_);
    if (isDirect_) return {advance(count), count};
    if (fills_.empty() && !begin(slot, capacity)) return {slot, 0};
    const Fill first = std::move(fills_.front());
    fills_.erase(fills_.begin());
    first.job->finish();
    return {slot, first.count};
  }

 private:
  // A slot that helpers fill.
  struct Fill {
    std::unique_ptr<SlotFill> job;
    std::size_t count;
  };

  const T* advance(std::size_t count) {
    left_ -= count;
    return std::exchange(data_, data_ + count);
  }

  const T* data_;
  std::size_t left_;
  bool isDirect_;
  bool isStreaming_;
  std::vector<Fill> fills_;  // in the order of the chunks
};

// The elements of a container or span on the host.
template <class Range>
auto hostSource(const Range& range, const char* name, const char* function) {
  using T = std::remove_const_t<std::remove_pointer_t<decltype(toAddress(range.data()))>>;
  return HostSource<T>(toAddress(range.data()), sizeOf(range), name, function);
}

// The elements that a callback produces, from fromCallback.
template <class T, class F>
class CallbackSource final : public ChunkSource {
 public:
  using Element = T;

  // f is called as fromCallback says.
  explicit CallbackSource(F f) : f_(std::move(f)) {}

  SourceChunk next(void* slot, std::size_t capacity) override {
    const std::size_t count = f_(static_cast<T*>(slot), capacity);
    if (count > capacity)
      throwInvalid(
          {"gpuopt::fromCallback: the callback returned ", count, " elements for a chunk of at most ", capacity});
    return {slot, count};
  }

 private:
  F f_;
};

GPUOPT_DETAIL_END
