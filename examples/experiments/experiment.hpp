/// \file
/// The experiments of this program. Each has kernels in a header of its name, which the tests include, and
/// here a function that checks them at a small size, times them at a large one on a GPU, and reports.
// SPDX-License-Identifier: MIT
#pragma once

#include "report.hpp"

namespace experiments {

struct Experiment {
  const char* name;
  const char* lesson;  ///< what to expect, and why
  void (*run)(Report&);
};

extern const Experiment accessExperiment;
extern const Experiment structuresExperiment;
extern const Experiment sharedMemoryExperiment;
extern const Experiment divergenceExperiment;
extern const Experiment occupancyExperiment;
extern const Experiment matrixProductExperiment;
extern const Experiment histogramExperiment;
extern const Experiment memorySpacesExperiment;
extern const Experiment arithmeticExperiment;
extern const Experiment transfersExperiment;
extern const Experiment latencyExperiment;
extern const Experiment cachesExperiment;
extern const Experiment registersExperiment;
extern const Experiment coarseningExperiment;
extern const Experiment atomicsExperiment;
extern const Experiment asyncCopiesExperiment;
extern const Experiment memoryRowsExperiment;
extern const Experiment reuseExperiment;
extern const Experiment numbersExperiment;
extern const Experiment throughputExperiment;
extern const Experiment hostExperiment;
extern const Experiment limitsExperiment;
extern const Experiment texturesExperiment;

/// What the first call to the runtime has taken, which brings up driver and context. Call it before all others.
double secondsOfFirstCall();

}  // namespace experiments
