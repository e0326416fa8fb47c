/// What is reported, and in which words.
// SPDX-License-Identifier: MIT
#pragma once

#include "checker.hpp"

namespace gpuopt::emulation::detail {

/// The user's line among those that called something; in the library if there is none.
inline std::uintptr_t callOf(const Moment& moment) {
  std::uintptr_t inLibrary = 0;
  for (const std::uintptr_t call : moment.calls) {
    const std::vector<SourceLine> frames = framesOf(call);
    const SourceLine* const found = lineOf(frames);
    if (found == nullptr) continue;
    if (!isLibraryFile(found->file)) return call;
    if (inLibrary == 0) inLibrary = call;
  }
  return inLibrary;
}

inline Record Checker::located(Record access) const {
  if (access.run == 0 || access.run == HOST_RUN) return access;
  const LaunchName& name = nameOf(access.run);
  if (name.kernel == nullptr && name.moment != nullptr)
    access.pc = callOf(*name.moment) & ((std::uintptr_t{1} << 47) - 1);
  return access;
}

inline const char* Checker::remedy(const Sighting& seen) const {
  if (const Moment* const other = nameOf(seen.earlier.run).moment.get();
      seen.now.run == HOST_RUN && other != nullptr && order.isAwaited(*other))
    return "the host has read a flag, which no fence puts behind the write: __threadfence_system() between them would "
           "order them";
  if (seen.earlier.run == HOST_RUN || seen.now.run == HOST_RUN)
    return "the host has not waited: cudaStreamSynchronize() or cudaEventSynchronize() between them would order them";
  const Moment *const now = nameOf(seen.now.run).moment.get(), *const earlier = nameOf(seen.earlier.run).moment.get();
  if (now != earlier && now != nullptr && earlier != nullptr)
    return "nothing orders their streams: one stream for both, cudaStreamWaitEvent() for an event recorded after the "
           "first, or a wait of the host between them would";
  if (seen.earlier.way() == AccessWay::copy)
    return "the copy may not be complete: __pipeline_wait_prior() by the thread that started it, then a barrier";
  if (seen.reach() == 0) return "__syncwarp() between them would order them, or an atomic function";
  if (seen.reach() == 1) return "__syncthreads() between them would order them, or an atomic function";
  return "blocks run in any order: atomic functions, a flag written after __threadfence(), or two launches order them";
}

inline std::string Checker::describeAccess(const Record& access, bool isEarlier, std::size_t bytes,
                                           bool hasLaunch) const {
  const LaunchName& launch = nameOf(access.run);
  const std::string what =
      std::string(verb(access.way(), isEarlier)) + (isEarlier ? "" : ' ' + std::to_string(bytes) + " bytes") + " at ";
  const std::string where = locationOf(framesOf(access.pc));
  if (access.run == HOST_RUN) return "the host " + what + where;
  if (launch.kernel == nullptr)
    return std::string(launch.call) + " in " + describeStream(launch.moment->stream) + ' ' + what + where;
  std::string text = "thread " + detail::text(indexIn(launch.block, access.lane)) + " of block " +
                     detail::text(indexIn(launch.grid, access.run - launch.firstRun)) + ' ';
  if (!hasLaunch || launch.moment == nullptr) return text + what + where;
  return text + what + where + ", in kernel " + kernelName(launch.kernel) + ", launched in " +
         describeStream(launch.moment->stream) + " at " + locationOf(framesOf(callOf(*launch.moment)));
}

inline std::string Checker::describe(const Sighting& seen) const {
  const LaunchName& launch = nameOf(seen.now.run);
  std::ostringstream out;
  if (seen.isStrange) {
    const std::string variable = variableAt(seen.address).name;
    out << "kernel " << kernelName(launch.kernel)
        << (variable.empty()
                ? " is given a pointer that is not the device's, but to memory of the host or to what was freed"
                : " is given the host's address of the variable " + variable +
                      ": a kernel needs memory of the device, or what cudaGetSymbolAddress() returns")
        << "\n  " << describeAccess(seen.now, false, seen.bytes, false);
    return out.str();
  }
  const std::string where = seen.isShared ? describeShared(seen.address, launch.kernel) : describeGlobal(seen.address);
  if (seen.earlier.run == 0) {
    const bool isOutside = seen.kind == FindingKind::outOfBounds;
    out << "kernel " << kernelName(launch.kernel)
        << (isOutside ? " leaves its memory" : " reads what nothing has written") << ": " << where << "\n  "
        << describeAccess(seen.now, false, seen.bytes, false);
    return out.str();
  }
  const bool areTwo = nameOf(seen.earlier.run).moment != launch.moment || seen.now.run == HOST_RUN;
  out << (seen.kind == FindingKind::race ? "race" : "race with equal values") << " on " << where;
  if (!areTwo) out << ", in kernel " << kernelName(launch.kernel);
  out << "\n  " << describeAccess(seen.earlier, true, seen.bytes, areTwo) << "\n  "
      << describeAccess(seen.now, false, seen.bytes, areTwo) << "\n  " << remedy(seen);
  return out.str();
}

inline ReportSubject subjectOf(const Finding& finding) {
  static constexpr const char* KINDS[] = {"race", "equalValues", "uninitialised", "outOfBounds"};
  ReportSubject subject{KINDS[static_cast<int>(finding.kind)], finding.kernel};
  for (const SourceLine* const line : {&finding.line, &finding.earlier})
    if (line->line > 0) subject.lines.push_back({line->file.c_str(), line->line});
  return subject;
}

inline void Checker::report(const Sighting& seen) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Finding*& known = findings_.byInstructions[seen.instructions()];
  if (known == nullptr) {
    Sighting found = seen;
    found.earlier = located(seen.earlier);
    found.now = located(seen.now);
    known = &findingOf(found);
  }
  known->count += seen.count;
}

inline Finding& Checker::findingOf(const Sighting& seen) {
  const std::vector<SourceLine> frames = framesOf(seen.now.pc), earlier = framesOf(seen.earlier.pc);
  const LaunchName& name = nameOf(seen.now.run);
  const std::string kernel = name.kernel != nullptr ? kernelName(name.kernel) : name.call, here = locationOf(frames),
                    other = seen.earlier.run == 0 ? here : locationOf(earlier);
  const auto [entry, isNew] =
      findings_.byLocation.try_emplace({seen.kind, kernel, (std::min)(here, other), (std::max)(here, other)});
  Finding& finding = entry->second;
  if (!isNew || isOfSystem(frames) || isOfSystem(earlier)) return finding;
  finding.kind = seen.kind;
  finding.kernel = kernel;
  if (const SourceLine* const line = lineOf(frames)) finding.line = *line;
  if (const SourceLine* const line = lineOf(earlier)) finding.earlier = *line;
  const std::string text = describe(seen);
  if (isIgnored(text, frames) || isIgnored(text, earlier)) return finding;
  finding.text = text;
  detail::report(text, subjectOf(finding));
  if (settings.endsAtFirst) std::_Exit(FOUND_STATUS);
  return finding;
}

}  // namespace gpuopt::emulation::detail
