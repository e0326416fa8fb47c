/// \file
/// Structures of arrays: views of columns, or of tiles, that are used like arrays of structs.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/array_check.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/soa/aggregate.cuh>
#include <gpuopt/soa/iterator.cuh>
#include <gpuopt/soa/layout.cuh>
#include <gpuopt/soa/reference.cuh>
#include <gpuopt/soa/tuple.cuh>

#include <cuda_runtime.h>

#include <cstddef>
#include <type_traits>
#include <utility>

GPUOPT_NAMESPACE_BEGIN
namespace detail {

template <class M>
void requireColumn(const M* column, std::size_t number, std::size_t n) {
  if (n == 0 || (column != nullptr && alignedTo(column, alignof(M)))) return;
  requireArray({column, n, sizeof(M), alignof(M), message({"column ", number}).c_str()}, "gpuopt::SoaView");
}

inline void requireSubview(std::size_t first, std::size_t count, std::size_t size) {
  if (first > size || count > size - first)
    throwInvalid(
        {"gpuopt::SoaView::subview: first (", first, ") + count (", count, ") is beyond size (", size, ")"});
}

// Whether R owns or spans elements: a vector, a span, Thrust's vectors.
template <class R, class = void>
inline constexpr bool isRange = false;
template <class R>
inline constexpr bool
    isRange<R, std::void_t<decltype(std::declval<R&>().data()), decltype(std::declval<R&>().size())>> = true;

template <class C>
inline constexpr bool isColumn = std::is_pointer_v<std::decay_t<C>> || isRange<C>;

// Whether V has a view that serves as View: a SoaVector has, and is none itself.
template <class V, class View, class = void>
inline constexpr bool hasView = false;
template <class V, class View>
inline constexpr bool
    hasView<V, View, std::enable_if_t<std::is_convertible_v<decltype(std::declval<V&>().view()), View>>> =
        true;

// The address that a pointer, or what Thrust's vectors return in its place, stands for.
template <class P>
auto toAddress(P pointer) {
  if constexpr (std::is_pointer_v<P>)
    return pointer;
  else
    return pointer.get();
}

// What a SoaView is made of, and how it can be made from memory of the user.
template <class T, class LAYOUT>
class SoaMemory {
 protected:
  // Arguments that look like columns, but are not those of the struct.
  template <class...>
  static constexpr bool areWrong = false;

  SoaMemory() = default;
  __host__ __device__ SoaMemory(const Places<T, LAYOUT>& places, std::size_t n) : places_(places), n_(n) {}

  Places<T, LAYOUT> places_;
  std::size_t n_ = 0;
};

template <class T, class Types = MemberTypes<T>>
class ColumnsMemory;

template <class T, class... Ms>
class ColumnsMemory<T, TypeList<Ms...>> : protected SoaMemory<T, SoaColumns> {
  template <class... Ranges>
  static constexpr bool areRanges() {
    if constexpr ((isRange<Ranges> && ...))
      return std::is_invocable_v<void(ConstLike<T, Ms> * ...),
                                 decltype(toAddress(std::declval<Ranges&>().data()))...>;
    else
      return false;
  }

 public:
  __host__ __device__ ColumnsMemory(ConstLike<T, Ms>*... columns, std::size_t n)
      : SoaMemory<T, SoaColumns>(Places<T, SoaColumns>(columns...), n) {
#if !defined(__CUDA_ARCH__)
    std::size_t number = 0;
    (requireColumn(columns, number++, n), ...);
#endif
  }

  template <class... Ranges, class = std::enable_if_t<areRanges<Ranges...>()>>
  __host__ ColumnsMemory(Ranges&&... columns)
      : ColumnsMemory(toAddress(columns.data())..., sizeOfFirst(columns...)) {
    std::size_t number = 0;
    (requireSize(columns.size(), number++), ...);
  }

 protected:
  template <class First, class... Rest>
  static constexpr bool areWrong =
      sizeof...(Rest) != 0 && isColumn<First> && !areRanges<First, Rest...>() &&
      !std::is_invocable_v<void(ConstLike<T, Ms>*..., std::size_t), First, Rest...>;

  using SoaMemory<T, SoaColumns>::SoaMemory;

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

template <class T, unsigned WIDTH>
class TilesMemory : protected SoaMemory<T, SoaTiles<WIDTH>> {
 public:
  __host__ __device__ TilesMemory(ConstLike<T, void>* tiles, std::size_t n)
      : SoaMemory<T, SoaTiles<WIDTH>>({static_cast<ConstLike<T, unsigned char>*>(tiles), 0}, n) {
#if !defined(__CUDA_ARCH__)
    using Shape = SoaTileShape<std::remove_const_t<T>, WIDTH>;
    requireArray({tiles, n, Shape::BYTES / WIDTH, Shape::ALIGNMENT, "tiles"}, "gpuopt::SoaView");
#endif
  }

 protected:
  using SoaMemory<T, SoaTiles<WIDTH>>::SoaMemory;
};

template <class T, class LAYOUT>
struct MemoryOf {
  using Type = SoaMemory<T, LAYOUT>;
};
template <class T>
struct MemoryOf<T, SoaColumns> {
  using Type = ColumnsMemory<T>;
};
template <class T, unsigned WIDTH>
struct MemoryOf<T, SoaTiles<WIDTH>> {
  using Type = TilesMemory<T, WIDTH>;
};

}  // namespace detail

/// An array of T, each member of which has a column of its own; used like an array of structs, on the device
/// and on the host:
///
///     struct Particle { float3 position, velocity; float mass; int id; };
///     gpuopt::SoaView<const Particle> view{position, velocity, mass, id, n};  // pointers, in order
///
///     Particle p = view[i];                                                   // or view.load(i)
///     auto [position, velocity, mass, id] = view[i];                          // references
///     float total = gpuopt::reduce(view.column<&Particle::mass>(), view.size());
///
/// T is any aggregate that is trivially copyable and default-constructible, of 1 to 32 members: numbers,
/// bool, enums, pointers, structs (which stay whole), arrays (a column of arrays). It has no base classes,
/// references, const members or bit-fields. A view of `const T` only reads; one of T converts to it.
///
/// A view is trivially copyable, refers to memory and owns none, and is const like a pointer: a const view of
/// T can write. It is passed to kernels by value, and costs there what pointers that are written out do.
///
/// **From memory of your own**: `{column..., n}` with one pointer a member and their common length; or
/// `{column...}` with vectors or spans (whatever has data() and size(), Thrust's vectors too). With LAYOUT =
/// SoaTiles<WIDTH>: `{tiles, n}`, the address of ceil(n / WIDTH) tiles. Elements must be aligned as their
/// type says. Otherwise, and where a column is null although n > 0, or lengths differ, std::invalid_argument
/// names the column and the value. In device code nothing is checked. Columns must not overlap where they are
/// written.
template <class T, class LAYOUT = SoaColumns>
class SoaView : public detail::MemoryOf<T, LAYOUT>::Type {
  using Memory = typename detail::MemoryOf<T, LAYOUT>::Type;
  using Places = detail::Places<T, LAYOUT>;

 public:
  /// The struct, without const.
  using Value = std::remove_const_t<T>;
  using Layout = LAYOUT;                      ///< how the members lie
  using Reference = SoaReference<T, LAYOUT>;  ///< what view[i] is
  using Iterator = SoaIterator<T, LAYOUT>;    ///< what begin() gives

  /// The number of columns.
  static constexpr std::size_t COLUMNS = detail::memberCount<T>;

  /// A view of nothing.
  SoaView() = default;

  using Memory::Memory;

  /// For the library's own functions: n structs whose members are at `places`.
  __host__ __device__ SoaView(const Places& places, std::size_t n) : Memory(places, n) {}

  /// A view that only reads.
  template <class Plain, class = std::enable_if_t<std::is_same_v<const Plain, T>>>
  __host__ __device__ SoaView(const SoaView<Plain, LAYOUT>& other) : Memory(other.places(), other.size()) {}

  // Taken to say what to write, where the compiler would name all constructors.
  template <class V, class = std::enable_if_t<detail::hasView<V, SoaView>>>
  SoaView(const V&) {
    static_assert(!detail::hasView<V, SoaView>,
                  "gpuopt::SoaView: a SoaVector is no view: write vector.view()");
  }
  // Taken to say what is wrong with the columns.
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
  __host__ __device__ std::size_t size() const { return this->n_; }
  /// Whether there are none.
  __host__ __device__ bool empty() const { return this->n_ == 0; }

  /// Struct i, i < size(), as a reference to its members.
  __host__ __device__ Reference operator[](std::size_t i) const { return {this->places_, i}; }

  /// Struct i by value.
  __host__ __device__ Value load(std::size_t i) const { return detail::loadStruct<Value>(this->places_, i); }

  /// Writes struct i.
  __host__ __device__ void store(std::size_t i, const Value& value) const { (*this)[i] = value; }

  /// All values of one member, `column<&Particle::mass>()` or `column<2>()`: a pointer to the member's type
  /// (to arrays, if that is one). From tiles, a random access iterator.
  template <auto MEMBER>
  __host__ __device__ auto column() const {
    constexpr std::size_t PLACE = detail::columnNumber<T, MEMBER>;
    if constexpr (std::is_same_v<LAYOUT, SoaColumns>)
      return this->places_.template at<PLACE>(0);
    else
      return detail::TiledColumn<Places, PLACE>(this->places_);
  }

  /// The `count` structs from number `first` on. On the host, std::invalid_argument if there are not that
  /// many.
  __host__ __device__ SoaView subview(std::size_t first, std::size_t count) const {
#if !defined(__CUDA_ARCH__)
    detail::requireSubview(first, count, this->n_);
#endif
    return {this->places_.from(first), count};
  }

  /// A view of some members, in this order: `select<&Particle::id, &Particle::mass>()` or `select<3, 2>()`.
  /// Its structs are SoaTuples; `auto [id, mass] = selected[i]` are references.
  template <auto... MEMBERS>
  __host__ __device__ auto select() const {
    using Tuple = SoaTuple<std::remove_const_t<detail::Member<T, detail::columnNumber<T, MEMBERS>>>...>;
    using Selected = typename Places::template Select<detail::columnNumber<T, MEMBERS>...>;
    return SoaView<detail::ConstLike<T, Tuple>, Selected>(
        this->places_.template select<detail::columnNumber<T, MEMBERS>...>(), this->n_);
  }

  /// The iterator at the first struct.
  __host__ __device__ Iterator begin() const { return {this->places_, 0}; }
  /// The iterator behind the last one.
  __host__ __device__ Iterator end() const { return {this->places_, static_cast<std::ptrdiff_t>(this->n_)}; }

  /// For the library's own functions: where the members are.
  __host__ __device__ const Places& places() const { return this->places_; }
};

GPUOPT_NAMESPACE_END
