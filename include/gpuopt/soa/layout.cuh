/// \file
/// Layouts of structures of arrays, and the addresses of their members.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/word.cuh>
#include <gpuopt/soa/aggregate.cuh>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN

/// The layout of a structure of arrays: each member has a column, an array of its own. Neighbouring threads access
/// neighbouring addresses, and members that are not used are not moved.
struct SoaColumns {};

/// The layout of an array of structures of arrays (AoSoA): consecutive tiles of WIDTH structs. A tile has WIDTH values
/// of the first member, then WIDTH of the second, and so on. With WIDTH = 32 a warp still reads neighbouring addresses,
/// but the members of a struct are close together: that suits random access to groups of 32 structs, and structs with
/// many members, whose columns would need many pages.
///
/// WIDTH is a power of two. Within a tile, each member is aligned as its type requires; tiles have the largest of these
/// alignments.
template <unsigned WIDTH>
struct SoaTiles {};

namespace detail {

// The addresses of all members of all structs. Trivially copyable; as a kernel parameter, it costs the same as separate
// pointers.
//   at<INDEX>(i)          the address of a member of struct i
//   from(first)           the addresses for a view that begins at struct `first`
//   Select<INDICES...>    the layout of these members only
//   select<INDICES...>()  their addresses
template <class T, class LAYOUT>
struct SoaAddressesOf;

template <class T, class LAYOUT>
using SoaAddresses = typename SoaAddressesOf<T, LAYOUT>::Type;

template <class M, std::size_t INDEX>
struct ColumnPointer {
  M* column = nullptr;
};

template <std::size_t INDEX, class M>
__host__ __device__ M* pointerAt(const ColumnPointer<M, INDEX>& pointer) {
  return pointer.column;
}

template <class Indices, class... Ms>
class SoaColumnsAddresses;

template <std::size_t... INDICES, class... Ms>
class SoaColumnsAddresses<std::index_sequence<INDICES...>, Ms...> : ColumnPointer<Ms, INDICES>... {
 public:
  template <std::size_t...>
  using Select = SoaColumns;

  SoaColumnsAddresses() = default;
  __host__ __device__ explicit SoaColumnsAddresses(Ms*... columns) : ColumnPointer<Ms, INDICES>{columns}... {}

  // Columns of const members from mutable ones.
  template <class... Plain, class = std::enable_if_t<(std::is_same_v<const Plain, Ms> && ...)>>
  __host__ __device__ SoaColumnsAddresses(const SoaColumnsAddresses<std::index_sequence<INDICES...>, Plain...>& other)
      : SoaColumnsAddresses(other.template at<INDICES>(0)...) {}

  template <std::size_t INDEX>
  __host__ __device__ auto* at(std::size_t i) const {
    return pointerAt<INDEX>(*this) + i;
  }

  __host__ __device__ SoaColumnsAddresses from(std::size_t first) const {
    return SoaColumnsAddresses(at<INDICES>(first)...);
  }

  template <std::size_t... SELECTED>
  __host__ __device__ auto select() const {
    return SoaColumnsAddresses<std::make_index_sequence<sizeof...(SELECTED)>,
                               std::remove_pointer_t<decltype(at<SELECTED>(0))>...>(at<SELECTED>(0)...);
  }
};

template <class T, class Types>
struct SoaColumnsAddressesOf;
template <class T, class... Ms>
struct SoaColumnsAddressesOf<T, TypeList<Ms...>> {
  using Type = SoaColumnsAddresses<std::index_sequence_for<Ms...>, ConstLike<T, Ms>...>;
};

template <class T>
struct SoaAddressesOf<T, SoaColumns> : SoaColumnsAddressesOf<T, MemberTypes<T>> {};

// A tile of WIDTH structs of T.
template <class T, unsigned WIDTH, class Types = MemberTypes<T>>
struct SoaTileLayout;

template <class T, unsigned WIDTH, class... Ms>
struct SoaTileLayout<T, WIDTH, TypeList<Ms...>> {
  static_assert(isPowerOfTwo<WIDTH>, "gpuopt::SoaTiles: WIDTH must be a power of two");

  static constexpr std::size_t alignment() {
    std::size_t largest = 1;
    ((largest = largerOf(largest, alignof(Ms))), ...);
    return largest;
  }

  // The offset of a member in the tile; for the number of members, the end of the last one.
  static constexpr std::size_t offsetOf(std::size_t member) {
    std::size_t end = 0, begin = 0, number = 0;
    ((begin = number <= member ? roundUp(end, alignof(Ms)) : begin,
      end = number < member ? begin + WIDTH * sizeof(Ms) : end, ++number),
     ...);
    return member < sizeof...(Ms) ? begin : end;
  }

  static constexpr std::size_t ALIGNMENT = alignment();
  static constexpr std::size_t BYTES = roundUp(offsetOf(sizeof...(Ms)), ALIGNMENT);
  template <std::size_t INDEX>
  static constexpr std::size_t OFFSET = offsetOf(INDEX);
};

// The layout of the members INDICES of T within tiles of all members.
template <class T, unsigned WIDTH, std::size_t... INDICES>
struct SoaTilesSelection {};

template <class T, unsigned WIDTH, std::size_t... INDICES>
class SoaTilesAddresses {
  using Tile = SoaTileLayout<std::remove_const_t<T>, WIDTH>;
  using Byte = ConstLike<T, unsigned char>;
  using Indices = TypeList<std::integral_constant<std::size_t, INDICES>...>;

 public:
  // The member of T that is number INDEX of the selection.
  template <std::size_t INDEX>
  static constexpr std::size_t memberAt = TypeAt<Indices, INDEX>::Type::value;

  template <std::size_t... SELECTED>
  using Select = SoaTilesSelection<std::remove_const_t<T>, WIDTH, memberAt<SELECTED>...>;

  SoaTilesAddresses() = default;
  __host__ __device__ SoaTilesAddresses(Byte* tiles, std::size_t first) : tiles_(tiles), first_(first) {}

  template <class Plain, class = std::enable_if_t<std::is_same_v<const Plain, T>>>
  __host__ __device__ SoaTilesAddresses(const SoaTilesAddresses<Plain, WIDTH, INDICES...>& other)
      : tiles_(other.tiles()), first_(other.first()) {}

  template <std::size_t INDEX>
  __host__ __device__ auto* at(std::size_t i) const {
    constexpr std::size_t MEMBER = memberAt<INDEX>;
    const std::size_t index = first_ + i;
    Byte* column = tiles_ + index / WIDTH * Tile::BYTES + Tile::template OFFSET<MEMBER>;
    return reinterpret_cast<Member<T, MEMBER>*>(column) + index % WIDTH;
  }

  __host__ __device__ SoaTilesAddresses from(std::size_t first) const { return {tiles_, first_ + first}; }

  template <std::size_t... SELECTED>
  __host__ __device__ auto select() const {
    return SoaTilesAddresses<T, WIDTH, memberAt<SELECTED>...>(tiles_, first_);
  }

  __host__ __device__ Byte* tiles() const { return tiles_; }
  __host__ __device__ std::size_t first() const { return first_; }

 private:
  Byte* tiles_ = nullptr;
  std::size_t first_ = 0;  // of a subview, which may begin within a tile
};

template <class T, unsigned WIDTH, std::size_t... INDICES>
SoaTilesAddresses<T, WIDTH, INDICES...> allAddresses(std::index_sequence<INDICES...>);

template <class T, unsigned WIDTH>
struct SoaAddressesOf<T, SoaTiles<WIDTH>> {
  using Type = decltype(allAddresses<T, WIDTH>(std::make_index_sequence<memberCount<T>>{}));
};

template <class V, class T, unsigned WIDTH, std::size_t... INDICES>
struct SoaAddressesOf<V, SoaTilesSelection<T, WIDTH, INDICES...>> {
  using Type = SoaTilesAddresses<ConstLike<V, T>, WIDTH, INDICES...>;
};

// MEMBER is &T::member or the member's number.
template <class T, auto MEMBER>
constexpr std::size_t numberOf() {
  if constexpr (std::is_member_object_pointer_v<decltype(MEMBER)>) {
    static_assert(std::is_same_v<decltype(memberOwner(MEMBER)), std::remove_const_t<T>>,
                  "gpuopt: the member pointer is one of another struct");
    return memberIndex<MEMBER>;
  } else if constexpr (std::is_integral_v<decltype(MEMBER)>) {
    constexpr bool EXISTS = MEMBER >= 0 && static_cast<std::size_t>(MEMBER) < memberCount<T>;
    static_assert(EXISTS, "gpuopt: the struct has no member of this number");
    return EXISTS ? static_cast<std::size_t>(MEMBER) : 0;
  } else {
    static_assert(isNever<T>, "gpuopt: a column is named by a pointer to a data member, or by its number");
    return 0;
  }
}

template <class T, auto MEMBER>
inline constexpr std::size_t columnNumber = numberOf<T, MEMBER>();

}  // namespace detail
GPUOPT_NAMESPACE_END
