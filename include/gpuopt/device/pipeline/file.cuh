/// \file
/// Files as sources and sinks of pipelines (POSIX).
///
/// A file is read by pread(), not mapped: of a mapped file that becomes shorter, an access ends the program by SIGBUS,
/// whereas pread() says so. Both copy once, from the page cache to the slot. Reads past the page cache (O_DIRECT of
/// Linux) are of any address and length.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/pipeline/ends.cuh>
#include <gpuopt/device/pipeline/staging.cuh>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

GPUOPT_DETAIL_BEGIN

// O_DIRECT wants addresses, lengths and offsets in a file to be multiples of the disk's block: 512 or 4096 bytes.
inline constexpr std::size_t directAlignment = 4096;
// Reads to a target that is not aligned go through a buffer of this size.
inline constexpr std::size_t directBufferBytes = 256 << 10;

inline std::size_t alignedDown(std::size_t at) { return at / directAlignment * directAlignment; }

// Aligned memory of a thread, for the ends of what it reads.
GPUOPT_HIDDEN inline unsigned char* directBuffer() noexcept {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  static thread_local const std::unique_ptr<void, Free> memory(std::aligned_alloc(directAlignment, directBufferBytes));
  return static_cast<unsigned char*>(memory.get());
}

// A second descriptor of a file, for reads past the page cache; or why there is none.
class DirectFile {
 public:
  DirectFile() = default;

  // The file of `path`, which `plain` has open, too.
  DirectFile(const std::string& path, int plain) {
    struct stat status {};
    if (::fstat(plain, &status) != 0 || !S_ISREG(status.st_mode)) {
      refusal_ = message({path, ": is no regular file, and read as it is"});
      return;
    }
#ifdef O_DIRECT
    unsigned char* const buffer = directBuffer();
    errno = ENOMEM;
    if (buffer != nullptr) file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT);
    if (file_ >= 0 && readAt(file_, buffer, directAlignment, 0) >= 0) return;
    const std::string why = std::generic_category().message(errno);
    close();
#else
    const std::string why = "this system has no O_DIRECT";
#endif
    refusal_ = message({path, ": its file system refuses reads past the page cache: ", why});
  }
  DirectFile(DirectFile&& other) noexcept
      : file_(std::exchange(other.file_, -1)), refusal_(std::move(other.refusal_)) {}
  DirectFile& operator=(DirectFile&&) = delete;
  ~DirectFile() { close(); }

  // Why reads go through the page cache; empty if they do not.
  const std::string& refusal() const { return refusal_; }

  // As pread(), but the number of bytes may be smaller before the end, too. Reads from `plain` where there is no second
  // descriptor, and where the file system refuses after all.
  ssize_t read(int plain, void* to, std::size_t bytes, std::size_t at) const noexcept {
    const bool isAligned = at % directAlignment == 0 && reinterpret_cast<std::uintptr_t>(to) % directAlignment == 0;
    ssize_t done = -1;
    errno = EINVAL;
    if (file_ >= 0)
      done = isAligned && bytes >= directAlignment ? readAt(file_, to, alignedDown(bytes), at)
                                                   : readThrough(directBuffer(), to, bytes, at);
    return done < 0 && errno == EINVAL ? readAt(plain, to, bytes, at) : done;
  }

 private:
  static ssize_t readAt(int file, void* to, std::size_t bytes, std::size_t at) noexcept {
    return ::pread(file, to, bytes, static_cast<off_t>(at));
  }

  // Reads full blocks to a buffer, and copies what was asked for.
  ssize_t readThrough(unsigned char* buffer, void* to, std::size_t bytes, std::size_t at) const noexcept {
    if (buffer == nullptr) return -1;
    const std::size_t first = alignedDown(at), skipped = at - first;
    const std::size_t wanted = smallerOf(roundUp(skipped + bytes, directAlignment), directBufferBytes);
    const ssize_t more = readAt(file_, buffer, wanted, first);
    if (more < 0) return more;
    const auto found = static_cast<std::size_t>(more);
    if (found <= skipped) return 0;
    const std::size_t copied = smallerOf(found - skipped, bytes);
    std::memcpy(to, buffer + skipped, copied);
    return static_cast<ssize_t>(copied);
  }

  void close() noexcept {
    if (file_ >= 0) ::close(std::exchange(file_, -1));
  }

  int file_ = -1;
  std::string refusal_;
};

[[noreturn]] inline void throwFileError(const char* function, const std::string& path, const char* what) {
  const int code = errno;
  throw std::system_error(code, std::generic_category(), message({function, ": ", path, ": ", what}));
}

// A file, closed at the end.
class OwnedFile {
 public:
  OwnedFile(const char* function, std::string path, int flags) : function_(function), path_(std::move(path)) {
    constexpr mode_t MODE = 0666;
    file_ = ::open(path_.c_str(), flags | O_CLOEXEC, MODE);
    if (file_ < 0) fail("cannot be opened");
  }
  // The file of a descriptor of the caller's, which stays open.
  OwnedFile(const char* function, int descriptor) : function_(function), path_(message({"descriptor ", descriptor})) {
    file_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (file_ < 0) fail("cannot be used");
  }
  OwnedFile(OwnedFile&& other) noexcept
      : function_(other.function_), path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)) {}
  OwnedFile& operator=(OwnedFile&&) = delete;
  ~OwnedFile() {
    if (file_ >= 0) ::close(file_);
  }

  // Reads until the bytes are complete or the file ends; returns their number.
  std::size_t read(void* to, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t more = ::read(file_, static_cast<char*>(to) + done, bytes - done);
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) fail("cannot be read");
      if (more == 0) break;
      done += static_cast<std::size_t>(more);
    }
    return done;
  }

  // The same from byte `begin` of a file whose length is known, by several threads.
  std::size_t readAt(std::size_t begin, void* to, std::size_t bytes, const DirectFile& direct) {
    std::atomic<std::size_t> done{0};
    std::atomic<int> error{0};
    inPieces(bytes, [&](std::size_t at, std::size_t count) noexcept {
      while (count > 0) {
        const ssize_t more = direct.read(file_, static_cast<char*>(to) + at, count, begin + at);
        if (more < 0 && errno == EINTR) continue;
        if (more < 0) error = errno;
        if (more <= 0) return;
        done += static_cast<std::size_t>(more);
        at += static_cast<std::size_t>(more);
        count -= static_cast<std::size_t>(more);
      }
    });
    errno = error;
    if (error != 0) fail("cannot be read");
    return done;
  }

  void write(const void* from, std::size_t bytes) {
    std::size_t done = 0;
    while (done < bytes) {
      const ssize_t more = ::write(file_, static_cast<const char*>(from) + done, bytes - done);
      if (more < 0 && errno == EINTR) continue;
      if (more < 0) fail("cannot be written");
      done += static_cast<std::size_t>(more);
    }
  }

  // Closes it; some file systems report here that a write has failed.
  void close() {
    if (::close(std::exchange(file_, -1)) != 0) fail("cannot be written");
  }

  // Bytes from `begin` to the end; unknownLength for a pipe, and for files whose length the system does not know before
  // they are read, such as those of /proc.
  std::size_t bytesFrom(std::size_t begin) const {
    const struct stat status = statusOf(file_);
    if (S_ISDIR(status.st_mode)) {
      errno = EISDIR;
      fail("cannot be read");
    }
    if (!S_ISREG(status.st_mode)) return unknownLength;
    const auto size = static_cast<std::size_t>(status.st_size);
    char first = 0;
    if (size == 0 && ::pread(file_, &first, 1, 0) > 0) return unknownLength;
    if (begin > size)
      throwInvalid({function_, ": ", path_, ": has ", size, " bytes, but is to be read from byte ", begin, " on"});
    return size - begin;
  }

  // Throws std::invalid_argument if it is the file of the other descriptor, under whatever name; -1 is none.
  void requireOther(int other, const char* consequence) const {
    if (other < 0 || !isRegular()) return;
    const struct stat status = statusOf(file_), source = statusOf(other);
    if (status.st_dev == source.st_dev && status.st_ino == source.st_ino)
      throwInvalid({function_, ": ", path_, ": is the file that the source reads", consequence,
                    ": write to another file, and rename that"});
  }

  void clear() {
    if (isRegular() && ::ftruncate(file_, 0) != 0) fail("cannot be written");
  }

  // What is written next begins at this byte.
  void moveTo(std::size_t begin) {
    if (::lseek(file_, static_cast<off_t>(begin), SEEK_SET) < 0) fail("cannot be written from a certain byte on");
  }

  int descriptor() const { return file_; }
  const std::string& path() const { return path_; }

 private:
  bool isRegular() const { return S_ISREG(statusOf(file_).st_mode); }

  struct stat statusOf(int file) const {
    struct stat status {};
    if (::fstat(file, &status) != 0) fail("cannot be examined");
    return status;
  }

  [[noreturn]] void fail(const char* what) const { throwFileError(function_, path_, what); }

  const char* function_;
  std::string path_;
  int file_ = -1;
};

// The elements of a file, from fromFile.
template <class T>
class FileSource final : public ChunkSource {
 public:
  using Element = T;

  // n elements from byte `begin` on, or all if n is unknownLength.
  FileSource(OwnedFile file, std::size_t begin, std::size_t n, DirectFile direct = {})
      : file_(std::move(file)), direct_(std::move(direct)), begin_(begin), left_(n) {
    constexpr const char* FUNCTION = "gpuopt::fromFile";
    requireSize(begin, {"begin"}, FUNCTION);
    if (n != unknownLength) requireSize(n, {"n"}, FUNCTION, sizeof(T));
    const std::size_t bytes = file_.bytesFrom(begin);
    isPipe_ = bytes == unknownLength;
    if (isPipe_) return;
    if (n == unknownLength && bytes % sizeof(T) != 0)
      throwInvalid({FUNCTION, ": ", file_.path(), ": ", bytes, " bytes from byte ", begin, " on are no multiple of ",
                    sizeof(T), ", the size of an element"});
    if (n != unknownLength && bytes / sizeof(T) < n)
      throwInvalid({FUNCTION, ": ", file_.path(), ": ", bytes, " bytes from byte ", begin, " on are fewer than n (", n,
                    ") elements of ", sizeof(T), " bytes"});
    if (n == unknownLength) left_ = bytes / sizeof(T);
  }

  std::size_t length() const override { return left_; }
  int file() const override { return file_.descriptor(); }

  // Why a file that was to be read past the page cache is read through it; empty if it is not.
  const std::string& whyCached() const { return direct_.refusal(); }

  SourceChunk next(void* slot, std::size_t capacity) override {
    const std::size_t wanted = smallerOf(capacity, left_) * sizeof(T);
    if (isPipe_) return nextOfPipe(slot, capacity * sizeof(T), wanted);
    const std::size_t bytes = file_.readAt(begin_ + done_, slot, wanted, direct_);
    done_ += bytes;
    if (bytes < wanted) throwEnded({done_, " bytes that were read; it was longer when it was opened"});
    left_ -= bytes / sizeof(T);
    return {slot, bytes / sizeof(T)};
  }

 private:
  SourceChunk nextOfPipe(void* slot, std::size_t room, std::size_t wanted) {
    while (skipped_ < begin_) {
      const std::size_t part = smallerOf(room, begin_ - skipped_), bytes = file_.read(slot, part);
      skipped_ += bytes;
      if (bytes < part) throwEnded({skipped_, " bytes, but is to be read from byte ", begin_, " on"});
    }
    const std::size_t bytes = file_.read(slot, wanted);
    done_ += bytes;
    if (bytes % sizeof(T) != 0) throwEnded({done_, " bytes, within an element"});
    if (left_ != unknownLength) {
      if (bytes < wanted) throwEnded({done_ / sizeof(T), " elements, ", left_ - bytes / sizeof(T), " too early"});
      left_ -= bytes / sizeof(T);
    }
    return {slot, bytes / sizeof(T)};
  }

  [[noreturn]] void throwEnded(std::initializer_list<MessagePart> when) const {
    throw std::runtime_error(message({"gpuopt::fromFile: ", file_.path(), ": ended after ", message(when)}));
  }

  OwnedFile file_;
  DirectFile direct_;
  std::size_t begin_, left_, done_ = 0;
  std::size_t skipped_ = 0;  // of the bytes before `begin`, in a pipe
  bool isPipe_ = false;
};

// The elements of a file whose reads bypass the page cache, if the file system allows that.
template <class T>
FileSource<T> directSource(const std::string& path, std::size_t begin, std::size_t n) {
  OwnedFile file("gpuopt::fromFile", path, O_RDONLY);
  DirectFile direct(path, file.descriptor());
  return {std::move(file), begin, n, std::move(direct)};
}

// Where the results begin in a file: it is emptied first, or keeps what is before `begin` and after the results, or
// they follow what is there.
enum class FileStart { emptied, atByte, atPosition };

// A file that receives the results, from toFile and toEndOfFile.
template <class T>
class FileSink final : public ChunkSink {
 public:
  using Element = T;

  explicit FileSink(OwnedFile file, FileStart start, std::size_t begin = 0)
      : file_(std::move(file)), start_(start), begin_(begin) {
    requireSize(begin, {"begin"}, "gpuopt::toFile");
  }

  void begin(const ChunkSource& source) override {
    const bool isEmptied = start_ == FileStart::emptied;
    file_.requireOther(source.file(), isEmptied ? ", and would be emptied first" : "");
    if (isEmptied) file_.clear();
    if (start_ == FileStart::atByte) file_.moveTo(begin_);
  }

  bool take(const void* from, std::size_t, std::size_t count) override {
    file_.write(from, count * sizeof(T));
    return true;
  }
  void finish() override { file_.close(); }

 private:
  OwnedFile file_;
  FileStart start_;
  std::size_t begin_;
};

GPUOPT_DETAIL_END
