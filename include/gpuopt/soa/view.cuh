/// \file
/// A view of columns or tiles that is used like an array of structs: SoaView.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/core/range.cuh>
#include <gpuopt/soa/aggregate.cuh>
#include <gpuopt/soa/iterator.cuh>
#include <gpuopt/soa/layout.cuh>
#include <gpuopt/soa/reference.cuh>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

template <class M>
void requireColumn(const M* column, std::size_t number, std::size_t n) {
  const bool fits = n <= PTRDIFF_MAX / sizeof(M);
  if (n == 0 || (fits && column != nullptr && alignedTo(column, alignof(M)))) return;
  requireAddress({column, n, sizeof(M), alignof(M), message({"column ", number}).c_str()}, "gpuopt::SoaView");
}

inline void requireSubview(std::size_t first, std::size_t count, std::size_t size) {
  requireSize(first, {"first"}, "gpuopt::SoaView::subview");
  requireSize(count, {"count"}, "gpuopt::SoaView::subview");
  if (first > size || count > size - first)
    throwInvalid({"gpuopt::SoaView::subview: first (", first, ") + count (", count, ") is beyond size (", size, ")"});
}

template <class C>
inline constexpr bool isColumn = std::is_pointer_v<std::decay_t<C>> || isRange<C>;

// Whether V has a view() that converts to View, as SoaVector does.
template <class V, class View, class = void>
inline constexpr bool hasView = false;
template <class V, class View>
inline constexpr bool
    hasView<V, View, std::enable_if_t<std::is_convertible_v<decltype(std::declval<V&>().view()), View>>> = true;

// The state of a SoaView. Specialisations of SoaMemory add its constructors from the user's memory.
template <class T, class LAYOUT>
class SoaState {
 protected:
  // Whether the arguments are columns, but not those of the struct.
  template <class...>
  static constexpr bool areWrong = false;

  SoaState() = default;
  __host__ __device__ SoaState(const SoaAddresses<T, LAYOUT>& addresses, std::size_t n)
      : addresses_(addresses), n_(n) {}

  SoaAddresses<T, LAYOUT> addresses_;
  std::size_t n_ = 0;
};

template <class T, class LAYOUT, class Types = MemberTypes<T>>
class SoaMemory : protected SoaState<T, LAYOUT> {
 protected:
  using SoaState<T, LAYOUT>::SoaState;
};

template <class T, class... Ms>
class SoaMemory<T, SoaColumns, TypeList<Ms...>> : protected SoaState<T, SoaColumns> {
  template <class... Ranges>
  static constexpr bool areRanges() {
    if constexpr ((isRange<Ranges> && ...))
      return std::is_invocable_v<void(ConstLike<T, Ms> * ...), decltype(toAddress(std::declval<Ranges&>().data()))...>;
    else
      return false;
  }

 public:
  __host__ __device__ SoaMemory(ConstLike<T, Ms>*... columns, std::size_t n)
      : SoaState<T, SoaColumns>(SoaAddresses<T, SoaColumns>(columns...), n) {
#if !defined(__CUDA_ARCH__)
    std::size_t number = 0;
    (requireColumn(columns, number++, n), ...);
#endif
  }

  template <class... Ranges, class = std::enable_if_t<areRanges<Ranges...>()>>
  __host__ SoaMemory(Ranges&&... columns) : SoaMemory(toAddress(columns.data())..., sizeOfFirst(columns...)) {
    std::size_t number = 0;
    (requireSize(columns.size(), number++), ...);
  }

 protected:
  template <class First, class... Rest>
  static constexpr bool areWrong = sizeof...(Rest) != 0 && isColumn<First> && !areRanges<First, Rest...>() &&
                                   !std::is_invocable_v<void(ConstLike<T, Ms>*..., std::size_t), First, Rest...>;

  using SoaState<T, SoaColumns>::SoaState;

 private:
  template <class First, class... Rest>
  static std::size_t sizeOfFirst(const First& first, const Rest&...) {
    return first.size();
  }

  void requireSize(std::size_t size, std::size_t number) const {
    if (size != this->n_)
      throwInvalid({"gpuopt::SoaView: column ", number, " has ", size, " elements, column 0 has ", this->n_});
  }
};

template <class T, unsigned WIDTH, class Types>
class SoaMemory<T, SoaTiles<WIDTH>, Types> : protected SoaState<T, SoaTiles<WIDTH>> {
 public:
  __host__ __device__ SoaMemory(ConstLike<T, void>* tiles, std::size_t n)
      : SoaState<T, SoaTiles<WIDTH>>({static_cast<ConstLike<T, unsigned char>*>(tiles), 0}, n) {
#if !defined(__CUDA_ARCH__)
    using Tile = SoaTileLayout<std::remove_const_t<T>, WIDTH>;
    requireAddress({tiles, n, Tile::BYTES / WIDTH, Tile::ALIGNMENT, "tiles"}, "gpuopt::SoaView");
#endif
  }

 protected:
  using SoaState<T, SoaTiles<WIDTH>>::SoaState;
};

}  // namespace detail

/// A view of an array of structs of type T with a column for each member. It is used like an array of structs, on the
/// device and on the host:
///
///     struct Particle { float3 position, velocity; float mass; int id; };
///     gpuopt::SoaView<const Particle> view{position, velocity, mass, id, n};  // pointers, in order
///
///     Particle p = view[i];                                                   // or view.load(i)
///     auto [position, velocity, mass, id] = view[i];                          // references
///     float total = gpuopt::reduce(view.column<&Particle::mass>(), view.size());
///
/// T is any aggregate that is trivially copyable and default-constructible, with 1 to 32 members: numbers, bool, enums,
/// pointers, structs (one column, not split further), arrays (a column of arrays). Base classes, references, const
/// members and bit-fields are not supported. A SoaView<T> converts to a SoaView<const T>, which only reads.
///
/// A view is trivially copyable and owns no memory. Like a pointer, a const view of T can write. Pass it to kernels by
/// value: it costs the same as separate pointers.
///
/// **From your own memory**: `{column..., n}` with one pointer per member and their common length, or `{column...}`
/// with vectors or spans (anything with data() and size(), including Thrust's vectors). With LAYOUT = SoaTiles<WIDTH>:
/// `{tiles, n}`, where `tiles` points to ceil(n / WIDTH) tiles. On the host, std::invalid_argument names the column and
/// the value if a column is misaligned for its type, or null with n > 0, or if lengths differ. In device code nothing
/// is checked. Columns that are written must not overlap.
template <class T, class LAYOUT = SoaColumns>
class SoaView : public detail::SoaMemory<T, LAYOUT> {
  using Memory = detail::SoaMemory<T, LAYOUT>;
  using Addresses = detail::SoaAddresses<T, LAYOUT>;

 public:
  /// The struct, const in a view that only reads.
  using Struct = T;
  /// The struct, without const.
  using Value = std::remove_const_t<T>;
  using Layout = LAYOUT;                      ///< the layout of the members
  using Reference = SoaReference<T, LAYOUT>;  ///< the type of view[i]
  using Iterator = SoaIterator<T, LAYOUT>;    ///< the type of begin()

  /// The number of columns.
  static constexpr std::size_t COLUMNS = detail::memberCount<T>;

  /// An empty view.
  SoaView() = default;

  using Memory::Memory;

  /// For internal use: n structs whose members are at `addresses`.
  __host__ __device__ SoaView(const Addresses& addresses, std::size_t n) : Memory(addresses, n) {}

  /// A view that only reads.
  template <class Plain, class = std::enable_if_t<std::is_same_v<const Plain, T>>>
  __host__ __device__ SoaView(const SoaView<Plain, LAYOUT>& other) : Memory(other.addresses(), other.size()) {}

  // Accepts a SoaVector only to explain the error; otherwise the compiler would list all constructors.
  template <class V, class = std::enable_if_t<detail::hasView<V, SoaView>>>
  SoaView(const V&) {
    static_assert(!detail::hasView<V, SoaView>, "gpuopt::SoaView: a SoaVector is no view: write vector.view()");
  }
  // Accepts wrong columns only to explain the error.
  template <class First, class... Rest, class = std::enable_if_t<Memory::template areWrong<First, Rest...>>>
  __host__ __device__ SoaView(First&&, Rest&&...) {
    constexpr std::size_t GIVEN = sizeof...(Rest) + (detail::isRange<First> ? 1 : 0);
    static_assert(GIVEN == COLUMNS,
                  "gpuopt::SoaView: the number of columns differs from that of the struct's members: write "
                  "{pointer..., n} or {vector...}, one column for each member, in order");
    static_assert(GIVEN != COLUMNS,
                  "gpuopt::SoaView: a column is not of its member's type, or there is no n: write "
                  "{pointer..., n} or {vector...}, one column for each member, in order");
  }

  /// The number of structs.
  [[nodiscard]] __host__ __device__ std::size_t size() const { return this->n_; }
  /// Whether size() is 0.
  [[nodiscard]] __host__ __device__ bool empty() const { return this->n_ == 0; }

  /// A reference to struct i, i < size().
  [[nodiscard]] __host__ __device__ Reference operator[](std::size_t i) const { return {this->addresses_, i}; }

  /// Loads struct i.
  [[nodiscard]] __host__ __device__ Value load(std::size_t i) const { return (*this)[i]; }

  /// Stores `value` to struct i.
  __host__ __device__ void store(std::size_t i, const Value& value) const { (*this)[i] = value; }

  /// A pointer to the column of one member: `column<&Particle::mass>()` or `column<2>()`. With tiles, a random access
  /// iterator. The elements of a column of arrays are arrays.
  template <auto MEMBER>
  [[nodiscard]] __host__ __device__ auto column() const {
    constexpr std::size_t INDEX = detail::columnNumber<T, MEMBER>;
    if constexpr (std::is_same_v<LAYOUT, SoaColumns>)
      return this->addresses_.template at<INDEX>(0);
    else
      return detail::SoaTilesColumn<Addresses, INDEX>(this->addresses_);
  }

  /// A view of `count` structs from number `first` on. Throws std::invalid_argument on the host if the view has fewer.
  [[nodiscard]] __host__ __device__ SoaView subview(std::size_t first, std::size_t count) const {
#if !defined(__CUDA_ARCH__)
    detail::requireSubview(first, count, this->n_);
#endif
    return {this->addresses_.from(first), count};
  }

  /// A view of the selected members, in this order: `select<&Particle::id, &Particle::mass>()` or `select<3, 2>()`. Its
  /// value type is SoaTuple; `auto [id, mass] = selected[i]` are references.
  template <auto... MEMBERS>
  [[nodiscard]] __host__ __device__ auto select() const {
    using Tuple = SoaTuple<std::remove_const_t<detail::Member<T, detail::columnNumber<T, MEMBERS>>>...>;
    using Selected = typename Addresses::template Select<detail::columnNumber<T, MEMBERS>...>;
    return SoaView<detail::ConstLike<T, Tuple>, Selected>(
        this->addresses_.template select<detail::columnNumber<T, MEMBERS>...>(), this->n_);
  }

  /// An iterator at the first struct.
  [[nodiscard]] __host__ __device__ Iterator begin() const { return {this->addresses_, 0}; }
  /// An iterator past the last struct.
  [[nodiscard]] __host__ __device__ Iterator end() const {
    return {this->addresses_, static_cast<std::ptrdiff_t>(this->n_)};
  }

  /// For internal use: the addresses of the members.
  __host__ __device__ const Addresses& addresses() const { return this->addresses_; }
};

namespace detail {

// The view of an argument: itself, or that of a SoaVector.
template <class T, class LAYOUT>
SoaView<T, LAYOUT> soaViewOf(const SoaView<T, LAYOUT>& view) {
  return view;
}
template <class V>
auto soaViewOf(V& vector) -> decltype(soaViewOf(vector.view())) {
  return vector.view();
}

template <class Soa>
using SoaViewOf = decltype(soaViewOf(std::declval<Soa&>()));
template <class... Soas>
using EnableSoa = std::void_t<SoaViewOf<Soas>...>;
template <class Soa>
using SoaStructOf = typename SoaViewOf<Soa>::Struct;
template <class Soa>
using SoaReadingView = SoaView<const SoaStructOf<Soa>, typename SoaViewOf<Soa>::Layout>;

}  // namespace detail

GPUOPT_NAMESPACE_END
