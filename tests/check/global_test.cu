// Races and other mistakes in global memory, each beside the kernel that is right.
// SPDX-License-Identifier: MIT
#include "kernels.cuh"

#include <cooperative_groups.h>

#include <cstddef>
#include <vector>

namespace gpuopt::test::check_global_test {
namespace {

/// The line of the function that begins behind it.
#define LINE_OF(name) constexpr int name = __LINE__

constexpr unsigned BLOCKS = 8;

LINE_OF(NEIGHBOUR);
__global__ void addNeighbour(int* data) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  data[i] += data[(i + 1) % (gridDim.x * blockDim.x)];
}

TEST_CASE("check: blocks are concurrent, whatever order they ran in", "[check]") {
  DeviceArray<int> data(BLOCKS * 32);
  const std::vector<Finding> findings = findingsOf(addNeighbour, BLOCKS, 1, data.data());
  REQUIRE(findings.size() == 1);
  CHECK(isRaceAt(findings, NEIGHBOUR, 3, 3));
  CHECK(contains(findings[0].text, "thread (0, 0, 0) of block ("));
  CHECK(contains(findings[0].text, "an allocation of "));
  CHECK(contains(findings[0].text, "blocks run in any order"));
}

__device__ unsigned ticketOfBlocks = 0;

enum class Ticket { right, withoutFence, plain };

template <Ticket TICKET>
__global__ void sumByLastBlock(int* partial, int* out) {
  __shared__ bool isLast;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = static_cast<int>(blockIdx.x);
    if (TICKET != Ticket::withoutFence) __threadfence();
    if (TICKET == Ticket::plain)
      isLast = ticketOfBlocks++ == gridDim.x - 1;
    else
      isLast = atomicInc(&ticketOfBlocks, gridDim.x - 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (isLast && threadIdx.x == 1) {
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += partial[i];
    *out = sum;
    if (TICKET == Ticket::plain) ticketOfBlocks = 0;
  }
}

TEST_CASE("check: the last block's ticket orders, with its fence", "[check]") {
  DeviceArray<int> partial(BLOCKS), out(1);
  const auto run = [&](auto kernel) { return findingsOf(kernel, BLOCKS, 32, partial.data(), out.data()); };
  CHECK(run(sumByLastBlock<Ticket::right>).empty());
  CHECK(run(sumByLastBlock<Ticket::withoutFence>).size() == 1);
  CHECK(contains(run(sumByLastBlock<Ticket::withoutFence>).at(0).text, "__threadfence()"));
  const std::vector<Finding> findings = run(sumByLastBlock<Ticket::plain>);
  CHECK(std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return contains(finding.text, "the variable ") && contains(finding.text, "ticketOfBlocks + 0 bytes");
  }));
}

/// Each block waits for the one before it.
template <bool HAS_FENCES>
__global__ void passOn(int* values, volatile unsigned* flags) {
  const unsigned block = blockIdx.x;
  if (block > 0) {
    while (flags[block - 1] == 0) __nanosleep(1);
    if (HAS_FENCES) __threadfence();
  }
  values[block] = block == 0 ? 1 : values[block - 1] + 1;
  if (HAS_FENCES) __threadfence();
  flags[block] = 1;
}

TEST_CASE("check: flags of blocks that wait for each other", "[check]") {
  constexpr unsigned PAIR = 2;  // both run, whichever starts first
  DeviceArray<int> values(PAIR);
  DeviceArray<unsigned> flags(std::vector<unsigned>(PAIR, 0)), others(std::vector<unsigned>(PAIR, 0));
  CHECK(findingsOf(passOn<true>, PAIR, 1, values.data(), flags.data()).empty());
  CHECK(findingsOf(passOn<false>, PAIR, 1, values.data(), others.data()).size() == 1);
}

/// One warp passes a value to the other one, with a fence of the block.
template <bool IS_OF_BLOCK>
__global__ void passToWarp(int* value, unsigned* flag, int* out) {
  const unsigned from = IS_OF_BLOCK ? 0 : gridDim.x - 1;
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    *value = 7;
    __threadfence_block();
    atomicExch(flag, 1u);
  }
  if (blockIdx.x == from && threadIdx.x == 32) {
    while (atomicAdd(flag, 0u) == 0) __nanosleep(1);
    __threadfence_block();
    *out = *value;
  }
}

TEST_CASE("check: a fence of the block orders no other block", "[check]") {
  DeviceArray<int> value(1), out(1);
  DeviceArray<unsigned> flag(std::vector<unsigned>(1, 0)), other(std::vector<unsigned>(1, 0));
  CHECK(findingsOf(passToWarp<true>, 1, 64, value.data(), flag.data(), out.data()).empty());
  CHECK(findingsOf(passToWarp<false>, 2, 64, value.data(), other.data(), out.data()).size() == 1);
}

template <bool IS_RIGHT>
__global__ void addUnderLock(int* lock, int* sum) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(1);
  if (IS_RIGHT) __threadfence();
  *sum += 1;
  if (IS_RIGHT) __threadfence();
  atomicExch(lock, 0);
}

TEST_CASE("check: a lock with and without fences", "[check]") {
  DeviceArray<int> lock(std::vector<int>(1, 0)), sum(std::vector<int>(1, 0));
  CHECK(findingsOf(addUnderLock<true>, BLOCKS, 32, lock.data(), sum.data()).empty());
  CHECK(findingsOf(addUnderLock<false>, BLOCKS, 32, lock.data(), sum.data()).size() == 1);
}

__global__ void setFlag(int* flag, bool isSame) { *flag = isSame ? 1 : static_cast<int>(threadIdx.x); }

TEST_CASE("check: equal values may be written, others not", "[check]") {
  DeviceArray<int> flag(1);
  CHECK(findingsOf(setFlag, 2, 64, flag.data(), true).empty());
  CHECK(findingsOf(setFlag, 2, 64, flag.data(), false).size() == 1);
}

__global__ void writeBytes(unsigned char* bytes) { bytes[threadIdx.x] = static_cast<unsigned char>(threadIdx.x); }

TEST_CASE("check: neighbouring bytes of one word", "[check]") {
  DeviceArray<unsigned char> bytes(256);
  CHECK(findingsOf(writeBytes, 1, 256, bytes.data()).empty());
  CHECK(findingsOf(writeBytes, 2, 256, bytes.data()).empty());  // equal values
}

template <bool IS_RIGHT>
__global__ void exchangeInGrid(int* values, int* out) {
  values[blockIdx.x] = static_cast<int>(blockIdx.x);
  if (IS_RIGHT) cooperative_groups::this_grid().sync();
  out[blockIdx.x] = values[gridDim.x - 1 - blockIdx.x];
}

TEST_CASE("check: a barrier of the grid", "[check]") {
  DeviceArray<int> values(4), out(4);
  int *valuesData = values.data(), *outData = out.data();
  void* arguments[] = {&valuesData, &outData};
  const auto run = [&](void (*kernel)(int*, int*)) {
    return findRaces([&] { cudaLaunchCooperativeKernel(kernel, dim3(4), dim3(1), arguments); });
  };
  CHECK(run(exchangeInGrid<true>).empty());
  CHECK(run(exchangeInGrid<false>).size() == 1);
}

__global__ void copyInts(const int* in, int* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

TEST_CASE("check: memory that nothing has written", "[check]") {
  DeviceArray<int> out(64);
  int* in = nullptr;
  checkCuda(cudaMalloc(&in, 64 * sizeof(int)), "cudaMalloc");
  checkCuda(cudaMemset(in, 0, 63 * sizeof(int)), "cudaMemset");
  CHECK(findingsOf(copyInts, 1, 64, static_cast<const int*>(in), out.data(), 63u).empty());
  const std::vector<Finding> findings = findingsOf(copyInts, 1, 64, static_cast<const int*>(in), out.data(), 64u);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::uninitialised);
  CHECK(contains(findings[0].text, "an allocation of 256 bytes + 252 bytes"));
  findingsOf(copyInts, 1, 64, static_cast<const int*>(out.data()), in, 64u);
  CHECK(findingsOf(copyInts, 1, 64, static_cast<const int*>(in), out.data(), 64u).empty());
  cudaFree(in);
}

__global__ void addToSum(const int* in, int* sum) { atomicAdd(sum, in[threadIdx.x]); }

TEST_CASE("check: a sum by atomic functions that nobody has set to zero", "[check]") {
  DeviceArray<int> in(std::vector<int>(64, 1));
  int* sum = nullptr;
  checkCuda(cudaMalloc(&sum, sizeof(int)), "cudaMalloc");
  const auto run = [&] { return findingsOf(addToSum, 2, 32, static_cast<const int*>(in.data()), sum); };
  const std::vector<Finding> findings = run();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::uninitialised);
  CHECK(contains(findings[0].text, "an allocation of 4 bytes + 0 bytes"));
  cudaFree(sum);
  checkCuda(cudaMalloc(&sum, sizeof(int)), "cudaMalloc");
  checkCuda(cudaMemset(sum, 0, sizeof(int)), "cudaMemset");
  CHECK(run().empty());
  cudaFree(sum);
}

TEST_CASE("check: accesses outside of an allocation", "[check]") {
  DeviceArray<int> in(100);
  int* out = nullptr;
  checkCuda(cudaMalloc(&out, 63 * sizeof(int)), "cudaMalloc");
  const std::vector<Finding> findings = findingsOf(copyInts, 1, 64, static_cast<const int*>(in.data()), out, 64u);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::outOfBounds);
  CHECK(contains(findings[0].text, "0 bytes behind the end of the nearest allocation, of 252 bytes"));
  CHECK(cudaFree(out) == cudaErrorIllegalAddress);
}

LINE_OF(FIRST);
__global__ void copyFirst(const int* in, int* out, bool reads) {
  if (reads) out[threadIdx.x] = in[threadIdx.x];
}

// As <<<>>> launches it, which does not look at pointers: gpuopt::launch refuses those of the host.
std::vector<Finding> findingsOfCopy(const int* in, int* out, bool reads = true) {
  void* arguments[] = {&in, &out, &reads};
  return findRaces([&] { cudaLaunchKernel(copyFirst, dim3(1), dim3(32), arguments); });
}

TEST_CASE("check: a kernel is given memory of the host, or what was freed", "[check]") {
  const std::vector<int> host(32, 1);
  const DeviceArray<int> in(host);
  DeviceArray<int> out(32);
  const std::vector<Finding> findings = findingsOfCopy(host.data(), out.data());
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::outOfBounds);
  CHECK(findings[0].line.line == FIRST + 2);
  CHECK(contains(findings[0].text, "is given a pointer that is not the device's, but to memory of the host"));
  CHECK(findingsOfCopy(in.data(), out.data()).empty());
  CHECK(findingsOfCopy(host.data(), out.data(), false).empty());
  CHECK(findingsOfCopy(nullptr, out.data(), false).empty());

  int *freed = nullptr, *pinned = nullptr, *managed = nullptr;
  checkCuda(cudaMalloc(&freed, 32 * sizeof(int)), "cudaMalloc");
  checkCuda(cudaMemset(freed, 0, 32 * sizeof(int)), "cudaMemset");
  CHECK(findingsOfCopy(freed, out.data()).empty());
  CHECK(findingsOfCopy(freed + 32, out.data(), false).empty());
  checkCuda(cudaFree(freed), "cudaFree");
  CHECK(findingsOfCopy(freed, out.data()).size() == 1);
  checkCuda(cudaMallocHost(&pinned, 32 * sizeof(int)), "cudaMallocHost");
  checkCuda(cudaMallocManaged(&managed, 32 * sizeof(int)), "cudaMallocManaged");
  for (int i = 0; i < 32; ++i) pinned[i] = managed[i] = i;
  CHECK(findingsOfCopy(pinned, managed).empty());
  checkCuda(cudaFreeHost(pinned), "cudaFreeHost");
  checkCuda(cudaFree(managed), "cudaFree");
}

int ofHost[64];
const int constantOfHost[32] = {1, 2, 3};
__device__ int ofDevice[32] = {1, 2, 3};
__device__ int notAskedFor[32] = {1, 2, 3};  // cudaGetSymbolAddress makes a variable known until the program ends
__device__ int copyOfDevice[32];
__device__ int passed[32] = {4, 5, 6};
__device__ int received[32];

__global__ void launchCopy(bool reads) {
  const int* const in = passed;
  int* const out = received;
  const auto config = emulation::detail::launchConfig(1, 32, 0, nullptr);
  if (threadIdx.x == 0) cudaLaunchKernelEx(&config, copyFirst, in, out, reads);
}

TEST_CASE("check: a kernel is given the host's address of a variable", "[check]") {
  DeviceArray<int> out(32);
  std::vector<Finding> findings = findingsOfCopy(ofHost + 32, out.data());
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == FindingKind::outOfBounds);
  CHECK(findings[0].line.line == FIRST + 2);
  CHECK(contains(findings[0].text, "is given the host's address of the variable "));
  CHECK(contains(findings[0].text, "ofHost: a kernel needs memory of the device"));
  CHECK(findingsOfCopy(ofHost, out.data(), false).empty());
  CHECK(findingsOfCopy(constantOfHost, out.data()).size() == 1);
  static int ofFunction[32];
  CHECK(findingsOfCopy(out.data(), ofFunction).size() == 1);
  CHECK(findingsOfCopy(notAskedFor, out.data()).size() == 1);  // on a GPU it is the host's shadow
  void *in = nullptr, *to = nullptr;
  checkCuda(cudaGetSymbolAddress(&in, ofDevice), "cudaGetSymbolAddress");
  CHECK(findingsOfCopy(static_cast<int*>(in), out.data()).empty());
  checkCuda(cudaGetSymbolAddress(&to, copyOfDevice), "cudaGetSymbolAddress");
  CHECK(findingsOfCopy(static_cast<int*>(in) + 8, static_cast<int*>(to), false).empty());
  checkCuda(cudaHostRegister(ofHost, sizeof ofHost, 0), "cudaHostRegister");
  CHECK(findingsOfCopy(ofHost, out.data()).empty());
  checkCuda(cudaHostUnregister(ofHost), "cudaHostUnregister");
}

TEST_CASE("check: a kernel passes the address of a variable to another one", "[check]") {
  CHECK(findingsOf(launchCopy, 1, 32, true).empty());
}

}  // namespace
}  // namespace gpuopt::test::check_global_test
