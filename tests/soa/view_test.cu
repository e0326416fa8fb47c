/// Views of columns and tiles: addresses of members, references to structs, rejected arguments.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/host_test.cuh"
#include "support/soa_data.cuh"

#include <gpuopt/host/launch.cuh>
#include <gpuopt/soa/view.cuh>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace gpuopt::test::view_test {
namespace {

static_assert(std::is_trivially_copyable_v<SoaView<Particle>> &&
              std::is_trivially_copyable_v<SoaView<const Mixed, SoaTiles<8>>>);
static_assert(sizeof(SoaView<Particle>) == 4 * sizeof(void*) + sizeof(std::size_t));
static_assert(std::is_convertible_v<SoaView<Mixed>, SoaView<const Mixed>> &&
              !std::is_convertible_v<SoaView<const Mixed>, SoaView<Mixed>>);
static_assert(std::is_convertible_v<SoaView<Mixed, SoaTiles<4>>, SoaView<const Mixed, SoaTiles<4>>> &&
              !std::is_convertible_v<SoaView<Mixed>, SoaView<Mixed, SoaTiles<4>>>);
static_assert(std::tuple_size_v<SoaReference<Mixed>> == 10);
static_assert(std::is_same_v<std::tuple_element_t<5, SoaReference<const Mixed>>, const float (&)[2][3]>);

LaunchConfig threadsFor(std::size_t n) {
  LaunchConfig config;
  config.grid = dim3(static_cast<unsigned>((n + 63) / 64));
  config.block = dim3(64);
  return config;
}

__device__ std::size_t threadNumber() { return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; }

template <class View>
__global__ void storeKernel(View view) {
  const std::size_t i = threadNumber();
  if (i < view.size()) view[i] = structAt<typename View::Value>(i);
}

template <class View>
__global__ void loadKernel(View view, typename View::Value* out) {
  const std::size_t i = threadNumber();
  if (i < view.size()) out[i] = view[i];
}

// Columns of Particles between guard bytes, none of them at a multiple of 16 bytes.
struct ParticleColumns {
  DeviceArray<float3> position, velocity;
  DeviceArray<float> mass;
  DeviceArray<int> id;

  explicit ParticleColumns(std::size_t n) : position(n, 1), velocity(n, 3), mass(n, 2), id(n, 5) {}

  SoaView<Particle> view() { return {position.data(), velocity.data(), mass.data(), id.data(), id.size()}; }
  SoaView<const Particle> constView() const {
    return {position.data(), velocity.data(), mass.data(), id.data(), id.size()};
  }

  std::vector<Particle> toHost() const {
    const auto p = position.toHost(), v = velocity.toHost();
    const auto m = mass.toHost();
    const auto i = id.toHost();
    std::vector<Particle> particles;
    for (std::size_t k = 0; k < i.size(); ++k) particles.push_back({p[k], v[k], m[k], i[k]});
    return particles;
  }
};

const std::size_t lengths[] = {0, 1, 31, 32, 33, 64, 101};

TEST_CASE("A kernel stores structs to columns and loads them from there", "[soa]") {
  for (const std::size_t n : lengths) {
    CAPTURE(n);
    ParticleColumns columns(n);
    DeviceArray<Particle> loaded(n);
    if (n > 0) launch(storeKernel<SoaView<Particle>>, threadsFor(n), columns.view());
    CHECK(columns.toHost() == structs<Particle>(n));
    if (n > 0) launch(loadKernel<SoaView<const Particle>>, threadsFor(n), columns.constView(), loaded.data());
    CHECK(loaded.toHost() == structs<Particle>(n));
  }
}

TEST_CASE("All kinds of members have columns", "[soa]") {
  constexpr std::size_t N = 77;
  DeviceArray<char> letter(N, 1);
  DeviceArray<double> weight(N, 1);
  DeviceArray<bool> flag(N, 3);
  DeviceArray<Kind> kind(N, 3);
  DeviceArray<const int*> link(N, 1);
  DeviceArray<float> matrices(6 * N, 1);
  DeviceArray<Inner> inner(N, 1);
  DeviceArray<Wide> wide(N, 1);
  DeviceArray<__half> half(N, 1);
  DeviceArray<int> aligned(N, 1);
  auto* matrix = reinterpret_cast<float(*)[2][3]>(matrices.data());
  const SoaView<Mixed> view{letter.data(),
                            weight.data(),
                            flag.data(),
                            kind.data(),
                            link.data(),
                            matrix,
                            inner.data(),
                            wide.data(),
                            half.data(),
                            aligned.data(),
                            N};
  DeviceArray<Mixed> loaded(N);
  launch(storeKernel<SoaView<Mixed>>, threadsFor(N), view);
  launch(loadKernel<SoaView<const Mixed>>, threadsFor(N), SoaView<const Mixed>(view), loaded.data());
  CHECK(loaded.toHost() == structs<Mixed>(N));

  const Mixed last = structAt<Mixed>(N - 1);
  CHECK((letter.toHost()[N - 1] == last.letter && weight.toHost()[N - 1] == last.weight));
  CHECK((kind.toHost()[N - 1] == last.kind && link.toHost()[N - 1] == last.link));
  CHECK((matrices.toHost()[6 * N - 1] == last.matrix[1][2] && matrices.toHost()[6 * N - 6] == last.matrix[0][0]));
  CHECK((inner.toHost()[N - 1].number == last.inner.number && aligned.toHost()[N - 1] == last.aligned));
  CHECK((wide.toHost()[N - 1].values[3] == last.wide.values[3]));
  CHECK(__half2float(half.toHost()[N - 1]) == __half2float(last.half));
  STATIC_REQUIRE(std::is_same_v<decltype(view.column<&Mixed::matrix>()), float(*)[2][3]>);
  CHECK((view.column<&Mixed::matrix>() == matrix && view.column<5>() == matrix));
}

template <unsigned WIDTH>
void checkTiles(std::size_t n) {
  CAPTURE(WIDTH, n);
  using Layout = detail::SoaTileLayout<Mixed, WIDTH>;
  const std::size_t tiles = (n + WIDTH - 1) / WIDTH;
  DeviceArray<unsigned char> memory(tiles * Layout::BYTES);
  const SoaView<Mixed, SoaTiles<WIDTH>> view{memory.data(), n};
  DeviceArray<Mixed> loaded(n);
  launch(storeKernel<SoaView<Mixed, SoaTiles<WIDTH>>>, threadsFor(n), view);
  launch(loadKernel<SoaView<const Mixed, SoaTiles<WIDTH>>>, threadsFor(n), SoaView<const Mixed, SoaTiles<WIDTH>>(view),
         loaded.data());
  CHECK(loaded.toHost() == structs<Mixed>(n));

  // Offsets by hand: the weights follow the letters of a tile, the last column has the ints.
  const std::vector<unsigned char> bytes = memory.toHost();
  const auto isStored = [&bytes](std::size_t offset, const auto& value) {
    return std::memcmp(bytes.data() + offset, &value, sizeof(value)) == 0;
  };
  const std::size_t weights = (WIDTH + 7) / 8 * 8;
  bool inPlace = true;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t tile = i / WIDTH * Layout::BYTES, k = i % WIDTH;
    const Mixed expected = structAt<Mixed>(i);
    inPlace = inPlace && isStored(tile + k, expected.letter) && isStored(tile + weights + 8 * k, expected.weight);
  }
  CHECK(inPlace);
}

TEST_CASE("Tiles have the values of each member in turn", "[soa]") {
  for (const std::size_t n : {1u, 31u, 32u, 33u, 101u}) checkTiles<32>(n);
  checkTiles<1>(7);
  checkTiles<4>(35);

  using Layout = detail::SoaTileLayout<Particle, 4>;
  STATIC_REQUIRE((Layout::OFFSET<0> == 0 && Layout::OFFSET<1> == 48 && Layout::OFFSET<2> == 96 &&
                  Layout::OFFSET<3> == 112 && Layout::BYTES == 128 && Layout::ALIGNMENT == 4));
  struct Uneven {
    char a;
    double b;
    char c;
  };
  using Padded = detail::SoaTileLayout<Uneven, 2>;
  STATIC_REQUIRE((Padded::OFFSET<1> == 8 && Padded::OFFSET<2> == 24 && Padded::BYTES == 32 && Padded::ALIGNMENT == 8));
}

__global__ void referencesKernel(SoaView<Particle> view, SoaView<const Particle> in) {
  const std::size_t i = threadNumber();
  if (i >= view.size()) return;
  auto [position, velocity, mass, id] = view[i];
  const auto& [x, v, m, number] = in[i];
  position.y = x.z;
  velocity = v;
  mass = 2 * m;
  id -= number;
  view[i].get<&Particle::mass>() += 1;
  view[i].get<3>() += 5;
}

TEST_CASE("Structured bindings are references to the members", "[soa]") {
  constexpr std::size_t N = 50;
  ParticleColumns columns(N), input(N);
  launch(storeKernel<SoaView<Particle>>, threadsFor(N), columns.view());
  launch(storeKernel<SoaView<Particle>>, threadsFor(N), input.view().subview(0, N));
  launch(referencesKernel, threadsFor(N), columns.view(), input.constView());
  std::vector<Particle> expected = structs<Particle>(N);
  for (Particle& p : expected) {
    p.position.y = p.position.z;
    p.mass = 2 * p.mass + 1;
    p.id = 5;
  }
  CHECK(columns.toHost() == expected);
}

__global__ void reverseKernel(SoaView<Particle> view) {
  const std::size_t i = threadNumber(), other = view.size() - 1 - i;
  if (i < view.size() / 2) swap(view[i], view[other]);
}

TEST_CASE("References are swapped by value on the device", "[soa]") {
  constexpr std::size_t N = 67;
  ParticleColumns columns(N);
  launch(storeKernel<SoaView<Particle>>, threadsFor(N), columns.view());
  launch(reverseKernel, threadsFor(N), columns.view());
  std::vector<Particle> expected = structs<Particle>(N);
  std::reverse(expected.begin(), expected.end());
  CHECK(columns.toHost() == expected);
}

TEST_CASE("References behave like structs", "[soa]") {
  HostColumns columns(5);
  const SoaView<Particle> view = columns.view();
  const Particle a = structAt<Particle>(0), b = structAt<Particle>(1), c = structAt<Particle>(2);

  view[0] = view[0];
  CHECK(Particle(view[0]) == a);
  view[0] = view[1];
  CHECK((Particle(view[0]) == b && Particle(view[1]) == b));
  view[0] = SoaView<const Particle>(view)[2];
  CHECK(Particle(view[0]) == c);
  view[0] = {{1, 2, 3}, {4, 5, 6}, 7, 8};
  CHECK((columns.position[0].y == 2 && columns.velocity[0].z == 6 && columns.mass[0] == 7 && columns.id[0] == 8));
  view.store(0, a);
  CHECK(view.load(0) == a);

  // A copy of a reference is a reference; assigning to one assigns the values.
  auto first = view[0];
  const auto second = view[1];
  second = first;
  CHECK((Particle(view[1]) == a && columns.id[1] == a.id));
  first = second = c;
  CHECK((Particle(view[0]) == c && Particle(view[1]) == c));

  view[0] = a;
  view[1] = b;
  swap(view[0], view[1]);
  CHECK((Particle(view[0]) == b && Particle(view[1]) == a));
  using std::swap;
  auto third = view[1];
  swap(first, third);
  CHECK((Particle(view[0]) == a && Particle(view[1]) == b));
  swap(first, first);
  CHECK(Particle(view[0]) == a);
  std::iter_swap(view.begin(), view.begin() + 1);
  CHECK((Particle(view[0]) == b && Particle(view[1]) == a));

  auto&& [position, velocity, mass, id] = view[3];
  STATIC_REQUIRE(std::is_same_v<decltype(mass), float&>);
  position.x = -1;
  velocity.x = -2;
  mass = -3;
  id = -4;
  CHECK((columns.position[3].x == -1 && columns.velocity[3].x == -2 && columns.mass[3] == -3 && columns.id[3] == -4));
  auto reference = view[4];
  auto& [p, v, m, number] = reference;
  number = 99;
  CHECK((columns.id[4] == 99 && &p == &columns.position[4] && &v == &columns.velocity[4] && &m == &columns.mass[4]));
}

TEST_CASE("A view of const structs only reads", "[soa]") {
  HostColumns columns(4);
  const SoaView<const Particle> view = std::as_const(columns).view();
  auto [position, velocity, mass, id] = view[2];
  STATIC_REQUIRE(std::is_same_v<decltype(mass), const float&>);
  CHECK((mass == structAt<Particle>(2).mass && &position == &columns.position[2]));
  CHECK((&velocity == &columns.velocity[2] && &id == &columns.id[2]));
  STATIC_REQUIRE(std::is_same_v<decltype(view.column<2>()), const float*>);
  STATIC_REQUIRE(std::is_same_v<decltype(view[0].get<&Particle::id>()), const int&>);
  const SoaReference<const Particle> reference = columns.view()[3];
  CHECK(Particle(reference) == view.load(3));
}

template <class View>
void checkSelection(const View& view) {
  const auto selected = view.template select<&Particle::id, 2>();
  STATIC_REQUIRE(std::is_same_v<typename decltype(selected)::Value, SoaTuple<int, float>>);
  CHECK((selected.size() == view.size() && selected.COLUMNS == 2));
  auto [id, mass] = selected[5];
  CHECK((&id == &view[5].template get<3>() && &mass == &view[5].template get<&Particle::mass>()));
  const SoaTuple<int, float> value = selected[6];
  const auto& [number, weight] = value;
  CHECK((number == structAt<Particle>(6).id && weight == structAt<Particle>(6).mass && value.get<0>() == number));
  SoaTuple<int, float> other = selected.load(7);
  other.get<0>() = -7;
  auto [a, b] = other;
  CHECK((a == -7 && b == structAt<Particle>(7).mass));
  selected[7] = other;
  Particle expected = structAt<Particle>(7);
  expected.id = -7;
  CHECK(view.load(7) == expected);
  swap(selected[7], selected[6]);
  CHECK(view.load(6).id == -7);
  CHECK((view.load(6).position == structAt<Particle>(6).position));

  const auto narrower = selected.template select<1>().subview(3, 4);
  auto [only] = narrower[0];
  CHECK((narrower.size() == 4 && &only == &view[3].template get<2>() &&
         narrower.template column<0>()[1] == view.load(4).mass));
  const SoaView<const Particle, typename View::Layout> reading = view;
  STATIC_REQUIRE(std::is_same_v<decltype(reading.template select<1>()[0].template get<0>()), const float3&>);
}

TEST_CASE("A selection is a view of some members", "[soa]") {
  HostColumns columns(9);
  checkSelection(columns.view());
  std::vector<Particle> memory(12);
  const SoaView<Particle, SoaTiles<4>> tiles{memory.data(), 9};
  const std::vector<Particle> values = structs<Particle>(9);
  std::copy(values.begin(), values.end(), tiles.begin());
  checkSelection(tiles);
}

TEST_CASE("A subview begins at any struct", "[soa]") {
  HostColumns columns(20);
  std::vector<Particle> memory(24);
  const SoaView<Particle> view = columns.view();
  const SoaView<Particle, SoaTiles<4>> tiles{memory.data(), 20};
  std::copy(view.begin(), view.end(), tiles.begin());
  for (std::size_t first = 0; first <= 20; ++first)
    for (std::size_t count = 0; first + count <= 20; ++count) {
      const auto part = view.subview(first, count);
      const auto tiled = tiles.subview(first, count);
      bool same = part.size() == count && tiled.size() == count && part.empty() == (count == 0);
      for (std::size_t i = 0; i < count; ++i)
        same = same && part.load(i) == structAt<Particle>(first + i) && tiled.load(i) == part.load(i);
      if (!same) FAIL_CHECK("first " << first << ", count " << count);
    }
  CHECK(tiles.subview(3, 10).subview(2, 5).load(4) == structAt<Particle>(9));
  // Views made from a subview begin at its first struct.
  const auto part = tiles.subview(7, 10);
  const SoaView<const Particle, SoaTiles<4>> reading = part;
  CHECK((reading.load(2) == structAt<Particle>(9) && part.select<3>()[2].get<0>() == structAt<Particle>(9).id));
  CHECK((part.column<3>()[2] == structAt<Particle>(9).id && Particle(part.begin()[2]) == structAt<Particle>(9)));
  tiles.subview(3, 10).subview(2, 5)[0] = structAt<Particle>(1000);
  CHECK(tiles.load(5) == structAt<Particle>(1000));

  for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, 21}, {20, 1}, {21, 0}, {1, PTRDIFF_MAX}})
    CHECK(messageOf<std::invalid_argument>([&, f = first, c = count] { static_cast<void>(view.subview(f, c)); }) ==
          "gpuopt::SoaView::subview: first (" + std::to_string(first) + ") + count (" + std::to_string(count) +
              ") is beyond size (20)");
}

TEST_CASE("Unusable columns are rejected", "[soa]") {
  HostColumns c(3);
  const auto refusal = [&](const float3* position, const float* mass, const int* id, std::size_t n) {
    return messageOf<std::invalid_argument>([&] {
      const SoaView<const Particle> view{position, position, mass, id, n};
      FAIL_CHECK("accepted, size " << view.size());
    });
  };
  CHECK(refusal(nullptr, c.mass.data(), c.id.data(), 3) == "gpuopt::SoaView: column 0 is null, but n is 3");
  // WRITTEN soa: `SoaView<Particle>{position, mass, id, 3}`, where a pointer is null
  CHECK(refusal(c.position.data(), nullptr, c.id.data(), 3) == "gpuopt::SoaView: column 2 is null, but n is 3");
  const auto* odd = reinterpret_cast<const int*>(reinterpret_cast<const char*>(c.id.data()) + 2);
  // WRITTEN soa: `SoaView<Particle>{position, mass, id, 2}`, where a pointer is a cast `char*`
  // DO: columns begin at multiples of the alignment of their member
  CHECK(refusal(c.position.data(), c.mass.data(), odd, 2) ==
        "gpuopt::SoaView: column 3 is misaligned: its address modulo 4 is 2");
  CHECK_NOTHROW(SoaView<Particle>(nullptr, nullptr, nullptr, nullptr, 0));
  CHECK(SoaView<Particle>().empty());

  c.mass.resize(2);
  // WRITTEN soa: `SoaView<Particle>{positions, masses, ids}` of vectors of different lengths
  CHECK(messageOf<std::invalid_argument>([&] { static_cast<void>(c.view()); }) ==
        "gpuopt::SoaView: column 2 has 2 elements, column 0 has 3");

  using Tiles = SoaView<Mixed, SoaTiles<4>>;
  alignas(32) unsigned char memory[2 * detail::SoaTileLayout<Mixed, 4>::BYTES];
  CHECK(messageOf<std::invalid_argument>([&] {
          static_cast<void>(Tiles{nullptr, 5});
        }) == "gpuopt::SoaView: tiles is null, but n is 5");
  CHECK(messageOf<std::invalid_argument>([&] {
          static_cast<void>(Tiles{memory + 8, 1});
        }) == "gpuopt::SoaView: tiles is misaligned: its address modulo 32 is 8");
  CHECK_NOTHROW(Tiles(memory, 8));
}

TEST_CASE("One member is enough", "[soa]") {
  struct Single {
    float value[2];
  };
  float values[3][2] = {{1, 2}, {3, 4}, {5, 6}};
  const SoaView<Single> view{values, 3};
  const SoaView<const Single> reader = view;
  view[0] = view[2];
  auto [value] = reader[0];
  CHECK((value[1] == 6 && reader.load(1).value[0] == 3 && &value == &values[0]));
}

}  // namespace
}  // namespace gpuopt::test::view_test
