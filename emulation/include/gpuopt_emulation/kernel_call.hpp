/// What rewrite_launches.py makes of kernel<<<grid, block, sharedBytes, stream>>>(arguments) and of extern __shared__.
// SPDX-License-Identifier: MIT
#pragma once

#include "launch.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>

namespace gpuopt::emulation::detail {

/// A grid or a block in the configuration of a launch: a dim3 or a number, of any type as in CUDA.
struct LaunchSize {
  dim3 value;

  // By value: a static constant of a class need not have an address.
  template <class T>
  LaunchSize(T size) : value(convert(size)) {}
  LaunchSize(unsigned x, unsigned y, unsigned z = 1) : value(x, y, z) {}

 private:
  template <class T>
  static dim3 convert(const T& size) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      return dim3(static_cast<unsigned>(size));
    else
      return size;
  }
};

inline cudaLaunchConfig_t launchConfig(LaunchSize grid, LaunchSize block, std::size_t sharedBytes,
                                       cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid.value;
  config.blockDim = block.value;
  config.dynamicSmemBytes = sharedBytes;
  config.stream = stream;
  return config;
}

/// The call behind >>> of a template whose arguments the call deduces, or of an overloaded kernel: as a function call
/// would be, but with arguments that have been evaluated. `call` has the name of the kernel, and nobody its address.
template <class Call, class... Arguments>
void launchByCall(const char* name, const cudaLaunchConfig_t& config, const Call& call, Arguments... arguments) {
  std::vector<PointerArgument> pointers;
  if (launchObserver != nullptr) (addPointer(pointers, arguments), ...);
  const KeptCall kept = keepCall([call, arguments...] { call(arguments...); });
  const void* const address = reinterpret_cast<const void*>(kept.body);
  nameSymbol(address, name);
  // A kernel's own limit cannot be known.
  raiseDynamicSharedLimit(address);
  keepFault(launch(config, address, kept.body, kept.arguments, pointers));
}

template <class Call>
struct CallOfAny {
  const char* name;
  Call call;
  cudaLaunchConfig_t config;

  template <class... Arguments>
  void operator()(Arguments... arguments) const {
    launchByCall(name, config, call, std::move(arguments)...);
  }
};

/// The call behind >>> of a kernel whose parameters are known: its arguments convert as those of a function, nullptr, 0
/// and braces among them.
template <class Call, class... Parameters>
struct CallOfKnown {
  const char* name;
  Call call;
  cudaLaunchConfig_t config;
  void (*kernel)(Parameters...);

  void operator()(Parameters... parameters) const {
    spellSymbol(kernelAddress(kernel), name);
    keepFault(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters&&>(parameters)...));
  }

  /// The kernel has default arguments.
  template <class... Arguments, class = std::enable_if_t<(sizeof...(Arguments) < sizeof...(Parameters))>>
  void operator()(Arguments... arguments) const {
    launchByCall(name, config, call, std::move(arguments)...);
  }
};

/// Makes an expression depend on a template parameter, so that it may be wrong.
struct Dependent {};

template <class... Parameters>
auto knownKernel(Dependent, void (*kernel)(Parameters...)) {
  return kernel;
}

template <class Find, class Call>
struct EmulatedKernel {
  const char* name;
  Find find;
  Call call;

  auto at(LaunchSize grid, LaunchSize block, std::size_t sharedBytes = 0, cudaStream_t stream = nullptr) const {
    const cudaLaunchConfig_t config = launchConfig(grid, block, sharedBytes, stream);
    if constexpr (std::is_invocable_v<Find, Dependent>)
      return withParameters(config, find(Dependent{}));
    else
      return CallOfAny<Call>{name, call, config};
  }

 private:
  template <class... Parameters>
  auto withParameters(const cudaLaunchConfig_t& config, void (*kernel)(Parameters...)) const {
    return CallOfKnown<Call, Parameters...>{name, call, config, kernel};
  }
};

template <class Find, class Call>
EmulatedKernel<Find, Call> emulatedKernel(const char* name, Find find, Call call) {
  return {name, find, call};
}

template <class... Parameters, std::size_t... INDICES>
cudaError_t launchPacked(const cudaLaunchConfig_t& config, void (*kernel)(Parameters...), void** arguments,
                         std::index_sequence<INDICES...>) {
  const cudaError_t code =
      cudaLaunchKernelEx(&config, kernel, *static_cast<std::remove_cv_t<Parameters>*>(arguments[INDICES])...);
  keepFault(code);
  return code;
}

/// Kernels that programs have cast to void*, and how to launch them.
struct UntypedKernels {
  std::mutex mutex;
  std::map<const void*, std::function<cudaError_t(const cudaLaunchConfig_t&, void**)>> launches;
};

inline UntypedKernels& untypedKernels() {
  static UntypedKernels* const instance = new UntypedKernels;
  return *instance;
}

/// The address of a kernel, whose parameters are remembered.
template <class... Parameters>
void* untypedKernel(void (*kernel)(Parameters...)) {
  void* const address = const_cast<void*>(kernelAddress(kernel));
  const std::lock_guard<std::mutex> lock(untypedKernels().mutex);
  untypedKernels().launches.try_emplace(address, [kernel](const cudaLaunchConfig_t& config, void** arguments) {
    return launchPacked(config, kernel, arguments, std::index_sequence_for<Parameters...>{});
  });
  return address;
}

/// Launches a kernel of which the caller has nothing but the address.
inline cudaError_t launchUntyped(const cudaLaunchConfig_t& config, const void* kernel, void** arguments) {
  std::function<cudaError_t(const cudaLaunchConfig_t&, void**)> launch;
  {
    const std::lock_guard<std::mutex> lock(untypedKernels().mutex);
    const auto found = untypedKernels().launches.find(kernel);
    if (found != untypedKernels().launches.end()) launch = found->second;
  }
  if (launch) return launch(config, arguments);
  return failure(cudaErrorInvalidDeviceFunction,
                 "a kernel is launched by an address whose parameters are unknown: it "
                 "has to be a cast, (void*)kernel, in a rewritten source");
}

/// The configuration of a cooperative launch, as long as `attribute` exists.
inline cudaLaunchConfig_t cooperativeConfig(cudaLaunchConfig_t config, cudaLaunchAttribute& attribute) {
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return config;
}

/// What a reference to an array of dynamic shared memory refers to.
struct DynamicSharedArray {
  template <class Array>
  operator Array&() const {
    return reinterpret_cast<Array&>(gpuoptDynamicShared);
  }
};

}  // namespace gpuopt::emulation::detail

/// `arguments` has the addresses of the arguments. The kernel's type is needed: not cast to a void*.
template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t sharedBytes = 0, cudaStream_t stream = nullptr) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::launchPacked(emulated::launchConfig(grid, block, sharedBytes, stream), kernel, arguments,
                                std::index_sequence_for<Parameters...>{});
}

/// All blocks run at the same time, each on a worker of its own, so that they can wait for each other: grid.sync().
template <class... Parameters>
cudaError_t cudaLaunchCooperativeKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                                        std::size_t sharedBytes = 0, cudaStream_t stream = nullptr) {
  namespace emulated = gpuopt::emulation::detail;
  cudaLaunchAttribute attribute{};
  const auto config = emulated::cooperativeConfig(emulated::launchConfig(grid, block, sharedBytes, stream), attribute);
  return emulated::launchPacked(config, kernel, arguments, std::index_sequence_for<Parameters...>{});
}

/// The same for kernels that were cast to void* in a rewritten source.
inline cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t sharedBytes = 0, cudaStream_t stream = nullptr) {
  namespace emulated = gpuopt::emulation::detail;
  return emulated::launchUntyped(emulated::launchConfig(grid, block, sharedBytes, stream), kernel, arguments);
}
inline cudaError_t cudaLaunchCooperativeKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                               std::size_t sharedBytes = 0, cudaStream_t stream = nullptr) {
  namespace emulated = gpuopt::emulation::detail;
  cudaLaunchAttribute attribute{};
  const auto config = emulated::cooperativeConfig(emulated::launchConfig(grid, block, sharedBytes, stream), attribute);
  return emulated::launchUntyped(config, kernel, arguments);
}

/// The macro of kernel<<<: the name of one kernel, or of a set of them among which the call chooses. The lambdas refer
/// to what is around them only where that is a pointer to a kernel: it is read at once, and the second one not called.
#define GPUOPT_EMULATED_KERNEL(...)                                                                                   \
  ::gpuopt::emulation::detail::emulatedKernel(                                                                        \
      #__VA_ARGS__,                                                                                                   \
      [&](auto gpuoptDependent) -> decltype(::gpuopt::emulation::detail::knownKernel(gpuoptDependent, __VA_ARGS__)) { \
        return ::gpuopt::emulation::detail::knownKernel(gpuoptDependent, __VA_ARGS__);                                \
      },                                                                                                              \
      [&](auto... gpuoptArguments) { __VA_ARGS__(gpuoptArguments...); })

/// The macro of (void*)kernel, and the compute capability in code of the device alone.
#define GPUOPT_EMULATED_UNTYPED(kernel) ::gpuopt::emulation::detail::untypedKernel kernel
#define GPUOPT_EMULATED_ARCHITECTURE 750

/// The macros of extern __shared__ arrays: in a function a reference to the array, elsewhere another name of it.
#define GPUOPT_EMULATED_SHARED \
  ::gpuopt::emulation::detail::DynamicSharedArray {}
#define GPUOPT_EMULATED_SHARED_LABEL __asm__("_ZN6gpuopt19gpuoptDynamicSharedE")
