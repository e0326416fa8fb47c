/// \file
/// A particle, and what happens to it in one step of time.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cmath>

struct Particle {
  float3 position;
  float3 velocity;
  float mass;
  int id;
};

/// One step: four heavy bodies that stay where they are attract the particle, and a medium slows it down, the
/// light ones more. Vector is float3 or double3: the serial reference computes in double precision.
template <class Vector, class Real = decltype(Vector::x)>
__host__ __device__ void advance(Vector& position, Vector& velocity, Real mass) {
  struct Body {
    float x, y, z, mass;
  };
  constexpr Body bodies[] = {{1, 1, 1, 2}, {-1, -1, 1, 1}, {-1, 1, -1, 3}, {1, -1, -1, 0.5F}};
  constexpr Real TIME = Real(0.0078125), DRAG = Real(0.25), SOFTENING = Real(0.25);

  Vector pull{0, 0, 0};
#pragma unroll
  for (const Body& body : bodies) {
    const Vector way{Real(body.x) - position.x, Real(body.y) - position.y, Real(body.z) - position.z};
    const Real square = way.x * way.x + way.y * way.y + way.z * way.z + SOFTENING;
    const Real strength = Real(body.mass) / (square * std::sqrt(square));
    pull.x += strength * way.x;
    pull.y += strength * way.y;
    pull.z += strength * way.z;
  }
  const Real kept = 1 / (1 + TIME * DRAG / mass);
  velocity.x = kept * (velocity.x + TIME * pull.x);
  velocity.y = kept * (velocity.y + TIME * pull.y);
  velocity.z = kept * (velocity.z + TIME * pull.z);
  position.x += TIME * velocity.x;
  position.y += TIME * velocity.y;
  position.z += TIME * velocity.z;
}
