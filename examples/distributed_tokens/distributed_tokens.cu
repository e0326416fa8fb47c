/// \file
/// The tokens of a model on several GPUs, with a rank for each GPU: rows go to the rank of their expert and come back,
/// and slabs of positions become slabs of heads, for attention.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"
#include "ranks.cuh"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/distributed_symmetric.cuh>
#include <gpuopt/distributed_team.cuh>
#include <gpuopt/distributed_transpose.cuh>
#include <gpuopt/map.cuh>
#include <gpuopt/permute.cuh>
#include <gpuopt/rows_gather.cuh>

#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <vector>

using gpuopt::DeviceVector;
using gpuopt::MatrixView;
using gpuopt::distributed::Slabs;
using gpuopt::distributed::SymmetricVector;
using gpuopt::distributed::Team;

constexpr std::size_t POSITIONS = 600, HEADS = 24, DIMENSIONS = 32, WIDTH = HEADS * DIMENSIONS;

// Element (position, i) of the tokens.
float tokenAt(std::size_t position, std::size_t i) { return static_cast<float>((position * WIDTH + i) % 999983); }

// The rank of the expert that a router chose for a token.
int expertOf(std::size_t position, int ranks) { return static_cast<int>(position * 2654435761U % 1000003 % ranks); }

// What an expert computes.
struct Expert {
  float weight;
  __device__ float operator()(float x) const { return weight * x; }
};

// The tokens of one rank in the order of their experts: the tokens' numbers, and where each expert's begin.
struct Routes {
  std::vector<int> order;
  std::vector<std::size_t> offsets;
};

Routes routesOf(std::size_t first, std::size_t tokens, int ranks) {
  Routes routes;
  for (int expert = 0; expert < ranks; ++expert) {
    routes.offsets.push_back(routes.order.size());
    for (std::size_t t = 0; t < tokens; ++t)
      if (expertOf(first + t, ranks) == expert) routes.order.push_back(static_cast<int>(t));
  }
  routes.offsets.push_back(routes.order.size());
  return routes;
}

// Sends the rows from offsets[r] to before offsets[r + 1] to rank r, and receives those that are for this rank. A
// program whose routes are not known everywhere exchanges the numbers of rows first.
void exchangeRows(ncclComm_t comm, const float* send, const std::vector<std::size_t>& sendOffsets, float* receive,
                  const std::vector<std::size_t>& receiveOffsets) {
  checkNccl(ncclGroupStart(), "ncclGroupStart");
  for (std::size_t peer = 0; peer + 1 < sendOffsets.size(); ++peer) {
    const std::size_t sent = sendOffsets[peer + 1] - sendOffsets[peer];
    const std::size_t received = receiveOffsets[peer + 1] - receiveOffsets[peer];
    checkNccl(
        ncclSend(send + sendOffsets[peer] * WIDTH, sent * WIDTH, ncclFloat, static_cast<int>(peer), comm, nullptr),
        "ncclSend");
    checkNccl(ncclRecv(receive + receiveOffsets[peer] * WIDTH, received * WIDTH, ncclFloat, static_cast<int>(peer),
                       comm, nullptr),
              "ncclRecv");
  }
  checkNccl(ncclGroupEnd(), "ncclGroupEnd");
}

// Every token goes to its expert's rank and comes back: rows are gathered in the order of their experts, exchanged,
// worked on, exchanged back, and scattered to their own rows.
bool askExperts(Team& team, ncclComm_t comm, const DeviceVector<float>& tokens) {
  const Slabs slabs = Slabs::even(POSITIONS, team.size());
  const std::size_t first = slabs.first(team.rank()), own = slabs.size(team.rank());
  const Routes routes = routesOf(first, own, team.size());
  std::vector<std::size_t> received{0};
  for (int peer = 0; peer < team.size(); ++peer) {
    const Routes theirs = routesOf(slabs.first(peer), slabs.size(peer), team.size());
    const auto expert = static_cast<std::size_t>(team.rank());
    received.push_back(received.back() + theirs.offsets[expert + 1] - theirs.offsets[expert]);
  }
  const DeviceVector<int> order(routes.order);
  DeviceVector<float> outgoing(own * WIDTH), incoming(received.back() * WIDTH), answers(own * WIDTH);

  gpuopt::gatherRows(MatrixView<const float>{tokens.data(), own, WIDTH}, order,
                     MatrixView<float>{outgoing.data(), own, WIDTH});
  exchangeRows(comm, outgoing.data(), routes.offsets, incoming.data(), received);
  gpuopt::transform(incoming, incoming, Expert{static_cast<float>(team.rank() + 1)});
  exchangeRows(comm, incoming.data(), received, outgoing.data(), routes.offsets);
  gpuopt::scatterRows(MatrixView<const float>{outgoing.data(), own, WIDTH}, order,
                      MatrixView<float>{answers.data(), own, WIDTH});

  bool right = true;
  const std::vector<float> values = answers.toHost();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t position = first + i / WIDTH;
    const auto weight = static_cast<float>(expertOf(position, team.size()) + 1);
    right = right && values[i] == weight * tokenAt(position, i % WIDTH);
  }
  return right;
}

// Slabs of positions with all heads become slabs of heads with all positions: redistribute moves columns of the matrix
// of positions and (head, dimension), and permute brings a head's positions together. Heads are divided evenly.
bool exchangeHeads(Team& team, const DeviceVector<float>& tokens) {
  const std::size_t heads = HEADS / static_cast<std::size_t>(team.size());
  const std::size_t firstHead = heads * static_cast<std::size_t>(team.rank());
  const Slabs slabs = Slabs::even(POSITIONS, team.size());
  SymmetricVector<float> in(team, slabs.largest() * WIDTH), columns(team, POSITIONS * heads * DIMENSIONS);
  gpuopt::check(cudaMemcpy(in.data(), tokens.data(), tokens.size() * sizeof(float), cudaMemcpyDeviceToDevice),
                "cudaMemcpy");
  DeviceVector<float> out(columns.size());

  gpuopt::distributed::redistribute(team, in, columns, POSITIONS, WIDTH);
  gpuopt::permute(columns.data(), out.data(), {POSITIONS, heads, DIMENSIONS}, {1, 0, 2});
  gpuopt::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  team.check();

  bool right = true;
  const std::vector<float> values = out.toHost();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t head = firstHead + i / DIMENSIONS / POSITIONS, position = i / DIMENSIONS % POSITIONS;
    right = right && values[i] == tokenAt(position, head * DIMENSIONS + i % DIMENSIONS);
  }
  return right;
}

bool work(ncclComm_t comm) {
  Team team(comm);
  if (HEADS % static_cast<std::size_t>(team.size()) != 0)
    throw std::invalid_argument("24 heads need 1, 2, 3, 4, 6, 8, 12 or 24 GPUs");
  const Slabs slabs = Slabs::even(POSITIONS, team.size());
  std::vector<float> values;
  for (std::size_t i = 0; i < slabs.size(team.rank()) * WIDTH; ++i)
    values.push_back(tokenAt(slabs.first(team.rank()) + i / WIDTH, i % WIDTH));
  const DeviceVector<float> tokens(values);
  const bool areAnswersRight = askExperts(team, comm, tokens);
  return exchangeHeads(team, tokens) && areAnswersRight;
}

bool run() {
  const RankOutcome outcome = onAllRanks(work);
  if (outcome.reports)
    std::printf("%zu tokens of %zu floats on %d ranks: to experts and back, from positions to heads  %s\n", POSITIONS,
                WIDTH, outcome.ranks, outcome.right ? "ok" : "WRONG");
  return outcome.right;
}

int main() { return exitStatusOf("distributed_tokens", run); }
