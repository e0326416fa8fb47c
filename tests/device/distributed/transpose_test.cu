/// Matrices in slabs of several ranks: every path, element size and split, beside an index model on the host.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace distributed_transpose_test {

using gpuopt::MatrixView;
using gpuopt::distributed::Slabs;
using gpuopt::distributed::SymmetricVector;
using gpuopt::distributed::Team;
using gpuopt::distributed::TeamOptions;
using gpuopt::test::allRight;
using gpuopt::test::checkCuda;
using gpuopt::test::DeviceArray;
using gpuopt::test::onRanks;
using gpuopt::test::Rank;
using gpuopt::test::rankCounts;

// The ways that a matrix may take, and what brings it there. Levels: on nodes of several ranks.
enum class Path { tiles, writes, copies, copiesOfOut, messages, byNccl, levels, levelsOneByOne };
constexpr Path paths[] = {Path::tiles, Path::writes, Path::copies, Path::copiesOfOut, Path::messages, Path::byNccl};

TeamOptions optionsOf(Path path) { return {path != Path::byNccl, std::chrono::milliseconds(20000)}; }

// Copies of small matrices, too, in three chunks.
void tune(Team& team, Path path) {
  auto& tuning = gpuopt::detail::TeamAccess::of(team).slabTuning;
  tuning.maxCopyRanks = tuning.maxTransposingCopyRanks = path == Path::copies || path == Path::copiesOfOut ? 16 : 0;
  tuning.minCopyBytes = 0;
  if (path == Path::levelsOneByOne) tuning.maxGatheredBytes = 0;
  tuning.chunkBytes = 1;
  tuning.maxChunks = 3;
}

bool isOutSymmetric(Path path) { return path == Path::writes || path == Path::copies || path == Path::copiesOfOut; }
bool isInSymmetric(Path path) { return path == Path::tiles || path == Path::copies || path >= Path::levels; }

// Elements that know their index and which matrix they belong to.
template <std::size_t SIZE>
struct Bytes {
  unsigned char bytes[SIZE];
};
template <class T>
T elementOf(std::size_t index, unsigned salt) {
  std::uint64_t x = (index + salt * 0x51ed2701ull + 1) * 0x9E3779B97F4A7C15ull;
  unsigned char bytes[sizeof(T)];
  for (unsigned char& byte : bytes) {
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9ull;
    byte = static_cast<unsigned char>(x >> 40);
  }
  T value;
  std::memcpy(static_cast<void*>(&value), bytes, sizeof(T));
  return value;
}

struct Case {
  Slabs rows, cols;
  std::size_t batch = 1, inGap = 0, outGap = 0, offset = 0;
  bool transposes = true;
};

// The memory of one side, symmetric or not, between poisoned elements that must stay.
template <class T>
class Side {
 public:
  static constexpr std::size_t GUARD = 64;

  Side(Team& team, std::size_t n, std::size_t offset, bool isSymmetric) : n_(n + offset + 2 * GUARD), offset_(offset) {
    if (isSymmetric)
      symmetric_ = std::make_unique<SymmetricVector<T>>(team, n_);
    else
      checkCuda(cudaMalloc(reinterpret_cast<void**>(&plain_), n_ * sizeof(T)), "cudaMalloc");
    checkCuda(cudaMemset(base(), 0xA5, n_ * sizeof(T)), "cudaMemset");
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;
  ~Side() { cudaFree(plain_); }

  T* data() { return base() + GUARD + offset_; }
  std::vector<T> all() {
    std::vector<T> values(n_);
    checkCuda(cudaMemcpy(values.data(), base(), n_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return values;
  }
  void fill(const std::vector<T>& values) {
    checkCuda(cudaMemcpy(base(), values.data(), n_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  std::size_t first() const { return GUARD + offset_; }

 private:
  T* base() { return symmetric_ != nullptr ? symmetric_->data() : plain_; }

  std::size_t n_, offset_;
  std::unique_ptr<SymmetricVector<T>> symmetric_;
  T* plain_ = nullptr;
};

// One case on one rank: its matrix, and what has to be in memory afterwards.
template <class T>
class Scene {
 public:
  Scene(Team& team, const Case& c, Path path)
      : c_(c),
        team_(team),
        inLd_(c.cols.total() + c.inGap),
        outLd_((c.transposes ? c.rows.total() : c.cols.size(team.rank())) + c.outGap),
        in_(team, c.batch * c.rows.largest() * inLd_, c.offset, isInSymmetric(path)),
        out_(team, c.batch * largestOut(), c.offset, isOutSymmetric(path)) {
    if (!c.transposes) outLd_ = c.cols.largest() + c.outGap;
  }

  void fill(unsigned salt) {
    std::vector<T> values = in_.all();
    visit([&](std::size_t b, std::size_t r, std::size_t c) {
      values[in_.first() + b * inStride() + r * inLd_ + c] = elementOf<T>(index(b, r + firstRow(), c), salt);
    });
    in_.fill(values);
    out_.fill(std::vector<T>(out_.all().size(), elementOf<T>(12345, 99)));
  }

  MatrixView<const T> in() {
    return {in_.data(), c_.rows.size(team_.rank()), c_.cols.total(), inLd_, c_.batch, inStride()};
  }
  MatrixView<T> out() {
    const std::size_t cols = c_.cols.size(team_.rank());
    if (c_.transposes) return {out_.data(), cols, c_.rows.total(), outLd_, c_.batch, largestOut()};
    return {out_.data(), c_.rows.total(), cols, outLd_, c_.batch, largestOut()};
  }

  // Whether out has its elements, and everything else is as before.
  bool isRight(unsigned salt) {
    const std::vector<T> values = out_.all();
    std::vector<T> expected(values.size(), elementOf<T>(12345, 99));
    for (std::size_t b = 0; b < c_.batch; ++b)
      for (std::size_t r = 0; r < c_.rows.total(); ++r)
        for (std::size_t c = 0; c < c_.cols.size(team_.rank()); ++c)
          expected[out_.first() + b * largestOut() + (c_.transposes ? c * outLd_ + r : r * outLd_ + c)] =
              elementOf<T>(index(b, r, c + c_.cols.first(team_.rank())), salt);
    return std::memcmp(values.data(), expected.data(), values.size() * sizeof(T)) == 0;
  }

 private:
  template <class Use>
  void visit(const Use& use) const {
    for (std::size_t b = 0; b < c_.batch; ++b)
      for (std::size_t r = 0; r < c_.rows.size(team_.rank()); ++r)
        for (std::size_t c = 0; c < c_.cols.total(); ++c) use(b, r, c);
  }
  std::size_t firstRow() const { return c_.rows.first(team_.rank()); }
  std::size_t inStride() const { return c_.rows.largest() * inLd_; }
  std::size_t largestOut() const {
    return c_.transposes ? c_.cols.largest() * (c_.rows.total() + c_.outGap)
                         : c_.rows.total() * (c_.cols.largest() + c_.outGap);
  }
  std::size_t index(std::size_t b, std::size_t r, std::size_t c) const {
    return (b * c_.rows.total() + r) * c_.cols.total() + c;
  }

  const Case& c_;
  Team& team_;
  std::size_t inLd_, outLd_;
  Side<T> in_, out_;
};

template <class T>
void run(Team& team, Scene<T>& scene, const Case& c, cudaStream_t stream) {
  if (c.transposes)
    gpuopt::distributed::transpose(team, scene.in(), scene.out(), c.rows, c.cols, stream);
  else
    gpuopt::distributed::redistribute(team, scene.in(), scene.out(), c.rows, c.cols, stream);
}

template <class T>
bool isRightOn(Rank& rank, Path path, const std::vector<Case>& cases) {
  Team team(rank.comm, optionsOf(path));
  tune(team, path);
  for (const Case& c : cases) {
    Scene<T> scene(team, c, path);
    scene.fill(7);
    run(team, scene, c, rank.stream);
    rank.wait();
    team.check();
    if (!scene.isRight(7)) return false;
  }
  return true;
}

// Even and uneven slabs, gaps, offsets, batches; both directions.
std::vector<Case> casesOf(int ranks) {
  const auto count = static_cast<std::size_t>(ranks);
  std::vector<std::size_t> uneven, some;
  for (std::size_t rank = 0; rank < count; ++rank) {
    uneven.push_back(rank * 13 % 31);
    some.push_back(rank % 2 == 0 ? 9 : 0);
  }
  std::vector<Case> cases;
  for (const bool transposes : {true, false}) {
    const auto add = [&](Case c) {
      c.transposes = transposes;
      cases.push_back(c);
    };
    add({Slabs::even(64, ranks), Slabs::even(128, ranks)});
    add({Slabs::even(101, ranks), Slabs::even(67, ranks), 1, 3, 5, 1});
    add({Slabs(uneven), Slabs(some), 2, 1});
    add({Slabs::even(count > 1 ? count - 1 : 1, ranks), Slabs::even(3, ranks), 3, 0, 2});
    add({Slabs::even(0, ranks), Slabs::even(5, ranks)});
  }
  return cases;
}

// What a rank reports if one of several cases on its communicator is wrong.
void requirePath(bool isRight, Path path, const std::string& what) {
  if (!isRight) throw std::runtime_error("wrong: path " + std::to_string(static_cast<int>(path)) + ", " + what);
}

// Every path, on one communicator: NCCL takes a second or more to make and connect one.
template <class... Ts>
void requireRight(int ranks) {
  CAPTURE(ranks);
  const std::vector<Case> cases = casesOf(ranks);
  const auto work = [&](Rank& rank) {
    for (const Path path : paths)
      (requirePath(isRightOn<Ts>(rank, path, cases), path, std::to_string(sizeof(Ts)) + " bytes"), ...);
    return true;
  };
  REQUIRE(onRanks(ranks, work) == allRight(ranks));
}

// To slabs of columns and back, in the same memory.
bool comesBack(Rank& rank, Path path, const Slabs& rows, const Slabs& cols, std::size_t gap) {
  Team team(rank.comm, optionsOf(path));
  tune(team, path);
  const std::size_t own = rows.size(rank.number), ownCols = cols.size(rank.number);
  const std::size_t ld = cols.total() + gap, columnsLd = cols.largest() + gap;
  Side<int> in(team, rows.largest() * ld, 0, isInSymmetric(path));
  Side<int> columns(team, rows.total() * columnsLd, 0, path != Path::messages && path != Path::byNccl);
  Side<int> out(team, rows.largest() * ld, 0, isOutSymmetric(path));
  std::vector<int> values = in.all();
  for (std::size_t i = 0; i < own * cols.total(); ++i)
    values[in.first() + i / cols.total() * ld + i % cols.total()] = static_cast<int>(i) * 3 + rank.number * 100000;
  in.fill(values);
  for (int turn = 0; turn < 2; ++turn) {
    gpuopt::distributed::redistribute(team, MatrixView<int>{in.data(), own, cols.total(), ld},
                                      MatrixView<int>{columns.data(), rows.total(), ownCols, columnsLd}, rows, cols,
                                      rank.stream);
    // A rank without messages waits for nobody: the emulated device would leave its deferred work undone.
    if (path >= Path::levels) rank.wait();
    gpuopt::distributed::redistributeToRows(team, MatrixView<int>{columns.data(), rows.total(), ownCols, columnsLd},
                                            MatrixView<int>{out.data(), own, cols.total(), ld}, rows, cols,
                                            rank.stream);
  }
  rank.wait();
  team.check();
  return out.all() == values;
}

TEST_CASE("slabs of columns become slabs of rows again, on every path") {
  for (const int ranks : rankCounts()) {
    CAPTURE(ranks);
    const auto work = [&](Rank& rank) {
      for (const Path path : paths)
        for (const bool isEven : {true, false}) {
          const Slabs rows = Slabs::even(isEven ? 48 : 21, ranks), cols = Slabs::even(isEven ? 72 : 29, ranks);
          requirePath(comesBack(rank, path, rows, cols, isEven ? 0 : 3), path, isEven ? "even" : "uneven");
        }
      return true;
    };
    REQUIRE(onRanks(ranks, work) == allRight(ranks));
  }
}

TEST_CASE("every path and split, 1 to 8 ranks") {
  for (const int ranks : rankCounts()) requireRight<float>(ranks);
}

#if GPUOPT_EMULATION

// Nodes of 3, 3 and 2 ranks, of 2, 2 and 1, of 2 and 1.
TEST_CASE("nodes that NCCL joins: every split, transposed, as slabs of columns and back") {
  for (const auto& nodes : {std::pair{8, 3}, {5, 2}, {3, 2}}) {
    const int ranks = nodes.first, perNode = nodes.second;  // lambdas capture no structured bindings in C++17
    CAPTURE(ranks, perNode);
    const gpuopt::test::NodeScope scope(perNode);
    const std::vector<Case> cases = casesOf(ranks);
    const auto all = [&](const auto& isRight) { return onRanks(ranks, isRight) == allRight(ranks); };
    CHECK(all([&](Rank& rank) { return isRightOn<float>(rank, Path::levels, cases); }));
    CHECK(all([&](Rank& rank) { return isRightOn<Bytes<3>>(rank, Path::levels, cases); }));
    CHECK(all([&](Rank& rank) { return isRightOn<float>(rank, Path::levelsOneByOne, cases); }));
    CHECK(all([&](Rank& rank) { return isRightOn<double>(rank, Path::messages, cases); }));
    const Slabs rows = Slabs::even(48, ranks), cols = Slabs::even(static_cast<std::size_t>(ranks) * 9, ranks);
    CHECK(all([&](Rank& rank) { return comesBack(rank, Path::levels, rows, cols, 3); }));
    CHECK(all(
        [&](Rank& rank) { return comesBack(rank, Path::levels, Slabs::even(2, ranks), Slabs::even(29, ranks), 0); }));
  }
}

#endif

// Several tiles below and beside each other, at offsets of 0 to 3 elements from a line.
template <class T>
bool writesLines(Rank& rank) {
  constexpr std::size_t ROWS = gpuopt::detail::LineTile<T, T, gpuopt::Identity>::ROWS;
  const auto count = static_cast<std::size_t>(rank.count);
  std::vector<Case> cases;
  for (std::size_t offset = 0; offset < 4; ++offset)
    cases.push_back({Slabs::even(count * (ROWS + 1 + offset), rank.count), Slabs::even(count * 65 + 1, rank.count),
                     1 + offset % 2, 1, offset, offset});
  return isRightOn<T>(rank, Path::writes, cases);
}

TEST_CASE("rows off the 16-byte boundaries are written in whole lines") {
  const int ranks = rankCounts().back() < 3 ? rankCounts().back() : 3;
  const auto work = [](Rank& rank) {
    requirePath(writesLines<unsigned char>(rank), Path::writes, "1 byte");
    requirePath(writesLines<unsigned short>(rank), Path::writes, "2 bytes");
    requirePath(writesLines<Bytes<2>>(rank), Path::writes, "2 bytes, aligned to 1");
    requirePath(writesLines<float>(rank), Path::writes, "4 bytes");
    requirePath(writesLines<Bytes<4>>(rank), Path::writes, "4 bytes, aligned to 1");
    requirePath(writesLines<double>(rank), Path::writes, "8 bytes");
    requirePath(writesLines<uint4>(rank), Path::writes, "16 bytes");
    return true;
  };
  REQUIRE(onRanks(ranks, work) == allRight(ranks));
}

TEST_CASE("every path and element size", "[sweep]") {
  const int ranks = rankCounts().back() < 3 ? rankCounts().back() : 3;
  requireRight<unsigned char, unsigned short, Bytes<3>, double, Bytes<12>, uint4>(ranks);
}

}  // namespace distributed_transpose_test
