/// Conversions between arrays of structures and columns: every kind of member, boundaries of warps and
/// blocks, any alignment of either side, tiles, subviews, host memory, and errors.
// SPDX-License-Identifier: MIT
#include <gpuopt/soa/vector.cuh>
#include <gpuopt/soa_convert.cuh>

#include "support/catch.hpp"
#include "support/struct_data.cuh"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace convert_test {

using gpuopt::SoaColumns;
using gpuopt::SoaTiles;
using gpuopt::SoaView;
using gpuopt::detail::Member;
using gpuopt::detail::memberCount;
using gpuopt::test::DeviceArray;
using gpuopt::test::StructArray;

struct Particle {
  float3 position, velocity;
  float mass;
  int id;
};

struct Mixed {
  double energy;
  float mass;
  int id;
  char kind;
};

struct Sixteen {
  float a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};

struct Colour {
  unsigned char red, green, blue;
};

struct Tagged {
  short tag[3];
  unsigned char level;
  int place;
};

struct alignas(16) Wide {
  float4 axis;
  double matrix[9];
  char name[21];
};

struct Huge {
  int words[100];
  double value;
  char end;
};

struct Alone {
  short value;
};

template <class T>
using IndicesOf = std::make_index_sequence<memberCount<T>>;

struct MemberShape {
  std::size_t offset, size, alignment;
};

template <class T, std::size_t... INDICES>
std::vector<MemberShape> shapesOf(std::index_sequence<INDICES...>) {
  const T item{};
  const auto offset = [&](const void* member) {
    return static_cast<std::size_t>(static_cast<const char*>(member) - reinterpret_cast<const char*>(&item));
  };
  return {
      {offset(&gpuopt::detail::getMember<INDICES>(item)), sizeof(Member<T, INDICES>), alignof(Member<T, INDICES>)}...};
}

template <class T>
std::vector<MemberShape> membersOf() {
  return shapesOf<T>(IndicesOf<T>{});
}

// The offsets of the members in a tile of `width` structures, and its size.
template <class T>
std::vector<std::size_t> tileOffsets(std::size_t width) {
  std::vector<std::size_t> offsets;
  std::size_t end = 0, widest = 1;
  const auto alignTo = [&](std::size_t alignment) { end = (end + alignment - 1) / alignment * alignment; };
  for (const MemberShape& member : membersOf<T>()) {
    alignTo(member.alignment);
    offsets.push_back(end);
    end += width * member.size;
    widest = (std::max)(widest, member.alignment);
  }
  alignTo(widest);
  offsets.push_back(end);
  return offsets;
}

// The bytes of one column of an array of structures.
template <class T>
std::vector<unsigned char> columnBytes(const std::vector<T>& aos, std::size_t index) {
  const MemberShape member = membersOf<T>()[index];
  std::vector<unsigned char> bytes(aos.size() * member.size);
  for (std::size_t i = 0; i < aos.size(); ++i)
    std::memcpy(bytes.data() + i * member.size, reinterpret_cast<const char*>(&aos[i]) + member.offset, member.size);
  return bytes;
}

// A copy whose padding is zero.
template <class T>
std::vector<T> withoutPadding(const std::vector<T>& aos) {
  std::vector<T> cleaned(aos.size());
  for (std::size_t i = 0; i < aos.size(); ++i) {
    auto* to = reinterpret_cast<char*>(&cleaned[i]);
    std::memset(to, 0, sizeof(T));
    for (const auto& [offset, size, alignment] : membersOf<T>())
      std::memcpy(to + offset, reinterpret_cast<const char*>(&aos[i]) + offset, size);
  }
  return cleaned;
}

// Columns in separate allocations, each between guard bytes and `offsets[c]` elements off 256-byte alignment.
template <class T>
class OwnColumns {
 public:
  OwnColumns(std::size_t n, const std::vector<std::size_t>& offsets) : n_(n) {
    for (const MemberShape& member : membersOf<T>())
      columns_.emplace_back(n * member.size, offsets[columns_.size() % offsets.size()] * member.size);
  }

  SoaView<T> view() { return make(IndicesOf<T>{}); }
  std::vector<unsigned char> bytes(std::size_t column) const { return columns_[column].toHost(); }

 private:
  template <std::size_t... INDICES>
  SoaView<T> make(std::index_sequence<INDICES...>) {
    return {reinterpret_cast<Member<T, INDICES>*>(columns_[INDICES].data())..., n_};
  }

  std::size_t n_;
  std::vector<DeviceArray<unsigned char>> columns_;
};

// Converts both ways, with the array `aosOffset` alignments off a multiple of 256 bytes, and only the
// structures [skipped, skipped + n) of the columns.
template <class T>
void checkColumns(std::size_t n, std::size_t aosOffset = 0, const std::vector<std::size_t>& offsets = {0},
                  std::size_t skipped = 0) {
  INFO("n " << n << ", aos off by " << aosOffset << ", columns by " << offsets[0] << ", from " << skipped);
  const std::vector<T> values = gpuopt::test::indexCoded<T>(n, 1);
  const StructArray<T> aos(values, aosOffset * alignof(T));
  OwnColumns<T> columns(n + 2 * skipped, offsets);
  const SoaView<T> view = columns.view().subview(skipped, n);

  gpuopt::toSoa(aos.data(), n, view);
  for (std::size_t c = 0; c < memberCount<T>; ++c) {
    const std::size_t size = membersOf<T>()[c].size;
    std::vector<unsigned char> expected = DeviceArray<unsigned char>((n + 2 * skipped) * size).toHost();
    const std::vector<unsigned char> written = columnBytes(values, c);
    if (n > 0) std::memcpy(expected.data() + skipped * size, written.data(), written.size());
    INFO("column " << c);
    REQUIRE(columns.bytes(c) == expected);
  }

  StructArray<T> back(n, (aosOffset + 1) % 4 * alignof(T));
  gpuopt::toAos(SoaView<const T>(view), back.data());
  REQUIRE(gpuopt::test::sameBytes(back.toHost(), withoutPadding(values)));
}

template <class T>
void checkLengths() {
  for (const std::size_t n : {0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 517, 1031})
    checkColumns<T>(n);
}

template <class T, unsigned WIDTH>
void checkTiles(std::size_t n, std::size_t skipped) {
  INFO("n " << n << ", tiles of " << WIDTH << ", from " << skipped);
  const std::vector<T> values = gpuopt::test::indexCoded<T>(n, 2);
  const StructArray<T> aos(values);
  const std::size_t all = n + 2 * skipped;
  const std::vector<std::size_t> offsets = tileOffsets<T>(WIDTH);
  const std::size_t tileBytes = offsets.back();
  DeviceArray<unsigned char> tiles((all + WIDTH - 1) / WIDTH * tileBytes);
  const SoaView<T, SoaTiles<WIDTH>> whole(tiles.data(), all);
  const auto view = whole.subview(skipped, n);
  gpuopt::toSoa(aos.data(), n, view);

  const std::vector<unsigned char> bytes = tiles.toHost();
  std::size_t untouched = bytes.size();
  for (std::size_t c = 0; c < memberCount<T>; ++c) {
    const std::vector<unsigned char> expected = columnBytes(values, c);
    const std::size_t size = membersOf<T>()[c].size;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t index = skipped + i;
      const std::size_t at = index / WIDTH * tileBytes + offsets[c] + index % WIDTH * size;
      REQUIRE(std::memcmp(bytes.data() + at, expected.data() + i * size, size) == 0);
    }
    untouched -= n * size;
  }
  std::size_t poisoned = 0;
  for (const unsigned char byte : bytes) poisoned += byte == 0xA5;
  REQUIRE(poisoned >= untouched);

  StructArray<T> back(n);
  gpuopt::toAos(view, back.data());
  REQUIRE(gpuopt::test::sameBytes(back.toHost(), withoutPadding(values)));
}

// The message of the exception that a call throws, or an empty string.
template <class Call>
std::string errorOf(const Call& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("Structures of every kind become columns and structures again") {
  checkLengths<Particle>();
  checkLengths<Mixed>();
  checkLengths<Sixteen>();
  checkLengths<Colour>();
  checkLengths<Tagged>();
  for (const std::size_t n : {0, 1, 32, 65, 321}) {
    checkColumns<Wide>(n);
    checkColumns<Huge>(n);
    checkColumns<Alone>(4 * n);
  }
}

// Large enough for a block between two others.
TEST_CASE("Arrays and columns may have any alignment") {
  for (std::size_t offset = 0; offset < 4; ++offset) {
    checkColumns<Particle>(810, offset, {1});
    checkColumns<Particle>(810, offset, {offset, 0, 2, 3});
    checkColumns<Mixed>(810, offset, {0, 1, 2, 3});
    checkColumns<Sixteen>(417, offset, {offset});
    checkColumns<Tagged>(810, offset, {2, 3});
  }
  for (std::size_t offset = 0; offset < 16; ++offset) checkColumns<Colour>(1600, offset, {0, 4, offset});
  checkColumns<Wide>(210, 1, {1, 1, 3});
}

TEST_CASE("Only the subview is written") {
  for (const std::size_t skipped : {1, 2, 5, 32}) {
    checkColumns<Particle>(402, 0, {0}, skipped);
    checkColumns<Tagged>(402, 1, {0}, skipped);
    checkColumns<Alone>(3100, 1, {0}, skipped);
  }
}

TEST_CASE("Structures become tiles and structures again") {
  for (const std::size_t n : {0, 1, 31, 32, 33, 127, 300})
    for (const std::size_t skipped : {0, 3}) {
      checkTiles<Particle, 32>(n, skipped);
      checkTiles<Tagged, 8>(n, skipped);
    }
}

TEST_CASE("Some members of columns become structures of their own") {
  const std::size_t n = 150;
  const std::vector<Particle> values = gpuopt::test::indexCoded<Particle>(n, 3);
  const StructArray<Particle> aos(values);
  OwnColumns<Particle> columns(n, {0});
  gpuopt::toSoa(aos.data(), n, columns.view());
  const auto selected = columns.view().select<&Particle::id, &Particle::position>();
  using Both = typename decltype(selected)::Value;
  StructArray<Both> picked(n);
  gpuopt::toAos(selected, picked.data());
  const std::vector<Both> result = picked.toHost();
  for (std::size_t i = 0; i < n; ++i) {
    REQUIRE(result[i].template get<0>() == values[i].id);
    REQUIRE(std::memcmp(&result[i].template get<1>(), &values[i].position, sizeof(float3)) == 0);
  }
}

TEST_CASE("Structures in host memory") {
  for (const std::size_t n : {0, 1, 77}) {
    const std::vector<Mixed> values = gpuopt::test::indexCoded<Mixed>(n, 4);
    std::vector<double> energies(n);
    std::vector<float> masses(n);
    std::vector<int> ids(n);
    std::vector<char> kinds(n);
    const SoaView<Mixed> view(energies.data(), masses.data(), ids.data(), kinds.data(), n);
    gpuopt::toSoaHost(values.data(), n, view);
    for (std::size_t i = 0; i < n; ++i) REQUIRE((ids[i] == values[i].id && kinds[i] == values[i].kind));
    std::vector<Mixed> back(n);
    gpuopt::toAosHost(view, back.data());
    REQUIRE(gpuopt::test::sameBytes(back, withoutPadding(values)));
  }
}

TEST_CASE("Bad arguments of conversions are named, and nothing is written") {
  StructArray<Particle> aos(gpuopt::test::indexCoded<Particle>(8, 5));
  OwnColumns<Particle> columns(8, {0});
  const SoaView<Particle> view = columns.view();
  CHECK(errorOf([&] { gpuopt::toSoa(aos.data(), 7, view); }) == "gpuopt::toSoa: n is 7, but the view has 8 structures");
  CHECK(errorOf([&] { gpuopt::toSoa(aos.data(), 0, view); }) == "gpuopt::toSoa: n is 0, but the view has 8 structures");
  CHECK(errorOf([&] { gpuopt::toSoaHost(aos.data(), 9, view); }) ==
        "gpuopt::toSoaHost: n is 9, but the view has 8 structures");
  const Particle* const nowhere = nullptr;
  CHECK(errorOf([&] { gpuopt::toSoa(nowhere, 8, view); }) == "gpuopt::toSoa: aos is null, but n is 8");
  CHECK(errorOf([&] { gpuopt::toAos(view, static_cast<Particle*>(nullptr)); }) ==
        "gpuopt::toAos: aos is null, but n is 8");
  auto* const misaligned = reinterpret_cast<Particle*>(reinterpret_cast<char*>(aos.data()) + 2);
  CHECK(errorOf([&] { gpuopt::toAosHost(view, misaligned); }) ==
        "gpuopt::toAosHost: aos is misaligned: its address modulo 4 is 2");

  auto* const words = reinterpret_cast<float*>(aos.data());
  const SoaView<Particle> inside(view.column<0>(), view.column<1>(), words + 63, view.column<3>(), 8);
  CHECK(errorOf([&] { gpuopt::toSoa(aos.data(), 8, inside); }) ==
        "gpuopt::toSoa: aos and column 2 overlap: column 2 begins at byte 252 of the 256 of aos");
  CHECK(errorOf([&] { gpuopt::toAos(inside, aos.data()); }) ==
        "gpuopt::toAos: aos and column 2 overlap: column 2 begins at byte 252 of the 256 of aos");
  const SoaView<Particle, SoaTiles<4>> tiles(aos.data(), 8);
  CHECK(errorOf([&] { gpuopt::toAos(tiles, aos.data() + 4); }).find("overlap") != std::string::npos);

  for (std::size_t c = 0; c < 4; ++c)
    CHECK(columns.bytes(c) == DeviceArray<unsigned char>(8 * membersOf<Particle>()[c].size).toHost());
  CHECK(gpuopt::test::sameBytes(aos.toHost(), gpuopt::test::indexCoded<Particle>(8, 5)));
}

TEST_CASE("Containers become columns and containers again") {
  const std::vector<Particle> values = gpuopt::test::indexCoded<Particle>(8, 5);
  const StructArray<Particle> aos(values);
  StructArray<Particle> back(9), few(7);
  gpuopt::SoaVector<Particle> columns(8);
  gpuopt::toSoa(aos, columns.view());
  gpuopt::toAos(columns.view(), back);
  std::vector<Particle> found = back.toHost();
  found.pop_back();
  CHECK(gpuopt::test::sameBytes(found, values));
  CHECK(errorOf([&] { gpuopt::toSoa(few, columns.view()); }) == "gpuopt::toSoa: n is 7, but the view has 8 structures");
  CHECK(errorOf([&] { gpuopt::toAos(columns.view(), few); }) == "gpuopt::toAos: aos has 7 elements, but 8 are needed");
}

TEST_CASE("Conversions of nothing accept null pointers") {
  CHECK_NOTHROW(gpuopt::toSoa(static_cast<const Particle*>(nullptr), 0, SoaView<Particle>()));
  CHECK_NOTHROW(gpuopt::toAos(SoaView<const Particle>(), static_cast<Particle*>(nullptr)));
  CHECK_NOTHROW(gpuopt::toSoaHost(static_cast<const Particle*>(nullptr), 0, SoaView<Particle, SoaTiles<8>>()));
  CHECK_NOTHROW(gpuopt::toAosHost(SoaView<Particle>(), static_cast<Particle*>(nullptr)));
}

}  // namespace convert_test
