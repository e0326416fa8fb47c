/// Mistakes of one rank in calls that move matrices: every rank gets an error, and none hangs.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/ranks.cuh"

#include <gpuopt/distributed.cuh>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace distributed_transpose_errors_test {

using gpuopt::MatrixView;
using gpuopt::distributed::Slabs;
using gpuopt::distributed::SymmetricVector;
using gpuopt::distributed::Team;
using gpuopt::distributed::TeamError;
using gpuopt::distributed::TeamOptions;
using gpuopt::test::allRight;
using gpuopt::test::checkCuda;
using gpuopt::test::DeviceArray;
using gpuopt::test::maxRanks;
using gpuopt::test::onRanks;
using gpuopt::test::Rank;
using gpuopt::test::someRanks;

constexpr std::size_t ROWS = 24, COLS = 24;

std::vector<std::string> outcomes(int ranks, const std::string& others, const std::string& last) {
  std::vector<std::string> all(static_cast<std::size_t>(ranks), others);
  all.back() = last;
  return all;
}

// Where the matrices are, and how the ranks reach each other.
enum class Memory { symmetric, symmetricOut, plain, withoutPeers };

TeamOptions optionsOf(Memory memory) { return {memory != Memory::withoutPeers, std::chrono::milliseconds(2000)}; }

// A rank's dense slabs, and the arguments of a call, which a mistake may change.
struct Arguments {
  Slabs rows, cols;
  MatrixView<const int> in;
  MatrixView<int> out;
};

class Slab {
 public:
  Slab(Team& team, Rank& rank, Memory memory)
      : rows_(Slabs::even(ROWS, rank.count)), cols_(Slabs::even(COLS, rank.count)), rank_(rank.number) {
    if (memory == Memory::symmetric) in_ = std::make_unique<SymmetricVector<int>>(team, ROWS * COLS);
    if (memory == Memory::symmetricOut) out_ = std::make_unique<SymmetricVector<int>>(team, ROWS * COLS);
    checkCuda(cudaMemset(out(), 0x11, ROWS * COLS * sizeof(int)), "cudaMemset");
    checkCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }

  Arguments arguments() { return {rows_, cols_, {in(), rows_.size(rank_), COLS}, {out(), cols_.size(rank_), ROWS}}; }
  bool isUntouched() {
    std::vector<int> values(ROWS * COLS);
    checkCuda(cudaMemcpy(values.data(), out(), values.size() * sizeof(int), cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (const int value : values)
      if (value != 0x11111111) return false;
    return true;
  }

 private:
  int* in() { return in_ != nullptr ? in_->data() : plainIn_.data(); }
  int* out() { return out_ != nullptr ? out_->data() : plainOut_.data(); }

  Slabs rows_, cols_;
  int rank_;
  std::unique_ptr<SymmetricVector<int>> in_, out_;
  DeviceArray<int> plainIn_{ROWS * COLS}, plainOut_{ROWS * COLS};
};

// What each rank throws, at once or at the check after it, if the last one has made a mistake; and that out is as it
// was, and the next call throws, too.
template <class Mistake>
std::vector<std::string> afterMistake(int ranks, Memory memory, const Mistake& mistake) {
  std::vector<std::string> messages(static_cast<std::size_t>(ranks));
  const auto work = [&](Rank& rank) {
    Team team(rank.comm, optionsOf(memory));
    Slab slab(team, rank, memory);
    Arguments a = slab.arguments();
    if (rank.number == rank.count - 1) mistake(a);
    std::string& message = messages[static_cast<std::size_t>(rank.number)];
    try {
      gpuopt::distributed::transpose(team, a.in, a.out, a.rows, a.cols, rank.stream);
      rank.wait();
      team.check();
      message = "no error";
    } catch (const std::exception& error) {
      message = error.what();
    }
    rank.wait();
    bool throwsAgain = false;
    try {
      a = slab.arguments();
      gpuopt::distributed::transpose(team, a.in, a.out, a.rows, a.cols, rank.stream);
    } catch (const TeamError& error) {
      throwsAgain = error.rank() == rank.count - 1;
    }
    rank.wait();
    return throwsAgain && slab.isUntouched();
  };
  const auto right = onRanks(ranks, work);
  REQUIRE(right == allRight(ranks));
  return messages;
}

std::string rankText(int rank) { return "rank " + std::to_string(rank); }

TEST_CASE("a rank with wrong matrices names them, and the others name the rank, on every path") {
  const int ranks = someRanks();
  if (ranks < 2) return;
  const std::string last = rankText(ranks - 1);
  const std::size_t rows = Slabs::even(ROWS, ranks).size(ranks - 1);
  for (const Memory memory : {Memory::symmetric, Memory::symmetricOut, Memory::plain, Memory::withoutPeers}) {
    CAPTURE(static_cast<int>(memory));
    const auto messages = afterMistake(ranks, memory, [](Arguments& a) { a.in.cols = COLS - 1; });
    // Where the memory is symmetric, the call is asynchronous.
    const bool isAsynchronous = memory == Memory::symmetric || memory == Memory::symmetricOut;
    const std::string name = isAsynchronous ? "gpuopt::distributed::Team" : "gpuopt::distributed::transpose";
    // WRITTEN distributed: transpose(team, in, out, rows, cols), and rank 2 passes a view with one column less
    // DO: look at what rank 2 throws: its message names the argument. Slabs of all ranks have all columns
    REQUIRE(messages == outcomes(ranks, name + ": " + last + " refused its arguments",
                                 "gpuopt::distributed::transpose: in must be " + std::to_string(rows) + " x 24 on " +
                                     last + ", but it is " + std::to_string(rows) + " x 23"));
  }
}

TEST_CASE("the messages of wrong slabs and views") {
  const int ranks = someRanks();
  if (ranks < 2) return;
  const std::string rank = rankText(ranks - 1), call = "gpuopt::distributed::transpose: ";
  const std::string rows = std::to_string(Slabs::even(ROWS, ranks).size(ranks - 1));
  const std::string cols = std::to_string(Slabs::even(COLS, ranks).size(ranks - 1));
  const auto messageOf = [&](const auto& mistake) { return afterMistake(ranks, Memory::symmetric, mistake).back(); };
  // WRITTEN distributed: slabs that were made for another number of ranks
  // DO: make slabs for team.size() ranks
  CHECK(messageOf([](Arguments& a) { a.rows = Slabs::even(ROWS, 5); }) ==
        call + "rows has slabs of 5 ranks, but the team has " + std::to_string(ranks));
  CHECK(messageOf([](Arguments& a) { a.cols = Slabs::even(COLS, 5); }) ==
        call + "cols has slabs of 5 ranks, but the team has " + std::to_string(ranks));
  CHECK(messageOf([](Arguments& a) { a.out.rows = 100; }) ==
        call + "out must be " + cols + " x 24 on " + rank + ", but it is 100 x 24");
  CHECK(messageOf([](Arguments& a) { a.in.ld = 3; }) == call + "in.ld (3) is less than in.cols (24)");
  CHECK(messageOf([](Arguments& a) { a.in.data = nullptr; }) ==
        call + "in is null, but its shape is " + rows + " x 24");
  CHECK(messageOf([](Arguments& a) { a.out.batch = 2; }) == call + "in has 1 matrices, but out has 2");
  CHECK(messageOf([](Arguments& a) { a.in.data = a.out.data + 1; }) ==
        call + "in and out overlap: in begins at byte 4 of the " + std::to_string(std::stoi(cols) * 96) +
            " that out spans");
}

TEST_CASE("ranks with other slabs make another call") {
  const int ranks = someRanks();
  if (ranks < 2) return;
  std::vector<std::size_t> sizes(static_cast<std::size_t>(ranks), 0);
  sizes[0] = ROWS - 8;  // the last rank's slab is the same
  sizes.back() = 8;
  for (const Memory memory : {Memory::symmetric, Memory::withoutPeers}) {
    const std::string name =
        memory == Memory::symmetric ? "gpuopt::distributed::Team" : "gpuopt::distributed::transpose";
    std::vector<std::string> messages(static_cast<std::size_t>(ranks));
    REQUIRE(onRanks(ranks, [&](Rank& rank) {
              Team team(rank.comm, optionsOf(memory));
              Slab slab(team, rank, memory);
              Arguments a = slab.arguments();
              if (rank.number == rank.count - 1 && ranks == 3) a.rows = Slabs(sizes);
              try {
                gpuopt::distributed::transpose(team, a.in, a.out, a.rows, a.cols, rank.stream);
                rank.wait();
                team.check();
              } catch (const TeamError& error) {
                messages[static_cast<std::size_t>(rank.number)] = error.what();
              }
              return ranks != 3 || slab.isUntouched();
            }) == allRight(ranks));
    if (ranks == 3)
      REQUIRE(messages == outcomes(ranks, name + ": rank 2 made a different call, or used a different type",
                                   name + ": rank 0 made a different call, or used a different type"));
  }
}

TEST_CASE("a rank that does not come is waited for as long as the options say") {
  const int ranks = someRanks(), last = ranks - 1;
  if (ranks < 2) return;
  for (const Memory memory : {Memory::symmetric, Memory::plain}) {
    const std::string name =
        memory == Memory::symmetric ? "gpuopt::distributed::Team" : "gpuopt::distributed::transpose";
    const auto messages = onRanks(ranks, [=](Rank& rank) {
      TeamOptions options = optionsOf(memory);
      options.timeout = std::chrono::milliseconds(300);
      Team team(rank.comm, options);
      Slab slab(team, rank, memory);
      const Arguments a = slab.arguments();
      if (rank.number == last) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1000));
        return true;
      }
      gpuopt::distributed::transpose(team, a.in, a.out, a.rows, a.cols, rank.stream);
      rank.wait();
      team.check();
      return false;
    });
    REQUIRE(messages == outcomes(ranks, name + ": " + rankText(last) + " did not come in time", "right"));
  }
}

TEST_CASE("symmetric vectors fail on all ranks, or on none") {
  const int ranks = someRanks(), last = ranks - 1;
  if (ranks < 2) return;
  const std::string name = "gpuopt::distributed::SymmetricVector: ";
  for (const bool usesPeers : {true, false}) {
    const TeamOptions options{usesPeers};
    const auto ofSize = [=](std::size_t size) {
      return onRanks(ranks, [=](Rank& rank) {
        Team team(rank.comm, options);
        const std::size_t n = rank.number == last ? size : 10;
        return SymmetricVector<double>(team, n).size() == 0;
      });
    };
    const std::string other = name + rankText(last) + " asks for 11 elements of 8 bytes, rank 0 for 10 of 8";
    // WRITTEN distributed: gpuopt::distributed::SymmetricVector<double>(team, n), and n is 11 on rank 2
    // DO: pass the same n on all ranks: that of the largest slab
    REQUIRE(ofSize(11) == outcomes(ranks, other, other));
    // WRITTEN distributed: gpuopt::distributed::SymmetricVector<double>(team, n), and rank 2 has too little memory
    // DO: look at what rank 2 throws
    REQUIRE(ofSize(static_cast<std::size_t>(-1)) ==
            outcomes(ranks, name + rankText(last) + " has no memory for it", name + "n (-1) is negative"));
    REQUIRE(onRanks(ranks, [=](Rank& rank) {
              Team team(rank.comm, options);
              SymmetricVector<int> empty(team, 0), some(team, 5);
              const SymmetricVector<int> moved(std::move(some));
              return empty.data() != nullptr && moved.data() != nullptr && moved.size() == 5;
            }) == allRight(ranks));
  }
}

TEST_CASE("the calls of a team are for its device") {
  if (maxRanks() < 2) return;
  const auto messages = onRanks(2, [](Rank& rank) {
    Team team(rank.comm);
    checkCuda(cudaSetDevice(1 - rank.number), "cudaSetDevice");
    return SymmetricVector<int>(team, 1).size() == 0;
  });
  // WRITTEN distributed: a call of a team after cudaSetDevice of another device in its thread
  // DO: cudaSetDevice the team's device before the call
  REQUIRE(messages[0] == "gpuopt::distributed::SymmetricVector: the team is of device 0, the current device is 1");
}

}  // namespace distributed_transpose_errors_test
