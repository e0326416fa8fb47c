/// \file
/// Small square matrices, each of which a thread has to itself: products, inverses, Cholesky's factors, solutions.
// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <cmath>

/// N x N numbers, row by row. All loops over them are unrolled, so that the elements are in registers as far as a
/// thread has any.
template <class T, int N>
struct Matrix {
  T at[N][N];
};

template <class T, int N>
struct Vector {
  T at[N];
};

/// Two factors.
template <class T, int N>
struct Factors {
  Matrix<T, N> a, b;
};

/// The equations a * x = b.
template <class T, int N>
struct System {
  Matrix<T, N> a;
  Vector<T, N> b;
};

template <class T, int N>
__host__ __device__ Matrix<T, N> identity() {
  Matrix<T, N> one;
#pragma unroll
  for (int row = 0; row < N; ++row)
#pragma unroll
    for (int col = 0; col < N; ++col) one.at[row][col] = row == col ? T(1) : T(0);
  return one;
}

/// a * b.
struct Multiply {
  template <class T, int N>
  __host__ __device__ Matrix<T, N> operator()(const Factors<T, N>& factors) const {
    const auto& [a, b] = factors;
    Matrix<T, N> product;
#pragma unroll
    for (int row = 0; row < N; ++row)
#pragma unroll
      for (int col = 0; col < N; ++col) {
        T sum = 0;
#pragma unroll
        for (int k = 0; k < N; ++k) sum += a.at[row][k] * b.at[k][col];
        product.at[row][col] = sum;
      }
    return product;
  }
};

/// The lower triangle L with L * transpose(L) = a, by Cholesky; zeros above. `a` is symmetric and positive definite:
/// its lower triangle is read.
struct Cholesky {
  template <class T, int N>
  __host__ __device__ Matrix<T, N> operator()(const Matrix<T, N>& a) const {
    Matrix<T, N> lower{};
#pragma unroll
    for (int col = 0; col < N; ++col)
#pragma unroll
      for (int row = col; row < N; ++row) {
        T rest = a.at[row][col];
#pragma unroll
        for (int k = 0; k < col; ++k) rest -= lower.at[row][k] * lower.at[col][k];
        lower.at[row][col] = row == col ? std::sqrt(rest) : rest / lower.at[col][col];
      }
    return lower;
  }
};

/// x with a * x = b, for a symmetric and positive definite `a`: forward and back by Cholesky's factor.
struct Solve {
  template <class T, int N>
  __host__ __device__ Vector<T, N> operator()(const System<T, N>& system) const {
    const Matrix<T, N> lower = Cholesky{}(system.a);
    Vector<T, N> x = system.b;
#pragma unroll
    for (int row = 0; row < N; ++row) {
#pragma unroll
      for (int k = 0; k < row; ++k) x.at[row] -= lower.at[row][k] * x.at[k];
      x.at[row] /= lower.at[row][row];
    }
#pragma unroll
    for (int row = N - 1; row >= 0; --row) {
#pragma unroll
      for (int k = row + 1; k < N; ++k) x.at[row] -= lower.at[k][row] * x.at[k];
      x.at[row] /= lower.at[row][row];
    }
    return x;
  }
};

/// The inverse, by Gauss and Jordan, with the largest element of a column as its pivot. Numbers of rows are constants:
/// an index that only the data decide would take the matrix out of the registers. So every row that has a larger
/// element swaps with the pivot's.
struct Invert {
  template <class T, int N>
  __host__ __device__ Matrix<T, N> operator()(Matrix<T, N> a) const {
    Matrix<T, N> inverse = identity<T, N>();
#pragma unroll
    for (int pivot = 0; pivot < N; ++pivot) {
#pragma unroll
      for (int row = pivot + 1; row < N; ++row) {
        const bool isLarger = std::fabs(a.at[row][pivot]) > std::fabs(a.at[pivot][pivot]);
        swapRowsIf(isLarger, a.at[pivot], a.at[row]);
        swapRowsIf(isLarger, inverse.at[pivot], inverse.at[row]);
      }
      const T factor = 1 / a.at[pivot][pivot];
      scaleRow(a.at[pivot], factor);
      scaleRow(inverse.at[pivot], factor);
#pragma unroll
      for (int row = 0; row < N; ++row) {
        if (row == pivot) continue;
        const T multiple = a.at[row][pivot];
        subtractRow(a.at[row], a.at[pivot], multiple);
        subtractRow(inverse.at[row], inverse.at[pivot], multiple);
      }
    }
    return inverse;
  }

 private:
  template <class T, int N>
  __host__ __device__ static void swapRowsIf(bool isWanted, T (&a)[N], T (&b)[N]) {
#pragma unroll
    for (int col = 0; col < N; ++col) {
      const T first = a[col], second = b[col];
      a[col] = isWanted ? second : first;
      b[col] = isWanted ? first : second;
    }
  }

  template <class T, int N>
  __host__ __device__ static void scaleRow(T (&row)[N], T factor) {
#pragma unroll
    for (int col = 0; col < N; ++col) row[col] *= factor;
  }

  template <class T, int N>
  __host__ __device__ static void subtractRow(T (&row)[N], const T (&pivot)[N], T multiple) {
#pragma unroll
    for (int col = 0; col < N; ++col) row[col] -= multiple * pivot[col];
  }
};
