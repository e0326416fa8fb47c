/// \file
/// Reads of files past the system's page cache, at any address and of any length (O_DIRECT of Linux).
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
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

GPUOPT_DETAIL_END
