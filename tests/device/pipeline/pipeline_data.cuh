/// \file
/// What the tests of pipelines share: data, arrays between guards, work, and a folder for files.
// SPDX-License-Identifier: MIT
#pragma once

#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/random.hpp"

#include <gpuopt/host/pinned.cuh>
#include <gpuopt/transfer_pipeline.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace gpuopt::test {

using Number = std::uint32_t;
using NumberChunk = PipelineChunk<Number, Number>;

inline constexpr std::size_t chunkNumbers = 8;

inline PipelineOptions smallChunks(unsigned slots = 0) {
  PipelineOptions options;
  options.chunkBytes = chunkNumbers * sizeof(Number) + 3;  // of which 3 are no element
  options.slots = slots;
  return options;
}

/// Work without a kernel: ThreadSanitizer does not know the emulated device's fibers.
inline void copyChunk(const NumberChunk& chunk) {
  check(cudaMemcpyAsync(chunk.out, chunk.in, chunk.count * sizeof(Number), cudaMemcpyDeviceToDevice, chunk.stream),
        "cudaMemcpyAsync");
}

/// n numbers in the host's memory, pinned or not, between guards.
class HostNumbers {
 public:
  HostNumbers(std::size_t n, bool isPinned) : n_(n) {
    if (isPinned)
      pinned_ = PinnedVector<Number>(n + 2 * GUARDS);
    else
      pageable_.resize(n + 2 * GUARDS);
    data_ = isPinned ? pinned_.data() : pageable_.data();
    for (std::size_t i = 0; i < n + 2 * GUARDS; ++i) data_[i] = GUARD;
  }
  HostNumbers(const std::vector<Number>& values, bool isPinned) : HostNumbers(values.size(), isPinned) {
    for (std::size_t i = 0; i < n_; ++i) data()[i] = values[i];
  }

  Number* data() { return data_ + GUARDS; }
  const Number* data() const { return data_ + GUARDS; }
  std::size_t size() const { return n_; }

  /// The numbers; none if a guard has changed.
  std::vector<Number> values() const {
    for (std::size_t i = 0; i < GUARDS; ++i)
      if (data_[i] != GUARD || data_[GUARDS + n_ + i] != GUARD) return {};
    return {data_ + GUARDS, data_ + GUARDS + n_};
  }

 private:
  static constexpr std::size_t GUARDS = 64;
  static constexpr Number GUARD = 0x5C5C5C5C;

  std::size_t n_;
  std::vector<Number> pageable_;
  PinnedVector<Number> pinned_;
  Number* data_ = nullptr;
};

/// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpuopt_XXXXXX").string();
    requireTrue(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

  /// A file of numbers, and of some bytes before them.
  std::string write(const std::string& name, const std::vector<Number>& values, std::size_t before = 0) const {
    std::ofstream stream(file(name), std::ios::binary);
    stream << std::string(before, 'x');
    stream.write(reinterpret_cast<const char*>(values.data()),
                 static_cast<std::streamsize>(values.size() * sizeof(Number)));
    return file(name);
  }

  std::vector<Number> read(const std::string& name) const {
    std::vector<Number> values(std::filesystem::file_size(file(name)) / sizeof(Number));
    std::ifstream stream(file(name), std::ios::binary);
    stream.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(Number)));
    return values;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace gpuopt::test
