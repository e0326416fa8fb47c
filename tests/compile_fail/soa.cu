// SPDX-License-Identifier: MIT
#include <gpuopt/soa.cuh>
#include <gpuopt/soa/iterator.cuh>
#include <gpuopt/soa/vector.cuh>
#include <gpuopt/soa/view.cuh>
#include <gpuopt/soa_convert.cuh>

#include <string>

#if CASE == 1
// EXPECT: gpuopt: a column is named by a pointer to a data member, or by its number
struct Particle {
  float mass;
  float weight() const;
};

auto fail(const gpuopt::SoaView<Particle>& view) { return view.column<&Particle::weight>(); }

#elif CASE == 2
// EXPECT: gpuopt: the struct has no member of this number
struct Particle {
  float mass;
  int id;
};

auto fail(const gpuopt::SoaView<Particle>& view) { return view.column<-1>(); }

#elif CASE == 3
// EXPECT: gpuopt: the struct has no member of this number
struct Particle {
  float mass;
  int id;
};

auto fail(const gpuopt::SoaView<Particle>& view) { return view.column<2>(); }

#elif CASE == 4
// EXPECT: gpuopt: the member pointer is one of another struct
struct Particle {
  float mass;
  int id;
};
struct Other {
  float mass;
};

auto fail(const gpuopt::SoaView<Particle>& view) { return view.column<&Other::mass>(); }

#elif CASE == 5
// EXPECT: gpuopt: the structures of the array and of the view are of different types
// DO: convert to a view of the same struct
struct Particle {
  float mass;
  int id;
};

struct Other {
  float mass;
  int id;
};

void fail(const Other* aos, std::size_t n, gpuopt::SoaView<Particle> soa) { gpuopt::toSoa(aos, n, soa); }

#elif CASE == 6
// EXPECT: gpuopt::member: the member is an array, which no algorithm can take by value
// DO: wrap the array in a struct
struct Particle {
  float position[3];
};

float fail(const Particle* particles) { return gpuopt::member<&Particle::position>(particles)[1][2]; }

#elif CASE == 7
// EXPECT: gpuopt::member: MEMBER is no pointer to a data member, such as &Particle::mass
struct Particle {
  float mass() const;
};

auto fail(const Particle* particles) { return gpuopt::member<&Particle::mass>(particles); }

#elif CASE == 8
// EXPECT g++: has no member named 'mass'
// EXPECT nvcc: has no member "mass"
// DO: `view[0].get<&Particle::mass>()`; or `Particle p = view[0];` and `p.mass`
struct Particle {
  float mass;
  int id;
};

float fail(gpuopt::SoaView<Particle> view) { return view[0].mass; }

#elif CASE == 9
// EXPECT: gpuopt: only an aggregate can be taken apart: a struct without constructors, private members and virtual functions
// WRITTEN: struct Made { explicit Made(float m); float mass; }
struct Made {
  explicit Made(int);
  int id;
};

template class gpuopt::SoaView<Made>;

#elif CASE == 10
// EXPECT: gpuopt: a struct with base classes cannot be taken apart: make them members
// WRITTEN: struct Particle : Point { float mass; }
struct Body {
  float mass;
};
struct Particle : Body {
  int id;
};

template class gpuopt::SoaView<Particle>;

#elif CASE == 11
// EXPECT: gpuopt: bit-fields and packed members cannot be taken apart
// WRITTEN: struct Flags { unsigned visible : 1; }
struct Flags {
  unsigned color : 3;
  unsigned layer : 5;
  float mass;
};

template class gpuopt::SoaView<Flags>;

#elif CASE == 12
// EXPECT: gpuopt: a struct with const members or references cannot be taken apart
// WRITTEN: struct Fixed { const float mass; }
struct Fixed {
  const float mass;
  int id;
};

template class gpuopt::SoaView<Fixed>;

#elif CASE == 13
// EXPECT: gpuopt: only a trivially copyable struct can be taken apart
// WRITTEN: struct Named { std::string name; }
struct Named {
  std::string name;
  int id;
};

template class gpuopt::SoaView<Named>;

#elif CASE == 14
// EXPECT: gpuopt: only a struct that can be default-constructed can be taken apart
// WRITTEN: `struct Particle { float mass; Id id; }`, where `Id` has no default constructor
struct Id {
  explicit Id(int n) : number(n) {}
  int number;
};
struct Particle {
  float mass;
  Id id;
};

template class gpuopt::SoaView<Particle>;

#elif CASE == 15
// EXPECT: gpuopt: a struct without members cannot be taken apart
struct Nothing {};

template class gpuopt::SoaView<Nothing>;

#elif CASE == 16
// EXPECT: gpuopt: a struct with base classes cannot be taken apart: make them members
struct Marked {};
struct Particle : Marked {
  int id;
};

template class gpuopt::SoaView<Particle>;

#elif CASE == 17
// EXPECT: gpuopt: a struct of more than 32 members cannot be taken apart: nest some of them
// WRITTEN: `struct Many` of 33 members
struct Many {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg;
};

template class gpuopt::SoaView<Many>;

#elif CASE == 18
// EXPECT: gpuopt: bit-fields and packed members cannot be taken apart
// WRITTEN: a `struct` after `#pragma pack(push, 1)`
#pragma pack(push, 1)
struct Record {
  char kind;
  double value;
};
#pragma pack(pop)

template class gpuopt::SoaView<Record>;

#elif CASE == 19
// EXPECT: gpuopt: a struct with const members or references cannot be taken apart
// WRITTEN: struct Fixed { float& mass; }
struct Linked {
  float& mass;
  int id;
};

template class gpuopt::SoaView<Linked>;

#elif CASE == 20
// EXPECT: gpuopt: only an aggregate can be taken apart: a struct without constructors, private members and virtual functions
union Either {
  int id;
  float mass;
};

template class gpuopt::SoaView<Either>;

#elif CASE == 21
// EXPECT: gpuopt::SoaTiles: WIDTH must be a power of two
struct Particle {
  float mass;
  int id;
};

Particle fail(const gpuopt::SoaView<Particle, gpuopt::SoaTiles<24>>& view) { return view.load(0); }

#elif CASE == 22
// EXPECT: gpuopt::toAos: the structures of the array are const
struct Particle {
  float mass;
  int id;
};

void fail(gpuopt::SoaView<Particle> soa, const Particle* aos) { gpuopt::toAos(soa, aos); }

#elif CASE == 23
// EXPECT: gpuopt::toAosHost: the structures of the array are const
struct Particle {
  float mass;
  int id;
};

void fail(gpuopt::SoaView<Particle> soa, const Particle* aos) { gpuopt::toAosHost(soa, aos); }

#elif CASE == 24
// EXPECT: gpuopt::toSoa: the structures of the view are const
struct Particle {
  float mass;
  int id;
};

void fail(const Particle* aos, std::size_t n, gpuopt::SoaView<const Particle> soa) { gpuopt::toSoa(aos, n, soa); }

#elif CASE == 25
// EXPECT: gpuopt::toSoaHost: the structures of the view are const
struct Particle {
  float mass;
  int id;
};

void fail(const Particle* aos, std::size_t n, gpuopt::SoaView<const Particle> soa) { gpuopt::toSoaHost(aos, n, soa); }

#elif CASE == 26
// EXPECT: gpuopt::SoaVector: the struct is aligned to more than 256 bytes
// WRITTEN: `SoaVector<Page>`, where `struct alignas(512) Page`
struct alignas(512) Page {
  float values[128];
};

template class gpuopt::SoaVector<Page>;

#elif CASE == 27
// EXPECT: gpuopt::SoaVector: the struct is const
// WRITTEN: SoaVector<const Particle>
struct Particle {
  float mass;
  int id;
};

template class gpuopt::SoaVector<const Particle>;

#elif CASE == 28
// EXPECT g++: use of deleted function
// EXPECT nvcc: it is a deleted function
// WRITTEN: `auto copy = vector` of a `SoaVector`
// DO: `auto copy = vector.clone()`, or `std::move(vector)`
struct Particle {
  float mass;
  int id;
};

void fail(const gpuopt::SoaVector<Particle>& vector) { auto copy = vector; }

#elif CASE == 29
// EXPECT: gpuopt::SoaView: a SoaVector is no view: write vector.view()
// DO: kernels take `SoaView<Particle>` by value: `vector.view()`
struct Particle {
  float mass;
  int id;
};

__global__ void kernel(gpuopt::SoaView<const Particle>) {}

void fail(gpuopt::SoaVector<Particle>& vector) { gpuopt::launch(kernel, {}, vector); }

#elif CASE == 30
// EXPECT: gpuopt::SoaView: a column is not of its member's type, or there is no n: write {pointer..., n} or {vector...}, one column for each member, in order
// WRITTEN: `SoaView<Particle>{mass, id, n}`, where `id` is a `const int*`
// DO: to read, a `SoaView<const Particle>`
struct Particle {
  float mass;
  int id;
};

gpuopt::SoaView<Particle> fail(float* mass, const int* id, std::size_t n) { return {mass, id, n}; }

#elif CASE == 31
// EXPECT: gpuopt::SoaView: the number of columns differs from that of the struct's members: write {pointer..., n} or {vector...}, one column for each member, in order
// WRITTEN: SoaView<Particle>{mass, n}
struct Particle {
  float mass;
  int id;
};

gpuopt::SoaView<Particle> fail(float* mass, std::size_t n) { return {mass, n}; }

#elif CASE == 32
// EXPECT: gpuopt::SoaView: const structs cannot be assigned
struct Particle {
  float mass;
  int id;
};

void fail(const gpuopt::SoaView<const Particle>& view, const Particle& particle) { view[0] = particle; }

#elif CASE == 33
// EXPECT: gpuopt::forEach: the function must take a structure of the view, alone or with its index, by a const call operator
struct Point {
  float x, y;
};

struct Move {
  __device__ void operator()(float& x) const { x += 1; }
};

void fail(gpuopt::SoaView<Point> view) { gpuopt::forEach(view, Move{}); }

#elif CASE == 34
// EXPECT: gpuopt::forEach: the function takes a structure by value or as const, so it changes nothing: take a reference, or pass a SoaView<const T> to only read
// WRITTEN: `forEach(view, f)`, where f takes a `Point`
struct Point {
  float x, y;
};

struct Move {
  __device__ void operator()(Point p) const { p.x += p.y; }
};

void fail(gpuopt::SoaView<Point> view) { gpuopt::forEach(view, Move{}); }

#elif CASE == 35
// EXPECT: gpuopt::transform: the structures of out are const
struct Point {
  float x, y;
};

void fail(gpuopt::SoaView<Point> in, gpuopt::SoaView<const Point> out) { transform(in, out, gpuopt::Identity{}); }

#elif CASE == 36
// EXPECT: gpuopt::transform: the function must take a structure of in, alone or with its index, and return one of out, by a const call operator
// WRITTEN: `transform(in, out, f)`, where f returns no structure of `out`
struct Point {
  float x, y;
};

struct Sum {
  __device__ float operator()(const Point& p) const { return p.x + p.y; }
};

void fail(gpuopt::SoaView<const Point> in, gpuopt::SoaView<Point> out) { gpuopt::transform(in, out, Sum{}); }

#endif
