/// \file
/// Arrays of structures at the speed of a copy, whatever the size of the structure: a function applied to
/// each, structures picked by index, and staged access for kernels of your own.
///
///     struct Particle { float3 position, velocity; float mass; };      // 28 bytes
///
///     gpuopt::forEachStruct(particles, n, [=] __device__(Particle& p) { p.step(dt); }, stream);
///     gpuopt::transformStructs(particles, n, boxes, ToBox{}, stream);  // boxes[i] = ToBox{}(particles[i])
///     gpuopt::gatherStructs(particles, indices, m, some, stream);      // some[i] = particles[indices[i]]
///     gpuopt::scatterStructs(some, indices, m, particles, stream);     // particles[indices[i]] = some[i]
///
/// In a kernel of your own, `StagedStructs<T, BLOCK>` from <gpuopt/block/struct_io.cuh> takes the place of
/// `array[i]`, and `PipelinedStructs` from <gpuopt/block/struct_pipeline.cuh> has the next structures on
/// their way meanwhile; both are included here:
///
///     for (auto tile : staged.tiles(n)) {
///       Particle p = tile.load(in);
///       p.mass *= 2;
///       tile.store(out, p);
///     }
///
/// Why: neighbouring threads that access neighbouring structures directly access memory at a distance. Caches
/// make up for that when they load, up to a point; when they store they do not. A kernel that writes
/// structures of 28 bytes reaches a seventh of the speed of one that writes floats, with 100 bytes a
/// seventeenth. `StructTransferPolicy<T>` says what is done about it, type by type.
///
/// **Common to all host functions.** Structures are of any trivially copyable type, of any size, at the
/// alignment of that type; n counts structures. One kernel launch, asynchronous on `stream`, no
/// synchronisation, no memory; it can be captured into a graph. With n = 0 nothing is launched.
///
/// **Errors.** Bad arguments throw std::invalid_argument, which names the function, the parameter and the
/// values, before anything is written: null where there are structures, addresses that are not aligned to the
/// type, arrays that overlap. Errors of the runtime throw CudaError.
///
/// More, and when another layout of the data serves better: docs/structs.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/block/struct_pipeline.cuh>
#include <gpuopt/core/array_check.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/device/reduce/source.cuh>
#include <gpuopt/device/structs/gather.cuh>
#include <gpuopt/device/structs/transform.cuh>

#include <cstddef>
#include <iterator>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

namespace detail {

template <class T>
constexpr void requireStruct() {
  static_assert(std::is_trivially_copyable_v<T>,
                "gpuopt: structures move as bytes, so their type must be trivially copyable");
}

// Whether a function of the host's view takes an element, with its index or without, and gives a Result.
template <class Result, class F, class Element>
constexpr bool takesStruct() {
  if constexpr (isDeviceLambda<F>)
    return true;
  else
    return returns<Result, const F&, Element&>() || returns<Result, const F&, Element&, std::size_t>();
}

template <class In, class Out>
void requireTransform(const In* in, std::size_t n, Out* out, const char* function) {
  requireStruct<In>();
  const NamedArray read = namedArray(in, n, "in");
  const NamedArray written = namedArray(out, n, "out");
  requireArray(read, function);
  requireArray(written, function);
  const bool isInPlace = std::is_same_v<In, Out> && read.data == written.data;
  if (n > 0 && !isInPlace) requireDisjoint(read, written, function);
}

template <class It, class Out>
void requireTransform(const It&, std::size_t n, Out* out, const char* function) {
  requireArray(namedArray(out, n, "out"), function);
}

// Where structures are read: pointers to const, so that they share a kernel, and what is no pointer as it is.
template <class In>
const In* readFrom(In* in) {
  return in;
}
template <class It>
It readFrom(const It& in) {
  return in;
}

// `indexed` is the array that the indices speak of, whose length nobody tells; `other` has n structures.
template <class T, class Index>
void requireIndexed(const NamedArray& indexed, const NamedArray& indices, const NamedArray& other,
                    const char* function) {
  requireStruct<T>();
  static_assert(std::is_integral_v<Index> && !std::is_same_v<std::remove_cv_t<Index>, bool>,
                "gpuopt: the indices of structures must be integers");
  requireArray(indexed, function);
  requireArray(indices, function);
  requireArray(other, function);
  if (other.n > 0 && indexed.data == other.data) throwInvalid({function, ": in and out are the same"});
}

}  // namespace detail

/// out[i] = f(in[i]) for every i below n.
///
/// Cost: one read and one write of every structure, near copy speed: both go through shared memory where
/// StructTransferPolicy says so. Technique: tiles private to a warp, in short-lived blocks, filled by
/// asynchronous copies.
///
/// \param in n structures; or an iterator that the device can index, such as thrust::counting_iterator, whose
/// elements are read one by one
/// \param out receives n structures, of any type; may be `in` itself if the types are the same, and has no
/// byte in common with it otherwise
/// \param f called once for each structure, in no order: f(in[i]), or f(in[i], i) with a std::size_t if it
/// does not take the structure alone. Any functor or extended lambda for device code, with a const call
/// operator; its result converts to the type of `out`.
template <class It, class Out, class F>
void transformStructs(It in, std::size_t n, Out* out, F f, cudaStream_t stream = nullptr) {
  constexpr const char* FUNCTION = "gpuopt::transformStructs";
  const auto source = detail::readFrom(detail::Unwrap<It>::pointer(in));
  using In = detail::StructOf<std::remove_const_t<decltype(source)>>;
  static_assert(!std::is_const_v<Out>, "gpuopt::transformStructs: the structures of out are const");
  static_assert(
      detail::takesStruct<Out, F, const In>(),
      "gpuopt::transformStructs: the function must take a structure of in, alone or with its index, "
      "and return one of out, and be callable when const");
  detail::requireStruct<Out>();
  detail::requireTransform(source, n, out, FUNCTION);
  if (n > 0) detail::launchTransformStructs(source, n, out, f, FUNCTION, stream);
}

/// Calls f for each of n structures, which it may change.
///
/// Cost and technique: as transformStructs; every structure is read and written.
///
/// \param f called once for each structure, in no order: f(data[i]), or f(data[i], i) with a std::size_t if
/// it does not take the structure alone. The reference is to a copy in registers, which is written back. Any
/// functor or extended lambda for device code, with a const call operator; what it returns is ignored.
template <class T, class F>
void forEachStruct(T* data, std::size_t n, F f, cudaStream_t stream = nullptr) {
  constexpr const char* FUNCTION = "gpuopt::forEachStruct";
  static_assert(!std::is_const_v<T>, "gpuopt::forEachStruct: the structures of data are const");
  static_assert(detail::takesStruct<void, F, T>(),
                "gpuopt::forEachStruct: the function must take a structure, alone or with its index, and be "
                "callable when const");
  detail::requireStruct<T>();
  detail::requireArray(detail::namedArray(data, n, "data"), FUNCTION);
  if (n > 0)
    detail::launchTransformStructs<const T*>(data, n, data, detail::Changing<T, F>{f}, FUNCTION, stream);
}

/// out[i] = in[indices[i]] for every i below n.
///
/// Cost: neighbouring threads read the parts of one structure together, so that random places cost what their
/// sectors of 32 bytes cost, and `out` is written in whole lines. The wider the units that size and addresses
/// allow (16 bytes at most), the faster.
///
/// \param in structures; an index beyond them, or a negative one, is undefined behaviour
/// \param indices n integers of any type; equal ones are fine
/// \param out receives n structures; has no byte in common with `in` or `indices`, which for `in`, whose
/// length is unknown, is checked in part only
template <class T, class Index>
void gatherStructs(const T* in, const Index* indices, std::size_t n, T* out, cudaStream_t stream = nullptr) {
  constexpr const char* FUNCTION = "gpuopt::gatherStructs";
  const auto places = detail::namedArray(indices, n, "indices");
  const auto written = detail::namedArray(out, n, "out");
  detail::requireIndexed<T, Index>(detail::namedArray(in, n, "in"), places, written, FUNCTION);
  if (n == 0) return;
  detail::requireDisjoint(places, written, FUNCTION);
  constexpr std::size_t WIDEST = detail::widestWord<sizeof(T)>;
  detail::launchMoveIndexed<detail::Indexed::in, WIDEST>(in, indices, n, out, FUNCTION, stream);
}

/// out[indices[i]] = in[i] for every i below n.
///
/// Cost: as gatherStructs. What `out` has at other places keeps its value.
///
/// \param in n structures
/// \param indices n integers of any type, all different: of two structures for one place, parts of either may
/// arrive
/// \param out structures; an index beyond them, or a negative one, is undefined behaviour. Has no byte in
/// common with `in` or `indices`, which is not checked but for its begin
template <class T, class Index>
void scatterStructs(const T* in, const Index* indices, std::size_t n, T* out, cudaStream_t stream = nullptr) {
  constexpr const char* FUNCTION = "gpuopt::scatterStructs";
  detail::requireIndexed<T, Index>(detail::namedArray(out, n, "out"),
                                   detail::namedArray(indices, n, "indices"), detail::namedArray(in, n, "in"),
                                   FUNCTION);
  if (n == 0) return;
  constexpr std::size_t WIDEST = detail::widestWord<sizeof(T)>;
  detail::launchMoveIndexed<detail::Indexed::out, WIDEST>(in, indices, n, out, FUNCTION, stream);
}

GPUOPT_NAMESPACE_END
