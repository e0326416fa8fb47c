/// \file
/// The experiment on arrays of structures.
// SPDX-License-Identifier: MIT
#include "structures.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <gpuopt/access.cuh>

namespace experiments {
namespace {

unsigned itself(unsigned lane) { return lane; }

std::string text(const gpuopt::GlobalAccess& access) {
  return format("%u of %g sectors", access.requests, access.sectorsPerRequest());
}

void float3s(Report& report) {
  constexpr std::size_t MANY = 32 << 20, MILLION = 1 << 20, N = 1001;
  constexpr struct {
    const char* name;
    void (*launch)(const float3*, float3*, std::size_t);
    const char* then;
    bool isStaged;
  } rows[] = {{"direct", launchDirect, "648 us (G80: 3302)", false},
              {"staged as three words", launchStaged, "245 us (G80: 359)", true},
              {"gpuopt::transformStructs", launchTransform, "", true}};

  const auto words = wholeNumbers<float>(3 * N);
  auto expected = words;
  for (float& word : expected) word += structStep;
  const TimedArray<float3> in(MANY), out(MANY);
  report.table({"A step added to each float3", "how", "then, 1M", "a warp's requests", {"us, 1M", "GB/s, 32M"}});
  for (const auto& row : rows) {
    const auto found = resultOf<float>(words, 3 * N, [&](const float* from, float* to) {
      row.launch(reinterpret_cast<const float3*>(from), reinterpret_cast<float3*>(to), N);
    });
    gpuopt::GlobalAccess access = gpuopt::globalAccess<float3>(itself);
    if (row.isStaged) {
      access = gpuopt::globalAccess<float>(itself);
      access.requests *= 3;
      access.sectors *= 3;
    }
    report.add({row.name,
                row.then,
                row.launch == launchTransform ? "" : text(access),
                {1e6 * secondsOf([&] { row.launch(in.data(), out.data(), MILLION); }),
                 billionsPerSecond(2.0 * sizeof(float3) * MANY, [&] { row.launch(in.data(), out.data(), MANY); })},
                found == expected});
  }
}

template <class T>
void alignmentRow(Report& report, const char* name, const char* then, const TimedArray<float>& in,
                  const TimedArray<float>& out, std::size_t bytes) {
  constexpr std::size_t N = 1001, WORDS = sizeof(T) / sizeof(float), MEMBERS = sizeof T::words / sizeof(float);
  const auto words = wholeNumbers<float>(WORDS * N);
  const auto found = resultOf<float>(words, WORDS * N, [](const float* from, float* to) {
    launchStructCopy(reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), N);
  });
  bool isRight = true;
  for (std::size_t i = 0; i < found.size(); ++i) isRight = isRight && (i % WORDS >= MEMBERS || found[i] == words[i]);
  const std::size_t n = bytes / sizeof(T);
  report.add(
      {name,
       then,
       text(gpuopt::globalAccess<T>(itself)),
       {billionsPerSecond(
           2.0 * sizeof(float) * static_cast<double>(MEMBERS * n),
           [&] { launchStructCopy(reinterpret_cast<const T*>(in.data()), reinterpret_cast<T*>(out.data()), n); })},
       isRight});
}

void alignments(Report& report) {
  constexpr std::size_t BYTES = std::size_t{384} << 20;
  const TimedArray<float> in(BYTES / 4), out(BYTES / 4);
  report.table({"Structures copied, a thread each: members only count as bytes",
                "structure",
                "then, accesses",
                "a warp's requests",
                {"GB/s"}});
  alignmentRow<Plain<1>>(report, "4 bytes", "1", in, out, BYTES);
  alignmentRow<Plain<2>>(report, "8 bytes, aligned to 4", "", in, out, BYTES);
  alignmentRow<Aligned<2>>(report, "8 bytes, aligned to 8", "1", in, out, BYTES);
  alignmentRow<Plain<3>>(report, "12 bytes, aligned to 4", "3", in, out, BYTES);
  alignmentRow<Aligned<3>>(report, "12 bytes in 16", "", in, out, BYTES);
  alignmentRow<Plain<4>>(report, "16 bytes, aligned to 4", "", in, out, BYTES);
  alignmentRow<Aligned<4>>(report, "16 bytes, aligned to 16", "1", in, out, BYTES);
  alignmentRow<Plain<8>>(report, "32 bytes, aligned to 4", "", in, out, BYTES);
  alignmentRow<Aligned<8>>(report, "32 bytes, aligned to 16", "", in, out, BYTES);
}

void run(Report& report) {
  float3s(report);
  alignments(report);
}

}  // namespace

const Experiment structuresExperiment{
    "structures",
    "Threads that take a structure each read words at a distance: every request touches the sectors of all\n"
    "structures, for a part of their bytes. Alignment makes requests fewer and wider; staging makes them "
    "dense.",
    run};

}  // namespace experiments
