/// \file
/// Conversions between arrays of structures and columns, for members of every kind, beside the best copy of
/// as many bytes, direct access and Thrust.
// SPDX-License-Identifier: MIT
#include "support/goal_groups.cuh"

#include <gpuopt/soa.cuh>

#include <thrust/execution_policy.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using namespace bench;

template <class M>
struct Two {
  M a, b;
};

template <class M>
struct Three {
  M a, b, c;
};

template <class M>
struct Four {
  M a, b, c, d;
};

template <class M>
struct Eight {
  M a, b, c, d, e, f, g, h;
};

template <class M>
struct Sixteen {
  M a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p;
};

struct Mixed {
  double energy;
  float mass;
  int id;
  char kind;
};

struct Particle {
  float3 position, velocity;
  float mass;
  int id;
};

template <class T>
using Places = std::make_index_sequence<gpuopt::SoaView<T>::COLUMNS>;

// ------------------------------------------------------------------------------- what is compared with

template <class T, class View>
__global__ void directToSoa(const T* aos, View soa) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < soa.size()) soa[i] = aos[i];
}

template <class T, class View>
__global__ void directToAos(View soa, T* aos) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < soa.size()) aos[i] = soa[i];
}

// A structure and Thrust's tuple of its members.
template <class T, class Sequence = Places<T>>
struct Tuples;
template <class T, std::size_t... INDICES>
struct Tuples<T, std::index_sequence<INDICES...>> {
  using Tuple = thrust::tuple<gpuopt::detail::Member<T, INDICES>...>;

  struct FromStruct {
    __device__ Tuple operator()(const T& value) const { return Tuple(gpuopt::detail::getMember<INDICES>(value)...); }
  };

  struct ToStruct {
    __device__ T operator()(const Tuple& tuple) const { return T{thrust::get<INDICES>(tuple)...}; }
  };

  template <class View>
  static auto zip(const View& soa) {
    return thrust::make_zip_iterator(soa.template column<INDICES>()...);
  }
};

// --------------------------------------------------------------------------------------- what must come out

template <class T, class View, class Sequence = Places<T>>
struct AreAlike;
template <class T, class View, std::size_t... INDICES>
struct AreAlike<T, View, std::index_sequence<INDICES...>> {
  const T* aos;
  View soa;

  __device__ bool operator()(std::size_t i) const {
    return (detail::sameBytes(*soa.addresses().template at<INDICES>(i), gpuopt::detail::getMember<INDICES>(aos[i])) &&
            ...);
  }
};

// --------------------------------------------------------------------------------------------- measuring

// What conversions to columns and to structures should reach; 0: nothing was set.
struct Goals {
  double toSoa, toAos;
};

/// The peers of a case besides direct access: Thrust takes long to compile.
enum class Beside { direct, thrust };

class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, GoalReport& report, std::size_t bytes)
      : timer_(timer), buffers_(buffers), report_(report), bytes_(bytes) {}

  /// Converts both ways; columns begin `offset` elements off 256-byte boundaries.
  template <class T, Beside BESIDE = Beside::direct>
  void convert(const char* group, const std::string& members, const Goals& goals, std::size_t offset = 0) {
    const std::size_t n = bytes_ / sizeof(T) / 256 * 256;
    const auto to = columnsIn<T>(buffers_.out<unsigned char>(), n, Places<T>{}).subview(offset, n - offset);
    const gpuopt::SoaView<const T> from =
        columnsIn<T>(const_cast<unsigned char*>(buffers_.in<unsigned char>()), n, Places<T>{})
            .subview(offset, n - offset);
    measure<T, BESIDE>(group, members, goals, to, from, columnBytes<T>(Places<T>{}));
  }

  template <class T, unsigned WIDTH>
  void convertTiles(const char* group, const std::string& members) {
    using Layout = gpuopt::SoaTiles<WIDTH>;
    const std::size_t n = bytes_ / sizeof(T) / 256 * 256;
    const gpuopt::SoaView<T, Layout> to(buffers_.out<void>(), n);
    const gpuopt::SoaView<const T, Layout> from(buffers_.in<void>(), n);
    measure<T, Beside::direct>(group, members, {0, 0}, to, from, columnBytes<T>(Places<T>{}));
  }

 private:
  // Bytes of a structure's members, without padding.
  template <class T, std::size_t... INDICES>
  static constexpr std::size_t columnBytes(std::index_sequence<INDICES...>) {
    return (sizeof(gpuopt::detail::Member<T, INDICES>) + ...);
  }

  // One column behind another. n is a multiple of 256.
  template <class T, std::size_t... INDICES>
  static gpuopt::SoaView<T> columnsIn(unsigned char* memory, std::size_t n, std::index_sequence<INDICES...>) {
    std::size_t begin = 0;
    const auto next = [&](std::size_t size) { return memory + std::exchange(begin, begin + n * size); };
    // Braces, so that columns are laid out in their order.
    return gpuopt::SoaView<T>{
        reinterpret_cast<gpuopt::detail::Member<T, INDICES>*>(next(sizeof(gpuopt::detail::Member<T, INDICES>)))..., n};
  }

  template <class T, Beside BESIDE, class To, class From>
  void measure(const char* group, const std::string& members, const Goals& goals, const To& to, const From& from,
               std::size_t memberBytes) {
    const std::size_t n = to.size();
    const std::size_t bytes = n * (sizeof(T) + memberBytes);
    const cudaStream_t stream = timer_.stream();
    const auto report = [&](const char* direction, double goal, std::vector<Candidate> candidates) {
      report_.run({std::string(group) + " " + direction, members, std::to_string(n), std::to_string(n), bytes,
                   atLeast(goal), std::move(candidates), buffers_.copies(bytes / 2 / 4096 * 4096)});
    };

    const T* aosIn = buffers_.in<T>();
    const auto toSoa = [&](const char* name, bool isPeer, auto call) {
      return buffers_.candidate(name, isPeer, call, n, AreAlike<T, To>{aosIn, to});
    };
    std::vector<Candidate> candidates{
        toSoa("gpuopt", false, [=] { gpuopt::toSoa(aosIn, n, to, stream); }),
        toSoa("direct", true, [=] { launchThreads(directToSoa<T, To>, n, stream, aosIn, to); })};
    if constexpr (BESIDE == Beside::thrust)
      candidates.push_back(toSoa("thrust::transform", true, [=] {
        thrust::transform(thrust::cuda::par_nosync.on(stream), aosIn, aosIn + n, Tuples<T>::zip(to),
                          typename Tuples<T>::FromStruct{});
      }));
    report("soa", goals.toSoa, std::move(candidates));

    T* aosOut = buffers_.out<T>();
    const auto toAos = [&](const char* name, bool isPeer, auto call) {
      return buffers_.candidate(name, isPeer, call, n, AreAlike<T, From>{aosOut, from});
    };
    candidates = {toAos("gpuopt", false, [=] { gpuopt::toAos(from, aosOut, stream); }),
                  toAos("direct", true, [=] { launchThreads(directToAos<T, From>, n, stream, from, aosOut); })};
    if constexpr (BESIDE == Beside::thrust)
      candidates.push_back(toAos("thrust::transform", true, [=] {
        const auto zip = Tuples<T>::zip(from);
        thrust::transform(thrust::cuda::par_nosync.on(stream), zip, zip + static_cast<std::ptrdiff_t>(n), aosOut,
                          typename Tuples<T>::ToStruct{});
      }));
    report("aos", goals.toAos, std::move(candidates));
  }

  Timer& timer_;
  const Buffers& buffers_;
  GoalReport& report_;
  std::size_t bytes_;
};

constexpr Goals few{0.97, 0.98};
constexpr Goals many{0.96, 0.98};
constexpr Goals none{0, 0};

void measureWords(Bench& bench) {
  bench.convert<Two<float>>("words", "2 x 4", few);
  bench.convert<Three<float>, Beside::thrust>("words", "3 x 4", few);
  bench.convert<Four<float>>("words", "4 x 4", few);
  bench.convert<Eight<float>, Beside::thrust>("words", "8 x 4", few);
  bench.convert<Sixteen<float>>("words", "16 x 4", many);
}

void measureDoubles(Bench& bench) {
  bench.convert<Two<double>>("doubles", "2 x 8", few);
  bench.convert<Four<double>>("doubles", "4 x 8", few);
}

void measureMixed(Bench& bench) {
  bench.convert<Mixed, Beside::thrust>("mixed", "8 4 4 1", few);
  bench.convert<Particle>("mixed", "12 12 4 4", few);
  bench.convert<Three<std::uint8_t>>("mixed", "3 x 1", none);
  bench.convert<Two<float4>>("mixed", "2 x 16", none);
}

// Columns that begin one element after an aligned boundary, as those of subviews may.
void measureOff(Bench& bench) {
  bench.convert<Three<float>>("off", "3 x 4", none, 1);
  bench.convert<Eight<float>>("off", "8 x 4", none, 1);
  bench.convert<Mixed>("off", "8 4 4 1", none, 1);
  bench.convert<Particle>("off", "12 12 4 4", none, 1);
}

void measureTiles(Bench& bench) {
  bench.convertTiles<Eight<float>, 32>("tiles", "8 x 4");
  bench.convertTiles<Particle, 32>("tiles", "12 12 4 4");
}

constexpr Group<Bench> groups[] = {{"words", measureWords},
                                   {"doubles", measureDoubles},
                                   {"mixed", measureMixed},
                                   {"off", measureOff},
                                   {"tiles", measureTiles}};

int run(Options& options) { return runGoalGroups(options, groups, "n"); }

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "soa_bench", "Structures of arrays, beside the best copy and other ways.", run);
}
