/// \file
/// Arrays of structures at copy speed, for structures of any size: a function applied to each structure, gathers and
/// scatters, and staged access for your own kernels.
///
///     struct Particle { float3 position, velocity; float mass; };      // 28 bytes
///
///     gpuopt::forEachStruct(particles, n, [=] __device__(Particle& p) { p.step(dt); }, stream);
///     gpuopt::transformStructs(particles, n, boxes, ToBox{}, stream);  // boxes[i] = ToBox{}(particles[i])
///     gpuopt::gatherStructs(particles, indices, m, some, stream);      // some[i] = particles[indices[i]]
///     gpuopt::scatterStructs(some, indices, m, particles, stream);     // particles[indices[i]] = some[i]
///
/// In your own kernel, `StagedStructs<T, BLOCK>` from <gpuopt/block/struct_io.cuh> replaces `array[i]`, and
/// `PipelinedStructs` from <gpuopt/block/struct_pipeline.cuh> also prefetches the next structures. This header includes
/// both:
///
///     for (auto tile : staged.tiles(n)) {
///       Particle p = tile.load(in);
///       p.mass *= 2;
///       tile.store(out, p);
///     }
///
/// Why: `array[i]` is a strided access. Caches make up for that in loads of small structures, but not in stores: a
/// kernel that writes structures of 28 bytes runs at a seventh of the speed of one that writes floats, with 100 bytes
/// at a seventeenth.
///
/// **Common to all host functions.** Structures have any trivially copyable type and any size, and are aligned to their
/// type; n counts structures. Each call launches one kernel, asynchronous on `stream`, with no synchronisation and no
/// allocation; it can be captured into a graph. With n = 0 nothing is launched.
///
/// **Errors.** Bad arguments throw std::invalid_argument before anything is written: null pointers with n > 0, a
/// negative n, misaligned addresses, overlapping arrays. The message names the function, the parameter and the values. Errors of
/// the runtime throw CudaError.
///
/// docs/structs.md says more, and when another data layout is better.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/block/struct_pipeline.cuh>
#include <gpuopt/core/callable.cuh>
#include <gpuopt/core/message.cuh>
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

// Whether f(element) or f(element, index) returns a Result, as far as the host compiler can tell.
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

// Pointers as pointers to const, so that both share a kernel; other iterators unchanged.
template <class In>
const In* readFrom(In* in) {
  return in;
}
template <class It>
It readFrom(const It& in) {
  return in;
}

// `indexed` is the array being indexed; its length is unknown. `other` has n structures.
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

/// Computes out[i] = f(in[i]) for every i < n.
///
/// Cost: one read and one write of every structure, near copy speed. StructTransferPolicy decides how they move, in
/// most cases through shared memory. Technique: a tile per warp, filled by asynchronous copies, in short-lived blocks.
///
/// \param in n structures; or an iterator that can be indexed on the device, such as thrust::counting_iterator, whose
/// elements are read one by one
/// \param out n structures of any type. May be `in` if the types are the same; must not overlap it otherwise.
/// \param f called once for each structure, in no particular order: f(in[i]), or f(in[i], i) with a std::size_t if it
/// does not accept the structure alone. Any functor or extended lambda for device code with a const call operator; its
/// result converts to the type of `out`.
template <class It, class Out, class F>
void transformStructs(It in, std::size_t n, Out* out, F f, cudaStream_t stream = nullptr) {
  constexpr const char* FUNCTION = "gpuopt::transformStructs";
  const auto source = detail::readFrom(detail::Unwrap<It>::pointer(in));
  using In = detail::StructOf<std::remove_const_t<decltype(source)>>;
  static_assert(!std::is_const_v<Out>, "gpuopt::transformStructs: the structures of out are const");
  static_assert(detail::takesStruct<Out, F, const In>(),
                "gpuopt::transformStructs: the function must take a structure of in, alone or with its index, "
                "and return one of out, and be callable when const");
  detail::requireStruct<Out>();
  detail::requireTransform(source, n, out, FUNCTION);
  if (n > 0) detail::launchTransformStructs(source, n, out, f, FUNCTION, stream);
}

/// Calls f for each of the n structures of `data`, which f may change.
///
/// Cost and technique are those of transformStructs: every structure is read and written.
///
/// \param f called once for each structure, in no particular order: f(data[i]), or f(data[i], i) with a std::size_t if
/// it does not accept the structure alone. It gets a reference to a copy in registers, which is written back. Any
/// functor or extended lambda for device code with a const call operator; its result is ignored.
template <class T, class F>
void forEachStruct(T* data, std::size_t n, F f, cudaStream_t stream = nullptr) {
  constexpr const char* FUNCTION = "gpuopt::forEachStruct";
  static_assert(!std::is_const_v<T>, "gpuopt::forEachStruct: the structures of data are const");
  static_assert(detail::takesStruct<void, F, T>(),
                "gpuopt::forEachStruct: the function must take a structure, alone or with its index, and be "
                "callable when const");
  detail::requireStruct<T>();
  detail::requireArray(detail::namedArray(data, n, "data"), FUNCTION);
  if (n > 0) detail::launchTransformStructs<const T*>(data, n, data, detail::Changing<T, F>{f}, FUNCTION, stream);
}

/// Computes out[i] = in[indices[i]] for every i < n.
///
/// Cost: neighbouring threads read one structure together, so that random access costs only the 32-byte sectors of the
/// structures, and `out` is written in full lines. Accesses are as wide as the size and the addresses allow, at most 16
/// bytes; wider is faster.
///
/// \param in the structures; an index that is negative or out of range is undefined behaviour
/// \param indices n integers of any type, which may repeat
/// \param out n structures. Must not overlap `in` or `indices`; the length of `in` is unknown, so only `out` equal to
/// `in` is detected
template <class T, class Index>
void gatherStructs(const T* in, const Index* indices, std::size_t n, T* out, cudaStream_t stream = nullptr) {
  constexpr const char* FUNCTION = "gpuopt::gatherStructs";
  const auto read = detail::namedArray(indices, n, "indices");
  const auto written = detail::namedArray(out, n, "out");
  detail::requireIndexed<T, Index>(detail::namedArray(in, n, "in"), read, written, FUNCTION);
  if (n == 0) return;
  detail::requireDisjoint(read, written, FUNCTION);
  constexpr std::size_t WIDEST = detail::widestWord<sizeof(T)>;
  detail::launchMoveIndexed<WIDEST, detail::Indexed::in>(in, indices, n, out, FUNCTION, stream);
}

/// Computes out[indices[i]] = in[i] for every i < n. Other structures of `out` are unchanged.
///
/// Cost: that of gatherStructs.
///
/// \param in n structures
/// \param indices n integers of any type, all different: a structure written twice may end up a mixture
/// \param out the structures to write to; an index that is negative or out of range is undefined behaviour. Must not
/// overlap `in` or `indices`; only `out` equal to `in` is detected
template <class T, class Index>
void scatterStructs(const T* in, const Index* indices, std::size_t n, T* out, cudaStream_t stream = nullptr) {
  constexpr const char* FUNCTION = "gpuopt::scatterStructs";
  detail::requireIndexed<T, Index>(detail::namedArray(out, n, "out"), detail::namedArray(indices, n, "indices"),
                                   detail::namedArray(in, n, "in"), FUNCTION);
  if (n == 0) return;
  constexpr std::size_t WIDEST = detail::widestWord<sizeof(T)>;
  detail::launchMoveIndexed<WIDEST, detail::Indexed::out>(in, indices, n, out, FUNCTION, stream);
}

GPUOPT_NAMESPACE_END
