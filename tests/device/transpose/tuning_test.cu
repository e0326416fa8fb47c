/// \file
/// Transpositions with a tuning file: it moves the limit of a kernel, and changes no result.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/device_array.cuh"
#include "support/random.hpp"
#include "support/tuning_folder.hpp"

#include <gpuopt/transpose.cuh>
#include <gpuopt/tuning.cuh>

#include <cstddef>
#include <string>
#include <vector>

namespace {

using gpuopt::test::DeviceArray;
using gpuopt::test::TuningFolder;

// A file with one entry of the current device, loaded as long as this lives.
class RegisterTuning {
 public:
  RegisterTuning(const std::string& name, const std::string& choice) {
    gpuopt::detail::TuningEntry entry = gpuopt::detail::entryOf({name, "", 0});
    entry.choice = choice;
    gpuopt::detail::mergeIntoFile(folder_.file(), {entry});
    gpuopt::test::requireTrue(gpuopt::loadTuning(folder_.file()));
  }
  ~RegisterTuning() { gpuopt::loadTuning(folder_.file("none.json")); }

 private:
  TuningFolder folder_;
};

struct ByteMatrix {
  static constexpr std::size_t ROWS = 768, COLS = 1024;
  std::vector<unsigned char> values = gpuopt::test::randomVector<unsigned char>(ROWS * COLS, 1);
  DeviceArray<unsigned char> in{values}, out{ROWS * COLS};

  std::string plan() { return gpuopt::explainTranspose(in.data(), out.data(), ROWS, COLS); }
  bool isTransposed() {
    gpuopt::check(cudaMemset(out.data(), 0xA5, ROWS * COLS), "cudaMemset");
    gpuopt::transpose(in.data(), out.data(), ROWS, COLS);
    const std::vector<unsigned char> found = out.toHost();
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i] != values[i % ROWS * COLS + i / ROWS]) return false;
    return true;
  }
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("The tuning file says which matrices registers transpose", "[transpose]") {
  ByteMatrix matrix;
  const std::string before = matrix.plan();
  for (const char* choice : {"KIB 512", "KIB 1"}) {
    const RegisterTuning tuning("gpuopt.transposeRegisters", choice);
    CHECK(contains(matrix.plan(), "tile 256 x 256"));
    CHECK(contains(matrix.plan(), "768 KiB exceeds " + std::string(choice).substr(4) + " KiB"));
    CHECK(matrix.isTransposed());
  }
  const RegisterTuning tuning("gpuopt.transposeRegisters", "KIB 1024");
  CHECK(contains(matrix.plan(), "registers"));
  CHECK(contains(matrix.plan(), "768 KiB at most 1 MiB"));
  CHECK(matrix.isTransposed());
  CHECK(before != matrix.plan());
}

TEST_CASE("Small matrices take no notice of the tuning file", "[transpose]") {
  DeviceArray<unsigned char> in(512 * 511), out(512 * 511);
  const auto plan = [&] { return gpuopt::explainTranspose(in.data(), out.data(), 512, 511); };
  const std::string before = plan();
  const RegisterTuning tuning("gpuopt.transposeRegisters", "KIB 1");
  CHECK(plan() == before);
}

TEST_CASE("Entries of earlier versions, whose constants were compiled in, are ignored without a word", "[transpose]") {
  ByteMatrix matrix;
  const std::string before = matrix.plan();
  const std::string report = gpuopt::test::reportedBy([&] {
    const RegisterTuning tuning("gpuopt.transposeTile", "TILE 32, SIDE 2");
    CHECK(matrix.plan() == before);
    CHECK(matrix.isTransposed());
  });
  CHECK(report.empty());
}
