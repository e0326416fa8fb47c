/// \file
/// The third alternative.
// SPDX-License-Identifier: MIT
#include "constants.hpp"

#define GPUOPT_TUNING_TAG tune3
#define GPUOPT_TUNING_ENTRIES(ENTRY)                                      \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeTile", 2, "TILE 128, SIDE 4")       \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeTile", 3, "TILE 64, SIDE 16")       \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeTile", 4, "TILE 32, SIDE 32")       \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeSectorTile", 2, "TILE 128, SIDE 4") \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeSectorTile", 3, "TILE 32, SIDE 4")  \
  GPUOPT_TUNE_CHOICE(ENTRY, "transformStructs", 3, "BLOCK 512")           \
  GPUOPT_TUNE_CHOICE(ENTRY, "transformStructs", 4, "BLOCK 512")           \
  GPUOPT_TUNE_CHOICE(ENTRY, "transformStructs", 5, "BLOCK 32")            \
  GPUOPT_TUNE_CHOICE(ENTRY, "transformStructs", 6, "BLOCK 32")            \
  GPUOPT_TUNE_CHOICE(ENTRY, "gatherStructs", 0, "BLOCK 256, LOADS 2")     \
  GPUOPT_TUNE_CHOICE(ENTRY, "mapElements", 2, "BLOCK 256, TILES 2")       \
  GPUOPT_TUNE_CHOICE(ENTRY, "mapElements", 3, "BLOCK 256, TILES 2")       \
  GPUOPT_TUNE_CHOICE(ENTRY, "mapNarrower", 2, "BLOCK 256, TILES 4")       \
  GPUOPT_TUNE_CHOICE(ENTRY, "mapWider", 0, "BLOCK 256, TILES 2")          \
  GPUOPT_TUNE_CHOICE(ENTRY, "mapWider", 2, "BLOCK 256, TILES 2")

#include "constants_work.cuh"

std::vector<ConstantWork> gpuopt::tune::constantWorks3() { return works(false); }
