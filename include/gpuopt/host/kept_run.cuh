/// \file
/// Streams, events and memory for short runs, which the library keeps.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/host/device.cuh>
#include <gpuopt/host/event.cuh>
#include <gpuopt/host/free_list.cuh>
#include <gpuopt/host/memory.cuh>
#include <gpuopt/host/stream_pool.cuh>

#include <memory>

GPUOPT_DETAIL_BEGIN

/// What a short run needs of the current device: a stream for copies and one for work, events, and memory of the
/// library's pool, which grows.
struct KeptRun {
  int device = currentDevice();
  PooledStream up, work;
  Event begin, arrived;
  OrderedMemory memory{0, up};
};

/// Gives a run back when its user is done: by then no work in its streams may access its memory.
struct GivesBack {
  void operator()(KeptRun* run) const noexcept;
};
using KeptRunLease = std::unique_ptr<KeptRun, GivesBack>;

/// Those of all devices and threads. Made anew for each call, they took 6 of the 336 us of a sum of 16 MiB (H200,
/// 2026-11-28, a trial program).
class KeptRuns {
 public:
  /// Never destroyed: at exit the context may be gone.
  GPUOPT_HIDDEN static KeptRuns& instance() {
    static KeptRuns& runs = *new KeptRuns;
    return runs;
  }

  /// One of the current device.
  KeptRunLease acquire() {
    const int device = currentDevice();
    KeptRun* const found = unused_.take([=](const KeptRun* run) { return run->device == device; });
    if (found != nullptr) return KeptRunLease(found);
    auto made = std::make_unique<KeptRun>();
    unused_.add();
    return KeptRunLease(made.release());
  }

  /// Gives what nobody uses back to the pools.
  void trim() {
    const RelaxedCapture relaxed;
    for (const KeptRun* run : unused_.takeAll()) delete run;
  }

 private:
  friend GivesBack;
  FreeList<KeptRun*> unused_;
};

inline void GivesBack::operator()(KeptRun* run) const noexcept { KeptRuns::instance().unused_.put(run); }

GPUOPT_DETAIL_END
