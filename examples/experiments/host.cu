/// \file
/// The experiment on the host's own calls.
// SPDX-License-Identifier: MIT
#include "host.cuh"

#include "experiment.hpp"
#include "measure.cuh"
#include "streams.cuh"

#include <gpuopt/transfer.cuh>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace experiments {

double secondsOfFirstCall() {
  static const double seconds = [] {
    const auto begin = std::chrono::steady_clock::now();
    gpuopt::check(cudaFree(nullptr), "cudaFree");
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }();
  return emulated ? 0 : seconds;
}

namespace {

constexpr std::size_t MIB = 1 << 20;

double secondsOnce(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// -------------------------------------------------------------------------------------------- set-up

/// Something that is made and given back, several times. The device waits for nothing in the meantime.
void pairRow(Report& report, const std::string& name, const std::function<void()>& make,
             const std::function<void()>& giveBack) {
  std::vector<double> makes, ends;
  for (int i = 0; i < (emulated ? 1 : 11); ++i) {
    makes.push_back(secondsOnce(make));
    ends.push_back(secondsOnce(giveBack));
  }
  const auto us = [](const std::vector<double>& values) { return emulated ? 0 : 1e6 * median(values); };
  report.add({name, "", "", {us(makes), us(ends)}});
}

void memoryRows(Report& report) {
  void* memory = nullptr;
  for (const std::size_t bytes : {MIB, 256 * MIB}) {
    pairRow(
        report, "cudaMalloc, cudaFree, " + readableBytes(bytes),
        [&, bytes] { gpuopt::check(cudaMalloc(&memory, bytes), "cudaMalloc"); },
        [&] { gpuopt::check(cudaFree(memory), "cudaFree"); });
    pairRow(
        report, "the same in stream order, " + readableBytes(bytes),
        [&, bytes] { gpuopt::check(cudaMallocAsync(&memory, bytes, nullptr), "cudaMallocAsync"); },
        [&] { gpuopt::check(cudaFreeAsync(memory, nullptr), "cudaFreeAsync"); });
  }
  constexpr std::size_t BYTES = 64 * MIB;
  pairRow(
      report, "cudaMallocHost, cudaFreeHost, " + readableBytes(BYTES),
      [&] { gpuopt::check(cudaMallocHost(&memory, BYTES), "cudaMallocHost"); },
      [&] { gpuopt::check(cudaFreeHost(memory), "cudaFreeHost"); });
  std::vector<unsigned char> pageable(BYTES, 1);
  pairRow(
      report, "cudaHostRegister, Unregister, " + readableBytes(BYTES),
      [&] { gpuopt::check(cudaHostRegister(pageable.data(), BYTES, cudaHostRegisterDefault), "cudaHostRegister"); },
      [&] { gpuopt::check(cudaHostUnregister(pageable.data()), "cudaHostUnregister"); });
  gpuopt::PinnedVector<unsigned char> pinned;
  pairRow(
      report, "gpuopt::PinnedVector, " + readableBytes(BYTES),
      [&] { pinned = gpuopt::PinnedVector<unsigned char>(BYTES); },
      [&] { pinned = gpuopt::PinnedVector<unsigned char>(); });
}

void setUp(Report& report) {
  report.table({"Set-up. Then: outside of what is timed (The Art of Performance Optimization)",
                "what",
                "",
                "",
                {"make, us", "give back, us"}});
  report.add({"the first call: driver, context", "", "", {1e6 * secondsOfFirstCall(), 0}});
  const DeviceArray<unsigned> value(1);
  value.poison();
  const double first = secondsOnce([&] { launchWriteNumber(value.data()); });
  const double later = hostSecondsOf([&] { launchWriteNumber(value.data()); });
  report.add({"a kernel's first launch, and wait", "", "", {emulated ? 0 : 1e6 * first, 0}, value.toHost()[0] == 20});
  report.add({"a later launch, and wait", "", "", {1e6 * later, 0}});
  memoryRows(report);
  cudaStream_t stream = nullptr;
  pairRow(
      report, "cudaStreamCreate, Destroy", [&] { gpuopt::check(cudaStreamCreate(&stream), "cudaStreamCreate"); },
      [&] { gpuopt::check(cudaStreamDestroy(stream), "cudaStreamDestroy"); });
  cudaEvent_t event = nullptr;
  pairRow(
      report, "cudaEventCreate, Destroy", [&] { gpuopt::check(cudaEventCreate(&event), "cudaEventCreate"); },
      [&] { gpuopt::check(cudaEventDestroy(event), "cudaEventDestroy"); });
}

// --------------------------------------------------------------------------------------------- waits

long long cyclesOf(double seconds) {
  if (emulated) return 1;
  return static_cast<long long>(1e3 * seconds * gpuopt::deviceAttribute(cudaDevAttrClockRate, gpuopt::currentDevice()));
}

/// Sets how the host waits for the device, until it is destroyed.
class Schedule {
 public:
  explicit Schedule(unsigned flags) {
    gpuopt::check(cudaGetDeviceFlags(&before_), "cudaGetDeviceFlags");
    set(flags);
  }
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  ~Schedule() { cudaSetDeviceFlags(before_); }

 private:
  void set(unsigned flags) {
    constexpr unsigned ALL = cudaDeviceScheduleSpin | cudaDeviceScheduleYield | cudaDeviceScheduleBlockingSync;
    gpuopt::check(cudaSetDeviceFlags((before_ & ~ALL) | flags), "cudaSetDeviceFlags");
  }
  unsigned before_ = 0;
};

/// A kernel of that length from its launch to the end of the wait: seconds that pass, and the process's own.
struct WaitTime {
  double passed, own;
};

template <class Wait>
WaitTime timeOfWait(unsigned* values, double seconds, const Wait& wait) {
  std::vector<double> passed, own;
  for (int i = 0; i < (emulated ? 1 : 11); ++i) {
    const std::clock_t clock = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    launchPassOn(values, 0, 1, cyclesOf(seconds));
    wait();
    passed.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    own.push_back(static_cast<double>(std::clock() - clock) / CLOCKS_PER_SEC);
  }
  return {median(passed), median(own)};
}

template <class Wait>
void waitRow(Report& report, const char* name, const char* then, const DeviceArray<unsigned>& values,
             const Wait& wait) {
  gpuopt::check(cudaMemset(values.data(), 0, values.bytes()), "cudaMemset");
  timeOfWait(values.data(), 20e-6, wait);  // whatever the first needs
  const WaitTime brief = timeOfWait(values.data(), 20e-6, wait), lasting = timeOfWait(values.data(), 5e-3, wait);
  const bool isRight = values.toHost() == std::vector<unsigned>{0, 1};
  if (emulated)
    report.add({name, then, "", {0, 0, 0}, isRight});
  else
    report.add(
        {name, then, "", {1e6 * brief.passed, 1e6 * lasting.passed, 100 * lasting.own / lasting.passed}, isRight});
}

void waitForDevice() { gpuopt::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"); }

/// Does the host's own work until the device has done its.
void workUntilDone() {
  while (cudaStreamQuery(nullptr) == cudaErrorNotReady) std::this_thread::yield();
}

void waits(Report& report) {
  const DeviceArray<unsigned> values(2);
  report.table({"A kernel from its launch to the end of the wait. Then: The Art of Performance Optimization",
                "wait",
                "then",
                "",
                {"of 20 us, us", "of 5 ms, us", "host's time, %"}});
  constexpr struct {
    const char* name;
    const char* then;
    unsigned flags;
  } rows[] = {{"cudaDeviceScheduleSpin", "quick, takes a core", cudaDeviceScheduleSpin},
              {"cudaDeviceScheduleYield", "slower, lets others run", cudaDeviceScheduleYield},
              {"cudaDeviceScheduleBlockingSync", "slowest, takes nothing", cudaDeviceScheduleBlockingSync}};
  for (const auto& row : rows) {
    const Schedule schedule(row.flags);
    waitRow(report, row.name, row.then, values, waitForDevice);
  }
  waitRow(report, "cudaStreamQuery, and yields", "the host may work", values, workUntilDone);
  cudaEvent_t event = nullptr;
  gpuopt::check(cudaEventCreateWithFlags(&event, cudaEventBlockingSync | cudaEventDisableTiming), "cudaEventCreate");
  waitRow(report, "an event with cudaEventBlockingSync", "", values, [=] {
    gpuopt::check(cudaEventRecord(event), "cudaEventRecord");
    gpuopt::check(cudaEventSynchronize(event), "cudaEventSynchronize");
  });
  gpuopt::check(cudaEventDestroy(event), "cudaEventDestroy");
}

// ------------------------------------------------------------------------------------------- queries

/// Nanoseconds of a call, of which 1000 are timed; 0 on the emulated device, which calls once.
template <class Call>
double nanosecondsOf(const Call& call) {
  constexpr int CALLS = emulated ? 1 : 1000;
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < CALLS; ++i) call();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return emulated ? 0 : 1e9 * seconds / CALLS;
}

void queries(Report& report) {
  const DeviceArray<unsigned> values(std::vector<unsigned>{0, 0});
  const Streams streams(1);
  cudaEvent_t event = nullptr;
  gpuopt::check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  bool isRight = true;
  const auto record = [&] { gpuopt::check(cudaEventRecord(event, streams[0]), "cudaEventRecord"); };
  // While the device is at work the answer is that it is not ready; at rest, that it has succeeded.
  const auto ask = [&](cudaError_t expected, cudaError_t answer) {
    isRight = isRight && (emulated || answer == expected);
  };
  const auto row = [&](const char* name, double nanoseconds) { report.add({name, "", "", {nanoseconds}, isRight}); };
  report.table({"What a call takes the host", "call", "", "", {"ns"}});
  streams.synchronize();
  row("cudaStreamQuery, at rest", nanosecondsOf([&] { ask(cudaSuccess, cudaStreamQuery(streams[0])); }));
  record();
  streams.synchronize();
  row("cudaEventQuery, reached", nanosecondsOf([&] { ask(cudaSuccess, cudaEventQuery(event)); }));
  launchPassOn(values.data(), 0, 1, cyclesOf(0.1), streams[0]);
  record();
  row("cudaStreamQuery, at work", nanosecondsOf([&] { ask(cudaErrorNotReady, cudaStreamQuery(streams[0])); }));
  row("cudaEventQuery, not reached", nanosecondsOf([&] { ask(cudaErrorNotReady, cudaEventQuery(event)); }));
  streams.synchronize();
  row("cudaEventRecord", nanosecondsOf(record));
  row("cudaStreamWaitEvent",
      nanosecondsOf([&] { gpuopt::check(cudaStreamWaitEvent(streams[0], event, 0), "cudaStreamWaitEvent"); }));
  streams.synchronize();
  row("cudaDeviceSynchronize, at rest",
      nanosecondsOf([] { gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }));
  gpuopt::check(cudaEventDestroy(event), "cudaEventDestroy");
}

// ------------------------------------------------------------------------------------ default stream

void orderingRow(Report& report, const char* name, const char* predicted, Ordering ordering) {
  const Streams streams(3, streamFlags(ordering));
  const DeviceArray<unsigned> values(4);
  const auto chain = [&](double seconds) { launchChain(ordering, values.data(), cyclesOf(seconds), streams); };
  gpuopt::check(cudaMemset(values.data(), 0, values.bytes()), "cudaMemset");
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  chain(1e-4);
  gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const std::vector<unsigned> found = values.toHost();
  bool isRight = true;
  for (unsigned i = 1; i <= kernelsOf(ordering); ++i) isRight = isRight && found[i] == (isInOrder(ordering) ? i : 1);
  report.add({name, "", predicted, {1e3 * hostSecondsOf([&] { chain(1e-3); })}, isRight});
}

void defaultStream(Report& report) {
  report.table({"Kernels of 1 ms, one for each stream. Then: stream 0 waits for all others, and they for it",
                "streams",
                "",
                "predicted, ms",
                {"ms"}});
  orderingRow(report, "two", "1", Ordering::twoStreams);
  orderingRow(report, "the default one, one other", "2", Ordering::defaultBesideBlocking);
  orderingRow(report, "the default one, one non-blocking", "1", Ordering::defaultBesideOther);
  orderingRow(report, "two, the default one between", "3", Ordering::defaultBetween);
  orderingRow(report, "three, non-blocking", "1", Ordering::otherBetween);
}

void run(Report& report) {
  setUp(report);
  waits(report);
  queries(report);
  defaultStream(report);
}

}  // namespace

const Experiment hostExperiment{
    "host",
    "Making things costs more than using them: do it once, before the work that counts. A wait may take the host's\n"
    "core, or time. The default stream waits for all others that do not forbid it.",
    run};

}  // namespace experiments
