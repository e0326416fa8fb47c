/// \file
/// The second alternative.
// SPDX-License-Identifier: MIT
#include "constants.hpp"

#define GPUOPT_TUNING_TAG tune2
#define GPUOPT_TUNING_ENTRIES(ENTRY)                                     \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeTile", 1, "TILE 64, SIDE 1")       \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeTile", 2, "TILE 32, SIDE 2")       \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeTile", 3, "TILE 64, SIDE 8")       \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeTile", 4, "TILE 16, SIDE 16")      \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeSectorTile", 1, "TILE 64, SIDE 1") \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeSectorTile", 2, "TILE 32, SIDE 2") \
  GPUOPT_TUNE_CHOICE(ENTRY, "transposeSectorTile", 3, "TILE 32, SIDE 8") \
  GPUOPT_TUNE_CHOICE(ENTRY, "transformStructs", 3, "BLOCK 64")           \
  GPUOPT_TUNE_CHOICE(ENTRY, "transformStructs", 4, "BLOCK 64")           \
  GPUOPT_TUNE_CHOICE(ENTRY, "transformStructs", 5, "BLOCK 256")          \
  GPUOPT_TUNE_CHOICE(ENTRY, "transformStructs", 6, "BLOCK 256")          \
  GPUOPT_TUNE_CHOICE(ENTRY, "gatherStructs", 0, "BLOCK 256, LOADS 8")    \
  GPUOPT_TUNE_CHOICE(ENTRY, "convertStructs", 4, "BLOCK 256")            \
  GPUOPT_TUNE_CHOICE(ENTRY, "convertStructs", 5, "BLOCK 256")            \
  GPUOPT_TUNE_CHOICE(ENTRY, "convertStructs", 6, "BLOCK 32")             \
  GPUOPT_TUNE_CHOICE(ENTRY, "mapElements", 2, "BLOCK 128, TILES 1")      \
  GPUOPT_TUNE_CHOICE(ENTRY, "mapElements", 3, "BLOCK 128, TILES 1")      \
  GPUOPT_TUNE_CHOICE(ENTRY, "mapNarrower", 2, "BLOCK 512, TILES 2")      \
  GPUOPT_TUNE_CHOICE(ENTRY, "mapWider", 0, "BLOCK 128, TILES 1")         \
  GPUOPT_TUNE_CHOICE(ENTRY, "mapWider", 2, "BLOCK 128, TILES 1")

#include "constants_work.cuh"

std::vector<ConstantWork> gpuopt::tune::constantWorks2() { return works(false); }
