/// \file
/// What the host does besides launching kernels: it waits, asks, and orders work by streams.
// SPDX-License-Identifier: MIT
#pragma once

#include "grid.cuh"

#include <cstddef>

namespace experiments {

/// values[to] = values[from] + 1, `cycles` later (nanoseconds on the emulated device). One thread.
template <class Word>
__global__ void passOn(Word* values, unsigned from, unsigned to, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) continue;
  values[to] = values[from] + 1;
}

inline void launchPassOn(unsigned* values, unsigned from, unsigned to, long long cycles,
                         cudaStream_t stream = nullptr) {
  gpuopt::LaunchConfig config = gridFor(1, 1);
  config.stream = stream;
  gpuopt::launch(passOn<unsigned>, config, values, from, to, cycles);
}

/// A kernel that no other experiment launches, so that its first launch can be timed.
template <unsigned NUMBER>
__global__ void writeNumber(unsigned* value) {
  *value = NUMBER;
}

inline void launchWriteNumber(unsigned* value) { gpuopt::launch(writeNumber<20>, gridFor(1, 1), value); }

/// Which streams the kernels of a chain are in.
enum class Ordering {
  twoStreams,             ///< two streams that know nothing of each other
  defaultBesideBlocking,  ///< the default stream, and one that waits for it
  defaultBesideOther,     ///< the default stream, and one made with cudaStreamNonBlocking
  defaultBetween,         ///< a stream, the default stream, another stream
  otherBetween            ///< the same of three non-blocking streams
};

constexpr bool hasDefaultStream(Ordering ordering) {
  return ordering != Ordering::twoStreams && ordering != Ordering::otherBetween;
}

/// Whether the kernels run one after the other, in the order of their launches.
constexpr bool isInOrder(Ordering ordering) {
  return ordering == Ordering::defaultBesideBlocking || ordering == Ordering::defaultBetween;
}

constexpr unsigned kernelsOf(Ordering ordering) {
  return ordering == Ordering::defaultBetween || ordering == Ordering::otherBetween ? 3 : 2;
}

constexpr unsigned streamFlags(Ordering ordering) {
  return isInOrder(ordering) ? cudaStreamDefault : cudaStreamNonBlocking;
}

/// One kernel in each stream. In order, each adds to what the one before has written; otherwise all to values[0].
template <class StreamList>
void launchChain(Ordering ordering, unsigned* values, long long cycles, const StreamList& streams) {
  const unsigned kernels = kernelsOf(ordering), byDefault = kernels == 3 ? 1 : 0;
  for (unsigned i = 0; i < kernels; ++i) {
    const bool isDefault = hasDefaultStream(ordering) && i == byDefault;
    launchPassOn(values, isInOrder(ordering) ? i : 0, i + 1, cycles, isDefault ? nullptr : streams[i]);
  }
}

}  // namespace experiments
