/// \file
/// Adds entries to the tuning file, which one process at a time writes (POSIX).
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/tuning/entry.cuh>
#include <gpuopt/host/tuning/file.cuh>
#include <gpuopt/host/tuning/json.cuh>
#include <gpuopt/host/tuning/store.cuh>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

inline std::string asJson(long long number) { return std::to_string(number); }

inline std::string asJson(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (code < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(code));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

/// A line for each entry, in the order of their keys.
inline std::string writeTuning(std::vector<TuningEntry> entries) {
  std::sort(entries.begin(), entries.end());
  std::string text = "{\"gpuopt_tuning\": " + asJson(tuningFormat) + ", \"entries\": [";
  const char* before = "\n  {";
  for (const TuningEntry& entry : entries) {
    text += before;
    const char* separator = "";
    visitTuningMembers(entry, [&](const char* name, const auto& value) {
      text += separator + asJson(std::string(name)) + ": " + asJson(value);
      separator = ", ";
    });
    before = "},\n  {";
  }
  return text + (entries.empty() ? "]}\n" : "}\n]}\n");
}

/// Held by the one process and thread that changes a file. The lock is on a file beside it, because the file itself is
/// replaced.
class TuningLock {
 public:
  explicit TuningLock(const std::string& path) {
    constexpr mode_t MODE = 0666;
    const std::string lock = path + ".lock";
    file_ = ::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, MODE);
    if (file_ < 0) throwTuningError("it cannot be locked");
    while (::flock(file_, LOCK_EX) != 0) {
      if (errno == EINTR) continue;
      ::close(file_);
      throwTuningError("it cannot be locked");
    }
  }
  ~TuningLock() { ::close(file_); }
  TuningLock(const TuningLock&) = delete;
  TuningLock& operator=(const TuningLock&) = delete;

 private:
  int file_;
};

// Gives a file the permissions of the one at `path`, if there is one; its owner, too, which only root may do.
inline bool takePermissions(int file, const std::string& path) {
  struct stat old {};
  if (::stat(path.c_str(), &old) != 0) return true;
  constexpr mode_t PERMISSIONS = 0777;
  if (::fchown(file, old.st_uid, old.st_gid) != 0) errno = 0;
  return ::fchmod(file, old.st_mode & PERMISSIONS) == 0;
}

// The caller holds the lock, so the name of the new file is its own. A reader sees the old file or the new one.
inline void replaceFile(const std::string& path, const std::string& text) {
  const std::string draft = path + ".new";
  StdFile file(std::fopen(draft.c_str(), "wbe"));
  if (!file) throwTuningError("it cannot be written");
  const bool isWritten = takePermissions(::fileno(file.get()), path) &&
                         std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
                         std::fflush(file.get()) == 0 && ::fsync(::fileno(file.get())) == 0;
  if (isWritten && std::rename(draft.c_str(), path.c_str()) == 0) return;
  const int code = errno;
  ::unlink(draft.c_str());
  errno = code;
  throwTuningError("it cannot be written");
}

// Replaces the entry of the same key, or adds one.
inline void mergeEntry(std::vector<TuningEntry>& entries, TuningEntry entry) {
  for (TuningEntry& each : entries)
    if (hasSameKey(each, entry)) {
      each = std::move(entry);
      return;
    }
  entries.push_back(std::move(entry));
}

/// Adds entries to a file, which other processes may change at the same time; returns all that it then has. A file that
/// cannot be read stays as it is. Throws std::runtime_error.
inline std::vector<TuningEntry> mergeIntoFile(const std::string& name, const std::vector<TuningEntry>& added) {
  const std::string path = realPath(name);
  const TuningLock lock(path);
  std::vector<TuningEntry> entries = readTuningFile(path);
  for (const TuningEntry& entry : added) mergeEntry(entries, entry);
  replaceFile(path, writeTuning(entries));
  return entries;
}

inline void TuningStore::remember(const TuningEntry& entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  mergeEntry(entries_, entry);
  if (path_.empty()) return;
  try {
    entries_ = mergeIntoFile(path_, {entry});
  } catch (const std::exception& error) {
    report(path_, error.what());
    path_.clear();  // this process keeps its choices for itself
  }
}

GPUOPT_DETAIL_END
