/// \file
/// The choices that this process knows: those of its tuning file, and those that it has measured itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/host/tuning/entry.cuh>
#include <gpuopt/host/tuning/file.cuh>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

GPUOPT_NAMESPACE_BEGIN

/// What is known of the tuning file, from tuningStatus().
struct TuningStatus {
  std::string file;         ///< its path, without links; empty if no file is in use
  std::size_t choices = 0;  ///< entries known, of the file and of this process
  std::string problem;      ///< why the last file that was named, or its next entry, is ignored; empty if nothing is
};

GPUOPT_NAMESPACE_END

GPUOPT_DETAIL_BEGIN

GPUOPT_HIDDEN inline constexpr char tuningVariable[] = "GPUOPT_TUNING";

/// Used by any threads. A bad file is reported once, on stderr: tuning must not end a program.
class TuningStore {
 public:
  /// The one of this library or program. Never destroyed: others may use it at exit.
  GPUOPT_HIDDEN static TuningStore& instance() {
    static TuningStore* const store = new TuningStore;
    return *store;
  }

  TuningStore() {
    const char* path = std::getenv(tuningVariable);
    if (path != nullptr && *path != '\0') load(path);
  }
  TuningStore(const TuningStore&) = delete;
  TuningStore& operator=(const TuningStore&) = delete;

  /// Takes the choices of a file instead of all others, and adds to that file from now on, whatever the program's
  /// folder is then. False if the file cannot be used. It is left alone then, and nothing is known.
  bool load(const std::string& path) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_.clear();
    path_.clear();
    problem_.clear();
    generation_.fetch_add(1, std::memory_order_release);
    try {
      std::vector<TuningEntry> entries = readTuningFile(path);
      path_ = realPath(path);
      entries_ = std::move(entries);
      return true;
    } catch (const std::exception& error) {
      report(path, error.what());
      return false;
    }
  }

  /// Takes these choices instead of all others, and adds to no file.
  void replace(std::vector<TuningEntry> entries) {
    const std::lock_guard<std::mutex> lock(mutex_);
    entries_ = std::move(entries);
    path_.clear();
    generation_.fetch_add(1, std::memory_order_release);
  }

  TuningStatus status() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return {path_, entries_.size(), problem_};
  }

  /// Starts at 1, and changes with every load() and replace(), after which earlier lookups no longer hold.
  unsigned generation() const { return generation_.load(std::memory_order_acquire); }

  /// The choice for a device; empty if there is none.
  std::string find(const TuningKey& key, const std::string& device) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const TuningEntry& entry : entries_)
      if (hasKey(entry, key) && entry.device == device) return entry.choice;
    return {};
  }

  /// The choice for the device of `capability` whose number of multiprocessors is nearest; empty if there is none.
  std::string findNearest(const TuningKey& key, int capability, int multiprocessors) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const TuningEntry* nearest = nullptr;
    const auto distance = [=](const TuningEntry& entry) { return std::abs(entry.multiprocessors - multiprocessors); };
    for (const TuningEntry& entry : entries_)
      if (hasKey(entry, key) && entry.capability == capability &&
          (nearest == nullptr || distance(entry) < distance(*nearest)))
        nearest = &entry;
    return nearest == nullptr ? std::string() : nearest->choice;
  }

  /// Keeps a choice, also in the file if there is one. Defined in save.cuh: those who only read need not compile it.
  void remember(const TuningEntry& entry);

 private:
  static bool hasKey(const TuningEntry& entry, const TuningKey& key) {
    return entry.key.name == key.name && entry.key.type == key.type && entry.key.logSize == key.logSize;
  }

  void report(const std::string& path, const char* problem) {
    problem_ = message({path, ": ", problem});
    std::fprintf(stderr, "gpuopt: the tuning file %s is ignored: %s\n", path.c_str(), problem);
  }

  std::mutex mutex_;
  std::string path_;  // of the file that is added to; empty if there is none
  std::string problem_;
  std::vector<TuningEntry> entries_;
  std::atomic<unsigned> generation_{1};
};

GPUOPT_DETAIL_END
