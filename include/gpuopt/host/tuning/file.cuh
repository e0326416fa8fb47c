/// \file
/// The tuning file, read as it is (POSIX).
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/host/tuning/entry.cuh>
#include <gpuopt/host/tuning/json.cuh>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
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
  // Without O_NONBLOCK, a pipe that nobody writes to would stop the program here.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return {};
  const StdFile file(descriptor < 0 ? nullptr : ::fdopen(descriptor, "rb"));
  if (!file) throwTuningError("it cannot be opened");
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) throw std::runtime_error("it is no regular file");
  const std::string text = readText(file.get());
  return TuningReader(text).read();
}

/// The absolute name of a file without symbolic links: links stay, all names of a file have one lock, and the program
/// may change its folder. If there is no such file, it can be made. Throws std::runtime_error.
inline std::string realPath(const std::string& path) {
  using Text = std::unique_ptr<char, void (*)(void*)>;
  if (path.empty()) throw std::runtime_error("its name is empty");
  if (const Text real(::realpath(path.c_str(), nullptr), std::free); real) return real.get();
  if (errno != ENOENT) throwTuningError("it cannot be opened");
  const std::size_t slash = path.rfind('/') + 1;  // 0 without one
  char target[4096];
  if (const ssize_t length = ::readlink(path.c_str(), target, sizeof target); length > 0)
    return realPath((target[0] == '/' ? std::string() : path.substr(0, slash)) +
                    std::string(target, static_cast<std::size_t>(length)));
  const Text folder(::realpath(slash > 0 ? path.substr(0, slash).c_str() : ".", nullptr), std::free);
  if (!folder || ::access(folder.get(), W_OK | X_OK) != 0) throwTuningError("it cannot be made");
  return std::string(folder.get()) + '/' + path.substr(slash);
}

GPUOPT_DETAIL_END
