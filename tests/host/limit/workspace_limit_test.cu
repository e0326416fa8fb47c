/// \file
/// More streams than cached workspaces. A separate program, because it uses all of them up.
// SPDX-License-Identifier: MIT
#include "support/host_test.cuh"

#include <gpuopt/host/workspace.cuh>

#include <deque>
#include <set>

namespace workspace_limit_test {

using namespace gpuopt::test;

// It fills what the library remembers: once, in a program of its own.
TEST_CASE("streams beyond the remembered ones have memory for the call", "[sweep]") {
  std::deque<Stream> streams;
  std::set<void*> held;
  std::deque<gpuopt::detail::WorkspaceLease> leases;
  for (int i = 0; i < 260; ++i) {
    streams.emplace_back();
    leases.emplace_back(nullptr, streams.back());
    REQUIRE(held.insert(leases.back().data()).second);  // no two leases share memory
    leases.back().done();
  }
  leases.clear();

  int kept = 0;
  for (const Stream& stream : streams) {
    const gpuopt::detail::WorkspaceLease first(nullptr, stream);
    kept += held.count(first.data()) != 0 ? 1 : 0;
  }
  REQUIRE(kept >= 256);
  for (const Stream& stream : streams) stream.wait();
}

}  // namespace workspace_limit_test
