/// \file
/// The properties of a device that gpuopt-device lists, each with the choice that it moves.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>

#include <cstddef>
#include <string>
#include <vector>

namespace gpuopt::tune {

/// How gpuopt depends on a property: it reads the value, to choose or to report; it cannot do without; or it never
/// asks, and the choice is the user's.
enum class Use { reads, needs, yours };

inline const char* toString(Use use) {
  if (use == Use::reads) return "reads";
  return use == Use::needs ? "needs" : "yours";
}

/// A property that the runtime has as an attribute.
struct Attribute {
  const char* name;  ///< as it is printed
  const char* unit;  ///< empty for numbers and for yes or no
  cudaDeviceAttr attribute;
  Use use;
  const char* choice;
};

// A choice names functions or pages, so that a reader can find the code. tests/tune checks that each attribute which
// the headers read is listed as such.
inline constexpr Attribute attributes[] = {
    {"multiprocessors", "", cudaDevAttrMultiProcessorCount, Use::reads,
     "blocks of a grid: occupancyConfig, histograms, scans and transformations of rows, the tiles of permute; on "
     "devices that were not measured also the limits of transpose that keep multiprocessors busy"},
    {"threads of a multiprocessor", "", cudaDevAttrMaxThreadsPerMultiProcessor, Use::reads,
     "how much of its on-chip memory is shared memory, for structures and columns; the occupancy that occupancyConfig "
     "reports"},
    {"blocks of a multiprocessor", "", cudaDevAttrMaxBlocksPerMultiprocessor, Use::reads,
     "a limit of resident blocks, which explainOccupancy names"},
    {"threads of a block", "", cudaDevAttrMaxThreadsPerBlock, Use::reads,
     "the largest BLOCK that occupancyConfig accepts"},
    {"registers of a multiprocessor", "", cudaDevAttrMaxRegistersPerMultiprocessor, Use::reads,
     "a limit of resident blocks, which explainOccupancy names"},
    {"shared memory of a multiprocessor", "bytes", cudaDevAttrMaxSharedMemoryPerMultiprocessor, Use::reads,
     "how much of its on-chip memory is shared memory, for structures and columns; a limit of resident blocks, which "
     "explainOccupancy names"},
    {"shared memory of a block", "bytes", cudaDevAttrMaxSharedMemoryPerBlockOptin, Use::reads,
     "which tiles transpose and permute take; how many bins a histogram counts in shared memory; the largest "
     "sharedBytes of a launch"},
    {"reserved shared memory of a block", "bytes", cudaDevAttrReservedSharedMemoryPerBlock, Use::reads,
     "a part of what explainOccupancy counts for each block"},
    {"L2 cache", "bytes", cudaDevAttrL2CacheSize, Use::reads,
     "on devices that were not measured the limits of transpose between registers and tiles, and of many unaligned "
     "lines; what an Experiment with isCold writes between samples"},
    {"access to pageable memory", "", cudaDevAttrPageableMemoryAccess, Use::reads,
     "1: upload of a small pageable array waits for the stream, as the device may read that memory later; pointers to "
     "it pass GPUOPT_CHECK_POINTERS"},
    {"maps host memory", "", cudaDevAttrCanMapHostMemory, Use::needs,
     "functions that return a value read it from mapped memory; kernels of gatherBlocks, and of your own, read pinned "
     "memory without a copy"},
    {"memory pools", "", cudaDevAttrMemoryPoolsSupported, Use::needs,
     "DeviceVector, and workspaces of captured calls, are allocated in the order of the stream"},
    {"integrated", "", cudaDevAttrIntegrated, Use::yours,
     "1: device and host share one memory, so let kernels read pinned memory (devicePointer) instead of calling "
     "upload"},
    {"copy engines", "", cudaDevAttrAsyncEngineCount, Use::yours,
     "copies that overlap kernels in a Pipeline: 0, none; 1, those of one direction at a time; more, both directions"},
    {"concurrent kernels", "", cudaDevAttrConcurrentKernels, Use::yours,
     "0: several streams gain nothing for kernels that do not fill the device"},
    {"launches of clusters", "", cudaDevAttrClusterLaunch, Use::yours,
     "LaunchConfig::cluster; gpuopt goes by the compute capability"},
    {"cooperative launches", "", cudaDevAttrCooperativeLaunch, Use::yours,
     "grid.sync() in your own kernels; no kernel of gpuopt needs it"},
    {"static shared memory of a block", "bytes", cudaDevAttrMaxSharedMemoryPerBlock, Use::yours,
     "the largest __shared__ arrays; a launch asks for more by sharedBytes"},
    {"L2 cache that can persist", "bytes", cudaDevAttrMaxPersistingL2CacheSize, Use::yours,
     "an access policy window, which keeps a table in the L2 cache: docs/experiments/caches.md"},
};

/// A property of a device as the program prints it. `value` is text, a number unless it says otherwise.
struct Property {
  std::string name;
  std::string value;
  bool isNumber;
  std::string unit;
  Use use;
  std::string choice;
};

inline Property capabilityOf(int device) {
  const int capability = computeCapability(device);
  return {"compute capability",
          std::to_string(capability / 10) + "." + std::to_string(capability % 10),
          false,
          "",
          Use::reads,
          "the constants of transpose, measured for 9.0; clusters for few long rows, and launches that overlap the "
          "kernel before, from 9.0 on; which entries of the tuning file are near"};
}

/// What clock and bus of the memory allow: two transfers in a clock. False if the driver says neither.
inline bool memoryBandwidth(int device, Property& property) {
  const auto kilohertz = static_cast<double>(deviceAttribute(cudaDevAttrMemoryClockRate, device));
  const auto bits = static_cast<double>(deviceAttribute(cudaDevAttrGlobalMemoryBusWidth, device));
  const double gigabytes = 2 * kilohertz * 1e3 * bits / 8 / 1e9;
  if (gigabytes <= 0) return false;
  property = {"memory bandwidth, by clock and bus",
              std::to_string(static_cast<long long>(gigabytes + 0.5)),
              true,
              "GB/s",
              Use::yours,
              "no kernel moves more; compare yours with the best copy, which comes near: docs/performance.md"};
  return true;
}

inline Property memoryOf() {
  std::size_t available = 0, memory = 0;
  check(cudaMemGetInfo(&available, &memory), "cudaMemGetInfo");
  return {"memory",   std::to_string(memory),
          true,       "bytes",
          Use::yours, "what does not fit goes through a Pipeline: docs/pipelines.md"};
}

/// All properties of the current device: first those that gpuopt reads. `hasSpeed` is false for the emulated
/// device, whose clock and bus are nothing that a program could measure.
inline std::vector<Property> propertiesOf(int device, bool hasSpeed) {
  std::vector<Property> all{capabilityOf(device)};
  for (const Attribute& a : attributes)
    all.push_back(
        {a.name, std::to_string(deviceAttribute(a.attribute, device)), true, a.unit, a.use, std::string(a.choice)});
  all.push_back(memoryOf());
  Property bandwidth;
  if (hasSpeed && memoryBandwidth(device, bandwidth)) all.push_back(bandwidth);
  return all;
}

}  // namespace gpuopt::tune
