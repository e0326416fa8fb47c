/// \file
/// cuTENSOR as a peer: cutensorPermute permutes tensors of any strides that are not negative. Without cuTENSOR there is
/// no peer.
// SPDX-License-Identifier: MIT
#pragma once

#include "tensor_axes.hpp"
#include "timing.cuh"

#ifdef GPUOPT_BENCHMARK_CUTENSOR
#include <cutensor.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <type_traits>
#endif

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

#ifdef GPUOPT_BENCHMARK_CUTENSOR

namespace detail {

inline void checkCutensor(cutensorStatus_t status, const std::string& call) {
  if (status != CUTENSOR_STATUS_SUCCESS) throw std::runtime_error(call + ": " + cutensorGetErrorString(status));
}

// A pointer of cuTENSOR's that is destroyed with its last copy.
template <class Pointer>
std::shared_ptr<std::remove_pointer_t<Pointer>> owned(Pointer pointer, cutensorStatus_t (*destroy)(Pointer)) {
  return {pointer, [=](Pointer it) { destroy(it); }};
}

// What permutes elements of a size, and a 1 to multiply them by.
struct CutensorType {
  cudaDataType_t data;
  cutensorComputeDescriptor_t compute;
  const void* one;
};

template <std::size_t SIZE>
CutensorType cutensorType() {
  static const float2 one{1, 0};
  static const double2 oneInDouble{1, 0};
  if constexpr (SIZE == 2) return {CUDA_R_16F, CUTENSOR_COMPUTE_DESC_32F, &one};
  if constexpr (SIZE == 4) return {CUDA_R_32F, CUTENSOR_COMPUTE_DESC_32F, &one};
  if constexpr (SIZE == 8) return {CUDA_C_32F, CUTENSOR_COMPUTE_DESC_32F, &one};
  if constexpr (SIZE == 16) return {CUDA_C_64F, CUTENSOR_COMPUTE_DESC_64F, &oneInDouble};
}

}  // namespace detail

class Cutensor {
 public:
  explicit Cutensor(cudaStream_t stream) : stream_(stream) {
    cutensorHandle_t handle = nullptr;
    detail::checkCutensor(cutensorCreate(&handle), "cutensorCreate");
    handle_ = detail::owned(handle, cutensorDestroy);
  }

  /// What cuTENSOR has for elements of T's size: nothing for bytes and for structures. Where it refuses a shape, a line
  /// says why. Plans are made here, not in the call.
  template <class T>
  std::vector<Candidate> permutations(const T* in, T* out, const TensorAxes& axes, const std::string& subject) const {
    constexpr std::size_t SIZE = sizeof(T);
    if constexpr (SIZE == 2 || SIZE == 4 || SIZE == 8 || SIZE == 16) {
      try {
        return {permutation(detail::cutensorType<SIZE>(), in, out, axes)};
      } catch (const std::runtime_error& error) {
        std::printf("SKIPPED: %s, %s of %zu bytes\n", error.what(), subject.c_str(), SIZE);
        return {};
      }
    } else {
      return {};
    }
  }

 private:
  static constexpr std::uint32_t ALIGNMENT = 128;  // of the buffers, which cudaMalloc aligns to more

  // One side of a permutation as cuTENSOR has it: axes are called by their numbers, and the fastest comes first.
  struct Tensor {
    std::vector<std::int32_t> modes;
    std::shared_ptr<std::remove_pointer_t<cutensorTensorDescriptor_t>> descriptor;
  };

  Candidate permutation(const detail::CutensorType& type, const void* in, void* out, const TensorAxes& axes) const {
    const auto call = [=, plan = planOf(type, axes), handle = handle_, stream = stream_] {
      detail::checkCutensor(cutensorPermute(handle.get(), plan.get(), type.one, in, out, stream), "cutensorPermute");
    };
    return {"cutensorPermute", call, nullptr, false, 0, true};
  }

  Tensor describe(const std::vector<std::ptrdiff_t>& extents, const std::vector<std::ptrdiff_t>& strides,
                  cudaDataType_t type) const {
    Tensor tensor{std::vector<std::int32_t>(extents.size()), {}};
    std::iota(tensor.modes.rbegin(), tensor.modes.rend(), 0);
    std::stable_sort(tensor.modes.begin(), tensor.modes.end(), [&](auto a, auto b) { return strides[a] < strides[b]; });
    std::vector<std::int64_t> extent, stride;
    for (const auto mode : tensor.modes) {
      if (strides[mode] < 0) throw std::runtime_error("cuTENSOR takes no negative strides");
      extent.push_back(extents[mode]);
      stride.push_back(strides[mode]);
    }
    cutensorTensorDescriptor_t descriptor = nullptr;
    detail::checkCutensor(
        cutensorCreateTensorDescriptor(handle_.get(), &descriptor, static_cast<std::uint32_t>(extent.size()),
                                       extent.data(), stride.data(), type, ALIGNMENT),
        "cutensorCreateTensorDescriptor");
    tensor.descriptor = detail::owned(descriptor, cutensorDestroyTensorDescriptor);
    return tensor;
  }

  std::shared_ptr<std::remove_pointer_t<cutensorPlan_t>> planOf(const detail::CutensorType& type,
                                                                const TensorAxes& axes) const {
    const Tensor in = describe(axes.extents, axes.inStrides, type.data);
    const Tensor out = describe(axes.extents, axes.outStrides, type.data);
    cutensorOperationDescriptor_t operation = nullptr;
    detail::checkCutensor(
        cutensorCreatePermutation(handle_.get(), &operation, in.descriptor.get(), in.modes.data(), CUTENSOR_OP_IDENTITY,
                                  out.descriptor.get(), out.modes.data(), type.compute),
        "cutensorCreatePermutation");
    const auto ownedOperation = detail::owned(operation, cutensorDestroyOperationDescriptor);
    cutensorPlanPreference_t preference = nullptr;
    detail::checkCutensor(
        cutensorCreatePlanPreference(handle_.get(), &preference, CUTENSOR_ALGO_DEFAULT, CUTENSOR_JIT_MODE_NONE),
        "cutensorCreatePlanPreference");
    const auto ownedPreference = detail::owned(preference, cutensorDestroyPlanPreference);
    cutensorPlan_t plan = nullptr;
    detail::checkCutensor(cutensorCreatePlan(handle_.get(), &plan, operation, preference, 0), "cutensorCreatePlan");
    return detail::owned(plan, cutensorDestroyPlan);
  }

  cudaStream_t stream_;
  std::shared_ptr<std::remove_pointer_t<cutensorHandle_t>> handle_;
};

#else

class Cutensor {
 public:
  explicit Cutensor(cudaStream_t) {}

  template <class T>
  std::vector<Candidate> permutations(const T*, T*, const TensorAxes&, const std::string&) const {
    return {};
  }
};

#endif

}  // namespace bench
