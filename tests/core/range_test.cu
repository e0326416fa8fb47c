/// \file
/// What is a range, where its elements are, and how many.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/plain_span.hpp"

#include <gpuopt/core/matrix_view.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/soa/vector.cuh>

#include <array>
#include <cstddef>
#include <string>
#include <type_traits>
#include <vector>

namespace gpuopt::test::range_test {

struct NumberAsData {
  int data() const { return 0; }
  int size() const { return 0; }
};

namespace {

// As thrust::device_ptr and thrust::device_vector.
template <class T>
struct DevicePtr {
  T* address;
  T* get() const { return address; }
};

template <class T>
struct DeviceVector {
  std::vector<T> elements;
  DevicePtr<T> data() { return {elements.data()}; }
  DevicePtr<const T> data() const { return {elements.data()}; }
  std::size_t size() const { return elements.size(); }
};

template <class T>
struct ManagedAllocator {
  using value_type = T;
  T* allocate(std::size_t n) { return std::allocator<T>().allocate(n); }
  void deallocate(T* memory, std::size_t n) { std::allocator<T>().deallocate(memory, n); }
};

struct Point {
  float x, y;
};

TEST_CASE("Containers and spans are ranges", "[range]") {
  STATIC_REQUIRE(detail::isRange<PlainSpan<float>>);
  STATIC_REQUIRE(detail::isRange<const PlainSpan<const float>>);
  STATIC_REQUIRE(detail::isRange<DeviceVector<float>>);
  STATIC_REQUIRE(detail::isRange<const DeviceVector<float>>);
  STATIC_REQUIRE(detail::isRange<std::vector<float, ManagedAllocator<float>>>);
  STATIC_REQUIRE(detail::isRange<std::vector<float>>);

  STATIC_REQUIRE_FALSE(detail::isRange<float*>);
  STATIC_REQUIRE_FALSE(detail::isRange<float[4]>);
  STATIC_REQUIRE_FALSE(detail::isRange<MatrixView<float>>);
  STATIC_REQUIRE_FALSE(detail::isRange<SoaVector<Point>>);
  STATIC_REQUIRE_FALSE(detail::isRange<SoaView<Point>>);
  STATIC_REQUIRE_FALSE(detail::isRange<NumberAsData>);
  STATIC_REQUIRE_FALSE(detail::isRange<std::vector<bool>>);
}

TEST_CASE("Types that say that their elements are in the host's memory", "[range]") {
  STATIC_REQUIRE(detail::isHostRange<std::vector<float>>);
  STATIC_REQUIRE(detail::isHostRange<std::string>);
  STATIC_REQUIRE(detail::isHostRange<std::array<float, 3>>);
  STATIC_REQUIRE_FALSE(detail::isHostRange<std::vector<float, ManagedAllocator<float>>>);
  STATIC_REQUIRE_FALSE(detail::isHostRange<PlainSpan<float>>);
  STATIC_REQUIRE_FALSE(detail::isHostRange<DeviceVector<float>>);
}

TEST_CASE("The plain pointer and the size of a range", "[range]") {
  float elements[3] = {};
  const PlainSpan<float> span{elements, 3};
  CHECK(detail::dataOf(span) == elements);
  CHECK(detail::sizeOf(span) == 3);
  STATIC_REQUIRE(std::is_same_v<decltype(detail::sizeOf(span)), std::size_t>);

  DeviceVector<int> vector{{1, 2, 3, 4}};
  const DeviceVector<int>& constant = vector;
  CHECK(detail::dataOf(vector) == vector.elements.data());
  CHECK(detail::dataOf(constant) == vector.elements.data());
  CHECK(detail::sizeOf(constant) == 4);
  STATIC_REQUIRE(std::is_same_v<detail::RangeData<DeviceVector<int>>, int*>);
  STATIC_REQUIRE(std::is_same_v<detail::RangeData<const DeviceVector<int>>, const int*>);

  std::vector<short, ManagedAllocator<short>> managed(5);
  CHECK(detail::dataOf(managed) == managed.data());
}

}  // namespace
}  // namespace gpuopt::test::range_test
