/// \file
/// How the members of a structure of arrays lie in memory, and where each is.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/const_like.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/soa/aggregate.cuh>
#include <gpuopt/soa/tuple.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN

/// The layout of a structure of arrays: every member has a column, an array of its own. Neighbouring threads
/// read and write neighbouring addresses, and what is not needed is not touched.
struct SoaColumns {};

/// The layout of an array of structures of arrays (AoSoA): tiles of WIDTH structs, one behind another. Within
/// a tile, WIDTH values of the first member are followed by WIDTH of the second, and so on. With 32 a warp
/// still reads neighbouring addresses, while the members of a struct lie close together: that suits random
/// access to whole warps' worth of structs, and keeps an array with many members in few pages.
///
/// WIDTH is a power of two. Each member begins at its alignment, and a tile at the largest one.
template <unsigned WIDTH>
struct SoaTiles {};

namespace detail {

// Where the members of each struct are. Trivially copyable, and as a part of a kernel's parameters as good as
// pointers that are written out.
//   at<PLACE>(i)        the address of a member of struct i
//   from(first)         the same from struct `first` on
//   Select<PLACES...>   the layout of these members alone
//   select<PLACES...>() their places in it
template <class T, class LAYOUT>
struct PlacesOf;

template <class T, class LAYOUT>
using Places = typename PlacesOf<T, LAYOUT>::Type;

template <std::size_t PLACE, class M>
struct ColumnPointer {
  M* column = nullptr;
};

template <std::size_t PLACE, class M>
__host__ __device__ M* pointerAt(const ColumnPointer<PLACE, M>& pointer) {
  return pointer.column;
}

template <class Numbers, class... Ms>
class ColumnPlaces;

template <std::size_t... NUMBERS, class... Ms>
class ColumnPlaces<std::index_sequence<NUMBERS...>, Ms...> : ColumnPointer<NUMBERS, Ms>... {
 public:
  template <std::size_t...>
  using Select = SoaColumns;

  ColumnPlaces() = default;
  __host__ __device__ explicit ColumnPlaces(Ms*... columns) : ColumnPointer<NUMBERS, Ms>{columns}... {}

  // Columns of const members from those of plain ones.
  template <class... Plain, class = std::enable_if_t<(std::is_same_v<const Plain, Ms> && ...)>>
  __host__ __device__ ColumnPlaces(const ColumnPlaces<std::index_sequence<NUMBERS...>, Plain...>& other)
      : ColumnPlaces(other.template at<NUMBERS>(0)...) {}

  template <std::size_t PLACE>
  __host__ __device__ auto* at(std::size_t i) const {
    return pointerAt<PLACE>(*this) + i;
  }

  __host__ __device__ ColumnPlaces from(std::size_t first) const {
    return ColumnPlaces(at<NUMBERS>(first)...);
  }

  template <std::size_t... PLACES>
  __host__ __device__ auto select() const {
    return ColumnPlaces<std::make_index_sequence<sizeof...(PLACES)>,
                        std::remove_pointer_t<decltype(at<PLACES>(0))>...>(at<PLACES>(0)...);
  }
};

template <class T, class Types>
struct ColumnPlacesOf;
template <class T, class... Ms>
struct ColumnPlacesOf<T, TypeList<Ms...>> {
  using Type = ColumnPlaces<std::index_sequence_for<Ms...>, ConstLike<T, Ms>...>;
};

template <class T>
struct PlacesOf<T, SoaColumns> : ColumnPlacesOf<T, MemberTypes<T>> {};

// A tile of WIDTH structs of T.
template <class T, unsigned WIDTH, class Types = MemberTypes<T>>
struct SoaTileShape;

template <class T, unsigned WIDTH, class... Ms>
struct SoaTileShape<T, WIDTH, TypeList<Ms...>> {
  static_assert(WIDTH > 0 && (WIDTH & (WIDTH - 1)) == 0, "gpuopt::SoaTiles: WIDTH must be a power of two");

  static constexpr std::size_t alignment() {
    std::size_t largest = 1;
    ((largest = alignof(Ms) > largest ? alignof(Ms) : largest), ...);
    return largest;
  }

  // From the beginning of a tile to that of a member in it; for the number of members: to the end.
  static constexpr std::size_t offsetOf(std::size_t place) {
    std::size_t end = 0, begin = 0, number = 0;
    ((begin = number <= place ? roundUp(end, alignof(Ms)) : begin,
      end = number < place ? begin + WIDTH * sizeof(Ms) : end, ++number),
     ...);
    return place < sizeof...(Ms) ? begin : end;
  }

  static constexpr std::size_t ALIGNMENT = alignment();
  static constexpr std::size_t BYTES = roundUp(offsetOf(sizeof...(Ms)), ALIGNMENT);
  template <std::size_t PLACE>
  static constexpr std::size_t OFFSET = offsetOf(PLACE);
};

// The members PLACES of T in tiles of all members.
template <class T, unsigned WIDTH, std::size_t... PLACES>
struct TiledPart {};

template <class T, unsigned WIDTH, std::size_t... PLACES>
class TilePlaces {
  using Shape = SoaTileShape<std::remove_const_t<T>, WIDTH>;
  using Byte = ConstLike<T, unsigned char>;
  using Numbers = TypeList<std::integral_constant<std::size_t, PLACES>...>;

 public:
  // Which member of T the one at a place is.
  template <std::size_t PLACE>
  static constexpr std::size_t memberAt = TypeAt<PLACE, Numbers>::Type::value;

  template <std::size_t... SELECTED>
  using Select = TiledPart<std::remove_const_t<T>, WIDTH, memberAt<SELECTED>...>;

  TilePlaces() = default;
  __host__ __device__ TilePlaces(Byte* tiles, std::size_t first) : tiles_(tiles), first_(first) {}

  template <class Plain, class = std::enable_if_t<std::is_same_v<const Plain, T>>>
  __host__ __device__ TilePlaces(const TilePlaces<Plain, WIDTH, PLACES...>& other)
      : tiles_(other.tiles()), first_(other.first()) {}

  template <std::size_t PLACE>
  __host__ __device__ auto* at(std::size_t i) const {
    constexpr std::size_t MEMBER = memberAt<PLACE>;
    const std::size_t place = first_ + i;
    Byte* column = tiles_ + place / WIDTH * Shape::BYTES + Shape::template OFFSET<MEMBER>;
    return reinterpret_cast<Member<T, MEMBER>*>(column) + place % WIDTH;
  }

  __host__ __device__ TilePlaces from(std::size_t first) const { return {tiles_, first_ + first}; }

  template <std::size_t... SELECTED>
  __host__ __device__ auto select() const {
    return TilePlaces<T, WIDTH, memberAt<SELECTED>...>(tiles_, first_);
  }

  __host__ __device__ Byte* tiles() const { return tiles_; }
  __host__ __device__ std::size_t first() const { return first_; }

 private:
  Byte* tiles_ = nullptr;
  std::size_t first_ = 0;  // where a subview begins: not only at whole tiles
};

template <class T, unsigned WIDTH, std::size_t... PLACES>
TilePlaces<T, WIDTH, PLACES...> allPlaces(std::index_sequence<PLACES...>);

template <class T, unsigned WIDTH>
struct PlacesOf<T, SoaTiles<WIDTH>> {
  using Type = decltype(allPlaces<T, WIDTH>(std::make_index_sequence<memberCount<T>>{}));
};

template <class V, class T, unsigned WIDTH, std::size_t... PLACES>
struct PlacesOf<V, TiledPart<T, WIDTH, PLACES...>> {
  using Type = TilePlaces<ConstLike<V, T>, WIDTH, PLACES...>;
};

// Both ways at once: &T::member, or the number of the member.
template <class T, auto MEMBER>
constexpr std::size_t numberOf() {
  if constexpr (std::is_member_object_pointer_v<decltype(MEMBER)>) {
    static_assert(std::is_same_v<decltype(memberOwner(MEMBER)), std::remove_const_t<T>>,
                  "gpuopt: the member pointer is one of another struct");
    return memberIndex<MEMBER>;
  } else {
    static_assert(std::is_integral_v<decltype(MEMBER)>,
                  "gpuopt: a column is named by a pointer to a data member, or by its number");
    static_assert(MEMBER >= 0 && static_cast<std::size_t>(MEMBER) < memberCount<T>,
                  "gpuopt: the struct has no member of this number");
    return static_cast<std::size_t>(MEMBER);
  }
}

template <class T, auto MEMBER>
inline constexpr std::size_t columnNumber = numberOf<T, MEMBER>();

}  // namespace detail
GPUOPT_NAMESPACE_END
