// The classical mistakes, planted one by one: a contract finds each, and the report names its cure first.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

namespace gpuopt::test::profile_advice_test {
namespace {

constexpr unsigned THREADS = 256;

/// What the report says of a kernel's worst line.
std::string firstAdvice(const Profile& found) {
  const std::string text = found.text();
  const std::size_t begin = text.find(" 1. ");
  return begin == std::string::npos ? text.substr(0, text.find('\n')) : text.substr(begin, text.find("\n 2. ") - begin);
}

bool advises(const Profile& found, const std::string& cure) {
  return firstAdvice(found).find(cure) != std::string::npos;
}

struct Particle {
  float x, y, z, mass;
};

__global__ void moveStructures(Particle* particles) {
  Particle p = particles[threadIdx.x];
  p.x += p.mass;
  particles[threadIdx.x] = p;
}

__global__ void addMembers(const Particle* particles, float* out) { out[threadIdx.x] = particles[threadIdx.x].mass; }

TEST_CASE("profile: an array of structures", "[profile]") {
  DeviceArray<Particle> particles(THREADS);
  DeviceArray<float> out(THREADS);
  const Profile whole = profileOf(moveStructures, 1, THREADS, particles.data());
  CHECK(whole.globalLoads().utilisation() == 0.25);
  CHECK(advises(whole, "gpuopt::transformStructs"));
  const Profile member = profileOf(addMembers, 1, THREADS, static_cast<const Particle*>(particles.data()), out.data());
  CHECK(member.globalLoads().utilisation() == 0.25);
  CHECK(advises(member, "gpuopt::SoaVector"));
}

__global__ void copyColumns(const float* in, float* out, unsigned pitch) {
  for (unsigned i = 0; i < 8; ++i) out[threadIdx.x * pitch + i] = in[i * THREADS + threadIdx.x];
}

TEST_CASE("profile: columns instead of rows", "[profile]") {
  DeviceArray<float> in(8 * THREADS), out(100 * THREADS);
  const Profile found = profileOf(copyColumns, 1, THREADS, static_cast<const float*>(in.data()), out.data(), 100u);
  CHECK(found.globalStores().utilisation() == 0.125);
  CHECK(found.globalLoads().utilisation() == 1);
  CHECK(advises(found, "32 lanes write 4 bytes, 400 bytes apart: 32 sectors a request where 4 would do"));
  CHECK(advises(found, "gpuopt::transposeTile"));
}

__global__ void copyRows(const float* in, float* out, unsigned pitch) {
  for (unsigned row = 0; row < 8; ++row) out[row * 256 + threadIdx.x] = in[row * pitch + threadIdx.x];
}

TEST_CASE("profile: rows that begin anywhere", "[profile]") {
  DeviceArray<float> in(8 * 300), out(8 * 256);
  const Profile unaligned = profileOf(copyRows, 1, 256, static_cast<const float*>(in.data()), out.data(), 257u);
  CHECK(unaligned.globalLoads().utilisation() < 0.85);
  CHECK(advises(unaligned, "cudaMallocPitch"));
  const Profile aligned = profileOf(copyRows, 1, 256, static_cast<const float*>(in.data()), out.data(), 264u);
  CHECK(aligned.globalLoads().utilisation() == 1);
  CHECK(advises(aligned, "Nothing to improve"));
}

__global__ void evenLanes(float* data) {
  float value = data[threadIdx.x];
  for (int i = 0; i < 20; ++i)
    if (threadIdx.x % 2 == 0)
      for (int k = 0; k < i; ++k) value = value * 0.5F + 1;
  data[threadIdx.x] = value;
}

TEST_CASE("profile: a divergent branch", "[profile]") {
  DeviceArray<float> data(std::vector<float>(THREADS, 1.0F));
  const Profile found = profileOf(evenLanes, 1, THREADS, data.data());
  CHECK(found.warpEfficiency() < 0.6);
  CHECK(advises(found, "lanes are active"));
  CHECK(advises(found, "threadIdx.x / 32"));
}

__global__ void countTo(unsigned* counter) { atomicAdd(counter, 1u); }

TEST_CASE("profile: atomics of all lanes on one counter", "[profile]") {
  DeviceArray<unsigned> counter(std::vector<unsigned>(1, 0u));
  CHECK(advises(profileOf(countTo, 1, THREADS, counter.data()), "gpuopt::warpReduce"));
}

}  // namespace
}  // namespace gpuopt::test::profile_advice_test
