/// \file
/// Launch configurations through the occupancy queries, and what limits a kernel's occupancy.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/core/registry.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/launch_config.cuh>

#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

inline constexpr int warpThreads = 32;

/// A question to the occupancy queries. block 0 asks for the block size with the highest occupancy.
struct OccupancyKey {
  const void* kernel;
  std::size_t sharedBytes;
  int device;
  int block;
};

/// The answer. Trivial, like the key, so that a thread-local cache of them needs neither guard nor
/// destructor.
struct Occupancy {
  int block;
  int blocksPerMultiprocessor;
  double fraction;
};

inline bool operator==(const OccupancyKey& a, const OccupancyKey& b) {
  return a.kernel == b.kernel && a.sharedBytes == b.sharedBytes && a.device == b.device && a.block == b.block;
}

GPUOPT_HIDDEN inline cudaFuncAttributes functionAttributes(const void* kernel) {
  cudaFuncAttributes attributes{};
  const cudaError_t code = cudaFuncGetAttributes(&attributes, kernel);
  if (code != cudaSuccess) throwCudaError(code, message({"cudaFuncGetAttributes of ", kernelName(kernel)}));
  return attributes;
}

/// The block limit of the device, before the kernel has a say.
inline void checkBlock(int block, int device, const char* caller) {
  const int limit = deviceAttribute(cudaDevAttrMaxThreadsPerBlock, device);
  if (block < 1 || block > limit) {
    throwInvalid({caller, ": block (", block, ") is not between 1 and ", limit, ", the device's limit"});
  }
}

/// Lets the kernel have that much dynamic shared memory. The limit only grows: other callers rely on it.
GPUOPT_HIDDEN inline void raiseSharedLimit(const OccupancyKey& key, const cudaFuncAttributes& attributes,
                                           const char* caller) {
  const auto limit =
      static_cast<std::size_t>(deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, key.device));
  if (key.sharedBytes > limit || key.sharedBytes + attributes.sharedSizeBytes > limit) {
    throwInvalid({caller, ": sharedBytes (", key.sharedBytes, ") and the kernel's ",
                  attributes.sharedSizeBytes, " static bytes exceed ", limit,
                  ", the device's limit; kernel: ", kernelName(key.kernel)});
  }
  if (key.sharedBytes <= static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes)) return;
  const cudaError_t code = cudaFuncSetAttribute(key.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                static_cast<int>(key.sharedBytes));
  if (code != cudaSuccess)
    throwCudaError(code, message({"cudaFuncSetAttribute of ", kernelName(key.kernel)}));
}

GPUOPT_HIDDEN inline int queryResidentBlocks(const OccupancyKey& key, int block) {
  int blocks = 0;
  const cudaError_t code =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, key.kernel, block, key.sharedBytes);
  if (code != cudaSuccess) {
    throwCudaError(code,
                   message({"cudaOccupancyMaxActiveBlocksPerMultiprocessor of ", kernelName(key.kernel)}));
  }
  return blocks;
}

/// The block size with the most resident threads; of equal ones the largest, as
/// cudaOccupancyMaxPotentialBlockSize does.
GPUOPT_HIDDEN inline int bestBlock(const OccupancyKey& key, int limit) {
  int best = limit;
  int mostThreads = 0;
  for (int aligned = (limit + warpThreads - 1) / warpThreads * warpThreads; aligned > 0;
       aligned -= warpThreads) {
    const int block = aligned < limit ? aligned : limit;
    const int threads = block * queryResidentBlocks(key, block);
    if (threads > mostThreads) {
      mostThreads = threads;
      best = block;
    }
  }
  return best;
}

inline double occupancyFraction(int block, int blocks, int device) {
  const int warps = (block + warpThreads - 1) / warpThreads * blocks;
  const int limit = deviceAttribute(cudaDevAttrMaxThreadsPerMultiProcessor, device) / warpThreads;
  return static_cast<double>(warps) / limit;
}

GPUOPT_HIDDEN inline Occupancy queryOccupancy(const OccupancyKey& key, const char* caller) {
  const cudaFuncAttributes attributes = functionAttributes(key.kernel);
  raiseSharedLimit(key, attributes, caller);
  const int block = key.block != 0 ? key.block : bestBlock(key, attributes.maxThreadsPerBlock);
  if (block > attributes.maxThreadsPerBlock) {
    throwInvalid(
        {caller, ": block (", block, ") exceeds ", attributes.maxThreadsPerBlock,
         ", the limit of the kernel's registers or launch bounds; kernel: ", kernelName(key.kernel)});
  }
  const int blocks = queryResidentBlocks(key, block);
  if (blocks == 0) {
    throwInvalid({caller, ": no block fits: block (", block, "), sharedBytes (", key.sharedBytes, "), ",
                  attributes.numRegs, " registers a thread; kernel: ", kernelName(key.kernel)});
  }
  return {block, blocks, occupancyFraction(block, blocks, key.device)};
}

/// The answers for all threads. Never destroyed: a destructor of a static object may still launch kernels.
struct SharedOccupancyCache {
  std::mutex mutex;
  Registry<OccupancyKey, Occupancy> known;
};

GPUOPT_HIDDEN inline Occupancy sharedOccupancy(const OccupancyKey& key, const char* caller) {
  static SharedOccupancyCache& cache = *new SharedOccupancyCache;
  const std::lock_guard<std::mutex> lock(cache.mutex);  // also held while a kernel's limit is read and raised
  if (const Occupancy* found = cache.known.find(key)) return *found;
  return cache.known.add(key, queryOccupancy(key, caller));
}

/// A few answers per thread in front of those for all threads: no lock and no map on a repeated question.
GPUOPT_HIDDEN inline Occupancy cachedOccupancy(const OccupancyKey& key, const char* caller) {
  struct Entry {
    OccupancyKey key;
    Occupancy answer;
  };
  constexpr std::size_t ENTRIES = 16;
  static thread_local Entry recent[ENTRIES];  // zero: no kernel is null

  const std::size_t hash = (reinterpret_cast<std::uintptr_t>(key.kernel) >> 4) + key.sharedBytes / 128 +
                           static_cast<std::size_t>(key.block / warpThreads);
  Entry& entry = recent[hash % ENTRIES];
  if (!(entry.key == key)) entry = {key, sharedOccupancy(key, caller)};
  return entry.answer;
}

template <class Kernel>
GPUOPT_HIDDEN OccupancyKey occupancyKey(Kernel* kernel, int block, std::size_t sharedBytes,
                                        const char* caller) {
  static_assert(std::is_function_v<Kernel>,
                "gpuopt: a pointer to a kernel (__global__ function) is expected");
  if (kernel == nullptr) throwInvalid({caller, ": kernel is null"});
  return {reinterpret_cast<const void*>(kernel), sharedBytes, currentDevice(), block};
}

/// The grid that fills the device once, or covers the items if that takes fewer blocks.
GPUOPT_HIDDEN inline LaunchConfig fillDevice(const OccupancyKey& key, std::size_t items,
                                             std::size_t itemsPerThread, cudaStream_t stream,
                                             const char* caller) {
  if (items == 0) throwInvalid({caller, ": items (0) would give an empty grid"});
  if (itemsPerThread == 0) throwInvalid({caller, ": itemsPerThread (0) must be positive"});

  const Occupancy occupancy = cachedOccupancy(key, caller);
  const auto block = static_cast<std::size_t>(occupancy.block);
  const std::size_t needed = (items - 1) / block / itemsPerThread + 1;
  const auto resident = static_cast<std::size_t>(occupancy.blocksPerMultiprocessor) *
                        static_cast<std::size_t>(multiprocessorCount(key.device));

  LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(needed < resident ? needed : resident));
  config.block = dim3(static_cast<unsigned>(block));
  config.sharedBytes = key.sharedBytes;
  config.stream = stream;
  config.blocksPerMultiprocessor = occupancy.blocksPerMultiprocessor;
  config.occupancy = occupancy.fraction;
  return config;
}

}  // namespace detail

/// The configuration for a kernel that is written for blocks of BLOCK threads and loops over its items: as
/// many blocks as the current device holds at once, but no more than ceil(items / (BLOCK *
/// itemsPerThread)). The configuration's stream is `stream`.
///
/// sharedBytes is the dynamic shared memory of a block in bytes; the kernel's limit is raised where that is
/// needed, here and not at the launch. Answers are remembered per kernel, device, block and shared size: a
/// repeated call costs well under 0.1 us. Any thread may call for any current device.
///
/// Throws std::invalid_argument, naming the parameter and the values, if items or itemsPerThread is zero,
/// if the block is beyond the device's or the kernel's limit, or if the shared memory is; CudaError if the
/// runtime fails.
template <class Kernel>
GPUOPT_HIDDEN LaunchConfig occupancyConfig(Kernel* kernel, std::size_t items, int BLOCK,
                                           std::size_t itemsPerThread = 1, std::size_t sharedBytes = 0,
                                           cudaStream_t stream = nullptr) {
  constexpr const char* CALLER = "gpuopt::occupancyConfig";
  const detail::OccupancyKey key = detail::occupancyKey(kernel, BLOCK, sharedBytes, CALLER);
  detail::checkBlock(BLOCK, key.device, CALLER);
  return detail::fillDevice(key, items, itemsPerThread, stream, CALLER);
}

/// As occupancyConfig, with `items`, `itemsPerThread` and `stream` of the same meaning, for a kernel that
/// takes any block size: the block is the one with which most threads are resident (of equal ones the
/// largest), sharedBytes being the same for every block size.
template <class Kernel>
GPUOPT_HIDDEN LaunchConfig maxOccupancyConfig(Kernel* kernel, std::size_t items,
                                              std::size_t itemsPerThread = 1, std::size_t sharedBytes = 0,
                                              cudaStream_t stream = nullptr) {
  constexpr const char* CALLER = "gpuopt::maxOccupancyConfig";
  const detail::OccupancyKey key = detail::occupancyKey(kernel, 0, sharedBytes, CALLER);
  return detail::fillDevice(key, items, itemsPerThread, stream, CALLER);
}

/// What limits a kernel's occupancy on the current device. Printable with <<.
///
/// Each resource of a multiprocessor would allow so many resident blocks; the fewest is what runs. A
/// resource that the kernel does not use allows `unlimited`.
struct OccupancyReport {
  static constexpr int unlimited = INT_MAX;  ///< what a resource allows that the kernel does not use

  std::string kernel;                   ///< its name and parameters
  int block = 0;                        ///< threads of a block
  int registersPerThread = 0;           ///< as the compiler gave them
  std::size_t staticSharedBytes = 0;    ///< of a block
  std::size_t dynamicSharedBytes = 0;   ///< of a block
  std::size_t reservedSharedBytes = 0;  ///< of a block, taken by the system

  int allowedByRegisters = unlimited;     ///< blocks per multiprocessor for which there are registers
  int allowedBySharedMemory = unlimited;  ///< the same of shared memory
  int allowedByThreads = unlimited;       ///< the same of places for threads
  int allowedByBlocks = unlimited;        ///< the same of places for blocks

  int blocksPerMultiprocessor = 0;  ///< what the runtime's occupancy query says
  double occupancy = 0;             ///< resident warps over the multiprocessor's maximum, 0 to 1

  /// Whether registers are a binding limit.
  bool limitedByRegisters() const { return allowedByRegisters == blocksPerMultiprocessor; }
  /// Whether shared memory is one.
  bool limitedBySharedMemory() const { return allowedBySharedMemory == blocksPerMultiprocessor; }
  /// Whether the number of threads is one.
  bool limitedByThreads() const { return allowedByThreads == blocksPerMultiprocessor; }
  /// Whether the number of blocks is one.
  bool limitedByBlocks() const { return allowedByBlocks == blocksPerMultiprocessor; }

  /// The binding limits in words: "registers", "threads and blocks".
  std::string limits() const {
    std::string text;
    const auto add = [&text](bool binding, const char* name) {
      if (binding) text += (text.empty() ? "" : " and ") + std::string(name);
    };
    add(limitedByRegisters(), "registers");
    add(limitedBySharedMemory(), "shared memory");
    add(limitedByThreads(), "threads");
    add(limitedByBlocks(), "blocks");
    return text;
  }

  /// The whole report in words, on five lines.
  std::string text() const {
    const auto allowed = [](int blocks) {
      return blocks == unlimited ? "any number of" : std::to_string(blocks);
    };
    return detail::message({kernel,
                            " with ",
                            block,
                            " threads a block: ",
                            blocksPerMultiprocessor,
                            " blocks per multiprocessor, occupancy ",
                            std::lround(100 * occupancy),
                            " %, limited by ",
                            limits(),
                            "\n  registers:     ",
                            allowed(allowedByRegisters),
                            " blocks (",
                            registersPerThread,
                            " a thread)\n  shared memory: ",
                            allowed(allowedBySharedMemory),
                            " blocks (",
                            staticSharedBytes,
                            " bytes static, ",
                            dynamicSharedBytes,
                            " dynamic, ",
                            reservedSharedBytes,
                            " reserved)\n  threads:       ",
                            allowed(allowedByThreads),
                            " blocks\n  blocks:        ",
                            allowed(allowedByBlocks),
                            " blocks\n"});
  }
};

/// Prints the text of the report to any stream `out`, without an include of this header for those who never
/// print.
template <class Stream>
auto operator<<(Stream& out, const OccupancyReport& report) -> decltype(out << "") {
  return out << report.text().c_str();
}

namespace detail {

/// Registers are given to warps in units of 256, each warp's out of one of the multiprocessor's four parts.
inline int blocksByRegisters(int registersPerThread, int warps, int device) {
  constexpr int UNIT = 256;
  constexpr int PARTS = 4;
  if (registersPerThread == 0) return OccupancyReport::unlimited;
  const int perWarp = (registersPerThread * warpThreads + UNIT - 1) / UNIT * UNIT;
  const int perPart = deviceAttribute(cudaDevAttrMaxRegistersPerMultiprocessor, device) / PARTS;
  return perPart / perWarp * PARTS / warps;
}

inline int blocksBySharedMemory(std::size_t bytes, int device) {
  const std::size_t unit = computeCapability(device) < 80 ? 256 : 128;
  const auto limit =
      static_cast<std::size_t>(deviceAttribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  if (bytes == 0) return OccupancyReport::unlimited;
  return static_cast<int>(limit / ((bytes + unit - 1) / unit * unit));
}

}  // namespace detail

/// Says what limits the occupancy of a kernel launched with `block` threads and sharedBytes of dynamic
/// shared memory on the current device. Errors as for occupancyConfig. For people and tools, not for the
/// launch path: it asks the runtime every time.
template <class Kernel>
GPUOPT_HIDDEN OccupancyReport explainOccupancy(Kernel* kernel, int block, std::size_t sharedBytes = 0) {
  constexpr const char* CALLER = "gpuopt::explainOccupancy";
  const detail::OccupancyKey key = detail::occupancyKey(kernel, block, sharedBytes, CALLER);
  detail::checkBlock(block, key.device, CALLER);
  const detail::Occupancy occupancy = detail::cachedOccupancy(key, CALLER);
  const cudaFuncAttributes attributes = detail::functionAttributes(key.kernel);
  const int warps = (block + detail::warpThreads - 1) / detail::warpThreads;

  OccupancyReport report;
  report.kernel = detail::kernelName(key.kernel);
  report.block = block;
  report.registersPerThread = attributes.numRegs;
  report.staticSharedBytes = attributes.sharedSizeBytes;
  report.dynamicSharedBytes = sharedBytes;
  report.reservedSharedBytes =
      static_cast<std::size_t>(deviceAttribute(cudaDevAttrReservedSharedMemoryPerBlock, key.device));
  report.allowedByRegisters = detail::blocksByRegisters(attributes.numRegs, warps, key.device);
  report.allowedBySharedMemory = detail::blocksBySharedMemory(
      report.staticSharedBytes + report.dynamicSharedBytes + report.reservedSharedBytes, key.device);
  report.allowedByThreads =
      deviceAttribute(cudaDevAttrMaxThreadsPerMultiProcessor, key.device) / detail::warpThreads / warps;
  report.allowedByBlocks = deviceAttribute(cudaDevAttrMaxBlocksPerMultiprocessor, key.device);
  report.blocksPerMultiprocessor = occupancy.blocksPerMultiprocessor;
  report.occupancy = occupancy.fraction;
  // With less shared memory than the multiprocessor could have (the kernel's preferred carve-out), that is
  // the limit.
  if (report.limits().empty()) report.allowedBySharedMemory = report.blocksPerMultiprocessor;
  return report;
}

GPUOPT_NAMESPACE_END
