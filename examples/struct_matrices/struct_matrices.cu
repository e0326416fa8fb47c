/// \file
/// Many small matrices, 2 x 2 to 8 x 8, of floats and of doubles: products, inverses, Cholesky's factors and solutions,
/// a matrix as a structure of transform.
// SPDX-License-Identifier: MIT
#include "matrix.cuh"

#include "device_array.cuh"
#include "exit_status.hpp"

#include <gpuopt/struct_io.cuh>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <vector>

// Symmetric, with a diagonal that makes them positive definite and well conditioned.
template <class T, int N>
std::vector<Matrix<T, N>> symmetricMatrices(std::size_t n) {
  std::vector<Matrix<T, N>> matrices(n);
  for (std::size_t i = 0; i < n; ++i)
    for (int row = 0; row < N; ++row)
      for (int col = 0; col <= row; ++col) {
        const auto number = static_cast<T>((i * 131 + static_cast<std::size_t>(row * N + col) * 7919) % 1001) / 1000;
        matrices[i].at[row][col] = matrices[i].at[col][row] = number + static_cast<T>(row == col ? N : 0);
      }
  return matrices;
}

// The same with the rows in another order, so that pivots are not on the diagonal.
template <class T, int N>
std::vector<Matrix<T, N>> shuffledRows(const std::vector<Matrix<T, N>>& matrices) {
  std::vector<Matrix<T, N>> shuffled(matrices.size());
  for (std::size_t i = 0; i < matrices.size(); ++i)
    for (int row = 0; row < N; ++row) std::copy_n(matrices[i].at[(row + 1) % N], N, shuffled[i].at[row]);
  return shuffled;
}

template <class T, int N>
Matrix<T, N> transposed(const Matrix<T, N>& a) {
  Matrix<T, N> result;
  for (int row = 0; row < N; ++row)
    for (int col = 0; col < N; ++col) result.at[row][col] = a.at[col][row];
  return result;
}

// The largest difference of two arrays of matrices or vectors, in units of the type's precision.
template <class T, class Element>
double difference(const std::vector<Element>& a, const std::vector<Element>& b) {
  const auto* const x = reinterpret_cast<const T*>(a.data());
  const auto* const y = reinterpret_cast<const T*>(b.data());
  double most = 0;
  for (std::size_t i = 0; i < a.size() * sizeof(Element) / sizeof(T); ++i)
    most = std::fmax(most, std::fabs(static_cast<double>(x[i]) - static_cast<double>(y[i])));
  return most / static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T, int N>
bool runSize(const char* type) {
  const std::size_t n = 1001;
  const std::vector<Matrix<T, N>> spd = symmetricMatrices<T, N>(n), general = shuffledRows(spd);
  std::vector<Factors<T, N>> pairs(n);
  std::vector<System<T, N>> systems(n);
  std::vector<Vector<T, N>> sides(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (int row = 0; row < N; ++row) sides[i].at[row] = static_cast<T>((i + static_cast<std::size_t>(row)) % 7);
    pairs[i] = {spd[i], general[i]};
    systems[i] = {spd[i], sides[i]};
  }
  const DeviceArray<Matrix<T, N>> a(spd), b(general), products(n), inverses(n), factors(n);
  const DeviceArray<Factors<T, N>> devicePairs(pairs);
  const DeviceArray<System<T, N>> deviceSystems(systems);
  const DeviceArray<Vector<T, N>> solutions(n);

  gpuopt::transform(devicePairs.data(), n, products.data(), Multiply{});
  gpuopt::transform(b.data(), n, inverses.data(), Invert{});
  gpuopt::transform(a.data(), n, factors.data(), Cholesky{});
  gpuopt::transform(deviceSystems.data(), n, solutions.data(), Solve{});

  const auto lower = factors.toHost(), inverse = inverses.toHost();
  const auto solved = solutions.toHost();
  std::vector<Matrix<T, N>> expected(n), ones(n), squares(n);
  std::vector<Vector<T, N>> back(n);
  for (std::size_t i = 0; i < n; ++i) {
    expected[i] = Multiply{}(pairs[i]);
    ones[i] = Multiply{}(Factors<T, N>{general[i], inverse[i]});
    squares[i] = Multiply{}(Factors<T, N>{lower[i], transposed(lower[i])});
    for (int row = 0; row < N; ++row) {
      back[i].at[row] = 0;
      for (int col = 0; col < N; ++col) back[i].at[row] += spd[i].at[row][col] * solved[i].at[col];
    }
  }
  const std::vector<Matrix<T, N>> identities(n, identity<T, N>());
  const double errors[] = {difference<T>(products.toHost(), expected), difference<T>(ones, identities),
                           difference<T>(squares, spd), difference<T>(back, sides)};
  const bool isRight = std::all_of(std::begin(errors), std::end(errors), [](double error) { return error < 64 * N; });
  std::printf("%-7s %d x %d  %7.2g %7.2g %7.2g %7.2g  %s\n", type, N, N, errors[0], errors[1], errors[2], errors[3],
              isRight ? "ok" : "WRONG");
  return isRight;
}

template <class T>
bool runType(const char* type) {
  return runSize<T, 2>(type) & runSize<T, 3>(type) & runSize<T, 4>(type) & runSize<T, 5>(type) & runSize<T, 6>(type) &
         runSize<T, 7>(type) & runSize<T, 8>(type);
}

int main() {
  std::printf("Largest errors, in units of the precision: products, a * inverse, L * transpose(L), a * solution\n");
  return exitStatusOf("struct_matrices", [] { return runType<float>("float") & runType<double>("double"); });
}
