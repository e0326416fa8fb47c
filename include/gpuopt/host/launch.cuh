/// \file
/// Kernel launches with checked arguments and readable errors.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/error.cuh>
#include <gpuopt/host/launch_config.cuh>
#include <gpuopt/host/occupancy.cuh>
#include <gpuopt/host/stream_watch.cuh>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

inline constexpr int clustersSince = 90;
inline constexpr unsigned portableCluster = 8;  // blocks that a cluster may have wherever there are clusters
inline constexpr unsigned largeCluster = 16;    // blocks of the largest ones, which not every GPU with clusters runs

// Whether the code that a device runs was compiled for clusters: its own, or that of the newest architecture before it.
inline bool hasClusterCode([[maybe_unused]] int capability) {
#ifdef __CUDA_ARCH_LIST__
  for (const int architecture : {__CUDA_ARCH_LIST__})
    if (architecture >= 10 * clustersSince && architecture <= 10 * capability) return true;
#endif
  return false;
}

// A negative number, converted to the unsigned ones of a dim3, prints as such.
inline std::string toString(const dim3& size) {
  return message({static_cast<int>(size.x), "x", static_cast<int>(size.y), "x", static_cast<int>(size.z)});
}

inline bool exceeds(const dim3& size, unsigned x, unsigned y, unsigned z) {
  return size.x > x || size.y > y || size.z > z;
}

// Does not overflow within the limits of a grid.
inline std::size_t volume(const dim3& size) { return std::size_t{size.x} * size.y * size.z; }

[[noreturn]] GPUOPT_HIDDEN inline void throwBadLaunch(const void* kernel, std::initializer_list<MessagePart> problem) {
  throwInvalid({"gpuopt::launch: ", message(problem), "; kernel: ", kernelName(kernel)});
}

GPUOPT_HIDDEN inline void checkSize(const void* kernel, const char* name, const dim3& size) {
  if (exceeds(size, INT_MAX, INT_MAX, INT_MAX))
    throwBadLaunch(kernel, {name, " (", toString(size), ") has a negative size, or one above ", INT_MAX});
  if (size.x == 0 || size.y == 0 || size.z == 0) throwBadLaunch(kernel, {name, " (", toString(size), ") is empty"});
}

/// Rejects what no device can launch, without a call to the runtime.
GPUOPT_HIDDEN inline void checkLaunch(const void* kernel, const LaunchConfig& config) {
  constexpr unsigned THREADS = 1024, THREADS_Z = 64;
  constexpr unsigned BLOCKS_YZ = 65535;
  if (kernel == nullptr) throwInvalid({"gpuopt::launch: kernel is null"});
  checkSize(kernel, "grid", config.grid);
  checkSize(kernel, "block", config.block);
  if (config.sharedBytes > PTRDIFF_MAX) throwBadLaunch(kernel, {"sharedBytes (", config.sharedBytes, ") is negative"});
  if (exceeds(config.block, THREADS, THREADS, THREADS) || volume(config.block) > THREADS)
    throwBadLaunch(kernel, {"block (", toString(config.block), ") exceeds ", THREADS, " threads"});
  if (config.block.z > THREADS_Z)
    throwBadLaunch(kernel, {"block (", toString(config.block), ") exceeds ", THREADS_Z, " threads along z"});
  if (exceeds(config.grid, INT_MAX, BLOCKS_YZ, BLOCKS_YZ))
    throwBadLaunch(kernel, {"grid (", toString(config.grid), ") exceeds 2147483647x65535x65535 blocks"});
  if (config.cluster == 0 || config.grid.x % config.cluster != 0)
    throwBadLaunch(kernel, {"cluster (", static_cast<int>(config.cluster), ") does not divide the grid's x (",
                            config.grid.x, ")"});
}

/// The runtime's form of a LaunchConfig.
struct NativeConfig {
  cudaLaunchAttribute attributes[2];
  cudaLaunchConfig_t launch;
};

/// Adds the launch attributes of the configuration, if any.
GPUOPT_HIDDEN inline void addAttributes(NativeConfig& native, const void* kernel, const LaunchConfig& config) {
  if (config.cluster == 1 && !config.programmatic) return;

  const int capability = computeCapability(currentDevice());
  unsigned& count = native.launch.numAttrs;
  if (config.cluster > 1) {
    if (capability < clustersSince)
      throwBadLaunch(kernel, {"cluster (", config.cluster, ") needs compute capability 9.0; the device has ",
                              capability / 10, ".", capability % 10});
    if (config.cluster > portableCluster)
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "cudaFuncSetAttribute");
    cudaLaunchAttribute& attribute = native.attributes[count++];
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {config.cluster, 1, 1};
  }
  if (config.programmatic && capability >= clustersSince) {
    cudaLaunchAttribute& attribute = native.attributes[count++];
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
  }
}

/// The part of a launch that does not depend on the kernel's type, compiled once for all kernels.
GPUOPT_HIDDEN inline void prepareLaunch(NativeConfig& native, const void* kernel, const LaunchConfig& config) {
  checkLaunch(kernel, config);
  if (config.sharedBytes > 0 && config.blocksPerMultiprocessor == 0) {
    const auto block = static_cast<int>(volume(config.block));
    static_cast<void>(cachedOccupancy({kernel, config.sharedBytes, currentDevice(), block}, "gpuopt::launch"));
  }
  native.launch.gridDim = config.grid;
  native.launch.blockDim = config.block;
  native.launch.dynamicSmemBytes = config.sharedBytes;
  native.launch.stream = config.stream;
  native.launch.attrs = native.attributes;
  addAttributes(native, kernel, config);
}

/// The kernel's own limit is looked up only after a failure.
[[noreturn]] GPUOPT_HIDDEN inline void throwFailedLaunch(cudaError_t code, const void* kernel,
                                                         const LaunchConfig& config) {
  forgetError(code);
  cudaFuncAttributes attributes{};
  const cudaError_t asked = cudaFuncGetAttributes(&attributes, kernel);
  forgetError(asked);
  const auto limit = static_cast<std::size_t>(attributes.maxThreadsPerBlock);
  if (asked == cudaSuccess && volume(config.block) > limit)
    throwBadLaunch(kernel, {"block (", toString(config.block), ") exceeds ", limit,
                            ", the limit of the kernel's registers or launch bounds"});
  throwCudaError(code, message({"gpuopt::launch of ", kernelName(kernel), " with grid ", toString(config.grid),
                                ", block ", toString(config.block), ", ", config.sharedBytes, " shared bytes"}));
}

// Programmatic dependent launch: the kernel itself waits for its predecessor.
inline LaunchConfig gridConfig(int block, std::size_t blocks, cudaStream_t stream, const char* function) {
  if (blocks > 0x7fffffff) throwInvalid({function, ": the input needs too many blocks"});
  LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>(blocks));
  config.block = dim3(static_cast<unsigned>(block));
  config.stream = stream;
  config.programmatic = true;
  return config;
}

// The percentage of a multiprocessor's shared memory that has as many bytes for each thread as `percent` of sm_90's,
// 228 KiB for 2048 threads. This is a model, and unmeasured on other architectures: what a block needs stays the same,
// and threads limit the blocks.
constexpr int sharedPercent(int percent, int sharedBytes, int threads) {
  constexpr int MEASURED_KIB = 228, MEASURED_WARPS = 64, MAX_PERCENT = 100;
  const int needed = percent * MEASURED_KIB * (threads / 32), available = MEASURED_WARPS * (sharedBytes / 1024);
  return smallerOf((needed + available - 1) / available, MAX_PERCENT);
}

// A kernel's preferred shared memory, in per cent of an sm_90's. Sets it once per device. Constant-initialised, hence
// usable before main().
class SharedCarveout {
 public:
  // Call before each launch. Errors are ignored: this is a hint, and the launch reports its own.
  GPUOPT_HIDDEN void prefer(const void* kernel, int percent) {
    const int id = currentDevice();
    const auto device = static_cast<unsigned>(id);
    const std::uint64_t bit = device < 64 ? std::uint64_t{1} << device : 0;
    if ((isSet_.load(std::memory_order_relaxed) & bit) != 0) return;
    if (cudaPeekAtLastError() != cudaSuccess) return;  // cudaFuncSetAttribute would clear it; try next time
    const RelaxedCapture relaxed;                      // lazy loading of the kernel may allocate
    const int here = sharedPercent(percent, deviceAttribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, id),
                                   deviceAttribute(cudaDevAttrMaxThreadsPerMultiProcessor, id));
    forgetError(cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout, here));
    isSet_.fetch_or(bit, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> isSet_{0};
};

// Whether argument number NUMBER of a kernel converts to its parameter's type. In C++17, only a literal can say which.
template <unsigned NUMBER, class Arg, class Param>
constexpr bool requireArgument() {
  constexpr bool CONVERTS = std::is_convertible_v<Arg, Param>;
#define GPUOPT_ARGUMENT(number)               \
  static_assert(CONVERTS || NUMBER != number, \
                "gpuopt::launch: argument " #number " of the kernel does not convert to the type of its parameter")
  GPUOPT_ARGUMENT(1);
  GPUOPT_ARGUMENT(2);
  GPUOPT_ARGUMENT(3);
  GPUOPT_ARGUMENT(4);
  GPUOPT_ARGUMENT(5);
  GPUOPT_ARGUMENT(6);
  GPUOPT_ARGUMENT(7);
  GPUOPT_ARGUMENT(8);
#undef GPUOPT_ARGUMENT
  static_assert(CONVERTS || NUMBER <= 8,
                "gpuopt::launch: an argument of the kernel after the eighth does not convert to the type of its "
                "parameter");
  return CONVERTS;
}

// Whether a call has as many arguments as its kernel has parameters. The compiler shows both numbers.
template <std::size_t PARAMETERS, std::size_t ARGUMENTS>
constexpr bool requireArgumentCount() {
  static_assert(PARAMETERS == ARGUMENTS,
                "gpuopt::launch: the number of arguments differs from the number of the kernel's parameters; "
                "requireArgumentCount<PARAMETERS, ARGUMENTS> below has both");
  return PARAMETERS == ARGUMENTS;
}

// With GPUOPT_CHECK_POINTERS: argument number `number` of a kernel is no pointer into host memory.
template <class Param, class Arg>
void requireKernelAccess(Arg& argument, int number) {
  if constexpr (std::is_pointer_v<Param> && !std::is_function_v<std::remove_pointer_t<Param>> &&
                std::is_convertible_v<Arg&, Param>) {
    const volatile void* const address = static_cast<Param>(argument);
    if (!isKernelAddress(const_cast<const void*>(address)))
      throwNoAccess({"argument ", number, " of the kernel"}, "gpuopt::launch");
  }
}

template <class... Params>
struct KernelParameters {
  template <class... Args, std::size_t... INDICES>
  static constexpr bool require(std::index_sequence<INDICES...>) {
    return (requireArgument<INDICES + 1, Args, Params>() && ...);
  }
};

}  // namespace detail

/// Launches a kernel on config.stream, asynchronously.
///
/// The arguments `args` are converted to the kernel's parameter types; a wrong number of arguments or a missing
/// conversion does not compile. Raises the kernel's limit of dynamic shared memory if necessary. Costs as much as the
/// runtime's own launch, plus a cached occupancy query if the configuration has dynamic shared memory and comes from
/// neither occupancyConfig nor maxOccupancyConfig.
///
/// Throws std::invalid_argument before anything runs for an empty grid or block, negative sizes, more than 1024 threads
/// or 64 along z, too much shared memory, and a cluster that does not divide the grid or that the device does not
/// support; with GPUOPT_CHECK_POINTERS also for an argument that points into host memory. Throws CudaError with the
/// kernel and its configuration if the runtime refuses the launch.
template <class... Params, class... Args>
GPUOPT_HIDDEN void launch(void (*kernel)(Params...), const LaunchConfig& config, Args&&... args) {
  if constexpr (!detail::requireArgumentCount<sizeof...(Params), sizeof...(Args)>()) {
    return;
  } else if constexpr (detail::KernelParameters<Params...>::template require<Args...>(
                           std::index_sequence_for<Args...>{})) {
    const auto address = reinterpret_cast<const void*>(kernel);
    detail::NativeConfig native{};
    detail::prepareLaunch(native, address, config);
    if constexpr (GPUOPT_CHECK_POINTERS != 0) {
      [[maybe_unused]] int number = 0;
      (detail::requireKernelAccess<Params>(args, ++number), ...);
      detail::StreamWatch::see(config.stream);
    }
    const cudaError_t code =
        cudaLaunchKernelEx(&native.launch, kernel, static_cast<Params>(std::forward<Args>(args))...);
    if (code != cudaSuccess) detail::throwFailedLaunch(code, address, config);
  }
}

GPUOPT_NAMESPACE_END
