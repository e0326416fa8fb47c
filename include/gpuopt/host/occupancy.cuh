/// \file
/// Launch configurations from occupancy queries, and reports of what limits a kernel's occupancy.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/core/registry.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/launch_config.cuh>
#include <gpuopt/host/stream.cuh>

#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

inline constexpr int warpThreads = 32;

constexpr int warpsOf(int threads) { return (threads + warpThreads - 1) / warpThreads; }

/// An occupancy query. block 0 asks for the block size with the highest occupancy.
struct OccupancyKey {
  const void* kernel;
  std::size_t sharedBytes;
  int device;
  int block;
};

/// Its answer. Trivial, like the key: a thread-local cache of them needs neither a guard nor a destructor.
struct Occupancy {
  int block;
  int blocksPerMultiprocessor;
  double fraction;
};

inline bool operator==(const OccupancyKey& a, const OccupancyKey& b) {
  return a.kernel == b.kernel && a.sharedBytes == b.sharedBytes && a.device == b.device && a.block == b.block;
}

/// check() of a call that is about a kernel.
GPUOPT_HIDDEN inline void checkKernel(cudaError_t code, const char* call, const void* kernel) {
  if (code != cudaSuccess) throwCudaError(code, message({call, " of ", kernelName(kernel)}));
}

GPUOPT_HIDDEN inline cudaFuncAttributes functionAttributes(const void* kernel) {
  cudaFuncAttributes attributes{};
  checkKernel(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes", kernel);
  return attributes;
}

/// Checks the device's limit of the block size.
inline void checkBlock(int block, int device, const char* caller) {
  const int limit = deviceAttribute(cudaDevAttrMaxThreadsPerBlock, device);
  if (block < 1 || block > limit)
    throwInvalid({caller, ": block (", block, ") is not between 1 and ", limit, ", the device's limit"});
}

/// Raises the kernel's limit of dynamic shared memory. Never lowers it: other callers may rely on it.
GPUOPT_HIDDEN inline void raiseSharedLimit(const OccupancyKey& key, const cudaFuncAttributes& attributes,
                                           const char* caller) {
  const auto limit = static_cast<std::size_t>(deviceAttribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, key.device));
  if (key.sharedBytes > limit || key.sharedBytes + attributes.sharedSizeBytes > limit)
    throwInvalid({caller, ": sharedBytes (", key.sharedBytes, ") and the kernel's ", attributes.sharedSizeBytes,
                  " static bytes exceed ", limit, ", the device's limit; kernel: ", kernelName(key.kernel)});
  if (key.sharedBytes <= static_cast<std::size_t>(attributes.maxDynamicSharedSizeBytes)) return;
  const auto bytes = static_cast<int>(key.sharedBytes);
  checkKernel(cudaFuncSetAttribute(key.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
              "cudaFuncSetAttribute", key.kernel);
}

GPUOPT_HIDDEN inline int queryResidentBlocks(const OccupancyKey& key, int block) {
  int blocks = 0;
  checkKernel(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, key.kernel, block, key.sharedBytes),
              "cudaOccupancyMaxActiveBlocksPerMultiprocessor", key.kernel);
  return blocks;
}

/// The block size with the most resident threads, the largest of equals, like cudaOccupancyMaxPotentialBlockSize.
GPUOPT_HIDDEN inline int bestBlock(const OccupancyKey& key, int limit) {
  int best = limit;
  int maxThreads = 0;
  for (int aligned = warpsOf(limit) * warpThreads; aligned > 0; aligned -= warpThreads) {
    const int block = smallerOf(aligned, limit);
    const int threads = block * queryResidentBlocks(key, block);
    if (threads > maxThreads) {
      maxThreads = threads;
      best = block;
    }
  }
  return best;
}

GPUOPT_HIDDEN inline Occupancy queryOccupancy(const OccupancyKey& key, const char* caller) {
  const cudaFuncAttributes attributes = functionAttributes(key.kernel);
  raiseSharedLimit(key, attributes, caller);
  const int block = key.block != 0 ? key.block : bestBlock(key, attributes.maxThreadsPerBlock);
  if (block > attributes.maxThreadsPerBlock)
    throwInvalid({caller, ": block (", block, ") exceeds ", attributes.maxThreadsPerBlock,
                  ", the limit of the kernel's registers or launch bounds; kernel: ", kernelName(key.kernel)});
  const int blocks = queryResidentBlocks(key, block);
  if (blocks == 0)
    throwInvalid({caller, ": no block fits: block (", block, "), sharedBytes (", key.sharedBytes, "), ",
                  attributes.numRegs, " registers a thread; kernel: ", kernelName(key.kernel)});
  const int maxWarps = deviceAttribute(cudaDevAttrMaxThreadsPerMultiProcessor, key.device) / warpThreads;
  return {block, blocks, static_cast<double>(warpsOf(block) * blocks) / maxWarps};
}

/// The answers for all threads. The registry's lock also guards the kernel's limit while it is read and raised.
GPUOPT_HIDDEN inline Occupancy sharedOccupancy(const OccupancyKey& key, const char* caller) {
  static auto& known = *new Registry<OccupancyKey, Occupancy>;  // destructors of static objects may still launch
  return known.get(key, [&] { return queryOccupancy(key, caller); });
}

/// A small cache per thread in front of the shared one: no lock for a repeated query.
GPUOPT_HIDDEN inline Occupancy cachedOccupancy(const OccupancyKey& key, const char* caller) {
  struct Entry {
    OccupancyKey key;
    Occupancy answer;
  };
  constexpr std::size_t ENTRIES = 16;
  static thread_local Entry recent[ENTRIES];  // zero-initialised, and no kernel is null

  const std::size_t hash = (reinterpret_cast<std::uintptr_t>(key.kernel) >> 4) + key.sharedBytes / 128 +
                           static_cast<std::size_t>(key.block / warpThreads);
  Entry& entry = recent[hash % ENTRIES];
  if (!(entry.key == key)) entry = {key, sharedOccupancy(key, caller)};
  return entry.answer;
}

template <class Kernel>
GPUOPT_HIDDEN OccupancyKey occupancyKey(Kernel* kernel, int block, std::size_t sharedBytes, const char* caller) {
  static_assert(std::is_function_v<Kernel>, "gpuopt: a pointer to a kernel (__global__ function) is expected");
  if (kernel == nullptr) throwInvalid({caller, ": kernel is null"});
  requireSize(sharedBytes, {"sharedBytes"}, caller);
  return {reinterpret_cast<const void*>(kernel), sharedBytes, currentDevice(), block};
}

/// As many blocks as are resident on the device at once, or fewer if they cover the items.
GPUOPT_HIDDEN inline LaunchConfig fillDevice(const OccupancyKey& key, std::size_t items, std::size_t itemsPerThread,
                                             cudaStream_t stream, const char* caller) {
  requireSize(items, {"items"}, caller);
  requireSize(itemsPerThread, {"itemsPerThread"}, caller);
  if (items == 0) throwInvalid({caller, ": items (0) would give an empty grid"});
  if (itemsPerThread == 0) throwInvalid({caller, ": itemsPerThread (0) must be positive"});

  const Occupancy occupancy = cachedOccupancy(key, caller);
  const auto block = static_cast<std::size_t>(occupancy.block);
  const std::size_t needed = (items - 1) / block / itemsPerThread + 1;
  const auto resident = static_cast<std::size_t>(occupancy.blocksPerMultiprocessor) *
                        static_cast<std::size_t>(multiprocessorCount(key.device));

  LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(smallerOf(needed, resident)));
  config.block = dim3(static_cast<unsigned>(block));
  config.sharedBytes = key.sharedBytes;
  config.stream = stream;
  config.blocksPerMultiprocessor = occupancy.blocksPerMultiprocessor;
  config.occupancy = occupancy.fraction;
  return config;
}

}  // namespace detail

/// The configuration for a kernel with blocks of BLOCK threads that loops over its items: as many blocks as are
/// resident on the current device at once, but at most ceil(items / (BLOCK * itemsPerThread)). The configuration takes
/// over `stream`.
///
/// sharedBytes is the dynamic shared memory per block. This function raises the kernel's limit if necessary. Answers
/// are cached per kernel, device, block and shared memory: a repeated call costs well under 0.1 us. Any thread may
/// call, for its current device.
///
/// Throws std::invalid_argument with the parameter and its value if items or itemsPerThread is zero, if a size is
/// negative, or if block or shared memory exceed the limit of the device or the kernel; CudaError if the runtime fails.
template <class Kernel>
[[nodiscard]] GPUOPT_HIDDEN LaunchConfig occupancyConfig(Kernel* kernel, std::size_t items, int BLOCK,
                                                         std::size_t itemsPerThread = 1, std::size_t sharedBytes = 0,
                                                         StreamRef stream = {}) {
  constexpr const char* CALLER = "gpuopt::occupancyConfig";
  const detail::OccupancyKey key = detail::occupancyKey(kernel, BLOCK, sharedBytes, CALLER);
  detail::checkBlock(BLOCK, key.device, CALLER);
  return detail::fillDevice(key, items, itemsPerThread, stream, CALLER);
}

/// occupancyConfig for a kernel that works with any block size: chooses the one with the most resident threads, the
/// largest of equals. sharedBytes is the same for every block size. `items`, `itemsPerThread` and `stream` are those of
/// occupancyConfig.
template <class Kernel>
[[nodiscard]] GPUOPT_HIDDEN LaunchConfig maxOccupancyConfig(Kernel* kernel, std::size_t items,
                                                            std::size_t itemsPerThread = 1, std::size_t sharedBytes = 0,
                                                            StreamRef stream = {}) {
  constexpr const char* CALLER = "gpuopt::maxOccupancyConfig";
  const detail::OccupancyKey key = detail::occupancyKey(kernel, 0, sharedBytes, CALLER);
  return detail::fillDevice(key, items, itemsPerThread, stream, CALLER);
}

/// What limits a kernel's occupancy on the current device. Printable with <<.
///
/// Every resource of a multiprocessor allows a number of resident blocks, and the smallest one is the limit. A resource
/// that the kernel does not use allows `unlimited`.
struct OccupancyReport {
  static constexpr int unlimited = INT_MAX;  ///< for resources that the kernel does not use

  std::string kernel;                   ///< name and parameter types
  int block = 0;                        ///< threads per block
  int registersPerThread = 0;           ///< allocated by the compiler
  std::size_t staticSharedBytes = 0;    ///< per block
  std::size_t dynamicSharedBytes = 0;   ///< per block
  std::size_t reservedSharedBytes = 0;  ///< per block, used by the system

  int allowedByRegisters = unlimited;     ///< blocks per multiprocessor that the registers allow
  int allowedBySharedMemory = unlimited;  ///< that shared memory allows
  int allowedByThreads = unlimited;       ///< that the number of threads allows
  int allowedByBlocks = unlimited;        ///< that the number of blocks allows

  int blocksPerMultiprocessor = 0;  ///< the answer of the runtime's occupancy query
  double occupancy = 0;             ///< resident warps over the maximum, 0 to 1

  /// Whether registers are a limit.
  [[nodiscard]] bool limitedByRegisters() const { return allowedByRegisters == blocksPerMultiprocessor; }
  /// Whether shared memory is a limit.
  [[nodiscard]] bool limitedBySharedMemory() const { return allowedBySharedMemory == blocksPerMultiprocessor; }
  /// Whether the number of threads is a limit.
  [[nodiscard]] bool limitedByThreads() const { return allowedByThreads == blocksPerMultiprocessor; }
  /// Whether the number of blocks is a limit.
  [[nodiscard]] bool limitedByBlocks() const { return allowedByBlocks == blocksPerMultiprocessor; }

  /// The limits as text: "registers", "threads and blocks".
  [[nodiscard]] std::string limits() const {
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

  /// The report as text, five lines.
  [[nodiscard]] std::string text() const {
    const auto line = [](const char* resource, int allowed, const std::string& use) {
      const std::string blocks = allowed == unlimited ? "any number of" : std::to_string(allowed);
      return detail::message({"\n  ", resource, blocks, " blocks", use});
    };
    using detail::message;
    return message({kernel, " with ", block, " threads a block: ", blocksPerMultiprocessor,
                    " blocks per multiprocessor, occupancy ", std::lround(100 * occupancy), " %, limited by ",
                    limits()}) +
           line("registers:     ", allowedByRegisters, message({" (", registersPerThread, " a thread)"})) +
           line("shared memory: ", allowedBySharedMemory,
                message({" (", staticSharedBytes, " bytes static, ", dynamicSharedBytes, " dynamic, ",
                         reservedSharedBytes, " reserved)"})) +
           line("threads:       ", allowedByThreads, "") + line("blocks:        ", allowedByBlocks, "") + "\n";
  }
};

/// Prints the report to `out`, a stream of any type, so that this header needs no `<ostream>`.
template <class Stream>
auto operator<<(Stream& out, const OccupancyReport& report) -> decltype(out << "") {
  return out << report.text().c_str();
}

namespace detail {

/// Registers are allocated to a warp in multiples of 256, in one of the multiprocessor's four partitions.
inline int blocksByRegisters(int registersPerThread, int warps, int device) {
  constexpr std::size_t GRANULARITY = 256;
  constexpr int PARTITIONS = 4;
  if (registersPerThread == 0) return OccupancyReport::unlimited;
  const std::size_t perWarp = roundUp(static_cast<std::size_t>(registersPerThread * warpThreads), GRANULARITY);
  const int perPartition = deviceAttribute(cudaDevAttrMaxRegistersPerMultiprocessor, device) / PARTITIONS;
  return perPartition / static_cast<int>(perWarp) * PARTITIONS / warps;
}

inline int blocksBySharedMemory(std::size_t bytes, int device) {
  const std::size_t granularity = computeCapability(device) < 80 ? 256 : 128;
  const auto limit = static_cast<std::size_t>(deviceAttribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
  if (bytes == 0) return OccupancyReport::unlimited;
  return static_cast<int>(limit / roundUp(bytes, granularity));
}

}  // namespace detail

/// Reports what limits the occupancy of a kernel with `block` threads and sharedBytes of dynamic shared memory per
/// block on the current device. Errors as for occupancyConfig. For people and tools, not for the launch path: it
/// queries the runtime every time.
template <class Kernel>
[[nodiscard]] GPUOPT_HIDDEN OccupancyReport explainOccupancy(Kernel* kernel, int block, std::size_t sharedBytes = 0) {
  constexpr const char* CALLER = "gpuopt::explainOccupancy";
  const detail::OccupancyKey key = detail::occupancyKey(kernel, block, sharedBytes, CALLER);
  detail::checkBlock(block, key.device, CALLER);
  const detail::Occupancy occupancy = detail::cachedOccupancy(key, CALLER);
  const cudaFuncAttributes attributes = detail::functionAttributes(key.kernel);
  const int warps = detail::warpsOf(block);

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
  // Only a preferred carve-out below the multiprocessor's maximum explains a smaller answer.
  if (report.limits().empty()) report.allowedBySharedMemory = report.blocksPerMultiprocessor;
  return report;
}

GPUOPT_NAMESPACE_END
