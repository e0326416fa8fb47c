// Which line, which kernel, which launches.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

#include <gpuopt/block/shared.cuh>

#include <stdexcept>

namespace gpuopt::test::profile_lines_test {
namespace {

constexpr int LOAD = __LINE__ + 3;
struct Scale {
  const float* in;
  __device__ float operator()(unsigned i) const { return in[i] * 2; }
};
constexpr int CALL = __LINE__ + 3;
template <class F>
__global__ void fill(F f, float* out) {
  out[threadIdx.x] = f(threadIdx.x);
}

template <class F>
Profile fillProfile(F f, DeviceArray<float>& out, unsigned launches = 1) {
  LaunchConfig config;
  config.block = dim3(64);
  return profile([&] {
    for (unsigned i = 0; i < launches; ++i) launch(fill<F>, config, f, out.data());
  });
}

TEST_CASE("profile: the line of an inlined function, and the line that it is inlined into", "[profile]") {
  DeviceArray<float> in(64), out(64);
  const Profile found = fillProfile(Scale{in.data()}, out);
  CHECK(found.at(place("lines_test.cu", LOAD)).globalLoads().requests == 2);
  CHECK(found.at(place("profile/lines_test.cu", LOAD)).globalStores().requests == 0);
  const LineProfile call = found.at(place("lines_test.cu", CALL));
  CHECK(call.globalStores().requests == 2);
  CHECK(call.globalLoads().requests == 2);  // inlined into it
  REQUIRE(call.accesses.size() == 2);
  CHECK(found.kernels.size() == 1);
  CHECK(found.kernels[0].name.find("fill<") != std::string::npos);
}

TEST_CASE("profile: places that nothing was executed of", "[profile]") {
  DeviceArray<float> in(64), out(64);
  const Profile found = fillProfile(Scale{in.data()}, out);
  const auto message = [&](auto ask) {
    try {
      ask();
    } catch (const std::out_of_range& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(message([&] { found.at("lines_test.cu:1"); }) == "gpuopt::Profile::at: no kernel has executed lines_test.cu:1");
  CHECK(message([&] { found.at(place("ines_test.cu", LOAD)); }) != "none");
  CHECK(message([&] { found.kernel("other"); }) == "gpuopt::Profile::kernel: no kernel's name contains other");
}

__global__ void readAll(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] + in[threadIdx.x + 64]; }

TEST_CASE("profile: several kernels, several launches", "[profile]") {
  DeviceArray<float> in(128), out(64);
  LaunchConfig config;
  config.block = dim3(64);
  const Profile found = profile([&] {
    for (int i = 0; i < 3; ++i) launch(readAll, config, static_cast<const float*>(in.data()), out.data());
    launch(fill<Scale>, config, Scale{in.data()}, out.data());
  });
  REQUIRE(found.kernels.size() == 2);
  CHECK(found.kernels[0].launches == 3);
  CHECK(found.kernels[0].blocks == 3);
  CHECK(found.kernel("readAll").globalLoads().requests == 3 * 2 * 2);
  CHECK(found.kernel("fill").globalLoads().requests == 2);
  CHECK(found.globalLoads().requests == 14);
  CHECK(found.kernel("readAll").kernels[0].bytesRead == 3 * 128 * sizeof(float));
}

TEST_CASE("profile: nothing is counted before and afterwards, nested profiles count twice", "[profile]") {
  DeviceArray<float> in(64), out(64);
  const auto work = [&] { fillProfile(Scale{in.data()}, out); };
  work();
  CHECK(profile([] {}).kernels.empty());
  std::uint64_t inner = 0;
  const Profile outer = profile([&] {
    work();
    inner = fillProfile(Scale{in.data()}, out, 2).globalLoads().requests;
  });
  CHECK(inner == 4);
  CHECK(outer.globalLoads().requests == 6);
}

__global__ void leaveThenWait(float* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x == 0) return;
  __syncthreads();
}

TEST_CASE("profile: after a kernel that failed, and an exception", "[profile]") {
  DeviceArray<float> in(64), out(64);
  LaunchConfig config;
  config.block = dim3(64);
  CHECK_THROWS(profile([&] { launch(leaveThenWait, config, out.data()); }));
  CHECK_THROWS_AS(profile([] { throw std::domain_error("mine"); }), std::domain_error);
  CHECK(fillProfile(Scale{in.data()}, out).globalLoads().requests == 2);
}

TEST_CASE("profile: reports", "[profile]") {
  DeviceArray<float> in(64), out(64);
  const Profile found = fillProfile(Scale{in.data()}, out);
  const std::string line = place("lines_test.cu", LOAD);
  CHECK(found.text().find(line + "  global load            2     32          8          8   100 %") !=
        std::string::npos);
  CHECK(
      found.json().find("\"kind\": \"global load\", \"requests\": 2, \"lanes\": 64, \"bytes\": 256, \"sectors\": 8") !=
      std::string::npos);
  CHECK(found.html().find("return in[i] * 2;") != std::string::npos);
  CHECK(found.html().find("global load") != std::string::npos);
}

}  // namespace
}  // namespace gpuopt::test::profile_lines_test
