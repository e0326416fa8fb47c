/// \file
/// Work that needs no helpers. A separate program, because it counts threads, which are never ended.
// SPDX-License-Identifier: MIT
#include "support/host_test.cuh"

#include <gpuopt/device/pipeline/staging.cuh>

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace idle_helpers_test {

std::ptrdiff_t threadCount() {
  using Folder = std::filesystem::directory_iterator;
  return std::distance(Folder("/proc/self/task"), Folder());
}

TEST_CASE("a job of nothing, or of one piece, starts no threads") {
  using gpuopt::detail::stagingPiece;
  static_cast<void>(gpuopt::detail::stagingFor(stagingPiece));  // the runtime's own threads
  const std::ptrdiff_t before = threadCount();
  std::size_t done = 0;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, stagingPiece})
    gpuopt::detail::inPieces(bytes, [&](std::size_t, std::size_t count) noexcept { done += count; });
  CHECK(done == stagingPiece + 8);
  CHECK(threadCount() == before);
}

}  // namespace idle_helpers_test
