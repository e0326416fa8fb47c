/// \file
/// Plans of pipelines and of rings of frames: pure, comparable, in words.
// SPDX-License-Identifier: MIT
#include "device/pipeline/pipeline_data.cuh"

#include <gpuopt/transfer_frames.cuh>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gpuopt::test;

namespace pipeline_plan_test {

using gpuopt::detail::FramesPlan;
using gpuopt::detail::FramesRequest;
using gpuopt::detail::PipelineAlgorithm;
using gpuopt::detail::PipelinePlan;
using gpuopt::detail::PipelineRequest;
using gpuopt::detail::planFrames;
using gpuopt::detail::planPipeline;
using gpuopt::detail::unknownLength;

constexpr std::size_t KIB = 1024, MIB = 1024 * KIB;

// Floats, in and out if there is a sink.
PipelineRequest floats(std::size_t n, bool hasSink, bool isFilled = false, bool isDrained = false) {
  PipelineRequest request;
  request.length = n;
  request.inBytes = 4;
  request.outBytes = hasSink ? 4 : 0;
  request.isFilled = isFilled;
  request.isDrained = isDrained;
  return request;
}

PipelineRequest chosen(PipelineRequest request, std::size_t chunkBytes, unsigned slots = 0) {
  request.chunkBytes = chunkBytes;
  request.slots = slots;
  return request;
}

PipelineRequest unwatched(PipelineRequest request) {
  request.isUnwatched = true;
  return request;
}

struct Row {
  PipelineRequest request;
  PipelineAlgorithm algorithm;
  std::size_t chunkElements, chunks, slots, tickets;
  bool fillsAhead;
  const char* reason;
};

constexpr auto CHUNKS = PipelineAlgorithm::chunks, FEW_COPIES = PipelineAlgorithm::fewCopies;
constexpr const char *SHORT = "the source is short: its first copy and its last overlap with nothing",
                     *LONG = "the source is long", *UNKNOWN = "the length of the source is unknown",
                     *CHOSEN = "options.chunkBytes says so",
                     *NOBODY = "a short array in pinned memory, and nobody asks for its chunks";

const std::vector<Row>& rows() {
  static const std::vector<Row> all{
      {floats(0, false), CHUNKS, 1, 0, 1, 1, false, "no elements"},
      {floats(1, false), CHUNKS, 1, 1, 1, 1, false, SHORT},
      {floats(MIB / 2, false), CHUNKS, MIB / 2, 1, 1, 1, false, SHORT},
      {floats(MIB / 2 + 1, false), CHUNKS, MIB / 2, 2, 2, 2, false, SHORT},
      {floats(MIB / 2 + 1, false, true), CHUNKS, MIB / 2, 2, 2, 2, true, SHORT},
      {floats(8 * MIB, true), CHUNKS, MIB / 2, 16, 3, 16, false, SHORT},
      {floats(64 * MIB, false), CHUNKS, 4 * MIB, 16, 3, 16, false, LONG},
      {floats(64 * MIB, true), CHUNKS, MIB, 64, 3, 16, false, LONG},
      {floats(64 * MIB, false, true), CHUNKS, 4 * MIB, 16, 4, 16, true, LONG},
      {floats(64 * MIB, true, true), CHUNKS, MIB, 64, 4, 16, true, LONG},
      {floats(64 * MIB, true, false, true), CHUNKS, MIB, 64, 4, 4, false, LONG},
      {floats(64 * MIB, true, true, true), CHUNKS, MIB, 64, 5, 5, true, LONG},
      {floats(unknownLength, false, true), CHUNKS, 4 * MIB, 0, 4, 16, true, UNKNOWN},
      {floats(unknownLength, true, true, true), CHUNKS, MIB, 0, 5, 5, true, UNKNOWN},
      // Chosen: chunks above 8 MiB are not filled ahead where the sink needs the helpers, too.
      {chosen(floats(64 * MIB, true, true, true), 8 * MIB), CHUNKS, 2 * MIB, 32, 5, 5, true, CHOSEN},
      {chosen(floats(64 * MIB, true, true, true), 8 * MIB + 4), CHUNKS, 2 * MIB + 1, 32, 5, 5, false, CHOSEN},
      {chosen(floats(64 * MIB, false, true), 8 * MIB + 4), CHUNKS, 2 * MIB + 1, 32, 4, 16, true, CHOSEN},
      {chosen(floats(100, false), 39), CHUNKS, 9, 12, 3, 12, false, CHOSEN},
      {chosen(floats(100, false), 3), CHUNKS, 1, 100, 3, 16, false, CHOSEN},
      {chosen(floats(1000, false, true), 40, 1), CHUNKS, 10, 100, 1, 16, false, CHOSEN},
      {chosen(floats(1000, false, true), 40, 20), CHUNKS, 10, 100, 20, 20, true, CHOSEN},
      {chosen(floats(1000, true, true, true), 40, 2), CHUNKS, 10, 100, 2, 2, true, CHOSEN},
      // A reduction that nobody watches, of an array in pinned memory.
      {unwatched(floats(0, false)), CHUNKS, 1, 0, 1, 1, false, "no elements"},
      {unwatched(floats(1, false)), FEW_COPIES, 1, 1, 1, 0, false, NOBODY},
      {unwatched(floats(16 * MIB, false)), FEW_COPIES, MIB, 16, 1, 0, false, NOBODY},
      {unwatched(floats(16 * MIB + 1, false)), CHUNKS, MIB, 17, 3, 16, false, SHORT},
      {unwatched(floats(16 * MIB + 4, false)), CHUNKS, 2 * MIB, 9, 3, 9, false, SHORT},
      {unwatched(floats(16 * MIB, false, true)), CHUNKS, MIB, 16, 4, 16, true, SHORT},
      {unwatched(floats(16 * MIB, true)), CHUNKS, MIB, 16, 3, 16, false, LONG},
      {unwatched(chosen(floats(16 * MIB, false), MIB)), CHUNKS, MIB / 4, 64, 3, 16, false, CHOSEN},
      {unwatched(chosen(floats(16 * MIB, false), 0, 3)), CHUNKS, MIB, 16, 3, 16, false, SHORT},
      {unwatched(floats(unknownLength, false)), CHUNKS, 4 * MIB, 0, 3, 16, false, UNKNOWN},
  };
  return all;
}

PipelinePlan planOf(const Row& row) {
  const PipelineRequest& r = row.request;
  PipelinePlan plan;
  plan.algorithm = row.algorithm;
  plan.reason = row.reason;
  plan.request = r;
  plan.chunkElements = row.chunkElements;
  plan.chunks = row.chunks;
  plan.slots = row.slots;
  plan.tickets = row.tickets;
  const std::size_t in = row.chunkElements * r.inBytes, out = row.chunkElements * r.outBytes;
  if (row.algorithm == FEW_COPIES)
    plan.slotBytes.in = r.length * r.inBytes;
  else
    plan.slotBytes = {r.isFilled ? in : 0, in, out, r.isDrained ? out : 0};
  plan.fillsAhead = row.fillsAhead;
  return plan;
}

TEST_CASE("Plans of pipelines: chunks, slots, and why", "[pipeline]") {
  for (const Row& row : rows()) {
    const PipelinePlan plan = planPipeline(row.request);
    INFO(planInWords(plan));
    CHECK(plan.reason == std::string(row.reason));
    CHECK(plan.chunkElements == row.chunkElements);
    CHECK(plan.slots == row.slots);
    CHECK(plan == planOf(row));
  }
}

TEST_CASE("Plans of pipelines differ where one number does", "[pipeline]") {
  const PipelinePlan plan = planPipeline(floats(1000, false));
  CHECK(plan == planPipeline(floats(1000, false)));
  PipelinePlan other = plan;
  other.slotBytes.hostOut = 1;
  CHECK(other != plan);
  other = plan;
  other.request.isUnwatched = true;
  CHECK(other != plan);
  other = plan;
  other.reason = "another reason";
  CHECK(other != plan);
  other = plan;
  other.fillsAhead = !plan.fillsAhead;
  CHECK(other != plan);
  const std::string copied = plan.reason;  // the text counts, not where it is
  other = plan;
  other.reason = copied.c_str();
  CHECK(other == plan);
}

TEST_CASE("Plans of pipelines in words", "[pipeline]") {
  using gpuopt::detail::planInWords;
  CHECK(planInWords(planPipeline(floats(0, true))) == "nothing to launch: no elements");
  CHECK(
      planInWords(planPipeline(floats(64 * MIB, true, true, true))) ==
      "64 chunks of 1048576 elements, 5 slots, filled by the host one ahead, emptied by the host, up to 5 queued: the "
      "source is long; reads 268435456 bytes, writes 268435456");
  CHECK(planInWords(planPipeline(floats(1, false))) ==
        "1 chunk of 1 element, 1 slot, up to 1 queued: the source is short: its first copy and its last overlap with "
        "nothing; reads 4 bytes, writes 0");
  CHECK(planInWords(planPipeline(floats(unknownLength, false, true))) ==
        "chunks of up to 4194304 elements, 4 slots, filled by the host one ahead, up to 16 queued: the length of the "
        "source is unknown");
  CHECK(planInWords(planPipeline(unwatched(floats(16 * MIB, false)))) ==
        "16 chunks of 1048576 elements, each copy brings a share of what is left: a short array in pinned memory, and "
        "nobody "
        "asks for its chunks; reads 67108864 bytes, writes 0");
}

TEST_CASE("Plans of rings of frames", "[pipeline]") {
  struct FramesRow {
    FramesRequest request;
    std::size_t slots, inPitch, outPitch;
    bool copies;
  };
  for (const FramesRow& row : {FramesRow{{1000, 4, 3, false, false}, 3, 1024, 256, true},
                               FramesRow{{1024, 256, 3, true, false}, 4, 1024, 256, true},
                               FramesRow{{1025, 257, 2, false, true}, 2, 1280, 512, false},
                               FramesRow{{1, 1, 2, true, true}, 3, 256, 256, false}}) {
    const char* const reason = row.copies ? "options.transfer is copy" : "options.transfer is mapped";
    const FramesPlan plan = planFrames(row.request);
    INFO(planInWords(plan));
    CHECK(plan == FramesPlan{reason, row.request, row.slots, row.inPitch, row.outPitch, row.copies});
  }
}

TEST_CASE("explainStreamReduce, explainStreamTransform and explainFrames", "[pipeline]") {
  gpuopt::PinnedVector<float> pinned(1000);
  std::vector<float> pageable(1000), results(999);
  const std::string isShort = ": the source is short: its first copy and its last overlap with nothing; ";
  CHECK(
      gpuopt::explainStreamReduce(gpuopt::fromHost(pinned)) ==
      "1 chunk of 1000 elements, each copy brings a share of what is left: a short array in pinned memory, and nobody "
      "asks "
      "for its chunks; reads 4000 bytes, writes 0");
  CHECK(gpuopt::explainStreamReduce(gpuopt::fromHost(pageable)) ==
        "1 chunk of 1000 elements, 1 slot, filled by the host, up to 1 queued" + isShort +
            "reads 4000 bytes, writes 0");
  gpuopt::PipelineOptions watched;
  watched.progress = [](std::size_t, std::size_t) { return true; };
  CHECK(gpuopt::explainStreamReduce(gpuopt::fromHost(pinned), watched) ==
        "1 chunk of 1000 elements, 1 slot, up to 1 queued" + isShort + "reads 4000 bytes, writes 0");
  CHECK(gpuopt::explainStreamTransform(gpuopt::fromHost(pinned), gpuopt::toHost(pageable)) ==
        "1 chunk of 1000 elements, 1 slot, emptied by the host, up to 1 queued" + isShort +
            "reads 4000 bytes, writes 4000");
  CHECK(messageOf<std::invalid_argument>([&] {
          static_cast<void>(gpuopt::explainStreamTransform(gpuopt::fromHost(pinned), gpuopt::toHost(results)));
        }) == "gpuopt::Pipeline: the sink has room for 999 elements, but the source has 1000 or more");
  CHECK(gpuopt::explainFrames<unsigned short, float>(500, 1) ==
        "3 slots, 3840 bytes of pinned memory, as many of the device, copied by the copy engine; the producer waits "
        "for the "
        "consumer: options.transfer is copy; reads 1000 bytes a frame, writes 4");
  gpuopt::FrameOptions options;
  options.policy = gpuopt::FramePolicy::dropOldest;
  options.transfer = gpuopt::FrameTransfer::mapped;
  CHECK(
      gpuopt::explainFrames<unsigned short, float>(500, 1, options) ==
      "4 slots, 5120 bytes of pinned memory, which kernels access through the link; a new frame displaces the oldest: "
      "options.transfer is mapped; reads 1000 bytes a frame, writes 4");
  CHECK(messageOf<std::invalid_argument>([] { static_cast<void>(gpuopt::explainFrames<int, int>(0, 1)); }) ==
        "gpuopt::explainFrames: a frame of 0 elements has 1 results: both must be 1 or more");
}

}  // namespace pipeline_plan_test
