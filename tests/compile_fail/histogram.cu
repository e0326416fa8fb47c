// SPDX-License-Identifier: MIT
#include <gpuopt/histogram.cuh>
#include <gpuopt/histogram_2d.cuh>
#include <gpuopt/histogram_automatic.cuh>
#include <gpuopt/histogram_weighted.cuh>

#include <cstddef>
#include <functional>
#include <iterator>

#if CASE == 1
// EXPECT: gpuopt::bincount: the elements must be integers: histogram() takes floating-point numbers
// WRITTEN: `bincount(x, n, counts, bins)` of floats
void fail(const float* in, unsigned* counts) { gpuopt::bincount(in, 3, counts, 10); }

#elif CASE == 2
// EXPECT: gpuopt::bincount: these arguments fit no form of it: it takes (in, n, counts, bins), or containers for in and counts without n and bins, then a stream
void fail(const int* in, unsigned* counts) { gpuopt::bincount(in, 3, counts); }

#elif CASE == 3
// EXPECT: gpuopt::BlockHistogram: the number of a bin must be an integer
// WRITTEN: `histogram.add(x)` of a float
__global__ void fail(gpuopt::BlockHistogram<256, 64>* histogram) { histogram->add(1.5f); }

#elif CASE == 4
// EXPECT: gpuopt::BlockHistogram: BINS must be 1 to 12288, 48 KiB of counters
template class gpuopt::BlockHistogram<256, 12289>;

#elif CASE == 5
// EXPECT: gpuopt::BlockHistogram: counts must be integers of 4 or 8 bytes
// WRITTEN: `histogram.addTo(counts)`, where `counts` points to floats
__global__ void fail(gpuopt::BlockHistogram<256, 64>* histogram, float* counts) { histogram->addTo(counts); }

#elif CASE == 6
// EXPECT: gpuopt::BlockHistogram: BLOCK must be 1 to 1024
template class gpuopt::BlockHistogram<2048, 64>;

#elif CASE == 7
// EXPECT: gpuopt::BlockHistogram: counts must be integers of 4 or 8 bytes
// WRITTEN: `histogram.store(counts)`, where `counts` points to bytes
__global__ void fail(gpuopt::BlockHistogram<256, 64>* histogram, char* counts) { histogram->store(counts); }

#elif CASE == 8
// EXPECT: gpuopt::histogramChannels: CHANNELS must be 2 to 4: histogram() counts single ones
void fail(const unsigned char* in, unsigned* counts) { gpuopt::histogramChannels<5>(in, 3, counts, 10, 0, 256); }

#elif CASE == 9
// EXPECT: gpuopt::histogramChannels: samples must be a pointer, or Thrust's iterator of memory
// WRITTEN: `histogramChannels<3>(samples, n, counts, bins, lower, upper)`, where `samples` is a counting iterator
struct Counting {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using pointer = const int*;
  using reference = int;
  __host__ __device__ int operator[](std::ptrdiff_t i) const { return static_cast<int>(i); }
};

void fail(unsigned* counts) { gpuopt::histogramChannels<3>(Counting{}, 3, counts, 10, 0, 256); }

#elif CASE == 10
// EXPECT: gpuopt: the elements of counts are const
void fail(const int* in, const unsigned* counts) { gpuopt::bincount(in, 3, counts, 10); }

#elif CASE == 11
// EXPECT: gpuopt: counts must be a pointer, or Thrust's iterator of memory
// WRITTEN: `bincount(in, n, counts, bins)`, where `counts` is an iterator of no memory
struct Discard {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = int;
  using difference_type = std::ptrdiff_t;
  using pointer = int*;
  using reference = int&;
};

void fail(const int* in) { gpuopt::bincount(in, 3, Discard{}, 10); }

#elif CASE == 12
// EXPECT: gpuopt: counts must be integers of 4 or 8 bytes
// WRITTEN: `bincount(in, n, counts, bins)`, where `counts` points to floats
void fail(const int* in, float* counts) { gpuopt::bincount(in, 3, counts, 10); }

#elif CASE == 13
// EXPECT: gpuopt::histogramEdges: the elements must be integers or floating-point numbers
// WRITTEN: `histogramEdges(particles, n, edges, bins, counts)` of structures
struct Particle {
  float mass;
  int id;
};

void fail(const Particle* in, const float* edges, unsigned* counts) {
  gpuopt::histogramEdges(in, 3, edges, 10, counts);
}

#elif CASE == 14
// EXPECT: gpuopt::histogramEdges: these arguments fit no form of it: it takes (in, n, edges, bins, counts), (in, n, edges, counts) with a std::vector or std::array of edges, or containers (in, edges, counts), then a stream
void fail(const float* in, const float* edges, unsigned* counts) { gpuopt::histogramEdges(in, 3, counts, edges, 10); }

#elif CASE == 15
// EXPECT: gpuopt::histogramEdges: the edges must have the type of the elements; floats for half precision
// WRITTEN: `histogramEdges(x, n, edges, bins, counts)` of floats, with edges of type `double`
void fail(const float* in, const double* edges, unsigned* counts) { gpuopt::histogramEdges(in, 3, edges, 10, counts); }

#elif CASE == 16
// EXPECT: gpuopt: the elements must be integers or floating-point numbers
// DO: call `histogramBy` with a function that tells the bin of an element
// WRITTEN: `histogram(particles, n, counts, bins, lower, upper)` of structures
struct Particle {
  float mass;
  int id;
};

void fail(const Particle* in, unsigned* counts) { gpuopt::histogram(in, 3, counts, 10, 0, 1); }

#elif CASE == 17
// EXPECT: gpuopt::histogramBy: binOf must be a function object with a const call operator that takes an element and returns an integer
// WRITTEN: `histogramBy(in, n, counts, bins, binOf)`, where `binOf` returns a float
struct Half {
  __device__ float operator()(float x) const { return x / 2; }
};

void fail(const float* in, unsigned* counts) { gpuopt::histogramBy(in, 3, counts, 10, Half{}); }

#elif CASE == 18
// EXPECT nvcc: gpuopt: the number of a bin must be an integer
// WRITTEN: `histogramBy(in, n, counts, bins, f)`, where the device lambda `f` returns a float
void fail(const float* in, unsigned* counts) {
  gpuopt::histogramBy(in, 3, counts, 10, [] __device__(float x) { return x / 2; });
}

#elif CASE == 19
// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `histogramBy(in, 3, counts, 10, [](float x) { return int(x); })`
void fail(const float* in, unsigned* counts) {
  gpuopt::histogramBy(in, 3, counts, 10, [](float x) { return int(x); });
}

#elif CASE == 20
// EXPECT: gpuopt::histogramBy: these arguments fit no form of it: it takes (in, n, counts, bins, binOf), or containers for in and counts without n and bins, then a stream
void fail(const float* in, unsigned* counts) { gpuopt::histogramBy(in, 3, counts, 10); }

#elif CASE == 21
// EXPECT: gpuopt: function objects of the standard library are host code: write a lambda for the device
void fail(const int* in, unsigned* counts) { gpuopt::histogramBy(in, 3, counts, 10, std::negate<>{}); }

#elif CASE == 22
// EXPECT: gpuopt::histogram: these arguments fit no form of it: it takes (in, n, counts, bins, lower, upper), or containers for in and counts without n and bins, then a stream
// DO: the limits come after the bins
void fail(const float* in, unsigned* counts) { gpuopt::histogram(in, 3, counts, 10); }

#elif CASE == 23
// EXPECT: gpuopt::reduceBy: keys must be integers, or a function object with a const call operator that takes a value and returns an integer
// WRITTEN: `reduceBy(values, n, keys, bins, out)`, where `keys` are floats
void fail(const float* x, const float* keys, float* out) { gpuopt::reduceBy(x, 3, keys, 10, out); }

#elif CASE == 24
// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `reduceBy(x, 3, [](float v) { return int(v); }, 10, out)`
void fail(const float* x, float* out) {
  const auto keyOf = [](float v) { return int(v); };
  gpuopt::reduceBy(x, 3, keyOf, 10, out);
}

#elif CASE == 25
// EXPECT: gpuopt::reduceBy: out must be a pointer, or Thrust's iterator of memory
// WRITTEN: `reduceBy(values, n, keys, bins, out)`, where `out` is an iterator of no memory
struct NoMemory {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = float;
  using difference_type = std::ptrdiff_t;
  using pointer = float*;
  using reference = float&;
};

void fail(const float* x, const int* keys) { gpuopt::reduceBy(x, 3, keys, 10, NoMemory{}); }

#elif CASE == 26
// EXPECT: gpuopt::reduceBy: these arguments fit no form of it: it takes (values, n, keys, bins, out), or containers (values, keys, out), then op and stream
void fail(const float* x, const int* keys, float* out) { gpuopt::reduceBy(x, 3, keys, out); }

#elif CASE == 27
// EXPECT: gpuopt::reduceBy: what does a bin without values get? Specialise gpuopt::NeutralElement for op and the type of out
// WRITTEN: `reduceBy(values, n, keys, bins, out, op)` with an operation of your own
// DO: `template <> struct gpuopt::NeutralElement<Op, T> { static constexpr bool exists = true; static T value(); };`
struct Hypotenuse {
  __device__ float operator()(float a, float b) const { return sqrtf(a * a + b * b); }
};

void fail(const float* x, const int* keys, float* out) { gpuopt::reduceBy(x, 3, keys, 10, out, Hypotenuse{}); }

#elif CASE == 28
// EXPECT: gpuopt::reduceBy: out must have numbers of 4 or 8 bytes, or halves
// WRITTEN: `reduceBy(values, n, keys, bins, out)`, where `out` points to bytes
void fail(const float* x, const int* keys, signed char* out) { gpuopt::reduceBy(x, 3, keys, 10, out); }

#elif CASE == 29
// EXPECT: gpuopt::reduceBy: values must convert to the type of out
// WRITTEN: `reduceBy(values, n, keys, bins, out)`, where `values` are structures without a conversion
struct Pair {
  float first, second;
};

void fail(const Pair* x, const int* keys, float* out) { gpuopt::reduceBy(x, 3, keys, 10, out); }

#elif CASE == 30
// EXPECT: gpuopt::meanBy: means cannot be combined with what is in out
void fail(const float* x, const int* keys, float* out) { gpuopt::meanBy<gpuopt::CombineWithOut>(x, 3, keys, 10, out); }

#elif CASE == 31
// EXPECT: gpuopt::meanBy: out must have floating-point numbers
// WRITTEN: `meanBy(values, n, keys, bins, out)`, where `out` points to `int`
void fail(const int* x, const int* keys, int* out) { gpuopt::meanBy(x, 3, keys, 10, out); }

#elif CASE == 32
// EXPECT: gpuopt: CloseLastBin is for bins between limits: raise the last edge
// WRITTEN: histogramEdges<CloseLastBin>(x, n, edges, bins, counts)
void fail(const float* x, unsigned* counts) { gpuopt::histogramEdges<gpuopt::CloseLastBin>(x, 3, x, 10, counts); }

#elif CASE == 33
// EXPECT: gpuopt::binsNeeded: the elements must be integers
std::size_t fail(const float* samples) { return gpuopt::binsNeeded(samples, 3); }

#elif CASE == 34
// EXPECT: gpuopt: sums must be a pointer, or Thrust's iterator of memory
// WRITTEN: `histogramWeighted(in, n, weights, sums, bins, lower, upper)`, where `sums` is an iterator of no memory
struct NoMemory {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = float;
  using difference_type = std::ptrdiff_t;
  using pointer = float*;
  using reference = float&;
};

void fail(const float* x) { gpuopt::histogramWeighted(x, 3, x, NoMemory{}, 10, 0, 1); }

#elif CASE == 35
// EXPECT: gpuopt: sums of weights must be numbers of 4 or 8 bytes that are not const
// WRITTEN: `histogramWeighted(in, n, weights, sums, bins, lower, upper)`, where `sums` points to bytes
void fail(const float* x, signed char* sums) { gpuopt::histogramWeighted(x, 3, x, sums, 10, 0, 1); }

#elif CASE == 36
// EXPECT: gpuopt: weights must convert to the type of their sums
// WRITTEN: `histogramWeighted(in, n, weights, sums, bins, lower, upper)`, where `weights` are structures
struct Pair {
  float first, second;
};

void fail(const float* x, const Pair* weights, float* sums) {
  gpuopt::histogramWeighted(x, 3, weights, sums, 10, 0, 1);
}

#elif CASE == 37
// EXPECT: gpuopt: CloseLastBin is for bins between limits: raise the last edge
// WRITTEN: histogramWeightedEdges<CloseLastBin>(x, n, weights, edges, bins, sums)
void fail(const float* x, float* sums) { gpuopt::histogramWeightedEdges<gpuopt::CloseLastBin>(x, 3, x, x, 10, sums); }

#elif CASE == 38
// EXPECT: gpuopt: histograms of pairs do not count what is outside of their bins
// WRITTEN: histogram2d<CountOutside>(x, y, n, counts, {10, 0, 1}, {10, 0, 1})
void fail(const float* x, unsigned* counts) {
  gpuopt::histogram2d<gpuopt::CountOutside>(x, x, 3, counts, {10, 0, 1}, {10, 0, 1});
}

#elif CASE == 39
// EXPECT: gpuopt::histogramWeighted: these arguments fit no form of it: it takes (in, n, weights, sums, bins, lower, upper), or containers (in, weights, sums, lower, upper), then a stream
void fail(const float* x, float* sums) { gpuopt::histogramWeighted(x, 3, x, sums, 10); }

#elif CASE == 40
// EXPECT: gpuopt::histogramWeightedEdges: these arguments fit no form of it: it takes (in, n, weights, edges, bins, sums), (in, n, weights, edges, sums) with a std::vector or std::array of edges, or containers (in, weights, edges, sums), then a stream
void fail(const float* x, float* sums) { gpuopt::histogramWeightedEdges(x, 3, x, sums); }

#elif CASE == 41
// EXPECT: gpuopt::histogram2d: these arguments fit no form of it: it takes (x, y, n, counts, xAxis, yAxis), or containers (x, y, counts, xAxis, yAxis), then a stream, with {bins, lower, upper} for an axis
void fail(const float* x, unsigned* counts) { gpuopt::histogram2d(x, x, 3, counts, 10, 10); }

#elif CASE == 42
// EXPECT: gpuopt::histogram2dWeighted: these arguments fit no form of it: it takes (x, y, n, weights, sums, xAxis, yAxis), or containers (x, y, weights, sums, xAxis, yAxis), then a stream, with {bins, lower, upper} for an axis
void fail(const float* x, float* sums) { gpuopt::histogram2dWeighted(x, x, 3, x, sums, 10, 10); }

#elif CASE == 43
// EXPECT: gpuopt::reduceBy: structures are combined member by member: a call for each, with gpuopt::member<&T::x>(values) and an array of results of its own; or with an op for the structures, if they have 4 or 8 bytes
// WRITTEN: `reduceBy(values, n, keys, bins, out)` of structures
struct Point {
  float x, y;
};

void fail(const Point* points, const int* keys, Point* out) { gpuopt::reduceBy(points, 3, keys, 10, out); }

#endif
