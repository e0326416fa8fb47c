// EXPECT: gpuopt: a column is named by a pointer to a data member, or by its number
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/view.cuh>

struct Particle {
  float mass;
  float weight() const;
};

auto fail(const gpuopt::SoaView<Particle>& view) { return view.column<&Particle::weight>(); }
