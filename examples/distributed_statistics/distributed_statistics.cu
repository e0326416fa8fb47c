/// \file
/// Statistics of a file of floats: each rank reads its part, and all have the results of the whole. A rank for each
/// GPU: a thread of this process, or, as distributed_statistics_mpi, a process of mpirun. Without a file it makes a
/// small one.
// SPDX-License-Identifier: MIT
#include "device_array.cuh"
#include "exit_status.hpp"
#include "output_file.hpp"
#include "ranks.cuh"

#include <gpuopt/distributed_reduce.cuh>
#include <gpuopt/distributed_statistics.cuh>
#include <gpuopt/distributed_team.cuh>

#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

// Every rank has the same.
struct Statistics {
  double sum, mean, variance;
  float least, most;
  std::size_t count, minIndex;
};

// The floats of a file that are this rank's: neighbouring ones, about as many on each rank.
std::vector<float> partOf(const std::string& file, int rank, int ranks) {
  const std::size_t all = std::filesystem::file_size(file) / sizeof(float);
  const auto first = [&](int r) { return all * static_cast<std::size_t>(r) / static_cast<std::size_t>(ranks); };
  std::vector<float> part(first(rank + 1) - first(rank));
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(first(rank) * sizeof(float)));
  in.read(reinterpret_cast<char*>(part.data()), static_cast<std::streamsize>(part.size() * sizeof(float)));
  if (!in) throw std::runtime_error(file + " cannot be read");
  return part;
}

// A rank: it makes a team of the communicator, and calls with its part what all ranks call with theirs.
Statistics statisticsOf(gpuopt::distributed::Team& team, const std::string& file) {
  const std::vector<float> part = partOf(file, team.rank(), team.size());
  const DeviceArray<float> memory(part);
  const float* const data = memory.data();
  const auto range = gpuopt::distributed::minMax(team, data, part.size());
  const auto least = gpuopt::distributed::argMin(team, data, part.size());
  const auto moments = gpuopt::distributed::meanVariance<double>(team, data, part.size());
  return {gpuopt::distributed::reduce<double>(team, data, part.size()),
          moments.mean,
          moments.variance,
          range.minimum,
          range.maximum,
          moments.count,
          least.index};
}

// The same by a loop on the host.
Statistics statisticsByLoop(const std::string& file) {
  const std::vector<float> values = partOf(file, 0, 1);
  Statistics all{0, 0, 0, values.front(), values.front(), values.size(), 0};
  for (std::size_t i = 0; i < values.size(); ++i) {
    all.sum += static_cast<double>(values[i]);
    if (values[i] < all.least) {
      all.least = values[i];
      all.minIndex = i;
    }
    if (values[i] > all.most) all.most = values[i];
  }
  all.mean = all.sum / static_cast<double>(values.size());
  for (const float value : values) all.variance += std::pow(static_cast<double>(value) - all.mean, 2);
  all.variance /= static_cast<double>(values.size());
  return all;
}

bool isNear(double a, double b) { return std::fabs(a - b) <= 1e-10 * std::fabs(b); }

bool areAlike(const Statistics& a, const Statistics& b) {
  return isNear(a.sum, b.sum) && isNear(a.mean, b.mean) && isNear(a.variance, b.variance) && a.least == b.least &&
         a.most == b.most && a.count == b.count && a.minIndex == b.minIndex;
}

bool report(const std::string& file) {
  const Statistics expected = statisticsByLoop(file);
  const RankOutcome outcome = onAllRanks([&](ncclComm_t comm) {
    gpuopt::distributed::Team team(comm);
    const Statistics all = statisticsOf(team, file);
    if (team.rank() == 0)
      std::printf("%zu numbers on %d ranks: sum %.10g, mean %.10g, variance %.10g, from %g at %zu to %g\n", all.count,
                  team.size(), all.sum, all.mean, all.variance, static_cast<double>(all.least), all.minIndex,
                  static_cast<double>(all.most));
    return areAlike(all, expected);
  });
  if (outcome.reports) std::printf("as a loop on the host has it: %s\n", outcome.right ? "ok" : "WRONG");
  return outcome.right;
}

// A file of a few megabytes, one for each process.
bool reportSmallFile() {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("gpuopt_distributed_statistics_" + std::to_string(getpid()))).string();
  std::vector<float> values;
  for (std::size_t i = 0; i < 1000003; ++i) values.push_back(static_cast<float>((i * 7919 + 271828) % 1000003) / 1000);
  openOutputFile(file).write(reinterpret_cast<const char*>(values.data()),
                             static_cast<std::streamsize>(values.size() * sizeof(float)));
  const bool isRight = report(file);
  std::filesystem::remove(file);
  return isRight;
}

bool run(int count, char** words) {
  if (count > 2) throw std::runtime_error("usage: distributed_statistics [<file of floats>]");
  if (count == 1) return reportSmallFile();
  if (!std::filesystem::is_regular_file(words[1]) || std::filesystem::file_size(words[1]) < sizeof(float))
    throw std::runtime_error(std::string(words[1]) + " is no file of floats");
  return report(words[1]);
}

int main(int count, char** words) {
  return exitStatusOf("distributed_statistics", [=] { return run(count, words); });
}
