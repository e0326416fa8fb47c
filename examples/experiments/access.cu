/// \file
/// The experiment on access patterns.
// SPDX-License-Identifier: MIT
#include "access.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include <gpuopt/access.cuh>

#include <string>

namespace experiments {
namespace {

gpuopt::GlobalAccess analysed(Pattern pattern) {
  return gpuopt::globalAccess<float>([=](unsigned lane) { return wordOf(pattern, lane); },
                                     gpuopt::LaneMask::where([=](unsigned lane) { return reads(pattern, lane); }));
}

void patterns(Report& report) {
  constexpr std::size_t WARPS = 32768;  // 8 requests each, with a region for each: 1 GiB
  constexpr struct {
    Pattern pattern;
    const char* name;
    const char* then;
  } rows[] = {{Pattern::inOrder, "32 words in order", "100 / 100 %"},
              {Pattern::permuted, "32 words, permuted", "100 / 100 %"},
              {Pattern::misaligned, "32 words, off by one", "50 / 80 %"},
              {Pattern::oneLane, "one word by one lane", "3.125 / 12.5 %"},
              {Pattern::sameWord, "the same word by all lanes", "3.125 / 12.5 %"},
              {Pattern::scattered, "32 words in 32 lines", "3.125 / 12.5 %"}};

  report.table({"Bus utilisation of one request: through lines of 128 bytes / sectors of 32",
                "pattern",
                "then",
                "predicted",
                {"us", "GB/s used"}});
  const auto values = wholeNumbers<float>(3 * wordsPerWarp);
  const TimedArray<float> in(WARPS * wordsPerWarp), out(WARPS);
  for (const auto& [pattern, name, then] : rows) {
    const gpuopt::GlobalAccess access = analysed(pattern);
    const auto sums =
        resultOf<float>(values, 3, [p = pattern](const float* from, float* to) { launchPattern(from, to, 3, p); });
    const double seconds = secondsOf([&, p = pattern] { launchPattern(in.data(), out.data(), WARPS, p); });
    report.add({name,
                then,
                percent(access.lineUtilisation()) + " / " + percent(access.utilisation()),
                {1e6 * seconds, seconds > 0 ? 1e-9 * WARPS * requestsPerWarp * access.bytes / seconds : 0},
                sums == patternOnHost(values, pattern)});
  }
}

template <Increment WHICH>
void incrementRow(Report& report, const char* name, const char* then, const TimedArray<float>& array,
                  std::size_t timed) {
  constexpr std::size_t N = 3001;
  const auto values = wholeNumbers<float>(N);
  const auto found = resultOf<float>(values, N, [](const float* from, float* to) {
    gpuopt::check(cudaMemcpy(to, from, N * sizeof(float), cudaMemcpyDeviceToDevice), "cudaMemcpy");
    launchIncrement<WHICH>(to, N);
  });
  const double seconds = secondsOf([&] { launchIncrement<WHICH>(array.data(), timed); });
  report.add({name, then, "", {1e6 * seconds}, found == incrementOnHost<WHICH>(values)});
}

void increments(Report& report) {
  constexpr std::size_t N = 3 << 20;
  const TimedArray<float> array(N);
  report.table({"a[i]++ of 3M floats, a thread each", "which threads", "then", "", {"us"}});
  incrementRow<Increment::all>(report, "all", "211 us", array, N);
  incrementRow<Increment::threeOfFour>(report, "three of four", "212 us", array, N);
  incrementRow<Increment::fourthOnFirst>(report, "the fourth on a[0]", "5182 us", array, N);
  incrementRow<Increment::fourthOnFirstOfBlock>(report, "the fourth on the block's first", "785 us", array, N);
}

/// One row of copies of n elements, direct and through a texture.
void shiftRow(Report& report, const std::string& name, unsigned offset, unsigned stride, const TimedArray<float>& in,
              const LinearTexture& texture, const TimedArray<float>& out, std::size_t n) {
  constexpr std::size_t N = 1003;
  const auto values = wholeNumbers<float>(offset + stride * N);
  const auto expected = shiftedOnHost(values, N, offset, stride);
  const auto direct = resultOf<float>(
      values, N, [=](const float* from, float* to) { launchShifted(DirectReader{from}, to, N, offset, stride); });
  const auto fetched = resultOf<float>(values, N, [&](float* from, float* to) {
    const LinearTexture small(from, values.size());
    launchShifted(small.reader(), to, N, offset, stride);
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");  // before the texture is destroyed
  });
  const gpuopt::GlobalAccess access =
      gpuopt::globalAccess<float>([=](unsigned lane) { return offset + lane * stride; });
  const double bytes = 2.0 * sizeof(float) * static_cast<double>(n);
  report.add({name,
              "",
              format("%u sectors, %.4g %%", access.sectors, 100 * access.utilisation()),
              {billionsPerSecond(bytes, [&] { launchShifted(DirectReader{in.data()}, out.data(), n, offset, stride); }),
               billionsPerSecond(bytes, [&] { launchShifted(texture.reader(), out.data(), n, offset, stride); })},
              direct == expected && fetched == expected});
}

void shifts(Report& report) {
  constexpr std::size_t ELEMENTS = std::size_t{1} << 27;  // no linear texture has more
  constexpr std::size_t OFFSET_N = std::size_t{1} << 26, STRIDE_N = 7'000'000;
  const TimedArray<float> in(ELEMENTS), out(OFFSET_N);
  const LinearTexture texture(in.data(), emulated ? 1 : ELEMENTS);

  report.table(
      {"Copies whose reads are off by some floats. Then: 1.7x slower on cc 1.3, 8x on cc 1.0; through "
       "a texture, no loss",
       "offset",
       "",
       "a warp's read",
       {"direct, GB/s", "texture, GB/s"}});
  for (unsigned offset = 0; offset <= 16; ++offset)
    shiftRow(report, std::to_string(offset), offset, 1, in, texture, out, OFFSET_N);

  report.table({"Copies whose reads are some floats apart. Then: slower with each stride",
                "stride",
                "",
                "a warp's read",
                {"direct, GB/s", "texture, GB/s"}});
  for (unsigned stride = 1; stride <= 18; ++stride)
    shiftRow(report, std::to_string(stride), 0, stride, in, texture, out, STRIDE_N);
}

void run(Report& report) {
  patterns(report);
  increments(report);
  shifts(report);
}

}  // namespace

const Experiment accessExperiment{
    "access",
    "Memory moves in sectors of 32 bytes, four to a line. What a warp asks for in one request is collected\n"
    "into the sectors that it touches: their order does not matter, their number does.",
    run};

}  // namespace experiments
