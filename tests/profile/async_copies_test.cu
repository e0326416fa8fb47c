// Asynchronous copies from global to shared memory: a kind of their own.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_pipeline_primitives.h>

#include <cstdint>
#include <vector>

namespace gpuopt::test::profile_async_copies_test {
namespace {

/// Each lane copies T from number `from` + lane to number `to` + lane, but zeros from lane `lanes` on.
template <class T>
__global__ void copyLanes(const T* in, T* out, unsigned from, unsigned to, unsigned lanes) {
  __shared__ T staged[64];
  const unsigned zeros = threadIdx.x < lanes ? 0 : sizeof(T);
  __pipeline_memcpy_async(staged + to + threadIdx.x, in + from + threadIdx.x, sizeof(T), zeros);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  out[threadIdx.x] = staged[to + threadIdx.x];
}

template <class T>
Profile copyProfile(unsigned from, unsigned to, unsigned lanes = 32) {
  DeviceArray<T> in(64), out(32);
  return profileOf(copyLanes<T>, 1, 32, static_cast<const T*>(in.data()), out.data(), from, to, lanes);
}

TEST_CASE("profile: an asynchronous copy is no store", "[profile]") {
  const Profile aligned = copyProfile<uint4>(0, 0);
  CHECK(aligned.asyncCopies().requests == 1);
  CHECK(aligned.asyncCopies().lanes == 32);
  CHECK(aligned.asyncCopies().bytes == 512);
  CHECK(aligned.asyncCopies().wavefronts == 4);
  CHECK(aligned.asyncCopies().idealWavefronts == 4);
  CHECK(aligned.globalLoads().requests == 1);
  CHECK(aligned.globalLoads().sectors == 16);
  CHECK(aligned.kernels[0].bytesRead == 512);
  CHECK(aligned.sharedStores().requests == 0);
  CHECK(aligned.sharedLoads().wavefronts == 4);
  CHECK(aligned.text().find("async copy") != std::string::npos);
  CHECK(aligned.text().find("Nothing to improve") == 0);
  CHECK(aligned.json().find("\"kind\": \"async copy\"") != std::string::npos);
}

TEST_CASE("profile: asynchronous copies to another place within 128 bytes", "[profile]") {
  const Profile shifted = copyProfile<uint4>(0, 2);
  CHECK(shifted.asyncCopies().wavefronts == 8);
  CHECK(shifted.asyncCopies().idealWavefronts == 4);
  CHECK(shifted.bankConflicts() == 0);
  CHECK(shifted.text().find("32 lanes copy 16 bytes, side by side in shared memory, asynchronously: 8 passes a request "
                            "where 4 would do.\n    Copy to the same place within 128 bytes as the source has") !=
        std::string::npos);
  CHECK(copyProfile<uint4>(0, 1).asyncCopies().wavefronts == 12);
  CHECK(copyProfile<uint4>(2, 2).asyncCopies().wavefronts == 5);
  CHECK(copyProfile<uint4>(1, 1).asyncCopies().wavefronts == 6);
  CHECK(copyProfile<uint4>(1, 0).globalLoads().sectors == 17);
  CHECK(copyProfile<unsigned>(3, 5).asyncCopies().wavefronts == 1);
  CHECK(copyProfile<unsigned>(3, 5).asyncCopies().bytes == 128);
}

TEST_CASE("profile: lanes that fill up with zeros read nothing", "[profile]") {
  const Profile half = copyProfile<uint4>(0, 0, 10);
  CHECK(half.asyncCopies().lanes == 32);
  CHECK(half.globalLoads().lanes == 10);
  CHECK(half.globalLoads().sectors == 5);
  CHECK(copyProfile<uint4>(0, 0, 0).globalLoads().requests == 0);
}

__global__ void placesOfVariables(unsigned* places) {
  __shared__ unsigned char byte;
  __shared__ float words[3];
  __shared__ uint4 vectors[5];
  const void* const variables[] = {&byte, words, vectors};
  places[threadIdx.x] = reinterpret_cast<std::uintptr_t>(variables[threadIdx.x]) % 128;
}

TEST_CASE("profile: shared variables begin at multiples of 128 bytes", "[profile]") {
  DeviceArray<unsigned> places(std::vector<unsigned>(3, 1u));
  profileOf(placesOfVariables, 1, 3, places.data());
  CHECK(places.toHost() == std::vector<unsigned>(3, 0u));
}

__global__ void copyAsGroup(const float* in, float* out) {
  __shared__ float staged[256];
  const auto block = cooperative_groups::this_thread_block();
  cooperative_groups::memcpy_async(block, staged, in, sizeof staged);
  cooperative_groups::wait(block);
  out[threadIdx.x] = staged[255 - threadIdx.x];
}

TEST_CASE("profile: a group's copies", "[profile]") {
  DeviceArray<float> in(256), out(64);
  const Profile found = profileOf(copyAsGroup, 1, 64, static_cast<const float*>(in.data()), out.data());
  CHECK(found.asyncCopies().requests == 8);
  CHECK(found.asyncCopies().wavefronts == 8);
  CHECK(found.globalLoads().utilisation() == 1);
  CHECK(found.sharedStores().requests == 0);
}

}  // namespace
}  // namespace gpuopt::test::profile_async_copies_test
