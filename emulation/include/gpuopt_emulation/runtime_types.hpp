/// The types and constants of the CUDA runtime's interface, with the toolkit's values.
// SPDX-License-Identifier: MIT
#pragma once

#include "vector_types.hpp"

#include <cstddef>

// name, value, what cudaGetErrorString says
#define GPUOPT_EMULATION_ERRORS(ENTRY)                                                                            \
  ENTRY(cudaSuccess, 0, "no error")                                                                               \
  ENTRY(cudaErrorInvalidValue, 1, "invalid argument")                                                             \
  ENTRY(cudaErrorMemoryAllocation, 2, "out of memory")                                                            \
  ENTRY(cudaErrorInitializationError, 3, "initialization error")                                                  \
  ENTRY(cudaErrorCudartUnloading, 4, "driver shutting down")                                                      \
  ENTRY(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                       \
  ENTRY(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                      \
  ENTRY(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                              \
  ENTRY(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                                      \
  ENTRY(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                                 \
  ENTRY(cudaErrorInvalidFilterSetting, 26, "linear filtering not supported for non-float type")                   \
  ENTRY(cudaErrorInvalidNormSetting, 27, "read as normalized float not supported for data type")                  \
  ENTRY(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version")          \
  ENTRY(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                            \
  ENTRY(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                             \
  ENTRY(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                    \
  ENTRY(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device")         \
  ENTRY(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                           \
  ENTRY(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                     \
  ENTRY(cudaErrorSymbolNotFound, 500, "named symbol not found")                                                   \
  ENTRY(cudaErrorNotReady, 600, "device not ready")                                                               \
  ENTRY(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                                 \
  ENTRY(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")                            \
  ENTRY(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                                   \
  ENTRY(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                                 \
  ENTRY(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                   \
  ENTRY(cudaErrorAssert, 710, "device-side assert triggered")                                                     \
  ENTRY(cudaErrorHostMemoryAlreadyRegistered, 712, "part or all of the requested memory range is already mapped") \
  ENTRY(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")       \
  ENTRY(cudaErrorMisalignedAddress, 716, "misaligned address")                                                    \
  ENTRY(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                                \
  ENTRY(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")                         \
  ENTRY(cudaErrorNotPermitted, 800, "operation not permitted")                                                    \
  ENTRY(cudaErrorNotSupported, 801, "operation not supported")                                                    \
  ENTRY(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")               \
  ENTRY(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")        \
  ENTRY(cudaErrorStreamCaptureUnmatched, 903, "operation failed due to a capture that another stream has begun")  \
  ENTRY(cudaErrorStreamCaptureUnjoined, 904, "capture must be ended after all of its streams have been joined")   \
  ENTRY(cudaErrorGraphExecUpdateFailure, 910, "the graph update was not performed because it included changes")   \
  ENTRY(cudaErrorStreamCaptureImplicit, 906,                                                                      \
        "operation would make the legacy stream depend on a capturing blocking stream")                           \
  ENTRY(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")            \
  ENTRY(cudaErrorInvalidClusterSize, 912, "invalid cluster size")                                                 \
  ENTRY(cudaErrorUnknown, 999, "unknown error")

#define GPUOPT_EMULATION_ENUMERATOR(name, value, text) name = value,
enum cudaError { GPUOPT_EMULATION_ERRORS(GPUOPT_EMULATION_ENUMERATOR) };
#undef GPUOPT_EMULATION_ENUMERATOR
using cudaError_t = cudaError;

// name, value in the toolkit, the emulated device's answer
#define GPUOPT_EMULATION_ATTRIBUTES(ENTRY)                                                \
  ENTRY(cudaDevAttrMaxThreadsPerBlock, 1, MAX_BLOCK_THREADS)                              \
  ENTRY(cudaDevAttrMaxBlockDimX, 2, MAX_BLOCK_X)                                          \
  ENTRY(cudaDevAttrMaxBlockDimY, 3, MAX_BLOCK_Y)                                          \
  ENTRY(cudaDevAttrMaxBlockDimZ, 4, MAX_BLOCK_Z)                                          \
  ENTRY(cudaDevAttrMaxGridDimX, 5, MAX_GRID_X)                                            \
  ENTRY(cudaDevAttrMaxGridDimY, 6, MAX_GRID_Y)                                            \
  ENTRY(cudaDevAttrMaxGridDimZ, 7, MAX_GRID_Z)                                            \
  ENTRY(cudaDevAttrMaxSharedMemoryPerBlock, 8, SHARED_BYTES)                              \
  ENTRY(cudaDevAttrTotalConstantMemory, 9, 64 * 1024)                                     \
  ENTRY(cudaDevAttrWarpSize, 10, WARP_LANES)                                              \
  ENTRY(cudaDevAttrMaxPitch, 11, 2147483647)                                              \
  ENTRY(cudaDevAttrMaxRegistersPerBlock, 12, REGISTERS_PER_MULTIPROCESSOR)                \
  ENTRY(cudaDevAttrClockRate, 13, CLOCK_KHZ)                                              \
  ENTRY(cudaDevAttrGpuOverlap, 15, 1)                                                     \
  ENTRY(cudaDevAttrMultiProcessorCount, 16, MULTIPROCESSORS)                              \
  ENTRY(cudaDevAttrTextureAlignment, 14, TEXTURE_ALIGNMENT)                               \
  ENTRY(cudaDevAttrKernelExecTimeout, 17, 0)                                              \
  ENTRY(cudaDevAttrIntegrated, 18, 0)                                                     \
  ENTRY(cudaDevAttrCanMapHostMemory, 19, 1)                                               \
  ENTRY(cudaDevAttrComputeMode, 20, cudaComputeModeDefault)                               \
  ENTRY(cudaDevAttrConcurrentKernels, 31, 0)                                              \
  ENTRY(cudaDevAttrEccEnabled, 32, 0)                                                     \
  ENTRY(cudaDevAttrMemoryClockRate, 36, CLOCK_KHZ)                                        \
  ENTRY(cudaDevAttrGlobalMemoryBusWidth, 37, 64)                                          \
  ENTRY(cudaDevAttrL2CacheSize, 38, L2_BYTES)                                             \
  ENTRY(cudaDevAttrMaxThreadsPerMultiProcessor, 39, THREADS_PER_MULTIPROCESSOR)           \
  ENTRY(cudaDevAttrAsyncEngineCount, 40, 0)                                               \
  ENTRY(cudaDevAttrUnifiedAddressing, 41, 1)                                              \
  ENTRY(cudaDevAttrComputeCapabilityMajor, 75, COMPUTE_CAPABILITY_MAJOR)                  \
  ENTRY(cudaDevAttrComputeCapabilityMinor, 76, COMPUTE_CAPABILITY_MINOR)                  \
  ENTRY(cudaDevAttrStreamPrioritiesSupported, 78, 0)                                      \
  ENTRY(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, SHARED_BYTES_PER_MULTIPROCESSOR) \
  ENTRY(cudaDevAttrMaxRegistersPerMultiprocessor, 82, REGISTERS_PER_MULTIPROCESSOR)       \
  ENTRY(cudaDevAttrManagedMemory, 83, 1)                                                  \
  ENTRY(cudaDevAttrPageableMemoryAccess, 88, 0)                                           \
  ENTRY(cudaDevAttrConcurrentManagedAccess, 89, 1)                                        \
  ENTRY(cudaDevAttrCooperativeLaunch, 95, 1)                                              \
  ENTRY(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, SHARED_BYTES_OPTIN)                  \
  ENTRY(cudaDevAttrMaxBlocksPerMultiprocessor, 106, BLOCKS_PER_MULTIPROCESSOR)            \
  ENTRY(cudaDevAttrMaxPersistingL2CacheSize, 108, 0)                                      \
  ENTRY(cudaDevAttrReservedSharedMemoryPerBlock, 111, SHARED_BYTES_RESERVED)              \
  ENTRY(cudaDevAttrMemoryPoolsSupported, 115, 1)                                          \
  ENTRY(cudaDevAttrMemoryPoolSupportedHandleTypes, 119, 0)                                \
  ENTRY(cudaDevAttrClusterLaunch, 120, 0)

#define GPUOPT_EMULATION_ENUMERATOR(name, value, answer) name = value,
enum cudaDeviceAttr { GPUOPT_EMULATION_ATTRIBUTES(GPUOPT_EMULATION_ENUMERATOR) };
#undef GPUOPT_EMULATION_ENUMERATOR

enum cudaComputeMode {
  cudaComputeModeDefault = 0,
  cudaComputeModeExclusive = 1,
  cudaComputeModeProhibited = 2,
  cudaComputeModeExclusiveProcess = 3
};

struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  std::size_t totalConstMem;
  int major, minor;
  int multiProcessorCount, integrated, canMapHostMemory, concurrentKernels, ECCEnabled;
  int asyncEngineCount, unifiedAddressing, memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize;
  int maxThreadsPerMultiProcessor, streamPrioritiesSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, pageableMemoryAccess, concurrentManagedAccess, cooperativeLaunch;
  std::size_t sharedMemPerBlockOptin;
  int maxBlocksPerMultiProcessor;
  std::size_t reservedSharedMemPerBlock;
  int memoryPoolsSupported, clusterLaunch;
  std::size_t textureAlignment, texturePitchAlignment, surfaceAlignment;
  int maxTexture1D, maxTexture1DLinear, maxTexture2D[2], maxTexture2DLinear[3], maxTexture3D[3];
  int pciBusID, pciDeviceID, pciDomainID, tccDriver, isMultiGpuBoard, computePreemptionSupported;
  // Since CUDA 13 attributes alone.
  int clockRate, memoryClockRate, computeMode, deviceOverlap, kernelExecTimeoutEnabled;
};

// ------------------------------------------------------------------------------------------ memory

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

enum cudaMemoryType {
  cudaMemoryTypeUnregistered = 0,
  cudaMemoryTypeHost = 1,
  cudaMemoryTypeDevice = 2,
  cudaMemoryTypeManaged = 3
};

struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
};

enum cudaMemAllocationType { cudaMemAllocationTypeInvalid = 0, cudaMemAllocationTypePinned = 1 };
enum cudaMemAllocationHandleType {
  cudaMemHandleTypeNone = 0,
  cudaMemHandleTypePosixFileDescriptor = 1,
  cudaMemHandleTypeWin32 = 2
};
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone = 0,
  cudaMemAccessFlagsProtRead = 1,
  cudaMemAccessFlagsProtReadWrite = 3
};
enum cudaMemLocationType { cudaMemLocationTypeInvalid = 0, cudaMemLocationTypeDevice = 1, cudaMemLocationTypeHost = 2 };
struct cudaMemLocation {
  cudaMemLocationType type;
  int id;
};
struct cudaMemAccessDesc {
  cudaMemLocation location;
  cudaMemAccessFlags flags;
};
struct cudaMemPoolProps {
  cudaMemAllocationType allocType;
  cudaMemAllocationHandleType handleTypes;
  cudaMemLocation location;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1,
  cudaMemPoolReuseAllowOpportunistic = 2,
  cudaMemPoolReuseAllowInternalDependencies = 3,
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrReservedMemHigh = 6,
  cudaMemPoolAttrUsedMemCurrent = 7,
  cudaMemPoolAttrUsedMemHigh = 8
};
using cudaMemPool_t = struct CUmemPoolHandle_st*;

inline constexpr unsigned cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                          cudaHostAllocWriteCombined = 4;
inline constexpr unsigned cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2,
                          cudaHostRegisterReadOnly = 8;
inline constexpr unsigned cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4;

// ---------------------------------------------------------------------- streams, events and graphs

using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;
using cudaGraph_t = struct CUgraph_st*;
using cudaGraphExec_t = struct CUgraphExec_st*;
using cudaHostFn_t = void (*)(void*);
using cudaStreamCallback_t = void (*)(cudaStream_t stream, cudaError_t status, void* argument);
#define CUDART_CB

#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(2))
inline constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
inline constexpr unsigned cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
                          cudaEventInterprocess = 4;
inline constexpr unsigned cudaEventRecordDefault = 0, cudaEventWaitDefault = 0;

enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};

// ---------------------------------------------------------------------------------------- launches

struct cudaFuncAttributes {
  std::size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes,
      preferredShmemCarveout;
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
  cudaFuncAttributeNonPortableClusterSizeAllowed = 14
};

enum cudaAccessProperty {
  cudaAccessPropertyNormal = 0,
  cudaAccessPropertyStreaming = 1,
  cudaAccessPropertyPersisting = 2
};
struct cudaAccessPolicyWindow {
  void* base_ptr;
  std::size_t num_bytes;
  float hitRatio;
  cudaAccessProperty hitProp, missProp;
};

enum cudaLaunchAttributeID {
  cudaLaunchAttributeIgnore = 0,
  cudaLaunchAttributeAccessPolicyWindow = 1,
  cudaLaunchAttributeCooperative = 2,
  cudaLaunchAttributeClusterDimension = 4,
  cudaLaunchAttributeProgrammaticStreamSerialization = 6,
  cudaLaunchAttributePriority = 8
};
union cudaLaunchAttributeValue {
  char pad[64];
  cudaAccessPolicyWindow accessPolicyWindow;
  int cooperative;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int programmaticStreamSerializationAllowed;
  int priority;
};
using cudaStreamAttrID = cudaLaunchAttributeID;
using cudaStreamAttrValue = cudaLaunchAttributeValue;
inline constexpr cudaStreamAttrID cudaStreamAttributeAccessPolicyWindow = cudaLaunchAttributeAccessPolicyWindow;
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
