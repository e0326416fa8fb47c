/// \file
/// NCCL, and its errors as exceptions.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>
#include <gpuopt/core/message.cuh>

#if !__has_include(<nccl.h>)
#error "gpuopt: <gpuopt/distributed.cuh> needs NCCL: put nccl.h on the include path, and link libnccl"
#include <see_the_error_above>
#endif
#include <nccl.h>

#include <stdexcept>
#include <string>

GPUOPT_NAMESPACE_BEGIN
namespace distributed {

/// A call of NCCL failed. what() reads "<call>: <description>".
class NcclError : public std::runtime_error {
 public:
  /// \param code the error code
  /// \param call the failed call
  NcclError(ncclResult_t code, const std::string& call)
      : std::runtime_error(call + ": " + ncclGetErrorString(code)), code_(code) {}

  /// The error code.
  ncclResult_t code() const noexcept { return code_; }

 private:
  ncclResult_t code_;
};

/// A collective call failed because of another rank: one that had wrong arguments, made another call, or did not come.
class TeamError : public std::runtime_error {
 public:
  /// \param rank the rank that is the cause, or -1
  /// \param what the message
  TeamError(int rank, const std::string& what) : std::runtime_error(what), rank_(rank) {}

  /// The rank that is the cause; -1 if NCCL was waited for, which does not tell.
  int rank() const noexcept { return rank_; }

 private:
  int rank_;
};

}  // namespace distributed
GPUOPT_NAMESPACE_END

GPUOPT_DETAIL_BEGIN

// Call it by detail::, since a program may have a function of this name, which its argument would find.
inline void checkNccl(ncclResult_t code, const char* call) {
  if (code != ncclSuccess) throw distributed::NcclError(code, call);
}

GPUOPT_DETAIL_END
