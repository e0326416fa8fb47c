/// \file
/// The stream argument: what makes a StreamRef, and what does not.
// SPDX-License-Identifier: MIT
#include "support/host_test.cuh"

#include <gpuopt/host/stream.cuh>

#ifndef GPUOPT_EMULATION
#include <thrust/system/cuda/execution_policy.h>
#include <cuda/stream_ref>
#endif

#include <cstdint>
#include <memory>
#include <type_traits>

namespace gpuopt::test::stream_test {

cudaStream_t number(std::uintptr_t n) { return reinterpret_cast<cudaStream_t>(n); }

cudaStream_t passed(StreamRef stream) { return stream; }
cudaStream_t leftOut(StreamRef stream = {}) { return stream; }

// As cuda::stream_ref.
struct Ref {
  cudaStream_t stream;
  cudaStream_t get() const { return stream; }
};

// As the streams of PyTorch and of the RAPIDS Memory Manager.
struct Converting {
  cudaStream_t stream;
  operator cudaStream_t() const { return stream; }
};

struct WithStream {
  Ref held;
  Ref stream() const { return held; }
};

struct WithGetStream {
  Ref held;
  const Ref& get_stream() const { return held; }
};

// As CCCL's queries and environments.
struct GetStream {
  Ref operator()(cudaStream_t stream) const { return {stream}; }
};
struct GetSize {
  template <class Env>
  int operator()(const Env& env) const {
    return env.size();
  }
};

template <class Query, class Value>
struct Property {
  Value value;
  const Value& query(Query) const { return value; }
};

struct Environment {
  Ref held;
  int query(const GetSize&) const { return 7; }
  Ref query(const GetStream&) const { return held; }
};

template <class E1, class E2>
struct Joined {
  E1 first;
  E2 second;
  template <class Query>
  auto query(Query query) const -> decltype(second.query(query)) {
    return second.query(query);
  }
};

// As thrust::cuda::par.on(stream).
struct Policy {
  cudaStream_t stream;
  friend cudaStream_t get_stream(const Policy& policy) { return policy.stream; }
};

struct Destroy {
  void operator()(cudaStream_t) const {}
};

// What is no stream.
struct WithNumber {
  int stream() const { return 0; }
  int get() const { return 0; }
};
struct ToItself {
  ToItself stream() const { return *this; }
};

template <class S>
inline constexpr bool isAccepted = std::is_convertible_v<S, StreamRef>&& detail::isStream<S>;

namespace {

TEST_CASE("A StreamRef is made from handles and from objects that have one", "[stream]") {
  CHECK(leftOut() == nullptr);
  CHECK(passed(nullptr) == nullptr);
  CHECK(passed({}) == nullptr);
  CHECK(passed(number(64)) == number(64));
  CHECK(passed(cudaStreamPerThread) == cudaStreamPerThread);
  CHECK(passed(Converting{number(1024)}) == number(1024));
  CHECK(passed(Ref{number(2048)}) == number(2048));
  const std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Destroy> owner(number(4096));
  CHECK(passed(owner) == number(4096));
}

TEST_CASE("A StreamRef is made from what cuda::get_stream asks", "[stream]") {
  const Ref ref{number(512)};
  CHECK(passed(WithStream{ref}) == number(512));
  CHECK(passed(WithGetStream{ref}) == number(512));
  CHECK(passed(Environment{ref}) == number(512));
  CHECK(passed(Property<GetStream, Ref>{ref}) == number(512));
  CHECK(passed(Property<GetStream, WithGetStream>{{ref}}) == number(512));
  CHECK(passed(Joined<Property<GetSize, int>, Property<GetStream, Ref>>{{5}, {ref}}) == number(512));
  CHECK(passed(Policy{number(256)}) == number(256));
}

TEST_CASE("Anything else makes no StreamRef", "[stream]") {
  STATIC_REQUIRE(isAccepted<StreamRef>);
  STATIC_REQUIRE(isAccepted<const Converting&>);
  STATIC_REQUIRE_FALSE(isAccepted<WithNumber>);
  STATIC_REQUIRE_FALSE(isAccepted<ToItself>);
  STATIC_REQUIRE_FALSE(isAccepted<Property<GetSize, int>>);
  STATIC_REQUIRE_FALSE(isAccepted<float*>);
  STATIC_REQUIRE_FALSE(isAccepted<void*>);
  STATIC_REQUIRE_FALSE(isAccepted<Destroy>);
  STATIC_REQUIRE_FALSE(detail::isStream<int>);
  STATIC_REQUIRE_FALSE(detail::isStream<bool>);
  STATIC_REQUIRE(sizeof(StreamRef) == sizeof(cudaStream_t));
}

#ifndef GPUOPT_EMULATION
TEST_CASE("Streams of CCCL and Thrust", "[stream]") {
  CHECK(passed(::cuda::stream_ref{number(64)}) == number(64));
  CHECK(passed(thrust::cuda::par.on(number(128))) == number(128));
  CHECK(passed(thrust::cuda::par_nosync.on(number(128))) == number(128));
  STATIC_REQUIRE_FALSE(detail::isStream<decltype(thrust::cuda::par)>);
}
#endif

}  // namespace
}  // namespace gpuopt::test::stream_test
