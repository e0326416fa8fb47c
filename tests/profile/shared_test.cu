// Passes through the banks of shared memory.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

#include <gpuopt/block/shared.cuh>

namespace gpuopt::test::profile_shared_test {
namespace {

template <unsigned PITCH>
__global__ void transposeTileOf(const float* in, float* out) {
  __shared__ float tile[32][PITCH];
  for (unsigned row = threadIdx.x / 32; row < 32; row += 8)
    tile[row][threadIdx.x % 32] = in[row * 32 + threadIdx.x % 32];
  __syncthreads();
  for (unsigned row = threadIdx.x / 32; row < 32; row += 8)
    out[row * 32 + threadIdx.x % 32] = tile[threadIdx.x % 32][row];
}

template <unsigned PITCH>
Profile tileProfile() {
  DeviceArray<float> in(1024), out(1024);
  return profileOf(transposeTileOf<PITCH>, 1, 256, static_cast<const float*>(in.data()), out.data());
}

TEST_CASE("profile: a tile without padding has conflicts, a padded one has none", "[profile]") {
  const Profile plain = tileProfile<32>(), padded = tileProfile<33>();
  CHECK(plain.sharedStores().bankConflicts() == 0);
  CHECK(plain.sharedLoads().requests == 32);
  CHECK(plain.sharedLoads().wavefronts == 32 * 32);
  CHECK(plain.bankConflicts() == 32 * 31);
  CHECK(padded.bankConflicts() == 0);
  CHECK(padded.sharedLoads().wavefronts == 32);
  CHECK(padded.barriers() == 8);
  CHECK(
      plain.text().find("32 lanes read 4 bytes, 128 bytes apart, up to 32 words of one bank: 32 passes a request where "
                        "1 would do.\n    Pad the rows by one word") != std::string::npos);
  CHECK(padded.text().find("Nothing to improve") == 0);
}

template <class T>
__global__ void roundTrip(T* out, unsigned stride) {
  T* const shared = dynamicShared<T>();
  shared[threadIdx.x * stride] = T{};
  __syncthreads();
  out[threadIdx.x] = shared[threadIdx.x * stride];
}

template <class T>
Profile roundTripProfile(unsigned stride) {
  DeviceArray<T> out(32);
  LaunchConfig config;
  config.block = dim3(32);
  config.sharedBytes = 32 * stride * sizeof(T);
  return profile([&] { launch(roundTrip<T>, config, out.data(), stride); });
}

TEST_CASE("profile: dynamic shared memory, by width and stride", "[profile]") {
  for (const unsigned stride : {1u, 2u, 4u, 8u, 32u}) {
    CAPTURE(stride);
    CHECK(roundTripProfile<float>(stride).sharedStores().wavefronts == stride);
    CHECK(roundTripProfile<float>(stride).sharedLoads().wavefronts == stride);
  }
  CHECK(roundTripProfile<double>(1).sharedStores().wavefronts == 2);
  CHECK(roundTripProfile<double>(2).sharedStores().wavefronts == 4);
  CHECK(roundTripProfile<float4>(1).sharedStores().wavefronts == 4);
  CHECK(roundTripProfile<float4>(1).sharedStores().requests == 1);
  CHECK(roundTripProfile<unsigned char>(1).sharedStores().wavefronts == 1);
}

__global__ void sharedCounters(unsigned* out) {
  __shared__ unsigned counters[32];
  counters[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(counters + threadIdx.x % 4, 1u);
  __syncthreads();
  out[threadIdx.x] = counters[threadIdx.x];
}

TEST_CASE("profile: atomics on shared memory", "[profile]") {
  DeviceArray<unsigned> out(32);
  const Profile found = profileOf(sharedCounters, 1, 32, out.data());
  CHECK(found.sharedAtomics().requests == 1);
  CHECK(found.sharedAtomics().repeatedLanes == 28);
  CHECK(found.sharedLoads().requests == 1);
  CHECK(found.sharedStores().requests == 1);
  CHECK(found.barriers() == 2);
  CHECK(out.toHost()[3] == 8);
}

}  // namespace
}  // namespace gpuopt::test::profile_shared_test
