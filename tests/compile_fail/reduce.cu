// SPDX-License-Identifier: MIT
#include <gpuopt/block/reduce.cuh>
#include <gpuopt/reduce.cuh>
#include <gpuopt/reduce_columns.cuh>
#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/reduce_segments.cuh>
#include <gpuopt/reduce_statistics.cuh>
#include <gpuopt/reduce_transform.cuh>
#include <gpuopt/warp/reduce.cuh>

#include <functional>
#include <string>
#include <vector>

#if CASE == 1
// EXPECT: gpuopt::blockAllReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below
__device__ int fail(int value) { return gpuopt::blockAllReduce<24>(value, gpuopt::Plus{}); }

#elif CASE == 2
// EXPECT: gpuopt::blockReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below
// DO: launch the next multiple of 32, and pass how many threads have a value: `blockReduce<128>(value, op, 100)`
__device__ int fail(int value) { return gpuopt::blockReduce<100>(value, gpuopt::Plus{}); }

#elif CASE == 3
// EXPECT: gpuopt::blockReduce: BLOCK must be a multiple of 32 up to 1024, or a power of two below
__device__ int fail(int value) { return gpuopt::blockReduce<2048>(value, gpuopt::Plus{}, 7); }

#elif CASE == 4
// EXPECT: gpuopt: the accumulator of a reduction must be trivially copyable
// WRITTEN: `reduceInto(x, n, out)` of a struct with a `std::string`
struct Named {
  std::string name;
  friend Named operator+(const Named& a, const Named& b) { return {a.name + b.name}; }
};

void fail(const Named* x, Named* out) { gpuopt::reduceInto(x, 1000, out); }

#elif CASE == 5
// EXPECT: gpuopt: a value is where the operation belongs: init comes after the operation
// WRITTEN: `reduceInto(chunk, n, sum, deviceValue(sum))`
// DO: `reduceInto(chunk, n, sum, gpuopt::Plus{}, gpuopt::deviceValue(sum))`
void fail(const float* chunk, float* sum) { gpuopt::reduceInto(chunk, 1000, sum, gpuopt::deviceValue(sum)); }

#elif CASE == 6
// EXPECT: gpuopt: the call operator of the function must be const
// WRITTEN: `transformReduce(x, n, f)` whose call operator is not const
struct SquareMutable {
  __host__ __device__ float operator()(float x) { return x * x; }
};

float fail(const float* x) { return gpuopt::transformReduce(x, 1000, SquareMutable{}); }

#elif CASE == 7
// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// WRITTEN: `transformReduce(x, 1000, [](float v) { return v * v; })`
float fail(const float* x) {
  return gpuopt::transformReduce(x, 1000, [](float v) { return v * v; });
}

#elif CASE == 8
// EXPECT nvcc: gpuopt: host code cannot see what the __device__ lambda returns: write its return type
// DO: `[] __device__(float v) -> float { return v * v; }`
// WRITTEN: `transformReduce(x, 1000, [] __device__(float v) { return v * v; })`
float fail(const float* x) {
  return gpuopt::transformReduce(x, 1000, [] __device__(float v) { return v * v; });
}

#elif CASE == 9
// EXPECT: gpuopt::transformReduce: these arguments fit no form of it: it takes (in, n, f), (in1, in2, n, f), or containers with data() and size() without n, then op, init, stream and workspace
float fail(const float* x) { return gpuopt::transformReduce(x, 1000); }

#elif CASE == 10
// EXPECT: gpuopt::transformReduceInto: these arguments fit no form of it: it takes (in, n, out, f), (in1, in2, n, out, f), or a container with data() and size() without n, then op, init, stream and workspace
struct Twice {
  __device__ float operator()(float x) const { return 2 * x; }
};

void fail(const float* x) { gpuopt::transformReduceInto(x, 1000, Twice{}); }

#elif CASE == 11
// EXPECT: gpuopt: function objects of the standard library are host code: write a lambda for the device
float fail(const float* x) { return gpuopt::transformReduce(x, 1000, std::negate<>{}); }

#elif CASE == 12
// EXPECT: gpuopt: the function must take an element, or one of each of two inputs
// WRITTEN: `transformReduce(x, n, f)` where `f` takes another type
struct LengthOf {
  __host__ __device__ float operator()(float2 x) const { return x.x * x.x + x.y * x.y; }
};

float fail(const float* x) { return gpuopt::transformReduce(x, 1000, LengthOf{}); }

#elif CASE == 13
// EXPECT: gpuopt: a value is where the function of the elements belongs
float fail(const float* x) { return gpuopt::argMin(x, 1000, 0.0f).value; }

#elif CASE == 14
// EXPECT: gpuopt: a value is where the operation belongs: init comes after the operation
// DO: `reduce(x, n, gpuopt::Plus{}, 0.0f)`
float fail(const float* x) { return gpuopt::reduce(x, 1000, 0.0f); }

#elif CASE == 15
// EXPECT: gpuopt: init is an integer, but the accumulator is not: write it in the accumulator's type
// DO: `nullptr` is the default stream
bool fail(const bool* x) { return gpuopt::reduce(x, 1000, gpuopt::LogicalAnd{}, NULL); }

#elif CASE == 16
// EXPECT: gpuopt: init must convert to the accumulator
// DO: `gpuopt::deviceValue(init)` where the kernel reads it
// WRITTEN: `reduce(x, n, Plus{}, init)` where `init` is a pointer
float fail(const float* x, const float* init) { return gpuopt::reduce(x, 1000, gpuopt::Plus{}, init); }

#elif CASE == 17
// EXPECT: gpuopt: init is an integer, but the accumulator is not: write it in the accumulator's type
// DO: `nullptr` is the default stream, `0.0f` an init
float fail(const float* x) { return gpuopt::reduce(x, 1000, gpuopt::Maximum{}, 0); }

#elif CASE == 18
// EXPECT: gpuopt: an iterator of the standard library cannot be read on the device
// DO: copy the elements to the device, and pass a device pointer
// WRITTEN: `reduce(v.begin(), v.size())` of a `std::vector`
float fail(const std::vector<float>& v) { return gpuopt::reduce(v.begin(), v.size()); }

#elif CASE == 19
// EXPECT nvcc: gpuopt: kernels cannot call a lambda for the host: write [] __device__ (...) {...}
// DO: `[] __device__ (float a, float b) { return a + b; }`
// WRITTEN: `reduce(x, 1000, [](float a, float b) { return a + b; })`
float fail(const float* x) {
  return gpuopt::reduce(x, 1000, [](float a, float b) { return a + b; });
}

#elif CASE == 20
// EXPECT: gpuopt: the accumulator's type lacks the operator that the operation applies, which is + for gpuopt::Plus
// DO: `friend __host__ __device__ Point operator+(const Point&, const Point&)`
// WRITTEN: `reduce(points, n)` of a struct without `operator+`
struct Point {
  float x, y;
};

Point fail(const Point* points) { return gpuopt::reduce(points, 1000); }

#elif CASE == 21
// EXPECT: gpuopt: the call operator of the operation must be const
// DO: `operator()(float a, float b) const`
// WRITTEN: `reduce(x, n, op)` whose call operator is not const
struct AddMutable {
  __host__ __device__ float operator()(float a, float b) { return a + b; }
};

float fail(const float* x) { return gpuopt::reduce(x, 1000, AddMutable{}); }

#elif CASE == 22
// EXPECT: gpuopt: the elements of out are const
// WRITTEN: `reduceInto(x, n, out)` to a `const float*`
void fail(const float* x, const float* out) { gpuopt::reduceInto(x, 1000, out); }

#elif CASE == 23
// EXPECT: gpuopt: a value is where the operation belongs: init comes after the operation
// DO: `reduceInto(x, n, out)` leaves the result in device memory
// WRITTEN: `reduce(x, n, out)`
void fail(const float* x, float* out) { static_cast<void>(gpuopt::reduce(x, 1000, out)); }

#elif CASE == 24
// EXPECT: gpuopt: out must take the result without loss
// WRITTEN: `reduceInto(x, n, out)` of floats to an `int*`
void fail(const float* x, int* out) { gpuopt::reduceInto(x, 1000, out); }

#elif CASE == 25
// EXPECT: gpuopt::reduceInto: these arguments fit no form of it: it takes (in, n, out), (first, last, out), or a container with data() and size() and out, then op, init, stream and workspace
void fail(const float* x) { gpuopt::reduceInto(x, 1000); }

#elif CASE == 26
// EXPECT: gpuopt: the results are structures, so out must be a pointer to their type
// DO: `MinMax<float>*`
// WRITTEN: `minMaxInto(x, n, out)` to a `float*`
void fail(const float* x, float* out) { gpuopt::minMaxInto(x, 1000, out); }

#elif CASE == 27
// EXPECT: gpuopt: out must take the result without loss
// DO: `reduceInto<double>(x, n, out)` adds in double
// WRITTEN: `reduceInto(x, n, out)` of floats to a `double*`
void fail(const float* x, double* out) { gpuopt::reduceInto(x, 1000, out); }

#elif CASE == 28
// EXPECT: gpuopt: the operation must return what converts to the accumulator
// WRITTEN: `reduce(x, n, op)` whose call operator returns nothing
struct AddNothing {
  __host__ __device__ void operator()(float, float) const {}
};

float fail(const float* x) { return gpuopt::reduce(x, 1000, AddNothing{}); }

#elif CASE == 29
// EXPECT: gpuopt: function objects of the standard library are host code: use gpuopt::Plus
// DO: `gpuopt::Plus{}`; the others are in [reductions](reductions.md)
float fail(const float* x) { return gpuopt::reduce(x, 1000, std::plus<>{}); }

#elif CASE == 30
// EXPECT: gpuopt: a number is not a stream: pass nullptr or leave it out for the default stream
float fail(const float* x) { return gpuopt::reduce(x, 1000, gpuopt::Plus{}, 1.0f, 0); }

#elif CASE == 31
// EXPECT: gpuopt: a value is where the operation belongs: init comes after the operation
// DO: `reduce(first, last, op, init)`
float fail(const float* x) { return gpuopt::reduce(x, x + 1000, 0.0f, gpuopt::Maximum{}); }

#elif CASE == 32
// EXPECT: gpuopt: the operation must take two accumulators, by value or by reference to const
// WRITTEN: `reduce(x, n, op)` whose call operator takes one argument
struct Negate {
  __host__ __device__ float operator()(float a) const { return -a; }
};

float fail(const float* x) { return gpuopt::reduce(x, 1000, Negate{}); }

#elif CASE == 33
// EXPECT: gpuopt: the elements of a std::vector, std::array or std::string are in the host's memory
// DO: copy them to the device first
// WRITTEN: `reduce(v)` of a `std::vector`
float fail(const std::vector<float>& v) { return gpuopt::reduce(v); }

#elif CASE == 34
// EXPECT: gpuopt::reduce: these arguments fit no form of it: it takes (in, n), (first, last), or a container with data() and size(), then op, init, stream and workspace
// WRITTEN: `reduce(v)` of a `std::vector<bool>`
// DO: a `std::vector<bool>` has bits and no array: copy bytes to the device
bool fail(const std::vector<bool>& v) { return gpuopt::reduce(v); }

#elif CASE == 35
// EXPECT: gpuopt: the elements are volatile: kernels load them by vectors
// DO: pass a pointer without `volatile`, by `const_cast`
// NOISY nvcc: the kernels are instantiated nevertheless
float fail(const volatile float* in) { return gpuopt::reduce(in, 10); }

#elif CASE == 36
// EXPECT: gpuopt: the accumulator of a column is too large: 32 of them must fit into 32 KiB
// DO: a smaller accumulator
struct Large {
  int words[256];  // 1 KiB, and a word that says whether there is one
};

struct First {
  __host__ __device__ Large operator()(const Large& a, const Large&) const { return a; }
};

void fail(const Large* in, Large* out) { gpuopt::reduceColumns(in, 10, 10, out, First{}); }

#elif CASE == 37
// EXPECT: gpuopt::combine: results of argMin are combined with Minimum{}, those of argMax with Maximum{}, as a third
// WRITTEN: `combine(best, argMin(chunk, n).shifted(first))`
// DO: `combine(best, argMin(chunk, n).shifted(first), Minimum{})`
gpuopt::ArgResult<float> fail(const gpuopt::ArgResult<float>& best, const float* chunk) {
  return gpuopt::combine(best, gpuopt::argMin(chunk, 1000).shifted(1000));
}

#elif CASE == 38
// EXPECT: gpuopt: extremes are those of numbers; of structures, argMin and argMax take a function
// NOISY nvcc: the kernels are instantiated nevertheless
// WRITTEN: `minMaxInto(particles, n, out)` of structures
struct Particle {
  float speed, mass;
};

void fail(const Particle* particles, gpuopt::MinMax<Particle>* out) { gpuopt::minMaxInto(particles, 1000, out); }

#elif CASE == 39
// EXPECT: gpuopt: extremes are those of numbers; of structures, argMin and argMax take a function
// NOISY nvcc: the kernels are instantiated nevertheless
// WRITTEN: `argMax(particles, n)` of structures
// DO: `argMax(particles, n, Speed{})`
struct Particle {
  float speed, mass;
};

std::size_t fail(const Particle* particles) { return gpuopt::argMax(particles, 1000).index; }

#elif CASE == 40
// EXPECT: gpuopt: mean and variance are those of numbers
// NOISY: the kernels are instantiated nevertheless
// WRITTEN: `meanVariance(particles, n)` of structures
// DO: `meanVariance(member<&Particle::speed>(particles), n)`, with `<gpuopt/soa.cuh>`
struct Particle {
  float speed, mass;
};

double fail(const Particle* particles) { return gpuopt::meanVariance(particles, 1000).mean; }

#elif CASE == 41
// EXPECT: gpuopt::ReducePolicy: BLOCK must be a multiple of 32 from 160 to 1024 (up to 142 elements belong to no step)
struct Narrow : gpuopt::ReducePolicy {
  static constexpr int BLOCK = 128;
};

float fail(const float* in) { return gpuopt::reduce<gpuopt::DefaultAccumulator, Narrow>(in, 1000); }

#elif CASE == 42
// EXPECT: gpuopt: a result returned to the host may have at most 4032 bytes
// DO: call `reduceInto`, whose result stays in device memory
struct Large {
  int words[1009];
};

struct First {
  __device__ Large operator()(const Large& a, const Large&) const { return a; }
};

Large fail(const Large* in) { return gpuopt::reduce(in, 1000, First{}); }

#elif CASE == 43
// EXPECT: gpuopt: the results are structures, so out must be a pointer to their type, such as MeanVariance<float>*, ArgResult<float>* or MinMax<float>*
// DO: `MeanVariance<float>*`; of `argMaxRows`, `ArgResult<float>*`
void fail(const float* in, float* out) { gpuopt::meanVarianceRows(in, 3, 4, out); }

#elif CASE == 44
// EXPECT: gpuopt: out must take the result without loss
// DO: `reduceRows<double>(x, rows, cols, out)` adds in double
// WRITTEN: `reduceRows(x, rows, cols, out)` of floats to a `double*`
void fail(const float* in, double* out) { gpuopt::reduceRows(in, 3, 4, out); }

#elif CASE == 45
// EXPECT: gpuopt::reduceSegments: offsets must be integers
void fail(const float* in, const float* offsets, float* out) { gpuopt::reduceSegments(in, offsets, 3, out); }

#elif CASE == 46
// EXPECT: gpuopt::warpAllReduce: WIDTH must be 1, 2, 4, 8, 16 or 32
__device__ int fail(int value) { return gpuopt::warpAllReduce<0>(value, gpuopt::Plus{}); }

#elif CASE == 47
// EXPECT: gpuopt: only trivially copyable types can be shuffled
// WRITTEN: `warpReduce(value, op)` of a `std::string`
// DO: reduce what is trivially copyable: numbers, structs of numbers
struct Counted {
  __device__ Counted(const Counted& other) : count(other.count + 1) {}
  int count;
};

struct Add {
  __device__ Counted operator()(const Counted& a, const Counted&) const { return a; }
};

__device__ Counted fail(const Counted& value) { return gpuopt::warpReduce(value, Add{}); }

#elif CASE == 48
// EXPECT: gpuopt::warpReduce: WIDTH must be 1, 2, 4, 8, 16 or 32
__device__ int fail(int value) { return gpuopt::warpReduce<24>(value, gpuopt::Plus{}); }

#elif CASE == 49
// EXPECT: gpuopt::warpReduce: WIDTH must be 1, 2, 4, 8, 16 or 32
__device__ int fail(int value) { return gpuopt::warpReduce<64>(value, gpuopt::Plus{}, 40); }

#endif
