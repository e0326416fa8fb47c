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
///     gpuopt::forEachStruct(vector, Step{});                           // containers or spans: thrust::device_vector
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
/// negative n, misaligned addresses, overlapping arrays. The message names the function, the parameter and the values.
/// Errors of the runtime throw CudaError.
///
/// docs/structs.md says more, and when another data layout is better.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/block/struct_io.cuh>
#include <gpuopt/block/struct_pipeline.cuh>
#include <gpuopt/core/identity.cuh>
#include <gpuopt/core/other_calls.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/structs/arguments.cuh>
#include <gpuopt/device/structs/for_each.cuh>
#include <gpuopt/device/structs/gather.cuh>
#include <gpuopt/device/structs/transform.cuh>
#include <gpuopt/host/stream.cuh>

#include <cstddef>
#include <string>
#include <type_traits>

GPUOPT_NAMESPACE_BEGIN

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
template <class It, class OutIt, class F>
void transformStructs(It in, std::size_t n, OutIt out, F f, StreamRef stream = {}) {
  using In = detail::ElementOf<It>;
  using Out = detail::WrittenTo<OutIt>;
  constexpr bool WRITES = detail::isMemory<OutIt> && !std::is_const_v<Out>;
  constexpr bool CALLABLE = detail::requireDeviceCode<F>();
  constexpr bool MUTABLE = CALLABLE && detail::isMutable<Out, F, const In>();
  constexpr bool TAKES = detail::takesStruct<Out, F, const In>();
  static_assert(detail::isMemory<OutIt>,
                "gpuopt::transformStructs: out must be a pointer, or Thrust's iterator of memory");
  static_assert(!std::is_const_v<Out>, "gpuopt::transformStructs: the structures of out are const");
  static_assert(!MUTABLE, "gpuopt::transformStructs: the call operator of the function must be const");
  static_assert(TAKES || MUTABLE || !CALLABLE || !WRITES,
                "gpuopt::transformStructs: the function must take a structure of in, alone or with its index, and "
                "return one of out");
  if constexpr (WRITES && CALLABLE && TAKES)
    detail::transformChecked(in, n, out, f, "gpuopt::transformStructs", stream);
}

/// The same for containers or spans, such as thrust::device_vector: out[i] = f(in[i]) for every element of `in`. `out`
/// has as many structures or more.
template <class In, class Out, class F, class = detail::EnableRange<In>, class = detail::EnableRange<Out>>
void transformStructs(In&& in, Out&& out, F f, StreamRef stream = {}) {
  detail::requireSize(out, detail::sizeOf(in), "out", "gpuopt::transformStructs");
  gpuopt::transformStructs(detail::dataOf(in), detail::sizeOf(in), detail::dataOf(out), f, stream);
}

/// Calls f for each of the n structures of `data`, which f may change.
///
/// Cost and technique are those of transformStructs: every structure is read and written. Of const structures, every
/// one is only read.
///
/// \param data n structures; const ones if f only reads them
/// \param f called once for each structure, in no particular order: f(data[i]), or f(data[i], i) with a std::size_t if
/// it does not accept the structure alone. It gets a reference to a copy in registers, which is written back. Any
/// functor or extended lambda for device code with a const call operator; its result is ignored. A function that takes
/// structures that are not const alone must take a reference: otherwise, it would change nothing.
template <class It, class F>
void forEachStruct(It data, std::size_t n, F f, StreamRef stream = {}) {
  using T = detail::WrittenTo<It>;
  constexpr bool CALLABLE = detail::requireDeviceCode<F>();
  constexpr bool MUTABLE = CALLABLE && detail::isMutable<void, F, T>();
  constexpr bool TAKES = detail::takesStruct<void, F, T>();
  constexpr bool USELESS = CALLABLE && !std::is_const_v<T> && detail::changesNothing<F>;
  static_assert(detail::isMemory<It>,
                "gpuopt::forEachStruct: data must be a pointer, or Thrust's iterator of memory; of a SoaView, pass one "
                "column<...>(), or write a kernel that changes view[i]");
  static_assert(!MUTABLE, "gpuopt::forEachStruct: the call operator of the function must be const");
  static_assert(TAKES || MUTABLE || !CALLABLE || !detail::isMemory<It>,
                "gpuopt::forEachStruct: the function must take a structure of data, alone or with its index");
  static_assert(
      !USELESS,
      "gpuopt::forEachStruct: the function takes a structure by value or as const, so it changes nothing: take a "
      "reference, or pass const structures to only read them");
  if constexpr (detail::isMemory<It> && CALLABLE && TAKES && !USELESS)
    detail::forEachChecked(data, n, f, "gpuopt::forEachStruct", stream);
}

/// The same for a container or a span, such as thrust::device_vector: f is called for each of its elements. Those of a
/// const container, or of a span of const elements, are only read.
template <class R, class F, class = detail::EnableRange<R>>
void forEachStruct(R&& data, F f, StreamRef stream = {}) {
  gpuopt::forEachStruct(detail::dataOf(data), detail::sizeOf(data), f, stream);
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
template <class T, class Index, class U>
void gatherStructs(const T* in, const Index* indices, std::size_t n, U* out, StreamRef stream = {}) {
  constexpr const char* FUNCTION = "gpuopt::gatherStructs";
  static_assert(!std::is_const_v<U>, "gpuopt::gatherStructs: the structures of out are const");
  detail::moveStructs<detail::Indexed::in>(in, indices, n, out, FUNCTION, stream);
}

/// The same for containers or spans, such as thrust::device_vector: out[i] = in[indices[i]] for every index. `out` has
/// as many structures or more.
template <class In, class Indices, class Out, class = detail::EnableRange<In>, class = detail::EnableRange<Indices>,
          class = detail::EnableRange<Out>>
void gatherStructs(In&& in, Indices&& indices, Out&& out, StreamRef stream = {}) {
  const std::size_t n = detail::sizeOf(indices);
  detail::requireSize(out, n, "out", "gpuopt::gatherStructs");
  gpuopt::gatherStructs(detail::dataOf(in), detail::dataOf(indices), n, detail::dataOf(out), stream);
}

/// Computes out[indices[i]] = in[i] for every i < n. Other structures of `out` are unchanged.
///
/// Cost: that of gatherStructs.
///
/// \param in n structures
/// \param indices n integers of any type, all different: a structure written twice may end up a mixture
/// \param out the structures to write to; an index that is negative or out of range is undefined behaviour. Must not
/// overlap `in` or `indices`; only `out` equal to `in` is detected
template <class T, class Index, class U>
void scatterStructs(const T* in, const Index* indices, std::size_t n, U* out, StreamRef stream = {}) {
  constexpr const char* FUNCTION = "gpuopt::scatterStructs";
  static_assert(!std::is_const_v<U>, "gpuopt::scatterStructs: the structures of out are const");
  detail::moveStructs<detail::Indexed::out>(in, indices, n, out, FUNCTION, stream);
}

/// The same for containers or spans, such as thrust::device_vector: out[indices[i]] = in[i] for every index. `in` has
/// as many structures or more.
template <class In, class Indices, class Out, class = detail::EnableRange<In>, class = detail::EnableRange<Indices>,
          class = detail::EnableRange<Out>>
void scatterStructs(In&& in, Indices&& indices, Out&& out, StreamRef stream = {}) {
  const std::size_t n = detail::sizeOf(indices);
  detail::requireSize(in, n, "in", "gpuopt::scatterStructs");
  gpuopt::scatterStructs(detail::dataOf(in), detail::dataOf(indices), n, detail::dataOf(out), stream);
}

/// \name How structures move
/// One line about the launch of a call: the kernel, the grid, why it is this one, and the bytes to read and write.
/// `in`, n, `out`, data and indices are the call's. Nothing is launched. Errors are those of the call. The words may
/// change from version to version.
/// \{

/// Says in one line how `transformStructs`, or `transform` of one array, moves elements.
template <class It, class OutIt>
[[nodiscard]] std::string explainTransformStructs(It in, std::size_t n, OutIt out) {
  return detail::explainTransform(in, n, out, "gpuopt::explainTransformStructs");
}

/// Says in one line how `forEachStruct`, or `forEach`, moves elements. Const ones are only read.
template <class It>
[[nodiscard]] std::string explainForEachStruct(It data, std::size_t n) {
  return detail::explainForEach(data, n, "gpuopt::explainForEachStruct");
}

/// Says in one line how `gatherStructs` moves structures.
template <class T, class Index, class U>
[[nodiscard]] std::string explainGatherStructs(const T* in, const Index* indices, std::size_t n, U* out) {
  return detail::explainMoveStructs<detail::Indexed::in>(in, indices, n, out, "gpuopt::explainGatherStructs");
}

/// Says in one line how `scatterStructs` moves structures.
template <class T, class Index, class U>
[[nodiscard]] std::string explainScatterStructs(const T* in, const Index* indices, std::size_t n, U* out) {
  return detail::explainMoveStructs<detail::Indexed::out>(in, indices, n, out, "gpuopt::explainScatterStructs");
}
/// \}

GPUOPT_OTHER_CALLS(forEachStruct, "(data, n, f) or (container, f), then a stream")
GPUOPT_OTHER_CALLS(transformStructs, "(in, n, out, f), or containers for in and out without n, then a stream")
GPUOPT_OTHER_CALLS(gatherStructs, "(in, indices, n, out), or containers without n, then a stream")
GPUOPT_OTHER_CALLS(scatterStructs, "(in, indices, n, out), or containers without n, then a stream")

GPUOPT_NAMESPACE_END
