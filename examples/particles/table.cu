/// \file
/// Particles in files.
// SPDX-License-Identifier: MIT
#include "table.cuh"

#include "readers.hpp"

#include <cmath>
#include <fstream>
#include <limits>
#include <random>
#include <stdexcept>
#include <variant>

namespace {

// One column of the file, whose numbers must be of use for a particle.
class Column {
 public:
  Column(const std::string& file, const std::string& name)
      : file_(file), name_(name), values_(std::get<std::vector<double>>(readColumn(file, name, ',').values)) {}

  std::size_t size() const { return values_.size(); }

  float number(std::size_t row) const {
    if (!(std::fabs(values_[row]) <= 1e15)) refuse(row, "is not between -1e15 and 1e15");
    return static_cast<float>(values_[row]);
  }

  float positive(std::size_t row) const {
    if (!(number(row) > 0)) refuse(row, "is not positive");
    return number(row);
  }

  int whole(std::size_t row) const {
    const double value = values_[row];
    if (!(std::fabs(value) <= std::numeric_limits<int>::max()) || value != std::floor(value))
      refuse(row, "is no whole number of 32 bits");
    return static_cast<int>(value);
  }

 private:
  [[noreturn]] void refuse(std::size_t row, const char* problem) const {
    throw InputError(file_, "malformed: particle " + std::to_string(row + 1) + ": " + name_ + " " + problem);
  }

  std::string file_;
  std::string name_;
  std::vector<double> values_;
};

}  // namespace

std::vector<Particle> readParticles(const std::string& file) {
  const Column x(file, "x"), y(file, "y"), z(file, "z"), vx(file, "vx"), vy(file, "vy"), vz(file, "vz");
  const Column mass(file, "mass"), id(file, "id");
  std::vector<Particle> particles(x.size());
  for (std::size_t i = 0; i < particles.size(); ++i)
    particles[i] = {{x.number(i), y.number(i), z.number(i)},
                    {vx.number(i), vy.number(i), vz.number(i)},
                    mass.positive(i),
                    id.whole(i)};
  return particles;
}

void writeParticles(const std::string& file, const std::vector<Particle>& particles) {
  std::ofstream stream(file);
  stream << "x,y,z,vx,vy,vz,mass,id\n";
  stream.precision(std::numeric_limits<float>::max_digits10);
  for (const auto& [p, v, mass, id] : particles)
    stream << p.x << ',' << p.y << ',' << p.z << ',' << v.x << ',' << v.y << ',' << v.z << ',' << mass << ',' << id
           << '\n';
  if (!stream.flush()) throw std::runtime_error(file + ": cannot be written");
}

std::vector<Particle> generateParticles(std::size_t count) {
  std::mt19937 generator(1);
  // Of the generator's 32 bits, as many as a float holds: the same on every machine.
  const auto between = [&](float least, float most) {
    return least + (most - least) * static_cast<float>(generator() >> 8) * 0x1p-24F;
  };
  std::vector<Particle> particles(count);
  for (std::size_t i = 0; i < count; ++i) {
    Particle& p = particles[i];
    p.position = {between(-2, 2), between(-2, 2), between(-2, 2)};
    p.velocity = {between(-1, 1), between(-1, 1), between(-1, 1)};
    p.mass = between(0.5F, 2);
    p.id = static_cast<int>(i);
  }
  return particles;
}
