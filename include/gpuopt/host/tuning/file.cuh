/// \file
/// The tuning file: read as it is, written by one process at a time (POSIX).
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/host/tuning/entry.cuh>
#include <gpuopt/host/tuning/json.cuh>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

[[noreturn]] inline void throwTuningError(const char* what) {
  const int code = errno;
  throw std::runtime_error(message({what, ": ", std::strerror(code)}));
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using StdFile = std::unique_ptr<std::FILE, CloseFile>;

inline std::string readText(std::FILE* file) {
  std::string text;
  char part[4096];
  for (std::size_t bytes; (bytes = std::fread(part, 1, sizeof part, file)) > 0;) text.append(part, bytes);
  if (std::ferror(file) != 0) throwTuningError("it cannot be read");
  return text;
}

/// The entries of a file; none if there is no such file. Throws std::runtime_error that says what is wrong with it.
inline std::vector<TuningEntry> readTuningFile(const std::string& path) {
  const StdFile file(std::fopen(path.c_str(), "rbe"));
  if (!file && errno == ENOENT) return {};
  if (!file) throwTuningError("it cannot be opened");
  const std::string text = readText(file.get());
  return TuningReader(text).read();
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

// The caller holds the lock, so the name of the new file is its own. A reader sees the old file or the new one.
inline void replaceFile(const std::string& path, const std::string& text) {
  const std::string draft = path + ".new";
  StdFile file(std::fopen(draft.c_str(), "wbe"));
  if (!file) throwTuningError("it cannot be written");
  const bool isWritten = std::fwrite(text.data(), 1, text.size(), file.get()) == text.size() &&
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

// The file that a symbolic link refers to, so that the link stays, and all names of a file have one lock.
inline std::string realPath(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
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

GPUOPT_DETAIL_END
