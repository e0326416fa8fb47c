/// Vectors of structs with memory from a pool, or from memory resources of every form.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/host_test.cuh"
#include "support/soa_data.cuh"

#include <gpuopt/soa/vector.cuh>

#include <cstddef>
#include <map>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace gpuopt::test::memory_test {

// A resource's memory: what was asked for, and on which stream.
struct Ledger {
  std::map<void*, std::size_t> bytes;
  cudaStream_t stream = nullptr;
  int calls = 0;
  bool isEmpty = false;  // then it throws

  void* add(std::size_t size, cudaStream_t on) {
    if (isEmpty) throw std::runtime_error("no memory");
    stream = on;
    ++calls;
    void* memory = nullptr;
    check(cudaMalloc(&memory, size), "cudaMalloc");
    bytes[memory] = size;
    return memory;
  }

  void remove(void* memory, std::size_t size, cudaStream_t on) {
    REQUIRE(on == stream);
    REQUIRE(bytes.at(memory) == size);
    bytes.erase(memory);
    check(cudaFree(memory), "cudaFree");
  }
};

// As in CCCL since 3.1: its streams are made from handles.
struct OtherStream {
  cudaStream_t handle;
  OtherStream(cudaStream_t stream) : handle(stream) {}
};

struct StreamFirst : Ledger {
  void* allocate(OtherStream on, std::size_t size, std::size_t alignment) {
    CHECK(alignment == 256);
    return add(size, on.handle);
  }
  void deallocate(OtherStream on, void* memory, std::size_t size, std::size_t) { remove(memory, size, on.handle); }
};

// As in CCCL before 3.1, with a function beside it that knows no stream.
struct AsyncNamed : Ledger {
  void* allocate(std::size_t, std::size_t) { return nullptr; }
  void* allocate_async(std::size_t size, std::size_t alignment, OtherStream on) {
    CHECK(alignment == 256);
    return add(size, on.handle);
  }
  void deallocate_async(void* memory, std::size_t size, std::size_t, OtherStream on) {
    remove(memory, size, on.handle);
  }
};

// As in RMM.
struct StreamLast : Ledger {
  void* allocate(std::size_t size, OtherStream on) { return add(size, on.handle); }
  void deallocate(void* memory, std::size_t size, OtherStream on) { remove(memory, size, on.handle); }
};

// A resource for the host's memory, and an allocator of objects.
struct NoStream {
  void* allocate(std::size_t, std::size_t) { return nullptr; }
};
struct Allocator {
  int* allocate(std::size_t, const void*) { return nullptr; }
};
static_assert(!std::is_constructible_v<MemoryRef, NoStream&> && !std::is_constructible_v<MemoryRef, Allocator&>);

namespace {

template <class Resource>
void checkResource() {
  Resource resource;
  const Stream stream;
  {
    SoaVector<Particle> vector(10, stream, resource);
    CHECK((resource.calls == 1 && resource.bytes.size() == 1 && resource.stream == stream));
    vector.resize(100);
    CHECK((resource.calls == 2 && resource.bytes.size() == 1));
    SoaVector<Particle> copy = vector.clone();
    CHECK((resource.calls == 3 && resource.bytes.size() == 2));
    SoaVector<Particle> plain(5);
    swap(plain, copy);
    SoaVector<Particle> moved = std::move(plain);
    CHECK((moved.size() == 100 && resource.bytes.size() == 2));
    moved.resize(101);
    CHECK((resource.calls == 4 && resource.bytes.size() == 2));
    stream.wait();
  }
  CHECK(resource.bytes.empty());
}

TEST_CASE("Memory resources of every form", "[soa]") {
  checkResource<StreamFirst>();
  checkResource<AsyncNamed>();
  checkResource<StreamLast>();
}

TEST_CASE("A resource without memory leaves the vector as it was", "[soa]") {
  StreamFirst resource;
  {
    SoaVector<Particle> vector(10, nullptr, resource);
    resource.isEmpty = true;
    CHECK_THROWS_AS(vector.resize(11), std::runtime_error);
    CHECK((vector.size() == 10 && vector.capacity() == 10));
    CHECK_THROWS_AS(SoaVector<Particle>(1, nullptr, resource), std::runtime_error);
    CHECK_NOTHROW(SoaVector<Particle>(0, nullptr, resource));
  }
  CHECK(resource.bytes.empty());
}

TEST_CASE("A pool of the caller's", "[soa]") {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = currentDevice();
  cudaMemPool_t pool = nullptr;
  check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
  {
    const Stream stream;
    SoaVector<Particle, SoaTiles<8>> vector(10, stream, pool);
    vector.resize(1000);
    CHECK(vector.view().size() == 1000);
    stream.wait();
  }
  CHECK(cudaMemPoolDestroy(pool) == cudaSuccess);
}

}  // namespace
}  // namespace gpuopt::test::memory_test
