/// \file
/// Which kernel transposes a matrix, and why: `explainTranspose` for matrices of many shapes. With --markdown
/// the lines are the rows of the table in docs/transpose.md.
// SPDX-License-Identifier: MIT
#include "exit_status.hpp"

#include <gpuopt/transpose.cuh>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

struct Rgb {
  std::uint8_t r, g, b;
};

struct Point {
  float x, y, z;
};

struct ToFloat {
  __host__ __device__ float operator()(std::uint8_t x) const { return static_cast<float>(x); }
};

// No memory is needed: only the alignment of addresses matters.
template <class T>
T* addressOf(std::uintptr_t number, std::size_t offset = 0) {
  return reinterpret_cast<T*>((number << 40) + offset);
}

class Table {
 public:
  explicit Table(bool isMarkdown) : isMarkdown_(isMarkdown) {
    if (isMarkdown) std::printf("| matrix | kernel | why |\n|---|---|---|\n");
  }

  // Dense matrices whose elements move, `offset` bytes off alignment.
  template <class T>
  void add(const char* name, std::size_t rows, std::size_t cols, std::size_t count = 1, std::size_t offset = 0) {
    print(name, gpuopt::explainTranspose(gpuopt::MatrixView{addressOf<const T>(1, offset), rows, cols, cols, count},
                                         gpuopt::MatrixView{addressOf<T>(2), cols, rows, rows, count}));
  }

  void print(const char* name, const std::string& plan) {
    const std::size_t colon = plan.find(": ");
    if (colon == std::string::npos) throw std::runtime_error("no reason in: " + plan);
    const std::size_t bytes = plan.rfind("; reads ");
    if (isMarkdown_)
      std::printf("| %s | %s | %s |\n", name, plan.substr(0, colon).c_str(),
                  plan.substr(colon + 2, bytes - colon - 2).c_str());
    else
      std::printf("%s\n    %s\n", name, plan.c_str());
  }

 private:
  bool isMarkdown_;
};

void explainAll(Table& table) {
  table.add<float>("1 x 1000 floats", 1, 1000);
  table.add<float>("1000 x 1000 floats", 1000, 1000);
  table.add<double>("3 x 1000000 doubles", 3, 1000000);
  table.add<std::uint8_t>("100 images of 224 x 224 x 3 bytes, NHWC to NCHW", 224 * 224, 3, 100);
  table.add<float>("100 images of 7 x 7 x 2048 floats, NHWC to NCHW", 7 * 7, 2048, 100);
  table.add<std::uint8_t>("10000 of 32 x 32 bytes", 32, 32, 10000);
  table.add<std::uint8_t>("10000 of 31 x 31 bytes", 31, 31, 10000);
  table.add<float>("10000 of 17 x 17 floats", 17, 17, 10000);
  table.add<Point>("1000 of 80 x 80 points of three floats", 80, 80, 1000);
  table.add<std::uint8_t>("2048 x 4096 bytes", 2048, 4096);
  table.add<float>("16384 x 16384 floats", 16384, 16384);
  table.add<float>("16388 x 16388 floats", 16388, 16388);
  table.add<float>("16383 x 16383 floats", 16383, 16383);
  table.add<std::uint8_t>("16383 x 16383 bytes", 16383, 16383);
  table.add<Rgb>("16384 x 16384 pixels of three bytes", 16384, 16384);
  table.add<Point>("4096 x 4096 points of three floats", 4096, 4096);
  table.print("16384 x 16384 bytes to floats",
              gpuopt::explainTranspose(addressOf<const std::uint8_t>(1), addressOf<float>(2), 16384, 16384, ToFloat{}));
}

int main(int count, char** words) {
  return exitStatusOf("transpose_plan", [&] {
    const bool isMarkdown = count == 2 && std::strcmp(words[1], "--markdown") == 0;
    if (count > 1 && !isMarkdown) throw std::runtime_error("usage: transpose_plan [--markdown]");
    Table table(isMarkdown);
    explainAll(table);
    return true;
  });
}
