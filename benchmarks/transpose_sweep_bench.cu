/// \file
/// Other tiles beside the defaults: every sensible TILE and SIDE for aligned matrices, rows and columns of
/// the tiles for unaligned ones.
// SPDX-License-Identifier: MIT
#include "support/options.hpp"
#include "support/transpose_data.cuh"
#include "support/transpose_report.cuh"

#include <gpuopt/device/transpose/launch.cuh>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace bench;

constexpr std::size_t bufferBytes = std::size_t{4} << 30;

template <std::size_t SIZE>
using Problem =
    gpuopt::detail::TransposeProblem<gpuopt::detail::Word<SIZE>, gpuopt::detail::Word<SIZE>, gpuopt::Identity>;

template <std::size_t SIZE, int TILE, int SIDE>
using SquareTile = gpuopt::detail::SquareTile<gpuopt::detail::Word<SIZE>, gpuopt::detail::Word<SIZE>, TILE, SIDE>;

// A block has 64 to 1024 threads, a tile at most 64 KiB and at least one square of 16-byte vectors for every
// second thread.
template <std::size_t SIZE, int TILE, int SIDE>
constexpr bool areSensible() {
  constexpr int THREADS = TILE * SIDE;
  constexpr int ACROSS = TILE * static_cast<int>(SIZE) / 16;
  return SIDE <= TILE && THREADS >= 64 && THREADS <= 1024 && TILE * TILE * SIZE <= 65536 &&
         THREADS <= 2 * ACROSS * ACROSS;
}

// As many threads as divide a tile well.
template <std::size_t SIZE, unsigned ROWS, unsigned COLS>
using StagedTile = gpuopt::detail::StagedTile<ROWS, COLS, (ROWS * COLS * SIZE < 48 << 10 ? 512 : 1024), 4>;

std::string product(std::size_t a, std::size_t b) { return std::to_string(a) + " x " + std::to_string(b); }

/// Compares the defaults with all others.
class Bench {
 public:
  Bench(Timer& timer, const Buffers& buffers, TransposeReport& report)
      : timer_(timer), buffers_(buffers), report_(report) {}

  template <std::size_t SIZE>
  void measureTiles(const Shape& shape) const {
    std::vector<Candidate> all{planned<SIZE>(shape)};
    addTiles<SIZE>(all, shape, std::integer_sequence<int, 16, 32, 64, 128, 256>{});
    report<SIZE>("tiles", shape, std::move(all));
  }

  template <std::size_t SIZE>
  void measureStaged(const Shape& shape) const {
    std::vector<Candidate> all{planned<SIZE>(shape)};
    addStaged<SIZE>(all, shape, std::integer_sequence<unsigned, 32, 64, 96, 128>{});
    report<SIZE>("staged", shape, std::move(all));
  }

 private:
  template <std::size_t SIZE, int... TILES>
  void addTiles(std::vector<Candidate>& all, const Shape& shape, std::integer_sequence<int, TILES...>) const {
    (addSides<SIZE, TILES>(all, shape, std::integer_sequence<int, 1, 2, 4, 8, 16, 32>{}), ...);
  }

  template <std::size_t SIZE, int TILE, int... SIDES>
  void addSides(std::vector<Candidate>& all, const Shape& shape, std::integer_sequence<int, SIDES...>) const {
    (addTile<SIZE, TILE, SIDES>(all, shape), ...);
  }

  template <std::size_t SIZE, int TILE, int SIDE>
  void addTile(std::vector<Candidate>& all, const Shape& shape) const {
    if constexpr (areSensible<SIZE, TILE, SIDE>())
      all.push_back(tiles<SIZE, SquareTile<SIZE, TILE, SIDE>>(product(TILE, SIDE), shape));
  }

  template <std::size_t SIZE, unsigned... ROWS>
  void addStaged(std::vector<Candidate>& all, const Shape& shape, std::integer_sequence<unsigned, ROWS...>) const {
    (addStagedRows<SIZE, ROWS, 256, 512, 1024>(all, shape), ...);
  }

  template <std::size_t SIZE, unsigned ROWS, unsigned... BYTES>
  void addStagedRows(std::vector<Candidate>& all, const Shape& shape) const {
    (all.push_back(staged<SIZE, StagedTile<SIZE, ROWS, BYTES / SIZE>>(product(ROWS, BYTES / SIZE), shape)), ...);
  }

  template <std::size_t SIZE>
  Candidate planned(const Shape& shape) const {
    return candidate<SIZE>("default", shape, [stream = timer_.stream()](const Problem<SIZE>& problem) {
      gpuopt::detail::launchTranspose(problem, gpuopt::detail::planOf(problem), stream);
    });
  }

  template <std::size_t SIZE, class Tile>
  Candidate tiles(const std::string& name, const Shape& shape) const {
    return candidate<SIZE>(name, shape, [stream = timer_.stream()](const Problem<SIZE>& problem) {
      const auto bits = gpuopt::detail::planOf(problem).regionBits;
      gpuopt::detail::launchTile<Tile>(problem, bits, stream);
    });
  }

  template <std::size_t SIZE, class Tile>
  Candidate staged(const std::string& name, const Shape& shape) const {
    return candidate<SIZE>(name, shape, [stream = timer_.stream()](const Problem<SIZE>& problem) {
      gpuopt::detail::launchStaged<Tile>(problem, stream);
    });
  }

  template <std::size_t SIZE, class Launch>
  Candidate candidate(const std::string& name, const Shape& s, Launch launch) const {
    using T = gpuopt::detail::Word<SIZE>;
    const Problem<SIZE> problem{buffers_.in<T>(), buffers_.out<T>(), s.rows,       s.cols,        s.inLd,
                                s.outLd,          s.batch,           s.inStride(), s.outStride(), {}};
    return transposition<T, T>(name, buffers_, s, gpuopt::Identity{}, [=] { launch(problem); });
  }

  template <std::size_t SIZE>
  void report(const char* name, const Shape& shape, std::vector<Candidate> all) const {
    Goal goal = atLeast(0.97);
    goal.of = [](const CaseTimes& times) {
      return *std::min_element(times.candidates.begin(), times.candidates.end()) / times.candidates[0];
    };
    report_.run({name, std::to_string(SIZE), shape, 2 * shape.elements() * SIZE, goal, std::move(all)});
  }

  Timer& timer_;
  const Buffers& buffers_;
  TransposeReport& report_;
};

template <std::size_t SIZE>
void measure(const Bench& bench, bool isQuick) {
  bench.measureTiles<SIZE>(dense(16384, 16384));
  bench.measureStaged<SIZE>(dense(16383, 16385));
  if (isQuick) return;
  bench.measureTiles<SIZE>(dense(8192, 8192));
  bench.measureTiles<SIZE>(dense(10000, 20000));
  bench.measureTiles<SIZE>(dense(1024, 131072));
  bench.measureTiles<SIZE>(dense(131072, 1024));
  bench.measureStaged<SIZE>(dense(8191, 8193));
}

int run(Options& options) {
  Names elements{"1", "2", "4", "8", "16"};
  options.choice("--elements", elements, "bytes of the elements");
  options.parse(11, 7);
  Timer timer(options.repetitions);

  const Buffers buffers(bufferBytes, timer.stream());
  TransposeReport report(timer, buffers, options);
  Bench bench(timer, buffers, report);
  if (contains(elements, "1")) measure<1>(bench, options.isQuick);
  if (contains(elements, "2")) measure<2>(bench, options.isQuick);
  if (contains(elements, "4")) measure<4>(bench, options.isQuick);
  if (contains(elements, "8")) measure<8>(bench, options.isQuick);
  if (contains(elements, "16")) measure<16>(bench, options.isQuick);
  return report.finish();
}

}  // namespace

int main(int count, char** words) {
  return runBenchmark(count, words, "transpose_sweep_bench", "Other tiles beside the defaults.", run);
}
