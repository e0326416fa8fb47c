/// \file
/// The constants of the library that the tuning file may replace while a program runs.
///
/// None of them can change a bit of a result: they say how bytes get from one memory to another, or which of two
/// kernels moves elements. Whatever orders the operations of a reduction is never read from the file: policies, and the
/// chunks of pipelines, by which sums are made, too.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/host/device.cuh>
#include <gpuopt/host/tuning/entry.cuh>
#include <gpuopt/host/tuning/known_choices.cuh>
#include <gpuopt/host/tuning/store.cuh>

#include <atomic>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <optional>
#include <string>

GPUOPT_DETAIL_BEGIN

enum class Tunable {
  upload,    // of pageable memory, by bytes: threads and slots, or no thread for the runtime's copy
  download,  // the same
  blocks,    // of pinned memory, by the bytes of a data block: thread blocks, or none for the copy engine
  staging,   // threads that fill or empty a slot of a pipeline, and the bytes that each takes, by the slot's bytes
  registers  // by the bytes of the smaller element: the largest matrices that registers alone transpose
};

/// Threads or blocks, and bytes for each, 0 where there are none; of a limit the bytes alone.
struct TunedValue {
  unsigned count;
  std::size_t bytes;
};

/// How a constant is written, as in "8 threads, 1048576 bytes" or "16 blocks"; a limit as in "KIB 4096".
struct TunableForm {
  const char* name;
  const char* unit;  // null for a limit
  bool mayBeNone;    // 0 of the unit
  bool hasBytes;
};

GPUOPT_HIDDEN inline constexpr TunableForm tunableForms[] = {{"gpuopt.upload", " threads", true, true},
                                                             {"gpuopt.download", " threads", true, true},
                                                             {"gpuopt.blocks", " blocks", true, false},
                                                             {"gpuopt.staging", " threads", false, true},
                                                             {"gpuopt.transposeRegisters", nullptr, true, true}};

inline constexpr unsigned maxTunedCount = 255;
inline constexpr std::size_t minTunedBytes = std::size_t{4} << 10, maxTunedBytes = std::size_t{16} << 20;
inline constexpr std::size_t minTunedLimit = std::size_t{1} << 10, maxTunedLimit = std::size_t{1} << 30;
GPUOPT_HIDDEN inline constexpr char limitPrefix[] = "KIB ";

// Of an entry that keeps the constant of this library, for this device and not the nearest one.
GPUOPT_HIDDEN inline constexpr char defaultChoice[] = "default";

inline const TunableForm& formOf(Tunable constant) { return tunableForms[static_cast<unsigned>(constant)]; }

inline std::string textOf(Tunable constant, const TunedValue& value) {
  if (formOf(constant).unit == nullptr) return limitPrefix + std::to_string(value.bytes >> 10);
  const std::string text = std::to_string(value.count) + formOf(constant).unit;
  return value.bytes == 0 ? text : text + ", " + std::to_string(value.bytes) + " bytes";
}

inline bool isAllowed(Tunable constant, const TunedValue& value) {
  const TunableForm& form = formOf(constant);
  const bool isPower = value.bytes != 0 && (value.bytes & (value.bytes - 1)) == 0;
  if (form.unit == nullptr) return isPower && value.bytes >= minTunedLimit && value.bytes <= maxTunedLimit;
  if (value.count == 0 || !form.hasBytes) return value.bytes == 0 && (value.count > 0 || form.mayBeNone);
  return isPower && value.bytes >= minTunedBytes && value.bytes <= maxTunedBytes;
}

// The numbers of a text, whatever stands between them.
inline TunedValue tunedNumbers(Tunable constant, const std::string& text) {
  TunedValue value{0, 0};
  const char* const end = text.data() + text.size();
  if (formOf(constant).unit == nullptr) {
    std::from_chars(text.data() + smallerOf(text.size(), std::size(limitPrefix) - 1), end, value.bytes);
    return {0, value.bytes << 10};
  }
  std::from_chars(text.data(), end, value.count);
  if (const std::size_t comma = text.find(", "); comma != std::string::npos)
    std::from_chars(text.data() + comma + 2, end, value.bytes);
  return value;
}

/// What textOf() has written; nothing of any other text.
inline std::optional<TunedValue> parseTuned(Tunable constant, const std::string& text) {
  const TunedValue value = tunedNumbers(constant, text);
  const bool isRead = value.count <= maxTunedCount && textOf(constant, value) == text;
  if (isRead && isAllowed(constant, value)) return value;
  return std::nullopt;
}

// What the file says for the device, or for the nearest one of its architecture. A text that this version does not know
// is reported once for a file.
GPUOPT_HIDDEN inline std::optional<TunedValue> findTuned(Tunable constant, int logSize, int device) {
  auto& store = TuningStore::instance();
  const TuningKey key{formOf(constant).name, "", logSize};
  std::string text = store.find(key, deviceName(device));
  if (text.empty()) text = store.findNearest(key, computeCapability(device), multiprocessorCount(device));
  if (text.empty() || text == defaultChoice) return std::nullopt;
  const std::optional<TunedValue> value = parseTuned(constant, text);
  static std::atomic<unsigned> reported{0};  // the generation of the file
  if (!value && reported.exchange(store.generation()) != store.generation())
    std::fprintf(stderr, "gpuopt: %s in the tuning file is ignored: this version does not know \"%s\"\n",
                 key.name.c_str(), text.c_str());
  return value;
}

/// Whether there is a tuning file, or was one.
inline bool isTuned() { return TuningStore::instance().generation() != 1; }

/// The value of the tuning file for the current device and a size, or nothing. Less than 50 ns for a size whose power
/// of two was asked for before.
GPUOPT_HIDDEN inline std::optional<TunedValue> tunedValue(Tunable constant, std::size_t size) {
  constexpr std::size_t NONE = 65534, UNKNOWN = 65535;  // else the count, and the logarithm of the bytes in 8 bits
  static KnownChoices known[std::size(tunableForms)];
  KnownChoices& choices = known[static_cast<unsigned>(constant)];
  const int device = currentDevice(), logSize = logSizeOf(size);
  const unsigned generation = TuningStore::instance().generation();
  std::size_t code = choices.find(device, logSize, generation, UNKNOWN);
  if (code == UNKNOWN) {
    const std::optional<TunedValue> found = findTuned(constant, logSize, device);
    code = found ? found->count << 8 | static_cast<unsigned>(logSizeOf(found->bytes)) : NONE;
    choices.keep(device, logSize, generation, code);
  }
  if (code == NONE) return std::nullopt;
  const std::size_t logBytes = code & 0xFF;
  return TunedValue{static_cast<unsigned>(code >> 8), logBytes == 0 ? 0 : std::size_t{1} << logBytes};
}

GPUOPT_DETAIL_END
