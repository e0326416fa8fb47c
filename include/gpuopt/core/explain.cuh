/// \file
/// A plan in words: the printer of the families.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>

#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

// What an explanation says of a call.
struct Explanation {
  std::string kernel;  // with how it divides its work
  std::string reason;
  std::size_t blocks = 0;   // 0 of a call of several launches, or where the plan does not count them
  std::size_t threads = 0;  // of a block
  std::size_t readBytes = 0;
  std::size_t writtenBytes = 0;
  const char* alsoReads = "";  // what the host does not know the size of
  bool hasLength = true;       // false: the number of bytes is unknown
};

// "words of 16 bytes, 8 blocks of 256 threads: the reason; reads 4096 bytes, writes 4096".
inline std::string inWords(const Explanation& call) {
  if (call.blocks == 0 && call.readBytes == 0 && call.hasLength) return message({"nothing to launch: ", call.reason});
  std::string text = call.kernel;
  if (call.blocks > 0)
    text += message({", ", call.blocks, call.blocks == 1 ? " block of " : " blocks of ", call.threads,
                     call.threads == 1 ? " thread" : " threads"});
  else if (call.threads > 0)
    text += message({", ", call.threads, call.threads == 1 ? " thread" : " threads"});
  text += message({": ", call.reason});
  if (!call.hasLength) return text;
  return message({text, "; reads ", call.readBytes, " bytes", call.alsoReads, ", writes ", call.writtenBytes});
}

GPUOPT_DETAIL_END
