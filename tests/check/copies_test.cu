// Races of copies, the host and host functions with kernels that no order of streams and events rules out, each beside
// what is right.
// SPDX-License-Identifier: MIT
#include "streams.cuh"

#include <cstddef>
#include <thread>
#include <vector>

namespace gpuopt::test::check_copies_test {
namespace {

using namespace check_streams;

std::vector<Finding> copyThenRead(const Setting& s, bool isRight) {
  return findRaces([&] {
    s.copyToDevice(s.first);
    if (isRight) s.record(s.first), s.await(s.second);
    s.read(s.second);
  });
}

TEST_CASE("check: a copy and a kernel of another stream", "[check]") {
  const Setting s;
  for (unsigned i = 0; i < COUNT; ++i) s.pinned[i] = static_cast<int>(i);
  CHECK(copyThenRead(s, true).empty());
  const std::vector<Finding> findings = copyThenRead(s, false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].line.line == READ + 1);
  CHECK(findings[0].earlier.line == Setting::COPY + 2);
  CHECK(contains(findings[0].text, "a copy in stream "));
}

TEST_CASE("check: a copy of what a kernel of another stream writes", "[check]") {
  const Setting s;
  const std::vector<Finding> findings = findRaces([&] {
    s.write(s.first);
    s.copyToHost(s.second);
    cudaDeviceSynchronize();
  });
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kernel == "a copy");
  CHECK(findings[0].earlier.line == WRITE + 1);
  CHECK(findRaces([&] {
          s.write(s.first);
          s.record(s.first);
          s.await(s.second);
          s.copyToHost(s.second);
          cudaDeviceSynchronize();
        }).empty());
}

TEST_CASE("check: copies of two streams", "[check]") {
  const Setting s;
  const auto run = [&](std::size_t apart) {
    return findRaces([&] {
             cudaMemsetAsync(const_cast<int*>(s.data.data()), 1, BYTES / 2, s.first);
             cudaMemsetAsync(const_cast<int*>(s.data.data()) + apart, 2, BYTES / 2, s.second);
             cudaDeviceSynchronize();
           })
        .size();
  };
  CHECK(run(COUNT / 2) == 0);
  CHECK(run(COUNT / 2 - 1) == 1);
}

TEST_CASE("check: rows of a copy and what is between them", "[check]") {
  const Setting s;
  const auto run = [&](std::size_t column) {
    return findRaces([&] {
             cudaMemset2DAsync(const_cast<int*>(s.data.data()), 32, 1, 16, 8, s.first);
             cudaMemset2DAsync(const_cast<int*>(s.data.data()) + column, 32, 2, 16, 8, s.second);
             cudaDeviceSynchronize();
           })
        .size();
  };
  CHECK(run(4) == 0);
  CHECK(run(3) == 1);
}

TEST_CASE("check: the host reads the target of a copy for which it has not waited", "[check]") {
  const Setting s;
  int sum = 0;
  const auto run = [&](bool isRight) {
    return findRaces([&] {
      s.copyToHost(s.first);
      if (isRight) cudaStreamSynchronize(s.first);
      for (unsigned i = 0; i < COUNT; ++i) sum += s.pinned[i];
    });
  };
  CHECK(run(true).empty());
  const std::vector<Finding> findings = run(false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kernel == "the host");
  CHECK(contains(findings[0].text, "the host reads 4 bytes at "));
  CHECK(contains(findings[0].text, "cudaStreamSynchronize()"));
  CHECK(sum == 0);
}

TEST_CASE("check: the host overwrites the source of a copy for which it has not waited", "[check]") {
  const Setting s;
  const auto run = [&](bool isRight) {
    return findRaces([&] {
             s.copyToDevice(s.first);
             if (isRight) cudaStreamSynchronize(s.first);
             s.pinned[3] = 7;
           })
        .size();
  };
  CHECK(run(true) == 0);
  CHECK(run(false) == 1);
}

TEST_CASE("check: a kernel and the host in managed memory", "[check]") {
  const Setting s;
  int* managed = nullptr;
  checkCuda(cudaMallocManaged(&managed, BYTES), "cudaMallocManaged");
  int value = 0;
  const auto run = [&](bool isRight) {
    return findRaces([&] {
             launch(writeAll, s.config(s.first), managed, 5);
             if (isRight) cudaStreamSynchronize(s.first);
             value += managed[1];
           })
        .size();
  };
  CHECK(run(true) == 0);
  CHECK(run(false) == 1);
  CHECK(value == 10);
  cudaFree(managed);
}

LINE_OF(TELL);
__global__ void tellHost(int* memory, bool fences) {
  for (int i = 1; i <= 2; ++i) {
    memory[i] = 10 * i;
    if (fences) __threadfence_system();
    *static_cast<volatile int*>(memory) = i;
  }
}

TEST_CASE("check: the host polls a flag, which a fence puts behind the data", "[check]") {
  const Setting s;
  const auto poll = [&](bool fences) {
    return findRaces([&] {
      launch(tellHost, LaunchConfig{dim3(1), dim3(1), 0, s.first}, s.pinned, fences);
      while (*static_cast<volatile int*>(s.pinned) != 2) {
      }
      CHECK(s.pinned[2] == 20);
      launch(copyAll, s.config(s.second), static_cast<const int*>(s.pinned), const_cast<int*>(s.out.data()));
    });
  };
  CHECK(poll(true).empty());
  checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const std::vector<Finding> findings = poll(false);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].earlier.line == TELL + 3);
  CHECK(contains(findings[0].text, "__threadfence_system() between them"));
  checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  CHECK(findRaces([&] {
          launch(tellHost, LaunchConfig{dim3(1), dim3(1), 0, s.first}, s.pinned, false);
          while (*static_cast<volatile int*>(s.pinned) != 2) {
          }
          checkCuda(cudaStreamSynchronize(s.first), "cudaStreamSynchronize");
          CHECK(s.pinned[2] == 20);
        }).empty());
}

LINE_OF(LATE);
__global__ void tellEarly(int* memory, int flag) {
  __threadfence_system();
  *static_cast<volatile int*>(memory) = flag;
  memory[flag] = 10 * flag;
}

TEST_CASE("check: a flag of a later launch says that the launches before it have ended", "[check]") {
  const Setting s;
  const auto poll = [&](int from) {
    int read = 0;
    const std::vector<Finding> findings = findRaces([&] {
      for (int flag = 1; flag <= 2; ++flag) {
        launch(tellEarly, LaunchConfig{dim3(1), dim3(1), 0, s.first}, s.pinned, flag);
        while (*static_cast<volatile int*>(s.pinned) != flag) {
        }
      }
      read = s.pinned[from];
    });
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    CHECK(read == 10 * from);
    return findings;
  };
  CHECK(poll(1).empty());
  const std::vector<Finding> findings = poll(2);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].earlier.line == LATE + 4);
}

/// What a host function reads, and where it adds that.
struct PinnedSum {
  const int* pinned;
  int sum;
};

TEST_CASE("check: a host function is ordered in its stream", "[check]") {
  const Setting s;
  PinnedSum data{s.pinned, 0};
  CHECK(findRaces([&] {
          s.copyToHost(s.first);
          cudaLaunchHostFunc(
              s.first,
              [](void* argument) {
                static_cast<PinnedSum*>(argument)->sum += *static_cast<PinnedSum*>(argument)->pinned;
              },
              &data);
        }).empty());
}

TEST_CASE("check: another thread that a host function lets work is ordered as it is", "[check]") {
  const Setting s;
  PinnedSum data{s.pinned, 0};
  CHECK(findRaces([&] {
          s.copyToHost(s.first);
          const auto readElsewhere = [](void* argument) {
            PinnedSum& read = *static_cast<PinnedSum*>(argument);
            std::thread([&read] { read.sum += *read.pinned; }).join();
          };
          cudaLaunchHostFunc(s.first, readElsewhere, &data);
        }).empty());
}

}  // namespace
}  // namespace gpuopt::test::check_copies_test
