/// \file
/// The fastest of several ways to do the same, found out on the GPU at hand and remembered in a file.
///
///     gpuopt::Experiment<float, const float*, unsigned, unsigned> scaled("scaledTranspose");
///     scaled.add("TILE 32, SIDE 8", scaledTranspose<32, 8>);  // void(float* out, size_t n, cudaStream_t, ...)
///     scaled.add("TILE 64, SIDE 4", scaledTranspose<64, 4>);
///
///     scaled(out, n, stream, in, rows, cols);  // the first call of a size measures; later ones call the fastest
///
/// With GPUOPT_TUNING=gpuopt_tuning.json in the environment, or after loadTuning("gpuopt_tuning.json"), choices are
/// kept in that file: the next run of the program, and other processes, find them there.
///
/// **The file** has an entry for each experiment, device, type and power of two of the size. It may be read and added
/// to by several processes at a time: it is replaced at once, under a lock (`<file>.lock`). A file that is not there is
/// made by the first entry. One that is damaged, of another format or no tuning file is ignored, left as it is, and
/// reported once on stderr.
///
/// More: docs/tuning.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/stream.cuh>
#include <gpuopt/host/tuning/candidates.cuh>
#include <gpuopt/host/tuning/entry.cuh>
#include <gpuopt/host/tuning/known_choices.cuh>
#include <gpuopt/host/tuning/measure.cuh>
#include <gpuopt/host/tuning/save.cuh>
#include <gpuopt/host/tuning/store.cuh>

#include <cstddef>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

GPUOPT_NAMESPACE_BEGIN

/// Takes the choices of a tuning file instead of all that were known, and keeps new ones in it from now on. Each shared
/// library with gpuopt has choices of its own. Thread-safe.
///
/// \param path of the file, which need not be there yet. Links are followed, and the program's folder is added, once
/// \return whether the file can be used; if not, why is said on stderr
GPUOPT_HIDDEN inline bool loadTuning(const std::string& path) { return detail::TuningStore::instance().load(path); }

/// The tuning file in use, how many choices are known, and why a file is ignored. Thread-safe.
[[nodiscard]] GPUOPT_HIDDEN inline TuningStatus tuningStatus() { return detail::TuningStore::instance().status(); }

/// Candidates that write the same n elements of T, of which calls use the fastest.
///
/// The first call for a device and a power of two of n compares them, unless the tuning file has the choice: each
/// candidate's result is checked against the first one's, then all are timed in alternation. The first candidate is the
/// default: another one is chosen only if it is more than 2 % faster, twice. A candidate that the device cannot launch
/// is left out. While `stream` is captured, or if memory does not suffice, nothing is measured: the call uses the
/// choice for the nearest device of the same architecture, else the default.
///
/// **Requirements.** Candidates write to `out` alone, at any time the same for the same arguments, and may be called
/// any number of times. While they are compared, they write to memory of the experiment's own, aligned as `out` is;
/// they queue all their work in `stream`. If they read `out`, too, set ExperimentOptions::updates.
///
/// **Cost.** A call that knows the choice looks it up without a lock, in less than 50 ns. A comparison takes about
/// ExperimentOptions::seconds, device memory for n elements, and the host's for twice as many. Technique: the planner
/// and the wisdom of FFTW ("The Design and Implementation of FFTW3", Frigo and Johnson 2005).
///
/// **Errors.** std::invalid_argument for a name that is empty, taken or begins with `gpuopt.`, for a call without
/// candidates, and, where it measures, for an `out` that is null, misaligned or in host memory, for
/// ExperimentOptions::seconds that are negative or NaN, and for a clock that gives no time of any candidate;
/// std::runtime_error if the results of candidates differ; CudaError.
///
/// Any threads may call at the same time; add candidates before.
///
/// \tparam T the elements of the output, trivially copyable
/// \tparam Args what else a candidate is called with
template <class T, class... Args>
class Experiment {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>,
                "gpuopt: the output of an Experiment must have elements that are trivially copyable and not const");

 public:
  /// Queues its work in the stream, and writes n elements.
  using Candidate = std::function<void(T* out, std::size_t n, cudaStream_t stream, Args... args)>;

  /// \param name of the experiment in the tuning file
  /// \param options how it measures
  explicit Experiment(std::string name, ExperimentOptions options = {})
      : name_(std::move(name)), options_(std::move(options)) {
    if (name_.empty()) detail::throwInvalid({"gpuopt::Experiment: name is empty"});
    if (name_.compare(0, 7, "gpuopt.") == 0)
      detail::throwInvalid({"gpuopt::Experiment: name (", name_, ") begins with gpuopt., as the library's own do"});
  }

  /// Adds a candidate, the default first. Another name in the next version of a program makes it measure again.
  Experiment& add(std::string name, Candidate candidate) {
    if (name.empty()) fail({"name of a candidate is empty"});
    for (const auto& each : candidates_)
      if (each.first == name) fail({"two candidates are named ", name});
    candidates_.emplace_back(std::move(name), std::move(candidate));
    return *this;
  }

  /// Says when two elements count as equal, for results whose bits may differ: sums of floats in another order.
  Experiment& agreeIf(std::function<bool(const T&, const T&)> agree) {
    agree_ = std::move(agree);
    return *this;
  }

  /// Calls the fastest candidate, after a comparison if it is not known.
  ///
  /// \param out n elements in the current device's memory
  /// \param n their number
  /// \param stream the work is queued there
  /// \param args what the candidates are called with
  void operator()(T* out, std::size_t n, StreamRef stream, Args... args) {
    const std::size_t chosen = choiceFor(out, n, stream, args...);
    candidates_[chosen].second(out, n, stream, args...);
  }

  /// Compares the candidates, whether or not the choice is known, and remembers the fastest. `out` is not written. The
  /// arguments are those of a call; n is not 0, and `stream` is not captured.
  ExperimentReport tune(T* out, std::size_t n, StreamRef stream, Args... args) {
    requireCandidates();
    detail::requireArray(detail::namedArray(out, n, "out"), "gpuopt::Experiment");
    if (n == 0) fail({"n is 0: there is nothing to measure"});
    if (detail::isCapturing(stream)) fail({"stream is being captured: nothing can be measured"});
    const std::lock_guard<std::mutex> lock(mutex_);
    return measure(out, n, stream, args...);
  }

  /// The name of the candidate that a call for n elements on the current device would use, without measuring; empty if
  /// it would measure.
  [[nodiscard]] std::string choice(std::size_t n) {
    const std::size_t known = findChoice(detail::logSizeOf(n));
    return known < candidates_.size() ? candidates_[known].first : std::string();
  }

 private:
  [[noreturn]] void fail(std::initializer_list<detail::MessagePart> parts) const {
    detail::throwInvalid({"gpuopt::Experiment ", name_, ": ", detail::message(parts)});
  }

  void requireCandidates() const {
    if (candidates_.empty()) fail({"it has no candidates: call add() first"});
  }

  detail::TuningKey keyOf(int logSize) const { return {name_, detail::typeName<T>(), logSize}; }

  // The index of a candidate; their number if there is none of that name.
  std::size_t indexOf(const std::string& name) const {
    std::size_t i = 0;
    while (i < candidates_.size() && candidates_[i].first != name) ++i;
    return i;
  }

  std::size_t choiceFor(T* out, std::size_t n, cudaStream_t stream, Args... args) {
    requireCandidates();
    if (n == 0) return 0;
    const int logSize = detail::logSizeOf(n);
    if (const std::size_t known = findChoice(logSize); known < candidates_.size()) return known;
    detail::requireArray(detail::namedArray(out, n, "out"), "gpuopt::Experiment");
    if (detail::isCapturing(stream)) return nearestChoice(logSize);
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const std::size_t known = findChoice(logSize); known < candidates_.size()) return known;  // another thread's
    try {
      return measure(out, n, stream, args...).chosen;
    } catch (const CudaError& error) {
      if (error.code() != cudaErrorMemoryAllocation) throw;
      return nearestChoice(logSize);
    }
  }

  // What was found out before, by this object or in the file; the number of candidates if nothing was.
  std::size_t findChoice(int logSize) {
    auto& store = detail::TuningStore::instance();
    const unsigned generation = store.generation();
    const int device = currentDevice();
    const std::size_t none = candidates_.size(), known = known_.find(device, logSize, generation, none);
    if (known != none) return known;
    const std::size_t found = indexOf(store.find(keyOf(logSize), detail::deviceName(device)));
    if (found != none) known_.keep(device, logSize, generation, found);
    return found;
  }

  std::size_t nearestChoice(int logSize) const {
    const int device = currentDevice();
    const std::size_t found = indexOf(detail::TuningStore::instance().findNearest(
        keyOf(logSize), computeCapability(device), multiprocessorCount(device)));
    return found < candidates_.size() ? found : 0;
  }

  ExperimentReport measure(T* out, std::size_t n, cudaStream_t stream, Args... args) {
    if (!(options_.seconds >= 0)) fail({"options.seconds is negative or no number"});
    const detail::RelaxedCapture relaxed;  // other streams may be captured
    std::vector<detail::TuningCandidate> calls;
    for (const auto& each : candidates_)
      calls.push_back(
          {each.first, [&](unsigned char* copy) { each.second(reinterpret_cast<T*>(copy), n, stream, args...); }});
    const detail::TuningOutput output{reinterpret_cast<unsigned char*>(out), n, sizeof(T), untypedAgreement()};
    const ExperimentReport report = detail::CandidateComparison(name_, output, options_, stream).run(calls);
    keep(report, detail::logSizeOf(n));
    return report;
  }

  void keep(const ExperimentReport& report, int logSize) {
    const ExperimentRow& row = report.rows[report.chosen];
    detail::TuningEntry entry = detail::entryOf(keyOf(logSize));
    entry.choice = row.candidate;
    entry.choiceTime = detail::nanosecondsOf(row.microseconds);
    entry.firstTime = detail::nanosecondsOf(report.rows[0].microseconds);
    entry.spread = detail::nanosecondsOf(row.p90 - row.p10);
    auto& store = detail::TuningStore::instance();
    const unsigned generation = store.generation();
    store.remember(entry);
    known_.keep(currentDevice(), logSize, generation, report.chosen);
  }

  std::function<bool(const void*, const void*)> untypedAgreement() const {
    if (!agree_) return {};
    return [this](const void* a, const void* b) {
      T first, second;
      std::memcpy(&first, a, sizeof(T));
      std::memcpy(&second, b, sizeof(T));
      return agree_(first, second);
    };
  }

  std::string name_;
  ExperimentOptions options_;
  std::vector<std::pair<std::string, Candidate>> candidates_;
  std::function<bool(const T&, const T&)> agree_;
  detail::KnownChoices known_;
  std::mutex mutex_;  // held by the thread that measures
};

GPUOPT_NAMESPACE_END
