/// \file
/// The constants of kernels that a tuning file compiled into the program replaces: GPUOPT_TUNING_HEADER.
///
/// The list is complete, and none of them can change a bit of a result: these kernels move elements, or treat each by
/// itself. Reductions are not in the list: their constants set the order of operations.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/abi.cuh>

#include <cstddef>

GPUOPT_DETAIL_BEGIN

// One or two numbers.
struct KernelConstants {
  int first;
  int second;
};

struct KernelConstantsForm {
  const char* name;
  const char* form;  // how the file has them; # stands for a number
};

inline constexpr KernelConstantsForm kernelConstantsForms[] = {
    {"gpuopt.transposeTile", "TILE #, SIDE #"},        // for elements of 1, 2, 4, 8 or 16 bytes
    {"gpuopt.transposeSectorTile", "TILE #, SIDE #"},  // the same, for output rows that begin within sectors
    {"gpuopt.transposeRegisters", "KIB #"},            // the largest matrices that registers alone transpose
    {"gpuopt.transformStructs", "BLOCK #"},            // by the bytes of a thread
    {"gpuopt.gatherStructs", "BLOCK #, LOADS #"},      // one for all sizes, whose logarithm is 0; scatterStructs, too
    {"gpuopt.convertStructs", "BLOCK #"},              // toSoa and toAos, by the bytes of a thread
    {"gpuopt.mapElements", "BLOCK #, TILES #"},        // maps of plain elements, by the bytes of the widest input
    {"gpuopt.mapNarrower", "BLOCK #, TILES #"},        // the same to elements of at most half the size
    {"gpuopt.mapWider", "BLOCK #, TILES #"}};          // the same to larger ones

constexpr bool isSameText(const char* a, const char* b) {
  while (*a == *b && *a != '\0') ++a, ++b;
  return *a == *b;
}

// The form of a constant; null if it is none of a kernel.
constexpr const char* kernelConstantsForm(const char* name) {
  for (const KernelConstantsForm& each : kernelConstantsForms)
    if (isSameText(each.name, name)) return each.form;
  return nullptr;
}

// Reads the numbers of a choice. Returns whether it has the form; if not, the values stay as they are.
constexpr bool readKernelConstants(const char* form, const char* choice, KernelConstants& values) {
  constexpr int MOST = 999999;
  int numbers[2] = {}, count = 0;
  for (; *form != '\0'; ++form) {
    if (*form == '#') {
      if (*choice < '1' || *choice > '9') return false;
      for (; *choice >= '0' && *choice <= '9'; ++choice)
        if ((numbers[count] = 10 * numbers[count] + (*choice - '0')) > MOST) return false;
      ++count;
    } else if (*choice++ != *form) {
      return false;
    }
  }
  if (*choice != '\0') return false;
  values = {numbers[0], numbers[1]};
  return true;
}

// Whether constants measured on a device are for this program: GPUOPT_TUNING_DEVICE chooses one of several.
constexpr bool isTuningDevice([[maybe_unused]] const char* device) {
#ifdef GPUOPT_TUNING_DEVICE
  return isSameText(device, GPUOPT_TUNING_DEVICE);
#else
  return true;
#endif
}

// GPUOPT_TUNING_ENTRIES calls it with each entry of the file: finds the constants of one kernel and size.
struct CompiledConstants {
  const char* name;
  int logSize;
  KernelConstants values;  // the library's own, unless the file has others

  constexpr void operator()(const char* each, const char*, int size, const char* choice, const char* device, int, int) {
    if (size == logSize && isSameText(each, name) && isTuningDevice(device))
      readKernelConstants(kernelConstantsForm(name), choice, values);
  }
};

// The same: whether this version knows the constants of the file, and whether they were measured on one device.
struct CompiledConstantsCheck {
  bool areKnown = true;
  bool areOfOneDevice = true;
  const char* device = nullptr;

  constexpr void operator()(const char* name, const char*, int, const char* choice, const char* measuredOn, int, int) {
    const char* const form = kernelConstantsForm(name);
    if (form == nullptr || !isTuningDevice(measuredOn)) return;
    KernelConstants ignored{};
    areKnown = areKnown && (isSameText(choice, "default") || readKernelConstants(form, choice, ignored));
    areOfOneDevice = areOfOneDevice && (device == nullptr || isSameText(device, measuredOn));
    device = measuredOn;
  }
};

template <class Visit>
constexpr Visit visitCompiledEntries(Visit visit) {
#ifdef GPUOPT_TUNING_ENTRIES
  GPUOPT_TUNING_ENTRIES(visit)
#endif
  return visit;
}

static_assert(visitCompiledEntries(CompiledConstantsCheck{}).areKnown,
              "gpuopt: the tuning file compiled in has constants of a kernel that this version does not know");
static_assert(visitCompiledEntries(CompiledConstantsCheck{}).areOfOneDevice,
              "gpuopt: the tuning file compiled in has constants of kernels for several devices, but a program has one "
              "set: name the device, as in target_link_gpuopt_tuning(program tuning.json DEVICE \"NVIDIA H200\")");

/// The constants that the file compiled in has for a size's power of two; else those that the library has measured.
constexpr KernelConstants compiledConstants(const char* name, std::size_t size, KernelConstants measured) {
  int logSize = 0;
  while ((size >>= 1) != 0) ++logSize;
  return visitCompiledEntries(CompiledConstants{name, logSize, measured}).values;
}

// The threads of a block, a single number.
constexpr unsigned compiledBlock(const char* name, std::size_t size, unsigned measured) {
  return static_cast<unsigned>(compiledConstants(name, size, {static_cast<int>(measured), 0}).first);
}

GPUOPT_DETAIL_END
