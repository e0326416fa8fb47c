/// \file
/// Work whose kernels are compiled with one choice of each constant. Without the library's headers: each source that
/// includes it is compiled with constants of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

// An entry of GPUOPT_TUNING_ENTRIES: a choice without the device on which it was measured.
#define GPUOPT_TUNE_CHOICE(ENTRY, name, logSize, choice) ENTRY("gpuopt." name, "", logSize, choice, "", 0, 0);

namespace gpuopt::tune {

/// What the work reads: random bytes, and indices of structures of INDEXED_BYTES in them.
struct ConstantInput {
  static constexpr std::size_t INDEXED_BYTES = 32;
  const unsigned char* data;
  const unsigned* indices;
  std::size_t bytes;
};

/// Queues work that writes up to as many bytes as it reads.
struct ConstantWork {
  const char* name;    // of the constant
  int logSize;         // of the size that the constant depends on
  const char* choice;  // null for the library's own
  void (*call)(const ConstantInput& input, unsigned char* out, cudaStream_t stream);
};

/// Two kernels that do the same, of which one is for matrices up to a limit.
struct LimitWork {
  const char* name;
  int logSize;
  std::size_t bytes;  // the library's own limit for the current device
  void (*below)(const ConstantInput& input, unsigned char* out, cudaStream_t stream);
  void (*above)(const ConstantInput& input, unsigned char* out, cudaStream_t stream);
};

std::vector<LimitWork> limitWorks();

/// Of each constant that has a choice in the set; set 0 has the library's own.
std::vector<ConstantWork> constantWorks0();
std::vector<ConstantWork> constantWorks1();
std::vector<ConstantWork> constantWorks2();
std::vector<ConstantWork> constantWorks3();

}  // namespace gpuopt::tune
