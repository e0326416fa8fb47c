/// \file
/// The experiment on access patterns.
// SPDX-License-Identifier: MIT
#include "access.cuh"

#include "experiment.hpp"
#include "measure.cuh"
#include "occupancy.cuh"

#include <gpuopt/access.cuh>

#include <algorithm>
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

void linesFarApart(Report& report) {
  constexpr std::size_t LINES = std::size_t{1} << 23, CHECKED_LINES = 1024;
  report.table({"Words of 8M lines, 1 GiB: a request of a warp reads 32 words of lines that are far apart",
                "lines a request",
                "then, used of lines / sectors",
                "a warp's read",
                {"us", "used, GB/s", "sectors, GB/s"}});
  const auto values = wholeNumbers<float>(CHECKED_LINES * 32);
  const TimedArray<float> in(LINES * 32), out(LINES / requestsPerWarp);
  for (const unsigned touched : {1u, 2u, 4u, 8u, 16u, 32u}) {
    const gpuopt::GlobalAccess access =
        gpuopt::globalAccess<float>([=](unsigned lane) { return wordFarApart(0, lane, touched, LINES); });
    const auto expected = farApartOnHost(values, touched);
    const auto sums = resultOf<float>(values, expected.size(), [=](const float* from, float* to) {
      launchFarApart(from, to, CHECKED_LINES, touched);
    });
    const double seconds = secondsOf([&] { launchFarApart(in.data(), out.data(), LINES, touched); });
    const auto rate = [=](unsigned bytes) { return seconds > 0 ? 1e-9 * bytes * (LINES / touched) / seconds : 0; };
    report.add({std::to_string(touched),
                touched == 1    ? "100 / 100 %"
                : touched == 32 ? "3.125 / 12.5 %"
                                : "",
                format("%u lines, %u sectors", access.lines, access.sectors),
                {1e6 * seconds, rate(access.bytes), rate(32 * access.sectors)},
                sums == expected});
  }
}

template <int ITEMS, class T>
bool copiesRightly() {
  constexpr std::size_t N = 1003;
  const auto words = wholeNumbers<unsigned char>(N * sizeof(T));
  return words == resultOf<unsigned char>(words, words.size(), [](const unsigned char* from, unsigned char* to) {
           launchCopyItems<ITEMS>(reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), N, copyBlock, 0);
         });
}

template <class T>
void widthRow(Report& report, const char* then, const TimedArray<unsigned>& in, const TimedArray<unsigned>& out,
              std::size_t bytes) {
  const gpuopt::GlobalAccess access = gpuopt::globalAccess<T>([](unsigned lane) { return lane; });
  const auto* const from = reinterpret_cast<const T*>(in.data());
  auto* const to = reinterpret_cast<T*>(out.data());
  const std::size_t n = bytes / sizeof(T);
  const double moved = 2 * static_cast<double>(bytes);
  report.add({std::to_string(sizeof(T)),
              then,
              format("%u x %u sectors", access.requests, access.sectors / access.requests),
              {billionsPerSecond(moved, [=] { launchCopyItems<1>(from, to, n, copyBlock, 0); }),
               billionsPerSecond(moved, [=] { launchCopyItems<4>(from, to, n, copyBlock, 0); })},
              copiesRightly<1, T>() && copiesRightly<4, T>()});
}

void widths(Report& report) {
  constexpr std::size_t BYTES = std::size_t{1} << 28;
  const TimedArray<unsigned> in(BYTES / 4, Filling::bits), out(BYTES / 4);
  report.table({"Copies of 256 MiB by the bytes of an element; 1 and 4 elements a thread",
                "bytes",
                "then, a warp",
                "a warp's read",
                {"1, GB/s", "4, GB/s"}});
  widthRow<unsigned char>(report, "32 bytes", in, out, BYTES);
  widthRow<unsigned short>(report, "64 bytes", in, out, BYTES);
  widthRow<unsigned>(report, "128 bytes", in, out, BYTES);
  widthRow<uint2>(report, "256 bytes", in, out, BYTES);
  widthRow<uint4>(report, "512 bytes", in, out, BYTES);
  widthRow<Words8>(report, "", in, out, BYTES);
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

/// What is copied, and from what: n elements of a large array, which has a texture.
struct Shifted {
  const TimedArray<float>& in;
  const LinearTexture& texture;
  const TimedArray<float>& out;
  std::size_t n;

  /// GB/s of a copy whose writes begin at `to`, too.
  template <class Reader>
  double speed(Reader reader, unsigned offset, unsigned stride, unsigned to = 0) const {
    return billionsPerSecond(2.0 * sizeof(float) * static_cast<double>(n),
                             [=] { launchShifted(reader, out.data() + to, n, offset, stride); });
  }
};

bool shiftsRightly(unsigned offset, unsigned stride) {
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
  return direct == expected && fetched == expected;
}

bool writesRightly(unsigned offset) {
  constexpr std::size_t N = 1003;
  const auto values = wholeNumbers<float>(N + offset);
  const auto found = resultOf<float>(values, values.size(), [=](const float* from, float* to) {
    launchShifted(DirectReader{from}, to + offset, N, offset, 1);
  });
  return std::equal(values.begin() + offset, values.end(), found.begin() + offset);
}

std::string warpRead(unsigned offset, unsigned stride) {
  const gpuopt::GlobalAccess access =
      gpuopt::globalAccess<float>([=](unsigned lane) { return offset + lane * stride; });
  return format("%u sectors, %.4g %%", access.sectors, 100 * access.utilisation());
}

void offsets(Report& report, const Shifted& copy) {
  report.table(
      {"Copies whose reads, writes or both are off by some floats. Then, reads: 1.7x slower on cc 1.3, 8x on cc 1.0; "
       "through a texture, no loss",
       "offset",
       "",
       "a warp's access",
       {"reads, GB/s", "texture, GB/s", "writes, GB/s", "both, GB/s"}});
  const DirectReader direct{copy.in.data()};
  for (unsigned offset = 0; offset <= 16; ++offset)
    report.add({std::to_string(offset),
                "",
                warpRead(offset, 1),
                {copy.speed(direct, offset, 1), copy.speed(copy.texture.reader(), offset, 1),
                 copy.speed(direct, 0, 1, offset), copy.speed(direct, offset, 1, offset)},
                shiftsRightly(offset, 1) && writesRightly(offset)});
}

void strides(Report& report, const Shifted& copy) {
  report.table({"Copies whose reads are some floats apart. Then: slower with each stride",
                "stride",
                "",
                "a warp's read",
                {"direct, GB/s", "texture, GB/s"}});
  for (unsigned stride = 1; stride <= 18; ++stride)
    report.add({std::to_string(stride),
                "",
                warpRead(0, stride),
                {copy.speed(DirectReader{copy.in.data()}, 0, stride), copy.speed(copy.texture.reader(), 0, stride)},
                shiftsRightly(0, stride)});
}

void shifts(Report& report) {
  constexpr std::size_t ELEMENTS = std::size_t{1} << 27;  // no linear texture has more
  constexpr std::size_t OFFSET_N = std::size_t{1} << 26, STRIDE_N = 7'000'000;
  const TimedArray<float> in(ELEMENTS), out(OFFSET_N + 16);
  const LinearTexture texture(in.data(), emulated ? 1 : ELEMENTS);
  offsets(report, {in, texture, out, OFFSET_N});
  strides(report, {in, texture, out, STRIDE_N});
}

void run(Report& report) {
  patterns(report);
  increments(report);
  shifts(report);
  widths(report);
  linesFarApart(report);
}

}  // namespace

const Experiment accessExperiment{
    "access",
    "Memory moves in sectors of 32 bytes, four to a line. What a warp asks for in one request is collected\n"
    "into the sectors that it touches: their order does not matter, their number does.",
    run};

}  // namespace experiments
