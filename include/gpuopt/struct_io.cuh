/// \file
/// Arrays of structures at copy speed, for structures of any size: gathers and scatters, and staged access for your own
/// kernels. Functions applied to each structure are forEach and transform of <gpuopt/map.cuh>, which this header
/// includes.
///
///     struct Particle { float3 position, velocity; float mass; };      // 28 bytes
///
///     gpuopt::forEach(particles, n, [=] __device__(Particle& p) { p.step(dt); }, stream);
///     gpuopt::transform(particles, n, boxes, ToBox{}, stream);         // boxes[i] = ToBox{}(particles[i])
///     gpuopt::gatherStructs(particles, indices, m, some, stream);      // some[i] = particles[indices[i]]
///     gpuopt::scatterStructs(some, indices, m, particles, stream);     // particles[indices[i]] = some[i]
///     gpuopt::gatherStructs(vector, table, chosen);                    // containers or spans: thrust::device_vector
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
#include <gpuopt/core/other_calls.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/device/structs/gather.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/map.cuh>

#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN

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

/// \name How indexed structures move
/// One line about the launch of a call: the kernel, the grid, why it is this one, and the bytes to read and write.
/// `in`, indices, n and `out` are the call's. Nothing is launched. Errors are those of the call. The words may
/// change from version to version.
/// \{

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

/// \name Former names
/// Deprecated since 0.1: forEach and transform move structures of any size, too, and messages name those.
/// \{

/// The same as forEach of an array. `n` is passed by value, as there, so that a lambda need not capture a constant.
template <class It, class N, class... Arguments, class = std::enable_if_t<std::is_integral_v<N>>>
void forEachStruct(It data, N n, Arguments&&... arguments) {
  gpuopt::forEach(data, static_cast<std::size_t>(n), std::forward<Arguments>(arguments)...);
}

/// The same as forEach of other data.
template <class... Arguments>
void forEachStruct(Arguments&&... arguments) {
  gpuopt::forEach(std::forward<Arguments>(arguments)...);
}

/// The same as transform of an array. `n` is passed by value, as there, so that a lambda need not capture a constant.
template <class It, class N, class... Arguments, class = std::enable_if_t<std::is_integral_v<N>>>
void transformStructs(It in, N n, Arguments&&... arguments) {
  gpuopt::transform(in, static_cast<std::size_t>(n), std::forward<Arguments>(arguments)...);
}

/// The same as transform of other data.
template <class... Arguments>
void transformStructs(Arguments&&... arguments) {
  gpuopt::transform(std::forward<Arguments>(arguments)...);
}

/// The same as explainForEach.
template <class It>
[[nodiscard]] std::string explainForEachStruct(It data, std::size_t n) {
  return gpuopt::explainForEach(data, n);
}

/// The same as explainTransform.
template <class It, class OutIt>
[[nodiscard]] std::string explainTransformStructs(It in, std::size_t n, OutIt out) {
  return gpuopt::explainTransform(in, n, out);
}
/// \}

GPUOPT_OTHER_CALLS(gatherStructs, "(in, indices, n, out), or containers without n, then a stream")
GPUOPT_OTHER_CALLS(scatterStructs, "(in, indices, n, out), or containers without n, then a stream")

GPUOPT_NAMESPACE_END
