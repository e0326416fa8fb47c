// Sectors of global memory. Every expected number follows from the addresses alone.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

namespace gpuopt::test::profile_global_test {
namespace {

constexpr unsigned THREADS = 128;
constexpr std::uint64_t WARPS = THREADS / 32;

__device__ unsigned self() { return blockIdx.x * blockDim.x + threadIdx.x; }

template <class T>
__global__ void copy(const T* in, T* out) {
  out[self()] = in[self()];
}

constexpr int COPY_FROM = __LINE__ + 3;
template <class T>
__global__ void copyFrom(const T* in, T* out, unsigned stride, unsigned offset) {
  out[self()] = in[self() * stride + offset];
}

struct Triple {
  float x, y, z;
};
struct Pair {
  float x, y;
};
struct Particle {
  float x, y, z, mass;
};
struct __align__(16) AlignedOctet {
  float values[8];
};
struct Octet {
  float values[8];
};
struct Mixed {
  double number;
  int a, b, c;
};

/// Requests that each warp needs to load an element.
template <class T>
std::uint64_t requestsOf() {
  DeviceArray<T> in(THREADS), out(THREADS);
  const Profile found = profileOf(copy<T>, 1, THREADS, static_cast<const T*>(in.data()), out.data());
  CHECK(found.globalLoads().bytes == THREADS * sizeof(T));
  CHECK(found.globalStores().bytes == THREADS * sizeof(T));
  CHECK(found.globalStores().requests == found.globalLoads().requests);
  CHECK(found.globalStores().sectors == found.globalLoads().sectors);
  return found.globalLoads().requests / WARPS;
}

TEST_CASE("profile: an element takes the requests that its alignment allows", "[profile]") {
  CHECK(requestsOf<unsigned char>() == 1);
  CHECK(requestsOf<short>() == 1);
  CHECK(requestsOf<float>() == 1);
  CHECK(requestsOf<double>() == 1);
  CHECK(requestsOf<float2>() == 1);
  CHECK(requestsOf<float4>() == 1);
  CHECK(requestsOf<uchar4>() == 1);
  CHECK(requestsOf<double2>() == 1);
  CHECK(requestsOf<Pair>() == 2);
  CHECK(requestsOf<Triple>() == 3);
  CHECK(requestsOf<Particle>() == 4);
  CHECK(requestsOf<AlignedOctet>() == 2);
  CHECK(requestsOf<Octet>() == 8);
  CHECK(requestsOf<Mixed>() == 3);
}

TEST_CASE("profile: neighbours share sectors, strangers do not", "[profile]") {
  constexpr unsigned STRIDES[] = {1, 2, 3, 8, 9, 100};
  constexpr std::uint64_t SECTORS[] = {4, 8, 12, 32, 32, 32};
  DeviceArray<float> in(101 * THREADS), out(THREADS);
  for (unsigned i = 0; i < 6; ++i) {
    const Profile found =
        profileOf(copyFrom<float>, 1, THREADS, static_cast<const float*>(in.data()), out.data(), STRIDES[i], 0u);
    CAPTURE(STRIDES[i]);
    CHECK(found.globalLoads().requests == WARPS);
    CHECK(found.globalLoads().lanes == THREADS);
    CHECK(found.globalLoads().sectors == WARPS * SECTORS[i]);
    CHECK(found.globalLoads().idealSectors == WARPS * 4);
    CHECK(found.globalLoads().utilisation() == 4.0 / static_cast<double>(SECTORS[i]));
    CHECK(found.globalStores().utilisation() == 1);
    const LineProfile line = found.at(place("global_test.cu", COPY_FROM));
    REQUIRE(line.accesses[0].kind == AccessKind::globalLoad);
    const AccessPattern& pattern = line.accesses[0].pattern;
    CHECK(pattern.stride == static_cast<long long>(sizeof(float) * STRIDES[i]));
    CHECK(pattern.regularity == 1);
  }
}

TEST_CASE("profile: a warp that begins within a sector needs one more", "[profile]") {
  DeviceArray<float> in(2 * THREADS), out(THREADS);
  for (const unsigned offset : {0u, 1u, 7u, 8u}) {
    const Profile found =
        profileOf(copyFrom<float>, 1, THREADS, static_cast<const float*>(in.data()), out.data(), 1u, offset);
    CAPTURE(offset);
    CHECK(found.globalLoads().sectors == WARPS * (offset % 8 == 0 ? 4 : 5));
  }
}

__global__ void broadcast(const float* in, float* out) { out[self()] = in[threadIdx.x / 32]; }

TEST_CASE("profile: lanes that read the same word read it once", "[profile]") {
  DeviceArray<float> in(32), out(THREADS);
  const Profile found = profileOf(broadcast, 1, THREADS, static_cast<const float*>(in.data()), out.data());
  CHECK(found.globalLoads().sectors == WARPS);
  CHECK(found.globalLoads().idealSectors == WARPS);
  CHECK(found.globalLoads().bytes == 4 * WARPS);
  CHECK(found.globalLoads().sectorsPerRequest() == 1);
}

__global__ void gather(const unsigned* indices, const float* in, float* out) { out[self()] = in[indices[self()]]; }

TEST_CASE("profile: a gather has no stride", "[profile]") {
  std::vector<unsigned> indices(THREADS);
  for (unsigned i = 0; i < THREADS; ++i) indices[i] = i * 37 % 128 * 8;
  DeviceArray<unsigned> where(indices);
  DeviceArray<float> in(1024), out(THREADS);
  const Profile found = profileOf(gather, 1, THREADS, static_cast<const unsigned*>(where.data()),
                                  static_cast<const float*>(in.data()), out.data());
  CHECK(found.globalLoads().sectors == WARPS * (4 + 32));
  CHECK(found.text().find("32 lanes read 4 bytes at addresses without a pattern: 32 sectors a request where 4 would "
                          "do.\n    Sort the indices") != std::string::npos);
}

__global__ void countAll(unsigned* counters, unsigned distance) { atomicAdd(counters + threadIdx.x * distance, 1u); }

TEST_CASE("profile: atomics at equal addresses", "[profile]") {
  DeviceArray<unsigned> counters(std::vector<unsigned>(THREADS, 0u));
  for (const unsigned distance : {0u, 1u}) {
    const Profile found = profileOf(countAll, 1, THREADS, counters.data(), distance);
    CHECK(found.globalAtomics().requests == WARPS);
    CHECK(found.globalAtomics().lanes == THREADS);
    CHECK(found.globalAtomics().repeatedLanes == (distance == 0 ? WARPS * 31 : 0));
    CHECK(found.globalAtomics().sectors == WARPS * (distance == 0 ? 1 : 4));
    CHECK(found.globalLoads().requests == 0);
    CHECK(found.globalStores().requests == 0);
    CHECK((found.text().find("31 of 32 lanes wait for another lane's update") != std::string::npos) == (distance == 0));
  }
  CHECK(counters.toHost()[0] == THREADS + 1);
}

__global__ void readTwice(const float* in, float* out) {
  const float first = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = first + in[threadIdx.x] + in[32 + threadIdx.x % 32];
}

TEST_CASE("profile: what a launch moves at least", "[profile]") {
  DeviceArray<float> in(THREADS), out(THREADS);
  const Profile found = profileOf(readTwice, 1, THREADS, static_cast<const float*>(in.data()), out.data());
  CHECK(found.kernels[0].bytesRead == THREADS * sizeof(float));
  CHECK(found.kernels[0].bytesWritten == THREADS * sizeof(float));
  CHECK(found.globalLoads().sectors == 3 * THREADS / 8);
}

__constant__ float weights[4] = {1, 2, 3, 4};

__global__ void weigh(float* out) {
  float local[4];
  for (unsigned i = 0; i < 4; ++i) local[(i + threadIdx.x) % 4] = weights[i];
  out[threadIdx.x] = local[threadIdx.x % 4];
}

TEST_CASE("profile: constants and a thread's own variables are not global memory", "[profile]") {
  DeviceArray<float> out(THREADS);
  const float values[4] = {4, 3, 2, 1};
  REQUIRE(cudaMemcpyToSymbol(weights, values, sizeof values) == cudaSuccess);
  const Profile found = profileOf(weigh, 1, THREADS, out.data());
  CHECK(found.globalLoads().requests == 0);
  CHECK(found.sharedLoads().requests == 0);
  CHECK(found.globalStores().requests == WARPS);
}

__global__ void throughTexture(cudaTextureObject_t texture, cudaSurfaceObject_t surface, float* out) {
  const int i = static_cast<int>(threadIdx.x);
  const float value = tex2D<float>(texture, static_cast<float>(i) + 0.5F, 0.5F);
  surf2Dwrite(value + surf2Dread<float>(surface, 4 * i, 1), surface, 4 * i, 2);
  out[i] = value;
}

TEST_CASE("profile: textures and surfaces are not counted", "[profile]") {
  DeviceArray<float> out(THREADS);
  const cudaChannelFormatDesc channels = cudaCreateChannelDesc<float>();
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  REQUIRE(cudaMallocArray(&resource.res.array.array, &channels, THREADS, 3, cudaArraySurfaceLoadStore) == cudaSuccess);
  const cudaTextureDesc description{};
  cudaTextureObject_t texture = 0;
  cudaSurfaceObject_t surface = 0;
  REQUIRE(cudaCreateTextureObject(&texture, &resource, &description, nullptr) == cudaSuccess);
  REQUIRE(cudaCreateSurfaceObject(&surface, &resource) == cudaSuccess);
  const Profile found = profileOf(throughTexture, 1, THREADS, texture, surface, out.data());
  CHECK(found.globalLoads().requests == 0);
  CHECK(found.globalStores().requests == WARPS);
  CHECK(found.kernels[0].bytesRead == 0);
  CHECK(found.kernels[0].bytesWritten == THREADS * sizeof(float));
  REQUIRE(cudaDestroyTextureObject(texture) == cudaSuccess);
  REQUIRE(cudaDestroySurfaceObject(surface) == cudaSuccess);
  REQUIRE(cudaFreeArray(resource.res.array.array) == cudaSuccess);
}

}  // namespace
}  // namespace gpuopt::test::profile_global_test
