/// \file
/// How data passes through the device in chunks, and how a ring of frames is laid out: the only place that decides.
/// Pure host code.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/explain.cuh>
#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/device/pipeline/tuning.cuh>
#include <gpuopt/soa/equality.cuh>

#include <cstddef>
#include <string>

GPUOPT_DETAIL_BEGIN

enum class PipelineAlgorithm {
  chunks,     // each chunk has a copy, and a slot of the ring
  fewCopies,  // all elements fit on the device at once, and each copy brings a share of those that are left
};

// One run.
struct PipelineRequest {
  std::size_t length = unknownLength;  // elements of the source
  std::size_t inBytes = 1;             // of an element
  std::size_t outBytes = 0;            // the same; 0 without a sink
  std::size_t chunkBytes = 0;          // what the caller has chosen; 0: nothing
  unsigned slots = 0;                  // the same
  bool isFilled = false;               // the host copies elements of the source to pinned slots
  bool isDrained = false;              // and results from there to the sink
  bool isUnwatched = false;            // a reduction: nobody sees its chunks, and its streams are its own
};

// What a slot has of each kind of memory, in bytes; 0: nothing.
struct SlotBytes {
  std::size_t hostIn, in, out, hostOut;
};

struct PipelinePlan {
  PipelineAlgorithm algorithm = PipelineAlgorithm::chunks;
  const char* reason = "no elements";
  PipelineRequest request{};
  std::size_t chunkElements = 1;  // at most
  std::size_t chunks = 0;         // 0 if the length is unknown
  std::size_t slots = 1;          // chunks that have memory at once
  std::size_t tickets = 1;        // chunks that are queued at once
  SlotBytes slotBytes{};
  bool fillsAhead = false;  // the next slot is filled before the chunk of this one is queued
};

template <>
inline constexpr bool isPlan<PipelineRequest> = true;
template <>
inline constexpr bool isPlan<PipelinePlan> = true;

class PipelinePlanner {
 public:
  explicit PipelinePlanner(const PipelineRequest& request) : r_(request) { plan_.request = request; }

  PipelinePlan plan() {
    plan_.chunkElements = chunkElements(r_.length, elementBytes(), r_.chunkBytes, r_.outBytes > 0);
    if (r_.length != unknownLength) plan_.chunks = ceilDivide(r_.length, plan_.chunkElements);
    plan_.reason = sizeReason();
    if (suitsFewCopies())
      planFewCopies();
    else
      planSlots();
    return plan_;
  }

 private:
  std::size_t elementBytes() const { return largerOf(r_.inBytes, r_.outBytes); }

  const char* sizeReason() const {
    if (r_.length == 0) return "no elements";
    if (r_.chunkBytes != 0) return "options.chunkBytes says so";
    if (r_.length == unknownLength) return "the length of the source is unknown";
    const std::size_t bytes = cappedProduct(r_.length, elementBytes());
    const bool hasSink = r_.outBytes > 0;
    return chunkBytesFor(bytes, hasSink) == chunkBytesFor(unknownLength, hasSink)
               ? "the source is long"
               : "the source is short: its first copy and its last overlap with nothing";
  }

  bool suitsFewCopies() const {
    return r_.isUnwatched && r_.outBytes == 0 && !r_.isFilled && r_.chunkBytes == 0 && r_.slots == 0 && r_.length > 0 &&
           cappedProduct(r_.length, r_.inBytes) <= shortRunBytes;
  }

  void planFewCopies() {
    plan_.algorithm = PipelineAlgorithm::fewCopies;
    plan_.reason = "a short array in pinned memory, and nobody asks for its chunks";
    plan_.tickets = 0;
    plan_.slotBytes.in = r_.length * r_.inBytes;
  }

  void planSlots() {
    const std::size_t capacity = plan_.chunkElements, in = capacity * r_.inBytes, out = capacity * r_.outBytes;
    const unsigned slots = r_.slots != 0 ? r_.slots : slotsFor(r_.isFilled, r_.isDrained);
    const unsigned tickets = r_.isDrained ? slots : largerOf(slots, chunksAhead);  // the sink gives slots back
    const std::size_t chunks = r_.length == unknownLength ? tickets : largerOf(plan_.chunks, std::size_t{1});
    plan_.slots = smallerOf<std::size_t>(slots, chunks);
    plan_.tickets = smallerOf<std::size_t>(tickets, chunks);
    plan_.slotBytes = {r_.isFilled ? in : 0, in, out, r_.isDrained ? out : 0};
    // Where the sink needs the helpers, too, only small chunks: both ways by chunks of 16 MiB went from 75 GB/s down to
    // 56, by 8 MiB from 58 up to 71 (H100, 2026-11-27).
    const bool areSmall = capacity * elementBytes() <= maxFilledAheadBytes;
    plan_.fillsAhead = r_.isFilled && plan_.slots > 1 && (!r_.isDrained || areSmall);
  }

  const PipelineRequest& r_;
  PipelinePlan plan_;
};

inline PipelinePlan planPipeline(const PipelineRequest& request) { return PipelinePlanner(request).plan(); }

inline std::string stagesInWords(const PipelinePlan& plan) {
  const PipelineRequest& r = plan.request;
  if (plan.algorithm == PipelineAlgorithm::fewCopies) return ", each copy brings a share of what is left";
  return message({", ", plan.slots, plan.slots == 1 ? " slot" : " slots",
                  r.isFilled ? (plan.fillsAhead ? ", filled by the host one ahead" : ", filled by the host") : "",
                  r.isDrained ? ", emptied by the host" : "", ", up to ", plan.tickets, " queued"});
}

inline std::string planInWords(const PipelinePlan& plan) {
  const PipelineRequest& r = plan.request;
  if (r.length == 0) return inWords({"", plan.reason});
  const std::string size = message({plan.chunkElements, plan.chunkElements == 1 ? " element" : " elements"});
  const std::string chunks =
      plan.chunks > 0 ? message({plan.chunks, plan.chunks == 1 ? " chunk of " : " chunks of "}) : "chunks of up to ";
  Explanation words{chunks + size + stagesInWords(plan), plan.reason};
  words.hasLength = r.length != unknownLength;
  if (words.hasLength) words.readBytes = r.length * r.inBytes, words.writtenBytes = r.length * r.outBytes;
  return inWords(words);
}

// A ring of frames.
struct FramesRequest {
  std::size_t inBytes = 0;   // of a frame
  std::size_t outBytes = 0;  // of its results
  std::size_t slots = 0;     // what the caller has chosen
  bool drops = false;        // a new frame displaces the oldest
  bool isMapped = false;     // kernels access pinned memory
};

struct FramesPlan {
  const char* reason = "";
  FramesRequest request{};
  std::size_t slots = 0;
  std::size_t inPitch = 0;  // bytes of a slot's pinned memory for a frame
  std::size_t outPitch = 0;
  bool copies = false;  // frames are copied to the device's memory, which each slot has as much of

  std::size_t pitch() const { return cappedSum(inPitch, outPitch); }
};

template <>
inline constexpr bool isPlan<FramesRequest> = true;
template <>
inline constexpr bool isPlan<FramesPlan> = true;

// From slot to slot.
constexpr std::size_t slotPitch(std::size_t bytes) {
  constexpr std::size_t ALIGNMENT = 256;
  return cappedSum(bytes, ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

inline FramesPlan planFrames(const FramesRequest& r) {
  return {r.isMapped ? "options.transfer is mapped" : "options.transfer is copy",
          r,
          r.slots + (r.drops ? 1 : 0),
          slotPitch(r.inBytes),
          slotPitch(r.outBytes),
          !r.isMapped};
}

inline std::string planInWords(const FramesPlan& plan) {
  const FramesRequest& r = plan.request;
  return inWords({message({plan.slots, " slots, ", cappedProduct(plan.slots, plan.pitch()), " bytes of pinned memory, ",
                           plan.copies ? "as many of the device, copied by the copy engine"
                                       : "which kernels access through the link",
                           r.drops ? "; a new frame displaces the oldest" : "; the producer waits for the consumer"}),
                  plan.reason, 0, 0, r.inBytes, r.outBytes, " a frame"});
}

GPUOPT_DETAIL_END
