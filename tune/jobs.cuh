/// \file
/// What gpuopt-tune measures: the constants of transfers and pipelines, and the values to try.
// SPDX-License-Identifier: MIT
#pragma once

#include "tuner.cuh"

#include <gpuopt/device/pipeline/staging.cuh>
#include <gpuopt/transfer.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

namespace gpuopt::tune {

/// Memory on both sides for all jobs, with random contents.
class Arrays {
 public:
  /// \param most bytes of the largest transfer
  explicit Arrays(std::size_t most) : pageable_(most), result_(most), pinned_(most) {
    check(cudaMalloc(&device_, most), "cudaMalloc");
    std::mt19937_64 generator(1);
    for (std::size_t i = 0; i < most; i += sizeof(std::uint64_t)) {
      const std::uint64_t bits = generator();
      std::memcpy(pageable_.data() + i, &bits, (std::min)(sizeof bits, most - i));
    }
    std::memcpy(pinned_.data(), pageable_.data(), most);
  }
  Arrays(const Arrays&) = delete;
  Arrays& operator=(const Arrays&) = delete;
  ~Arrays() { cudaFree(device_); }

  std::size_t bytes() const { return pageable_.size(); }

  /// Where the next call has its n bytes on the host: not where the last ones had theirs, which are in the caches.
  std::size_t turn(std::size_t n) {
    const std::size_t at = next_ + n <= bytes() ? next_ : 0;
    next_ = at + n;
    return at;
  }
  /// The next call has the first bytes.
  void rewind() { next_ = 0; }

  unsigned char* pageable() { return pageable_.data(); }
  unsigned char* result() { return result_.data(); }
  unsigned char* pinned() { return pinned_.data(); }
  unsigned char* device() const { return static_cast<unsigned char*>(device_); }

  void poisonDevice(std::size_t bytes) const { check(cudaMemset(device_, 0xA5, bytes), "cudaMemset"); }
  void poisonResult(std::size_t bytes) { std::memset(result_.data(), 0xA5, bytes); }

  /// The first bytes of the device's memory, on the host.
  const unsigned char* fetch(std::size_t bytes) {
    poisonResult(bytes);
    check(cudaMemcpy(result_.data(), device_, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return result_.data();
  }

 private:
  std::vector<unsigned char> pageable_, result_;
  PinnedVector<unsigned char> pinned_;
  void* device_ = nullptr;
  std::size_t next_ = 0;
};

inline void synchronize() { check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"); }

/// The middle of a power of two, for all sizes up to the next one.
constexpr std::size_t middleOf(int logSize) { return (std::size_t{3} << logSize) / 2; }

/// Numbers of threads that a transfer may have on this machine.
inline std::vector<unsigned> threadCounts() {
  const unsigned most = detail::transferCores(detail::coreCount());
  std::vector<unsigned> counts;
  for (unsigned threads = 1; threads < most; threads *= 2) counts.push_back(threads);
  counts.push_back(most);
  return counts;
}

/// No threads; and threads with slots that each of them fills or empties one to ten times.
inline std::vector<detail::TunedValue> ringValues(std::size_t bytes) {
  std::vector<detail::TunedValue> values{{0, 0}};
  for (const unsigned threads : threadCounts())
    for (const std::size_t turns : {1, 3, 10}) {
      const std::size_t share = bytes / (threads * turns);
      const std::size_t slot = std::size_t{1} << detail::logSizeOf((std::max)(share, std::size_t{1}));
      if (slot >= detail::minTunedBytes) values.push_back({threads, (std::min)(slot, std::size_t{4} << 20)});
    }
  return values;
}

inline Job uploadJob(Arrays& arrays, int logSize) {
  const std::size_t n = middleOf(logSize);
  const auto call = [&arrays, n] {
    upload(arrays.pageable() + arrays.turn(n), n, arrays.device());
    synchronize();
  };
  const auto isCorrect = [&arrays, n](const std::function<void()>& work) {
    arrays.rewind();
    arrays.poisonDevice(n);
    work();
    return std::memcmp(arrays.fetch(n), arrays.pageable(), n) == 0;
  };
  return {detail::Tunable::upload, n, ringValues(n), call, isCorrect};
}

inline Job downloadJob(Arrays& arrays, int logSize) {
  const std::size_t n = middleOf(logSize);
  const auto call = [&arrays, n] { download(arrays.device(), n, arrays.result() + arrays.turn(n)); };
  const auto isCorrect = [&arrays, n](const std::function<void()>& work) {
    arrays.rewind();
    check(cudaMemcpy(arrays.device(), arrays.pinned(), n, cudaMemcpyHostToDevice), "cudaMemcpy");
    arrays.poisonResult(n);
    work();
    return std::memcmp(arrays.result(), arrays.pinned(), n) == 0;
  };
  return {detail::Tunable::download, n, ringValues(n), call, isCorrect};
}

/// Blocks of pinned memory in a random order, 64 MiB of them or what there is.
inline Job blocksJob(Arrays& arrays, int logSize) {
  constexpr std::size_t BYTES = std::size_t{64} << 20, BLOCKS = 16384;
  const std::size_t n = middleOf(logSize);
  std::vector<std::size_t> offsets((std::min)((std::min)(BYTES, arrays.bytes()) / n, BLOCKS));
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = i * (arrays.bytes() / n / offsets.size()) * n;
  std::shuffle(offsets.begin(), offsets.end(), std::mt19937_64(2));
  const auto call = [&arrays, n, offsets] {
    gatherBlocks(arrays.pinned(), offsets.data(), offsets.size(), n, arrays.device());
    synchronize();
  };
  const auto isCorrect = [&arrays, n, offsets](const std::function<void()>& work) {
    arrays.poisonDevice(n * offsets.size());
    work();
    const unsigned char* found = arrays.fetch(n * offsets.size());
    for (std::size_t i = 0; i < offsets.size(); ++i)
      if (std::memcmp(found + i * n, arrays.pinned() + offsets[i], n) != 0) return false;
    return true;
  };
  return {detail::Tunable::blocks, n, {{0, 0}, {8, 0}, {16, 0}, {32, 0}, {64, 0}}, call, isCorrect};
}

/// A slot of a pipeline filled from pageable memory, and emptied.
inline Job stagingJob(Arrays& arrays, int logSize) {
  const std::size_t n = std::size_t{1} << logSize;  // slots are powers of two
  std::vector<detail::TunedValue> values;
  for (const unsigned threads : threadCounts())
    for (const std::size_t piece : {std::size_t{64} << 10, std::size_t{256} << 10, std::size_t{1} << 20})
      values.push_back({threads, piece});
  const auto call = [&arrays, n] {
    const std::size_t at = arrays.turn(n);
    {
      detail::SlotFill fill(n, {arrays.pinned(), arrays.pageable() + at, false});
      fill.begin();
      fill.finish();
    }
    detail::emptySlot(arrays.result() + at, arrays.pinned(), n);
  };
  const auto isCorrect = [&arrays, n](const std::function<void()>& work) {
    arrays.rewind();
    arrays.poisonResult(n);
    work();
    return std::memcmp(arrays.result(), arrays.pageable(), n) == 0;
  };
  return {detail::Tunable::staging, n, values, call, isCorrect};
}

/// All jobs of one constant.
struct Family {
  const char* name;  // on the command line
  Job (*make)(Arrays& arrays, int logSize);
  int minLog, maxLog;
};

inline constexpr Family families[] = {{"upload", uploadJob, 13, 28},
                                      {"download", downloadJob, 13, 28},
                                      {"blocks", blocksJob, 7, 24},
                                      {"staging", stagingJob, 21, 24}};

/// The jobs of a family whose data the arrays can hold.
inline std::vector<Job> jobsOf(const Family& family, Arrays& arrays) {
  std::vector<Job> jobs;
  for (int logSize = family.minLog; logSize <= family.maxLog; ++logSize)
    if (middleOf(logSize) <= arrays.bytes()) jobs.push_back(family.make(arrays, logSize));
  return jobs;
}

}  // namespace gpuopt::tune
