/// \file
/// Particles in files: tables with the columns x, y, z, vx, vy, vz, mass, id.
// SPDX-License-Identifier: MIT
#pragma once

#include "particle.cuh"

#include <cstddef>
#include <string>
#include <vector>

/// Reads a table whose header names the eight columns, in any order and among others. Throws InputError for a
/// file that is missing or malformed.
std::vector<Particle> readParticles(const std::string& file);

/// Writes a table that readParticles reads as the same particles. Throws std::runtime_error with one line
/// that begins with the file's name where that fails.
void writeParticles(const std::string& file, const std::vector<Particle>& particles);

/// `count` random particles, the same in every run.
std::vector<Particle> generateParticles(std::size_t count);
