/// The profile of the emulated device. gpuopt_emulate(<target> PROFILE) adds this file to a program, as its first: what
/// it shares with the program's other files is then taken from here, where nothing is instrumented.
// SPDX-License-Identifier: MIT
#ifndef GPUOPT_EMULATION_PROFILE
#define GPUOPT_EMULATION_PROFILE
#endif

#include <cuda_runtime.h>

#include "gpuopt_emulation/profile.hpp"

#include "hooks.hpp"
#include "recorder.hpp"
#include "report_csv.hpp"
#include "report_html.hpp"
#include "report_json.hpp"
#include "report_text.hpp"
#include "source_lines.hpp"

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace gpuopt {

namespace {

using emulation::detail::Recorder;

double ratio(std::uint64_t part, std::uint64_t whole, double otherwise) {
  return whole == 0 ? otherwise : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

double AccessCounts::utilisation() const { return ratio(bytes, sectors * GlobalAccess::SECTOR, 1); }
double AccessCounts::sectorsPerRequest() const { return ratio(sectors, requests, 0); }
double AccessCounts::meanLanes() const { return ratio(lanes, requests, 0); }

AccessCounts& AccessCounts::operator+=(const AccessCounts& other) {
  requests += other.requests;
  lanes += other.lanes;
  bytes += other.bytes;
  sectors += other.sectors;
  idealSectors += other.idealSectors;
  wavefronts += other.wavefronts;
  idealWavefronts += other.idealWavefronts;
  repeatedLanes += other.repeatedLanes;
  return *this;
}

double BranchCounts::efficiency() const { return ratio(lanes, present, 1); }
double BranchCounts::activeLanes() const { return ratio(lanes, executions * emulation::WARP_LANES, 1); }

BranchCounts& BranchCounts::operator+=(const BranchCounts& other) {
  executions += other.executions;
  lanes += other.lanes;
  present += other.present;
  return *this;
}

AccessCounts LineProfile::counts(AccessKind kind) const {
  AccessCounts sum;
  for (const AccessProfile& access : accesses)
    if (access.kind == kind) sum += access.counts;
  return sum;
}

std::uint64_t LineProfile::bankConflicts() const {
  return sharedLoads().bankConflicts() + sharedStores().bankConflicts() + sharedAtomics().bankConflicts();
}

AccessCounts KernelProfile::counts(AccessKind kind) const {
  AccessCounts sum;
  for (const LineProfile& line : lines) sum += line.counts(kind);
  return sum;
}

BranchCounts KernelProfile::branches() const {
  BranchCounts sum;
  for (const LineProfile& line : lines) sum += line.branches;
  return sum;
}

AccessCounts Profile::counts(AccessKind kind) const {
  AccessCounts sum;
  for (const KernelProfile& kernel : kernels) sum += kernel.counts(kind);
  return sum;
}

std::uint64_t Profile::bankConflicts() const {
  return sharedLoads().bankConflicts() + sharedStores().bankConflicts() + sharedAtomics().bankConflicts();
}

double Profile::warpEfficiency() const {
  BranchCounts sum;
  for (const KernelProfile& kernel : kernels) sum += kernel.branches();
  return sum.efficiency();
}

std::uint64_t Profile::barriers() const {
  std::uint64_t sum = 0;
  for (const KernelProfile& kernel : kernels) sum += kernel.barriers;
  return sum;
}

Profile Profile::kernel(const std::string& part) const {
  Profile found;
  for (const KernelProfile& kernel : kernels)
    if (kernel.name.find(part) != std::string::npos) found.kernels.push_back(kernel);
  if (found.kernels.empty()) throw std::out_of_range("gpuopt::Profile::kernel: no kernel's name contains " + part);
  return found;
}

LineProfile Profile::at(const std::string& place) const {
  LineProfile found;
  bool isFound = false;
  const auto name = [&](const SourceLine& source) {
    if (!isFound) found.source = source;
    isFound = true;
  };
  for (const KernelProfile& kernel : kernels)
    for (const LineProfile& line : kernel.lines) {
      if (line.source.is(place)) {
        name(line.source);
        found.branches += line.branches;
      }
      for (const AccessProfile& access : line.accesses)
        for (const SourceLine& frame : access.frames)
          if (frame.is(place)) {
            name(frame);
            found.accesses.push_back(access);
            break;
          }
    }
  if (!isFound) throw std::out_of_range("gpuopt::Profile::at: no kernel has executed " + place);
  return found;
}

std::string Profile::text() const { return emulation::detail::textReport(*this); }
std::string Profile::json() const { return emulation::detail::jsonReport(*this); }
std::string Profile::csv() const { return emulation::detail::csvReport(*this); }
std::string Profile::html() const { return emulation::detail::htmlReport(*this); }

namespace {

/// Records while it lives. Whoever recorded before gets the counts, too.
class Recording {
 public:
  Recording() : outer_(emulation::detail::launchObserver.exchange(&recorder_)) {}
  ~Recording() {
    emulation::detail::launchObserver = outer_;
    if (auto* const outer = dynamic_cast<Recorder*>(outer_)) outer->add(recorder_);
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  Profile profile() const { return emulation::detail::describe(recorder_); }

 private:
  Recorder recorder_;
  emulation::detail::LaunchObserver* outer_;
};

bool endsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Records the whole program if GPUOPT_PROFILE names a file, and writes it when the program ends.
struct ProgramProfile {
  ProgramProfile() {
    const char* const name = std::getenv("GPUOPT_PROFILE");
    if (name == nullptr || *name == '\0') return;
    static Recorder& recorder = *new Recorder;
    static const std::string& path = *new std::string(name);
    emulation::detail::launchObserver = &recorder;
    std::atexit([] { write(emulation::detail::describe(recorder), path); });
  }

  static void write(const Profile& profile, const std::string& path) {
    const std::string report = endsWith(path, ".json")   ? profile.json()
                               : endsWith(path, ".csv")  ? profile.csv()
                               : endsWith(path, ".html") ? profile.html()
                                                         : profile.text();
    std::FILE* const file = std::fopen(path.c_str(), "w");
    const bool isWritten = file != nullptr && std::fwrite(report.data(), 1, report.size(), file) == report.size();
    if (file == nullptr || std::fclose(file) != 0 || !isWritten)
      std::fprintf(stderr, "gpuopt: GPUOPT_PROFILE: cannot write %s\n", path.c_str());
  }
} const programProfile;

}  // namespace

Profile profile(const std::function<void()>& work) {
  cudaDeviceSynchronize();
  const Recording recording;
  work();
  cudaDeviceSynchronize();
  return recording.profile();
}

}  // namespace gpuopt
