/// Calls three shared libraries that use gpuopt, in turn: abi_run_one, its twin of the same version and
/// architecture, and one of another version or architecture. The program is linked with them, or loads those
/// that its arguments name. Each must give right results by its own kernels, pools and workspaces.
// SPDX-License-Identifier: MIT
#include "library.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <vector>

namespace {

constexpr unsigned rows = 70, cols = 50;
constexpr const char* names[] = {"abi_run_one", "abi_run_twin", "abi_run_other"};
int failures = 0;

void expect(bool isTrue, const char* library, const char* what) {
  if (!isTrue) std::printf("%s: %s\n", library, what);
  failures += isTrue ? 0 : 1;
}

void checkResults(const Answer& answer, unsigned library) {
  constexpr unsigned n = rows * cols;
  expect(answer.sum == n * (n - 1) / 2, names[library], "wrong sum");
  const float factor = static_cast<float>(library + 2);
  expect(answer.last == factor * (cols - 1), names[library], "wrong transposition, or another library's kernel");
}

void checkApart(const Answer& a, const Answer& b, const char* library) {
  expect(a.kernel != b.kernel, library, "shares a kernel with another library");
  expect(a.results != b.results, library, "shares the pool of results with another library");
  expect(a.scratch != b.scratch, library, "shares a workspace with another library");
}

}  // namespace

int main(int count, char** paths) {
  for (int i = 1; i < count; ++i)
    if (dlopen(paths[i], RTLD_NOW | RTLD_GLOBAL) == nullptr) return std::printf("%s\n", dlerror());

  std::vector<float> elements(rows * cols);
  for (unsigned i = 0; i < rows * cols; ++i) elements[i] = static_cast<float>(i);
  for (int round = 0; round < 3; ++round) {
    Answer answers[3];
    for (unsigned library = 0; library < 3; ++library) {
      const auto run = reinterpret_cast<Run*>(dlsym(RTLD_DEFAULT, names[library]));
      if (run == nullptr) return std::printf("%s: not loaded\n", names[library]);
      answers[library] = run(elements.data(), rows, cols);
      if (!answers[library].hasDevice) return 77;
      checkResults(answers[library], library);
      for (unsigned other = 0; other < library; ++other) checkApart(answers[library], answers[other], names[library]);
    }
    expect(answers[2].code != answers[0].code, names[2], "shares code with a library that is built otherwise");
  }
  return failures != 0;
}
