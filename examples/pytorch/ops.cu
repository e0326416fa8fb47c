/// \file
/// gpuopt's calls for tensors of PyTorch: an extension that check.py builds and loads.
///
/// A function for tensors checks what gpuopt cannot see, the device and the type, makes the device of its
/// input the current one, allocates the output from PyTorch, and queues its work on PyTorch's current stream.
/// It waits for nothing. Exceptions reach Python: std::invalid_argument as ValueError, others as
/// RuntimeError.
// SPDX-License-Identifier: MIT
#include <gpuopt/reduce.cuh>
#include <gpuopt/rows.cuh>
#include <gpuopt/transpose.cuh>

#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <torch/extension.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace {

// Rows may have gaps between them; within a row, neighbours must be neighbours in memory.
void requireMatrix(const at::Tensor& in) {
  TORCH_CHECK(in.is_cuda(), "in is not on a GPU but on ", in.device());
  TORCH_CHECK(in.dim() == 2, "in has ", std::to_string(in.dim()), " dimensions, not 2");
  TORCH_CHECK(in.size(1) <= 1 || in.stride(1) == 1, "the elements of a row of in are ", std::to_string(in.stride(1)),
              " apart");
}

// A matrix as gpuopt sees it. T need not be the tensor's type: to be moved, elements are words.
template <class T>
gpuopt::MatrixView<const T> viewOf(const at::Tensor& in) {
  const auto rows = static_cast<std::size_t>(in.size(0)), cols = static_cast<std::size_t>(in.size(1));
  const auto ld = rows > 1 ? static_cast<std::size_t>(in.stride(0)) : cols;
  return {static_cast<const T*>(in.const_data_ptr()), rows, cols, ld};
}

template <class Word>
void transposeWords(const at::Tensor& in, const at::Tensor& out, cudaStream_t stream) {
  const auto cols = static_cast<std::size_t>(in.size(0)), rows = static_cast<std::size_t>(in.size(1));
  auto* data = static_cast<Word*>(out.mutable_data_ptr());
  gpuopt::transpose(viewOf<Word>(in), gpuopt::MatrixView<Word>{data, rows, cols}, stream);
}

// in.t().contiguous(), for elements of 2, 4 or 8 bytes.
at::Tensor transpose(const at::Tensor& in) {
  requireMatrix(in);
  const c10::cuda::CUDAGuard guard(in.device());
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  at::Tensor out = at::empty({in.size(1), in.size(0)}, in.options());
  if (in.element_size() == 2)
    transposeWords<std::uint16_t>(in, out, stream);
  else if (in.element_size() == 4)
    transposeWords<std::uint32_t>(in, out, stream);
  else if (in.element_size() == 8)
    transposeWords<std::uint64_t>(in, out, stream);
  else
    TORCH_CHECK(false, "in has elements of ", std::to_string(in.element_size()), " bytes, not of 2, 4 or 8");
  return out;
}

// PyTorch's own types of two bytes will do as elements, with the accumulator named.
template <class T>
void sumRowsOf(const at::Tensor& in, const at::Tensor& sums, cudaStream_t stream) {
  const auto view = viewOf<T>(in);
  gpuopt::reduceRows<float>(view.data, view.rows, view.cols, view.ld, sums.mutable_data_ptr<float>(), gpuopt::Plus{},
                            stream);
}

// in.sum(1, dtype=torch.float32), for floats and for both types of halves.
at::Tensor sumRows(const at::Tensor& in) {
  requireMatrix(in);
  const c10::cuda::CUDAGuard guard(in.device());
  const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
  at::Tensor sums = at::empty({in.size(0)}, in.options().dtype(at::kFloat));
  if (in.scalar_type() == at::kFloat)
    sumRowsOf<float>(in, sums, stream);
  else if (in.scalar_type() == at::kHalf)
    sumRowsOf<at::Half>(in, sums, stream);
  else if (in.scalar_type() == at::kBFloat16)
    sumRowsOf<at::BFloat16>(in, sums, stream);
  else
    TORCH_CHECK(false, "in has the type ", in.scalar_type(), ", not Float, Half or BFloat16");
  return sums;
}

// Calls use(T{}) with the element type of a matrix of numbers.
template <class Use>
void withNumbers(const at::Tensor& in, const Use& use) {
  if (in.scalar_type() == at::kFloat)
    use(float{});
  else if (in.scalar_type() == at::kHalf)
    use(__half{});
  else if (in.scalar_type() == at::kBFloat16)
    use(__nv_bfloat16{});
  else
    TORCH_CHECK(false, "in has the type ", in.scalar_type(), ", not Float, Half or BFloat16");
}

template <class T>
gpuopt::MatrixView<T> outputOf(const at::Tensor& out) {
  const auto in = viewOf<T>(out);
  return {static_cast<T*>(out.mutable_data_ptr()), in.rows, in.cols, in.ld};
}

const std::int64_t* indicesOf(const at::Tensor& indices, const at::Tensor& in) {
  TORCH_CHECK(indices.device() == in.device(), "indices is on ", indices.device(), ", not on ", in.device());
  TORCH_CHECK(indices.scalar_type() == at::kLong, "indices has the type ", indices.scalar_type(), ", not Long");
  TORCH_CHECK(indices.dim() == 1 && indices.is_contiguous(), "indices is not one contiguous row");
  return indices.const_data_ptr<std::int64_t>();
}

// in.index_select(0, indices); of negative indices, rows of zeros.
at::Tensor gatherRows(const at::Tensor& in, const at::Tensor& indices) {
  requireMatrix(in);
  const c10::cuda::CUDAGuard guard(in.device());
  const std::int64_t* const where = indicesOf(indices, in);
  at::Tensor out = at::empty({indices.size(0), in.size(1)}, in.options());
  withNumbers(in, [&](auto number) {
    using T = decltype(number);
    gpuopt::gatherRows<gpuopt::RowIndices::padded>(viewOf<T>(in), where, static_cast<std::size_t>(indices.size(0)),
                                                   outputOf<T>(out), at::cuda::getCurrentCUDAStream().stream());
  });
  return out;
}

// out.index_add_(0, indices, in), with the same bits each time.
at::Tensor addRows(const at::Tensor& out, const at::Tensor& indices, const at::Tensor& in) {
  requireMatrix(in);
  requireMatrix(out);
  TORCH_CHECK(in.scalar_type() == out.scalar_type(), "in has the type ", in.scalar_type(), ", out ", out.scalar_type());
  const c10::cuda::CUDAGuard guard(in.device());
  const std::int64_t* const where = indicesOf(indices, in);
  withNumbers(in, [&](auto number) {
    using T = decltype(number);
    gpuopt::addRows(viewOf<T>(in), where, static_cast<std::size_t>(indices.size(0)), outputOf<T>(out),
                    at::cuda::getCurrentCUDAStream().stream());
  });
  return out;
}

// Calls use(in, out, stream) with views of a matrix and of a new one.
template <class Use>
at::Tensor transformed(const at::Tensor& in, const Use& use) {
  requireMatrix(in);
  const c10::cuda::CUDAGuard guard(in.device());
  at::Tensor out = at::empty({in.size(0), in.size(1)}, in.options());
  withNumbers(in, [&](auto number) {
    using T = decltype(number);
    use(viewOf<T>(in), outputOf<T>(out), at::cuda::getCurrentCUDAStream().stream());
  });
  return out;
}

// in.softmax(1)
at::Tensor softmaxRows(const at::Tensor& in) {
  return transformed(in, [](auto from, auto to, cudaStream_t stream) { gpuopt::softmaxRows(from, to, stream); });
}

// torch.nn.functional.rms_norm(in, in.shape[1:], eps=eps)
at::Tensor rmsNormRows(const at::Tensor& in, double eps) {
  return transformed(
      in, [=](auto from, auto to, cudaStream_t stream) { gpuopt::rmsNormRows(from, to, nullptr, eps, stream); });
}

// in.cumsum(1), in the type of in.
at::Tensor scanRows(const at::Tensor& in) {
  return transformed(
      in, [](auto from, auto to, cudaStream_t stream) { gpuopt::inclusiveScanRows(from, to, gpuopt::Plus{}, stream); });
}

}  // namespace

PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  module.def("transpose", &transpose, "in.t().contiguous()");
  module.def("sum_rows", &sumRows, "in.sum(1, dtype=torch.float32)");
  module.def("gather_rows", &gatherRows, "in.index_select(0, indices); negative indices give zeros");
  module.def("add_rows_", &addRows, "out.index_add_(0, indices, in), with the same bits each time");
  module.def("softmax_rows", &softmaxRows, "in.softmax(1)");
  module.def("rms_norm_rows", &rmsNormRows, "rms_norm(in, in.shape[1:], eps=eps)");
  module.def("scan_rows", &scanRows, "in.cumsum(1)");
}
