/// \file
/// Structures of arrays: a plain struct declares the columns, without macros.
///
///     struct Particle { float3 position, velocity; float mass; int id; };
///
///     gpuopt::SoaVector<Particle> particles(n, stream);            // one allocation for all columns
///     gpuopt::SoaView<Particle> view = particles.view();           // by value into kernels
///     gpuopt::SoaView<const Particle> theirs{position, velocity, mass, id, n};  // columns of your own
///
///     Particle p = view[i];  p.mass *= 2;  view[i] = p;            // device or host code
///     auto [position, velocity, mass, id] = view[i];               // references
///     float total = gpuopt::reduce(view.column<&Particle::mass>(), n);
///
///     gpuopt::toSoa(aos, n, particles, stream);                    // from an array of structs; or to a view
///     gpuopt::forEach(particles, [] __device__(Particle& p) { p.mass *= 2; }, stream);  // and transform(in, out, f)
///     gpuopt::toAos(particles, aos, stream);                       // and back
///     float same = gpuopt::reduce(gpuopt::member<&Particle::mass>(aos), n);
///
/// More, and when which layout is best: docs/soa.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/identity.cuh>
#include <gpuopt/soa/iterator.cuh>
#include <gpuopt/soa/layout.cuh>
#include <gpuopt/soa/vector.cuh>
#include <gpuopt/soa/view.cuh>
#include <gpuopt/soa_convert.cuh>
#include <gpuopt/soa_transform.cuh>
