/// \file
/// The rows of a small model of language: the embeddings of a text's letters are gathered, the last eight averaged and
/// normalised; scores become probabilities, and their running sums draw the next letter. What follows each letter is
/// added up by letters.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"

#include <gpuopt/device_vector.cuh>
#include <gpuopt/map.cuh>
#include <gpuopt/reduce_rows.cuh>
#include <gpuopt/rows.cuh>
#include <gpuopt/rows_add.cuh>
#include <gpuopt/rows_combine.cuh>
#include <gpuopt/rows_gather.cuh>
#include <gpuopt/rows_scan.cuh>
#include <gpuopt/rows_transform.cuh>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

constexpr std::size_t LETTERS = 128, DIMENSIONS = 64, CONTEXT = 8;

const std::string text =
    "Call me Ishmael. Some years ago, never mind how long precisely, having little or no money in my purse, and "
    "nothing particular to interest me on shore, I thought I would sail about a little and see the watery part of "
    "the world.";

float embedding(std::size_t letter, std::size_t dimension) {
  return static_cast<float>(std::sin(static_cast<double>((letter + 1) * (2 * dimension + 3))));
}

// How alike a context and each letter are.
struct Score {
  const float* contexts;
  const float* letters;
  __device__ float operator()(float, std::size_t i) const {
    const float* const context = contexts + i / LETTERS * DIMENSIONS;
    const float* const letter = letters + i % LETTERS * DIMENSIONS;
    float sum = 0;
    for (std::size_t d = 0; d < DIMENSIONS; ++d) sum += context[d] * letter[d];
    return sum;
  }
};

// Of the rows that average the embeddings of the letters before each position.
std::vector<int> contextLetters(std::size_t positions) {
  std::vector<int> letters;
  for (std::size_t p = 0; p < positions; ++p)
    for (std::size_t k = 0; k < CONTEXT; ++k) letters.push_back(text[p + k]);
  return letters;
}

bool isNear(float a, double b) { return std::abs(a - b) < 1e-4; }

// For each letter, the sum of the probabilities at its positions, in the order of the text.
bool areAddedByLetters(gpuopt::MatrixView<float> probability, const gpuopt::DeviceVector<int>& indices) {
  gpuopt::DeviceVector<float> followers(std::vector<float>(LETTERS * LETTERS));
  const gpuopt::MatrixView<float> sums{followers.data(), LETTERS, LETTERS};
  gpuopt::addRows(probability, indices.data(), probability.rows, sums);
  double added = 0;
  for (const float sum : followers.toHost()) added += static_cast<double>(sum);
  return std::abs(added - static_cast<double>(probability.rows)) < 1e-3;
}

bool run() {
  const std::size_t positions = text.size() - CONTEXT;
  std::vector<float> table;
  for (std::size_t i = 0; i < LETTERS * DIMENSIONS; ++i) table.push_back(embedding(i / DIMENSIONS, i % DIMENSIONS));
  const gpuopt::DeviceVector<float> embeddings(table);
  const gpuopt::MatrixView<const float> letters{embeddings.data(), LETTERS, DIMENSIONS};

  // The rows of the letters of the text, one after another.
  const gpuopt::DeviceVector<int> indices(std::vector<int>(text.begin(), text.end()));
  gpuopt::DeviceVector<float> gathered(text.size() * DIMENSIONS);
  gpuopt::gatherRows(letters, indices, gpuopt::MatrixView<float>{gathered.data(), text.size(), DIMENSIONS});

  // What comes before each position: the mean of eight rows, of length 1.
  const gpuopt::DeviceVector<int> before(contextLetters(positions));
  gpuopt::DeviceVector<float> contexts(positions * DIMENSIONS);
  const gpuopt::MatrixView<float> context{contexts.data(), positions, DIMENSIONS};
  gpuopt::combineRows<gpuopt::RowCombination::mean>(letters, before.data(), CONTEXT, context);
  gpuopt::rmsNormRows(context, context, nullptr);

  // Probabilities of all letters, their running sums, and the most probable letter.
  gpuopt::DeviceVector<float> probabilities(std::vector<float>(positions * LETTERS)), sums(positions * LETTERS);
  const gpuopt::MatrixView<float> probability{probabilities.data(), positions, LETTERS};
  gpuopt::transform(probabilities, probabilities, Score{contexts.data(), embeddings.data()});
  gpuopt::softmaxRows(probability, probability);
  gpuopt::inclusiveScanRows(probability, gpuopt::MatrixView<float>{sums.data(), positions, LETTERS});
  gpuopt::DeviceVector<gpuopt::ArgResult<float>> likeliest(positions);
  gpuopt::argMaxRows(probabilities, positions, LETTERS, likeliest);

  const std::vector<float> rows = gathered.toHost(), normalised = contexts.toHost(), running = sums.toHost();
  const auto best = likeliest.toHost();
  bool right = true;
  std::size_t drawn = 0;  // positions whose likeliest letter is one of those before it
  for (std::size_t p = 0; p < positions; ++p) {
    double square = 0;
    for (std::size_t d = 0; d < DIMENSIONS; ++d) {
      right = right && rows[p * DIMENSIONS + d] == embedding(static_cast<std::size_t>(text[p]), d);
      square += std::pow(normalised[p * DIMENSIONS + d], 2);
    }
    right = right && isNear(static_cast<float>(square / DIMENSIONS), 1) && isNear(running[(p + 1) * LETTERS - 1], 1);
    drawn += text.substr(p, CONTEXT).find(static_cast<char>(best[p].index)) != std::string::npos;
  }
  right = right && drawn == positions && areAddedByLetters(probability, indices);
  std::printf("%zu positions, %zu of whose likeliest letters are among the last %zu: %s\n", positions, drawn, CONTEXT,
              right ? "ok" : "WRONG");
  return right;
}

int main() { return exitStatusOf("token_rows", run); }
