/// \file
/// GPUOPT_NVTX: the host functions as named ranges in the timelines of profilers.
///
/// With -DGPUOPT_NVTX=1 every call opens a range of NVTX in the domain "gpuopt", named as the function, from the check
/// of its arguments until it returns. Off by default: nothing is included then, and nothing is compiled.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#if GPUOPT_NVTX
#if !__has_include(<nvtx3/nvToolsExt.h>)
#error "gpuopt: GPUOPT_NVTX needs nvtx3/nvToolsExt.h, which is in the CUDA toolkit"
#include <see_the_error_above>
#endif
#include <nvtx3/nvToolsExt.h>
#endif

GPUOPT_DETAIL_BEGIN

#if GPUOPT_NVTX

GPUOPT_HIDDEN inline nvtxDomainHandle_t rangeDomain() {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("gpuopt");
  return domain;
}

/// The range of a public call of that name, for as long as the object exists. A call within another one has none of its
/// own, so that the timeline shows what the program calls.
class CallRange {
 public:
  explicit CallRange(const char* function) {
    if (++open() > 1) return;
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = function;
    nvtxDomainRangePushEx(rangeDomain(), &attributes);
  }
  ~CallRange() {
    if (--open() == 0) nvtxDomainRangePop(rangeDomain());
  }
  CallRange(const CallRange&) = delete;
  CallRange& operator=(const CallRange&) = delete;

 private:
  GPUOPT_HIDDEN static int& open() {
    static thread_local int count = 0;
    return count;
  }
};

#else

class CallRange {
 public:
  constexpr explicit CallRange(const char*) {}
};

#endif

GPUOPT_DETAIL_END
