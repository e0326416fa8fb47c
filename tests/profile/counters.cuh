/// What the files of profile_counters share: how a case runs, and its arrays.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/launch.cuh>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace counters {

/// Runs a case of a group of kernels.
void run(const char* group, const std::string& name, const std::function<void()>& work);

/// An input of any bits, an output, and as many indices as there are elements, without order.
struct Memory {
  static constexpr std::size_t BYTES = std::size_t{16} << 20;
  static constexpr std::size_t ELEMENTS = 10000;

  void *in = nullptr, *out = nullptr;
  unsigned* indices = nullptr;

  Memory() {
    gpuopt::check(cudaMalloc(&in, BYTES), "cudaMalloc");
    gpuopt::check(cudaMalloc(&out, BYTES), "cudaMalloc");
    gpuopt::check(cudaMalloc(&indices, ELEMENTS * sizeof(unsigned)), "cudaMalloc");
    std::vector<unsigned> words(BYTES / sizeof(unsigned));
    unsigned state = 1;
    for (unsigned& word : words) word = (state = state * 1664525u + 1013904223u) >> 4;
    copy(in, words, BYTES);
    words.resize(ELEMENTS);
    for (unsigned i = 0; i < ELEMENTS; ++i) words[i] = i * 7919u % ELEMENTS;
    copy(indices, words, ELEMENTS * sizeof(unsigned));
    gpuopt::check(cudaMemset(out, 0, BYTES), "cudaMemset");
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    cudaFree(in);
    cudaFree(out);
    cudaFree(indices);
  }

  template <class T>
  const T* input() const {
    return static_cast<const T*>(in);
  }
  template <class T>
  T* output() const {
    return static_cast<T*>(out);
  }

 private:
  static void copy(void* to, const std::vector<unsigned>& words, std::size_t bytes) {
    gpuopt::check(cudaMemcpy(to, words.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  }
};

/// The kernels of examples/experiments.
void runExperiments(const Memory& memory);

}  // namespace counters
