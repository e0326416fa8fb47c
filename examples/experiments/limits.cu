/// \file
/// The experiment on what bounds a program.
// SPDX-License-Identifier: MIT
#include "limits.cuh"

#include "experiment.hpp"
#include "measure.cuh"

#include "../struct_matrices/matrix.cuh"

#include <gpuopt/reduce_transform.cuh>
#include <gpuopt/struct_io.cuh>

#include <cstring>
#include <string>
#include <vector>

namespace experiments {
namespace {

constexpr std::size_t N = emulated ? 5003 : std::size_t{1} << 26;
constexpr double bytesOfAll = sizeof(float) * static_cast<double>(N);

/// Billions of bytes or operations a second.
struct Speeds {
  double memory, floats, link;
};

int attribute(cudaDeviceAttr which) { return gpuopt::deviceAttribute(which, gpuopt::currentDevice()); }

Speeds theoreticalSpeeds() {
  const int device = gpuopt::currentDevice();
  return {1e-9 * theoreticalBandwidth(1e3 * attribute(cudaDevAttrMemoryClockRate),
                                      attribute(cudaDevAttrGlobalMemoryBusWidth)),
          1e-9 * theoreticalFlops(1e3 * attribute(cudaDevAttrClockRate), gpuopt::multiprocessorCount(device),
                                  floatLanes(gpuopt::computeCapability(device))),
          0};
}

/// The arrays of the roofline: at both ends of the link.
struct Arrays {
  Arrays()
      : hostIn(HostMemory::pinned, N * sizeof(float)), hostOut(HostMemory::pinned, N * sizeof(float)), in(N), out(N) {
    for (std::size_t i = 0; i < N; ++i) hostIn.as<float>()[i] = 1 + static_cast<float>(i % 1024) / 1024;
    gpuopt::upload(hostIn.as<float>(), N, in.data());
  }
  HostBuffer hostIn, hostOut;
  DeviceArray<float> in, out;
};

// -------------------------------------------------------------------------------------------- speeds

void speeds(Report& report, const Arrays& arrays, Speeds& now) {
  const Speeds most = theoreticalSpeeds();
  const double copied = billionsPerSecond(2 * bytesOfAll, [&] {
    gpuopt::check(cudaMemcpyAsync(arrays.out.data(), arrays.in.data(), N * sizeof(float), cudaMemcpyDeviceToDevice),
                  "cudaMemcpyAsync");
  });
  const double read =
      billionsPerSecond(bytesOfAll, [&] { gpuopt::reduceInto(arrays.in.data(), N, arrays.out.data()); });
  now.floats = billionsPerSecond(
      2.0 * 1024 * N, [&] { gpuopt::transform(arrays.in.data(), N, arrays.out.data(), MultiplyAdds<1024>{}); });
  const double linkSeconds = hostSecondsOf([&] { gpuopt::upload(arrays.hostIn.as<float>(), N, arrays.out.data()); });
  now.link = linkSeconds > 0 ? 1e-9 * bytesOfAll / linkSeconds : 0;
  now.memory = copied;
  const auto share = [](double part, double whole) { return whole > 0 ? 100 * part / whole : 0; };
  report.table(
      {"Theoretical speeds from clocks and widths. Then: CUDA C Best Practices Guide (GTX 280), CUDA Performance",
       "what",
       "then",
       "formula",
       {"theoretical, G/s", "measured, G/s", "of it, %"}});
  report.add(
      {"bytes of memory, copied", "141.6", "2 x clock x bus", {most.memory, copied, share(copied, most.memory)}});
  report.add({"bytes of memory, read", "141.6", "2 x clock x bus", {most.memory, read, share(read, most.memory)}});
  report.add(
      {"operations on floats", "", "2 x clock x lanes", {most.floats, now.floats, share(now.floats, most.floats)}});
  report.add({"bytes of the link, one way", "8 (PCIe 2)", "", {0, now.link, 0}});
}

// ------------------------------------------------------------------------------------------ roofline

/// A call's operations and bytes for each of the N floats: of memory, and of these what goes up the link.
struct Work {
  double flops, bytes, up;
};

/// What is reached, of the data in device memory and of that on the host, beside the bounds that follow from the speeds
/// of plain copies. fromHost is 0 for calls that the library does not stream.
void rooflineRow(Report& report, const std::string& name, const Work& work, const Speeds& most, double onDevice,
                 double fromHost, bool isRight) {
  const double intensity = work.flops / work.bytes;
  const auto rate = [&](double seconds) {
    return seconds > 0 ? 1e-9 * work.flops * static_cast<double>(N) / seconds : 0;
  };
  const double linkBound = fromHost > 0 ? roofline(work.flops / work.up, most.floats, most.link) : 0;
  report.add({name,
              "",
              format("%.3g", intensity),
              {roofline(intensity, most.floats, most.memory), rate(onDevice), linkBound, rate(fromHost)},
              isRight});
}

template <int COUNT>
void multiplyAddRow(Report& report, const Arrays& arrays, const Speeds& most) {
  const MultiplyAdds<COUNT> f;
  auto* const hostIn = arrays.hostIn.as<float>();
  auto* const hostOut = arrays.hostOut.as<float>();
  constexpr std::size_t CHECKED = 1001;
  gpuopt::transform(arrays.in.data(), CHECKED, arrays.out.data(), f);
  std::vector<float> found(CHECKED), expected(CHECKED);
  gpuopt::download(arrays.out.data(), CHECKED, found.data());
  std::transform(hostIn, hostIn + CHECKED, expected.begin(), f);
  rooflineRow(report, format("transform, %d multiply-adds", COUNT), {2 * COUNT, 8, 4}, most,
              secondsOf([&] { gpuopt::transform(arrays.in.data(), N, arrays.out.data(), f); }),
              hostSecondsOf([&] { gpuopt::streamTransform(hostIn, N, hostOut, f); }), found == expected);
}

/// Products of two matrices: examples/struct_matrices.
template <int SIDE>
void productRow(Report& report, const Arrays& arrays, const Speeds& most) {
  using Pair = Factors<float, SIDE>;
  using Product = Matrix<float, SIDE>;
  constexpr std::size_t CHECKED = 101, FLOATS = sizeof(Pair) / sizeof(float), COUNT = N / FLOATS;
  const auto values = wholeNumbers<float>(CHECKED * FLOATS);
  std::vector<Pair> pairs(CHECKED);
  std::memcpy(pairs.data(), values.data(), values.size() * sizeof(float));
  const auto found = resultOf<Product>(
      pairs, CHECKED, [](const Pair* from, Product* to) { gpuopt::transform(from, CHECKED, to, Multiply{}); });
  bool isRight = true;
  for (std::size_t i = 0; i < CHECKED; ++i) {
    const Product expected = Multiply{}(pairs[i]);
    isRight = isRight && std::memcmp(&expected, &found[i], sizeof expected) == 0;
  }
  const auto* const in = reinterpret_cast<const Pair*>(arrays.in.data());
  auto* const out = reinterpret_cast<Product*>(arrays.out.data());
  const auto* const hostIn = arrays.hostIn.as<Pair>();
  auto* const hostOut = arrays.hostOut.as<Product>();
  rooflineRow(report, format("transformStructs, products %d x %d", SIDE, SIDE), {SIDE, 6, 4}, most,
              secondsOf([&] { gpuopt::transform(in, COUNT, out, Multiply{}); }),
              hostSecondsOf([&] { gpuopt::streamTransform(hostIn, COUNT, hostOut, Multiply{}); }), isRight);
}

void sumRow(Report& report, const Arrays& arrays, const Speeds& most) {
  const auto* const host = arrays.hostIn.as<float>();
  double expected = 0;
  for (std::size_t i = 0; i < N; ++i) expected += static_cast<double>(host[i]);
  const double found = gpuopt::reduce<double>(arrays.in.data(), N);
  rooflineRow(report, "reduce, a sum", {1, 4, 4}, most,
              secondsOf([&] { gpuopt::reduceInto(arrays.in.data(), N, arrays.out.data()); }),
              hostSecondsOf([&] { static_cast<void>(gpuopt::streamReduce(host, N)); }), found == expected);
}

void dotRow(Report& report, const Arrays& arrays, const Speeds& most) {
  const auto a = wholeNumbers<float>(1001);
  float expected = 0;
  for (const float x : a) expected += x * x;
  const DeviceArray<float> result(1), checked(a);
  gpuopt::dotInto(checked.data(), checked.data(), a.size(), result.data());
  rooflineRow(report, "dot, two arrays", {2, 8, 8}, most,
              secondsOf([&] { gpuopt::dotInto(arrays.in.data(), arrays.out.data(), N, result.data()); }), 0,
              result.toHost()[0] == expected);
}

void rooflines(Report& report, const Arrays& arrays, const Speeds& most) {
  report.table({"Roofline of the library's calls on 64 M floats, in device memory and streamed from the host",
                "call",
                "",
                "operations a byte",
                {"bound, GFLOP/s", "device, GFLOP/s", "bound of the link, GFLOP/s", "from the host, GFLOP/s"}});
  sumRow(report, arrays, most);
  dotRow(report, arrays, most);
  productRow<4>(report, arrays, most);
  productRow<8>(report, arrays, most);
  multiplyAddRow<1>(report, arrays, most);
  multiplyAddRow<4>(report, arrays, most);
  multiplyAddRow<16>(report, arrays, most);
  multiplyAddRow<64>(report, arrays, most);
  multiplyAddRow<256>(report, arrays, most);
  multiplyAddRow<1024>(report, arrays, most);
}

// -------------------------------------------------------------------------------------- Amdahl's law

struct ProgramMemory {
  explicit ProgramMemory(std::size_t n) : in(n), out(n), deviceIn(n), deviceOut(n) {}
  ProgramData data(unsigned rounds) {
    return {in.data(), out.data(), deviceIn.data(), deviceOut.data(), in.size(), rounds};
  }
  std::vector<unsigned> in, out;
  DeviceArray<unsigned> deviceIn, deviceOut;
};

bool programIsRight(Parts parts) {
  ProgramMemory memory(5003);
  const ProgramData data = memory.data(3);
  gpuopt::upload(data.in, data.n, data.deviceIn);
  unsigned expected = 0;
  for (unsigned i = 1; i <= 5003; ++i) expected += worked(i, 3);
  return runProgram(parts, data) == expected;
}

void amdahl(Report& report) {
  constexpr struct {
    const char* name;
    Parts parts;
    bool makes, sums;  ///< on the host
  } rows[] = {{"all on the host, one thread", Parts::host, true, true},
              {"work: cudaMemcpy", Parts::memcpy, true, true},
              {"work: gpuopt::upload, download", Parts::transfers, true, true},
              {"work: gpuopt::streamTransform", Parts::streamed, true, true},
              {"work and sum on the device", Parts::sumOnDevice, true, false},
              {"the data is made there, too", Parts::dataOnDevice, false, false}};
  ProgramMemory memory(emulated ? 1 : std::size_t{1} << 22);
  const ProgramData data = memory.data(16);
  const double makes = hostSecondsOf([&] { makeOnHost(data); });
  const double sums = hostSecondsOf([&] { keep(sumOnHost(data)); });
  report.table({"Amdahl's law: 4 M words are made, worked on and added up; parts move to the device",
                "who does what",
                "",
                "",
                {"on the host, ms", "all, ms", "faster", "at most, faster"}});
  double first = 0;
  for (const auto& row : rows) {
    const double all = hostSecondsOf([&] { keep(runProgram(row.parts, data)); });
    const double remains = row.parts == Parts::host ? all : (row.makes ? makes : 0) + (row.sums ? sums : 0);
    if (first == 0) first = all;
    const auto over = [=](double seconds) { return seconds > 0 ? first / seconds : 0; };
    report.add({row.name,
                "",
                "",
                {1e3 * remains, 1e3 * all, over(all), row.parts == Parts::host ? 1 : over(remains)},
                programIsRight(row.parts)});
  }
}

// ------------------------------------------------------------------------------------ little parallelism

constexpr unsigned lonelyThreads[] = {1, 32, 1024};

bool worksRightly() {
  constexpr unsigned ROUNDS = 3;
  const auto values = wholeNumbers<unsigned>(5003);
  std::vector<unsigned> expected(values.size()), buffer(values.size());
  workOnHost(values.data(), expected.data(), values.size(), ROUNDS);
  const auto agrees = [&](const auto& launch) { return expected == resultOf<unsigned>(values, values.size(), launch); };
  bool isRight = agrees(
      [&](const unsigned* from, unsigned* to) { workBetweenCopies(from, to, buffer.data(), values.size(), ROUNDS); });
  for (const unsigned threads : lonelyThreads)
    isRight = agrees([&](const unsigned* from, unsigned* to) {
                launchWorkInBlock(from, to, values.size(), threads, ROUNDS);
              }) &&
              isRight;
  return isRight;
}

void littleParallelism(Report& report) {
  constexpr std::size_t MOST = std::size_t{1} << 22, MOST_OF_THREAD = std::size_t{1} << 17;
  constexpr unsigned ROUNDS = 16;
  const TimedArray<unsigned> in(MOST, Filling::bits), out(MOST);
  const HostBuffer buffer(HostMemory::pinned, (emulated ? 1 : MOST) * sizeof(unsigned));
  report.table(
      {"Work on elements in device memory: by one thread, one warp, one block, or by the host between two "
       "copies",
       "elements",
       "",
       "",
       {"1 thread, us", "1 warp, us", "1 block, us", "copies and host, us"}});
  const bool isRight = worksRightly();
  for (std::size_t n = 64; n <= MOST; n *= 4) {
    std::vector<double> microseconds;
    for (const unsigned threads : lonelyThreads) {
      const bool isShort = n / threads <= MOST_OF_THREAD;
      microseconds.push_back(
          isShort ? 1e6 * hostSecondsOf([&] { launchWorkInBlock(in.data(), out.data(), n, threads, ROUNDS); }) : 0);
    }
    microseconds.push_back(
        1e6 * hostSecondsOf([&] { workBetweenCopies(in.data(), out.data(), buffer.as<unsigned>(), n, ROUNDS); }));
    report.add({std::to_string(n), "", "", microseconds, isRight});
  }
}

// ------------------------------------------------------------------------- recompute, load, or transfer

bool recomputesRightly(unsigned rounds) {
  const auto in = wholeNumbers<unsigned>(1003);
  std::vector<unsigned> table(in.size()), expected(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    table[i] = worked(static_cast<unsigned>(i), rounds);
    expected[i] = in[i] ^ table[i];
  }
  const DeviceArray<unsigned> deviceTable(table);
  return expected == resultOf<unsigned>(in, in.size(),
                                        [&](const unsigned* from, unsigned* to) {
                                          gpuopt::transform(from, in.size(), to, WithComputed{rounds});
                                        }) &&
         expected == resultOf<unsigned>(in, in.size(), [&](const unsigned* from, unsigned* to) {
           gpuopt::transform(from, deviceTable.data(), in.size(), to, WithLoaded{});
         });
}

void recompute(Report& report) {
  constexpr std::size_t COUNT = std::size_t{1} << 24;
  const TimedArray<unsigned> in(COUNT), table(COUNT), out(COUNT);
  const HostBuffer host(HostMemory::pinned, (emulated ? 1 : COUNT) * sizeof(unsigned));
  writeWords(host.as<unsigned>(), emulated ? 1 : COUNT, 1);
  report.table({"16 M elements, each with a word that depends on its index only",
                "rounds to compute it",
                "",
                "",
                {"computed, us", "loaded, us", "transferred, us"}});
  const double loaded = secondsOf([&] { gpuopt::transform(in.data(), table.data(), COUNT, out.data(), WithLoaded{}); });
  const double transferred = hostSecondsOf([&] {
    gpuopt::upload(host.as<unsigned>(), COUNT, table.data());
    gpuopt::transform(in.data(), table.data(), COUNT, out.data(), WithLoaded{});
  });
  for (const unsigned rounds : {1u, 4u, 16u, 64u, 256u, 1024u}) {
    const double computed = secondsOf([&] { gpuopt::transform(in.data(), COUNT, out.data(), WithComputed{rounds}); });
    report.add(
        {std::to_string(rounds), "", "", {1e6 * computed, 1e6 * loaded, 1e6 * transferred}, recomputesRightly(rounds)});
  }
}

void run(Report& report) {
  {
    const Arrays arrays;
    Speeds now{};
    speeds(report, arrays, now);
    rooflines(report, arrays, now);
  }
  amdahl(report);
  recompute(report);
  littleParallelism(report);
}

}  // namespace

const Experiment limitsExperiment{
    "limits",
    "A program is bound by memory, by arithmetic or by the link: its operations a byte tell by which (the roofline).\n"
    "What is not made faster bounds the whole (Amdahl's law). What is cheap to compute need not be loaded.",
    run};

}  // namespace experiments
