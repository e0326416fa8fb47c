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

template <int STEP>
__global__ void copyApart(const float* in, float* out) {
  out[threadIdx.x * STEP] = in[threadIdx.x] + in[threadIdx.x + THREADS];
}

TEST_CASE("profile: instances of a template are one finding", "[profile]") {
  DeviceArray<float> in(2 * THREADS), out(64 * THREADS);
  LaunchConfig config;
  config.block = dim3(THREADS);
  const Profile found = profile([&] {
    launch(copyApart<64>, config, in.data(), out.data());
    launch(copyApart<32>, config, in.data(), out.data());
    launch(copyApart<64>, config, in.data(), out.data());
    launch(copyApart<1>, config, in.data(), out.data());
  });
  const std::string text = found.text();
  CHECK(text.find(" 1. ") != std::string::npos);
  CHECK(text.find("256 bytes apart") != std::string::npos);
  CHECK(text.find("128 bytes apart") != std::string::npos);  // another pattern is another finding
  CHECK(text.find(" 3. ") == std::string::npos);
}

template <int STEP>
__global__ void scaleApart(float* out, float by) {
  out[threadIdx.x * 64] = by * STEP;
}

TEST_CASE("profile: a finding names how many kernels have it", "[profile]") {
  DeviceArray<float> out(64 * THREADS);
  LaunchConfig config;
  config.block = dim3(THREADS);
  const Profile found = profile([&] {
    launch(scaleApart<1>, config, out.data(), 1.0F);
    launch(scaleApart<2>, config, out.data(), 1.0F);
    launch(scaleApart<3>, config, out.data(), 1.0F);
  });
  CHECK(firstAdvice(found).find("scaleApart<1>") != std::string::npos);
  CHECK(firstAdvice(found).find(" and 2 other kernels") != std::string::npos);
  CHECK(found.text().find(" 2. ") == std::string::npos);
}

__global__ void multiply(const float* a, const float* b, float* c, unsigned n) {
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (unsigned k = 0; k < n; ++k) {
    const float factor = a[row * n + k];
    sum += factor * b[k * n + column];
  }
  c[row * n + column] = sum;
}

Profile profileOfProduct(dim3 block, unsigned n) {
  DeviceArray<float> a(std::vector<float>(n * n, 1.0F)), b(std::vector<float>(n * n, 1.0F)), c(n * n);
  LaunchConfig config;
  config.block = block;
  config.grid = dim3(n / block.x, n / block.y);
  return profile([&] { launch(multiply, config, a.data(), b.data(), c.data(), n); });
}

TEST_CASE("profile: a loop that reads the same memory again is named, a broadcast, too", "[profile]") {
  const std::string text = profileOfProduct(dim3(32, 8), 128).text();
  CHECK(text.find("32 lanes read 4 bytes, side by side: 262144 sectors, though the kernel reads only 4096") !=
        std::string::npos);
  CHECK(text.find("32 lanes read 4 bytes at the same address: 65536 sectors") != std::string::npos);
  CHECK(text.find("copy a tile to shared memory") != std::string::npos);
  const std::string small = profileOfProduct(dim3(32, 8), 32).text();
  CHECK(small.find("at the same address") == std::string::npos);  // 1024 sectors, of which 256 differ
}

__global__ void scaleByOne(const float* factor, float* out) { out[threadIdx.x] = *factor; }

TEST_CASE("profile: a parameter that each thread reads once is no loop", "[profile]") {
  DeviceArray<float> factor(std::vector<float>(1, 2.0F)), out(1024);
  CHECK(advises(profileOf(scaleByOne, 1, 1024, static_cast<const float*>(factor.data()), out.data()),
                "Nothing to improve"));
}

TEST_CASE("profile: a warp of two rows has a pattern", "[profile]") {
  const std::string text = profileOfProduct(dim3(16, 16), 128).text();
  CHECK(text.find("without a pattern") == std::string::npos);
  CHECK(text.find("Sort the indices") == std::string::npos);
  CHECK(text.find("32 lanes read 4 bytes at the same address in each row of 16 lanes") != std::string::npos);
  CHECK(text.find("Make blocks 32 threads wide") != std::string::npos);
}

/// A row of 128 elements a warp, of which a lane has four: the first one has no left neighbour.
__global__ void addLeft(const float* in, float* out) {
  const unsigned column = 4 * threadIdx.x, row = 128 * blockIdx.x;
  out[32 * blockIdx.x + threadIdx.x] = in[row + (column == 0 ? 0 : column - 1)];
}

/// Each lane's elements are anywhere, and every second warp has one lane.
__global__ void gatherSome(const float* in, float* out) {
  const unsigned i = 32 * blockIdx.x + threadIdx.x;
  if (blockIdx.x % 2 == 0 || threadIdx.x == 0) out[i] = in[i * i * 7919 % 4096];
}

TEST_CASE("profile: windows have a pattern at the edges, too, and a gather has none", "[profile]") {
  DeviceArray<float> in(std::vector<float>(4096, 1.0F)), out(1024);
  const auto textOf = [&](auto kernel) {
    return profileOf(kernel, 32, 32, static_cast<const float*>(in.data()), out.data()).text();
  };
  const std::string window = textOf(addLeft), gather = textOf(gatherSome);
  CHECK(window.find("32 lanes read 4 bytes, 16 bytes apart") != std::string::npos);
  CHECK(window.find("Sort the indices") == std::string::npos);
  CHECK(gather.find("read 4 bytes at addresses without a pattern") != std::string::npos);
  CHECK(gather.find("Sort the indices") != std::string::npos);
}

__global__ void addAlone(const float* in, float* out, unsigned n) {
  float sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

TEST_CASE("profile: a block of one thread has 1 of 32 lanes", "[profile]") {
  DeviceArray<float> in(std::vector<float>(1024, 1.0F)), out(1);
  const Profile found = profileOf(addAlone, 1, 1, static_cast<const float*>(in.data()), out.data(), 1024u);
  const std::string text = found.text();
  CHECK(text.find("3 % of the lanes active") != std::string::npos);
  CHECK(text.find("1 of 32 lanes are active") != std::string::npos);
  CHECK(text.find("Launch blocks of a multiple of 32 threads") != std::string::npos);
  CHECK(found.warpEfficiency() == 1);  // it does not diverge
}

}  // namespace
}  // namespace gpuopt::test::profile_advice_test
