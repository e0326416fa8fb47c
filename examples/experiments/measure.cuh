/// \file
/// What the experiments check and time their kernels with.
// SPDX-License-Identifier: MIT
#pragma once

#include "device_array.cuh"
#include "grid.cuh"
#include "text.hpp"
#include "timing.cuh"

#include "../ladders/data.cuh"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace experiments {

/// "12.5 %"
inline std::string percent(double share) { return format("%.4g %%", 100 * share); }

/// n whole numbers from -8 to 7, or from 0 to 15: sums of floats are exact.
template <class T>
std::vector<T> wholeNumbers(std::size_t n) {
  std::vector<T> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = static_cast<T>(ladders::elementAt<unsigned>(i) % 16) - static_cast<T>(T(-1) < T(0) ? 8 : 0);
  return values;
}

/// The n elements that launch(in, out) writes; they are poisoned first.
template <class Out, class In, class Launch>
std::vector<Out> resultOf(const std::vector<In>& in, std::size_t n, const Launch& launch) {
  const DeviceArray<In> deviceIn(in);
  const DeviceArray<Out> deviceOut(n);
  deviceOut.poison();
  launch(deviceIn.data(), deviceOut.data());
  return deviceOut.toHost();
}

/// Contents of timed memory. Never zeros: power, and with it the clock, depends on the bits.
enum class Filling {
  floats,  ///< from 1 to 2
  bits     ///< all of them
};

/// Device memory for timed kernels. One element on the emulated device, where nothing is timed.
template <class T>
class TimedArray {
 public:
  explicit TimedArray(std::size_t n, Filling filling = Filling::floats) : array_(emulated ? 1 : n) {
    const std::size_t words = emulated ? 0 : n * sizeof(T) / 4;
    if (words == 0) return;
    if (filling == Filling::bits)
      ladders::fill(reinterpret_cast<unsigned*>(data()), words);
    else
      ladders::fill(reinterpret_cast<float*>(data()), words);
  }

  T* data() const { return array_.data(); }

 private:
  DeviceArray<T> array_;
};

/// The median time of calls on the default stream; 0 on the emulated device, which does not call.
template <class Call>
double secondsOf(const Call& call) {
  return emulated ? 0 : medianTime(call);
}

/// The median time of `call` alone, where `prepare` comes before each; 0 on the emulated device, which calls neither.
template <class Prepare, class Call>
double secondsAfter(const Prepare& prepare, const Call& call) {
  return emulated ? 0 : medianAfter(11, prepare, call);
}

/// Keeps the compiler from leaving out the computation of a value that nobody needs.
template <class T>
void keep(T value) {
  volatile T kept = value;
  static_cast<void>(kept);
}

/// The median of 11 calls and of what they have queued, on the clock of the host; 0 on the emulated device, which does
/// not call.
template <class Call>
double hostSecondsOf(const Call& call) {
  if (emulated) return 0;
  using Clock = std::chrono::steady_clock;
  std::vector<double> seconds(11);
  call();
  for (double& each : seconds) {
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    const auto start = Clock::now();
    call();
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    each = std::chrono::duration<double>(Clock::now() - start).count();
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// Billions of bytes or operations per second, for a call of `amount`; 0 on the emulated device.
template <class Call>
double billionsPerSecond(double amount, const Call& call) {
  return emulated ? 0 : 1e-9 * amount / medianTime(call);
}

}  // namespace experiments
