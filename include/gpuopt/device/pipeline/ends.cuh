/// \file
/// What is at the ends of a pipeline, without its types: a source that gives chunks, a sink that takes them.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/device/pipeline/tuning.cuh>

#include <cstddef>
#include <type_traits>

GPUOPT_DETAIL_BEGIN

// What a callback returns: nothing, or whether to go on.
template <class F, class... Args>
bool goesOn(F& f, const Args&... args) {
  if constexpr (std::is_void_v<decltype(f(args...))>) {
    f(args...);
    return true;
  } else {
    return f(args...);
  }
}

// Elements in memory that the device's copy engine reads: in the slot, or pinned. None: the end.
struct SourceChunk {
  const void* data;
  std::size_t count;
};

class ChunkSource {
 public:
  virtual ~ChunkSource() = default;

  // Elements from here to the end, where it is known.
  virtual std::size_t length() const { return unknownLength; }

  // The descriptor of the file that it reads; -1 without one.
  virtual int file() const { return -1; }

  // Whether next() writes to a slot of pinned memory.
  virtual bool isStaged() const { return true; }

  // Begins to fill the slot of the next chunk that has not been begun, in the background. False if it cannot.
  virtual bool begin(void*, std::size_t) { return false; }

  // The next chunk, of up to `capacity` elements.
  virtual SourceChunk next(void* slot, std::size_t capacity) = 0;
};

class ChunkSink {
 public:
  virtual ~ChunkSink() = default;

  // Throws std::invalid_argument if there is no room for elements up to this number.
  virtual void requireRoom(std::size_t) const {}

  // Before the first chunk, when nothing else can be wrong any more. Throws std::invalid_argument if it would destroy
  // what the source reads.
  virtual void begin(const ChunkSource&) {}

  // Whether take() reads from a slot of pinned memory. It is then called by a thread of its own.
  virtual bool isStaged() const { return true; }

  // Where the copy engine writes elements: the slot, or pinned memory.
  virtual void* target(void* slot, std::size_t) { return slot; }

  // Takes elements from the slot, chunk after chunk. False cancels.
  virtual bool take(const void*, std::size_t, std::size_t) { return true; }

  // After the last chunk.
  virtual void finish() {}
};

GPUOPT_DETAIL_END
