/// The main function of every test program: says which device it tests, or SKIPPED when there is none. On the
/// emulated device all tests run with the lanes in each order, in the backward one with the blocks backward, too;
/// those tagged [sweep], which go through many sizes or types, run in the random order alone. GPUOPT_EMULATION_ORDER
/// picks one order for everything.
// SPDX-License-Identifier: MIT
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#ifdef GPUOPT_EMULATION
int runInEachOrder(Catch::Session& session) {
  using gpuopt::emulation::BlockOrder, gpuopt::emulation::LaneOrder;
  const std::pair<LaneOrder, const char*> orders[] = {
      {LaneOrder::forward, "forward"}, {LaneOrder::backward, "backward"}, {LaneOrder::random, "random"}};
  const Catch::ConfigData given = session.configData();
  int worst = 0;
  for (const auto& [order, name] : orders) {
    Catch::ConfigData config = given;
    if (order != LaneOrder::random) config.testsOrTags.emplace_back("~[sweep]");
    const BlockOrder blocks = order == LaneOrder::backward ? BlockOrder::asLanes : BlockOrder::byNumber;
    gpuopt::emulation::setLaneOrder(order, 1, blocks);
    std::printf("lane order: %s\n", name);
    std::fflush(stdout);
    session.useConfigData(config);
    worst = (std::max)(worst, session.run());
  }
  return worst;
}
#endif

int main(int argc, char** argv) {
  constexpr int SKIPPED = 77;  // ctest's SKIP_RETURN_CODE, see tests/CMakeLists.txt
  int devices = 0;
  cudaDeviceProp properties{};
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0 ||
      cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    std::puts("SKIPPED: no CUDA device");
    return SKIPPED;
  }
  std::printf("device: %s\n", properties.name);
  std::fflush(stdout);
  Catch::Session session;
  if (const int error = session.applyCommandLine(argc, argv); error != 0) return error;
#ifdef GPUOPT_EMULATION
  // What goes on with a warning on GPUs since Volta is a mistake in the library.
  gpuopt::emulation::setExitedThreads(gpuopt::emulation::ExitedThreads::error);
  const Catch::ConfigData& config = session.configData();
  const bool runs = !config.showHelp && !config.listTests && !config.listTags;
  if (runs && std::getenv("GPUOPT_EMULATION_ORDER") == nullptr) return runInEachOrder(session);
#endif
  return session.run();
}
