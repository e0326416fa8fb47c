/// \file
/// gpuopt-tune: measures the constants that the tuning file may have, on the machine at hand, and writes the file. See
/// docs/tuning.md. Options are read by getopt, because users build this program: it needs nothing but gpuopt.
// SPDX-License-Identifier: MIT
#include "constant_tuner.cuh"
#include "jobs.cuh"

#include <gpuopt/host/tuning/file.cuh>

#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace gpuopt::tune;

const char* const help =
    "gpuopt-tune [options]: measures gpuopt on this machine, and writes what it finds to a tuning file.\n"
    "  --output FILE    the file, which may have other entries (gpuopt_tuning.json)\n"
    "  --seconds N      about the time to measure (120)\n"
    "  --only FAMILY    upload, download, blocks, staging, transpose or structs; may be given several times\n"
    "  --most BYTES     of the largest transfer (402653184); kernels have 262144 to 134217728\n"
    "  --help\n"
    "Programs with gpuopt use the file with GPUOPT_TUNING=FILE in the environment, or gpuopt::loadTuning(FILE). The\n"
    "constants of kernels, transpose and structs, are compiled: target_link_gpuopt_tuning(TARGET FILE) of CMake.\n";

struct Options {
  std::string output = "gpuopt_tuning.json";
  double seconds = 120;
  std::vector<std::string> only;
  std::size_t most = middleOf(28);
};

double number(const char* option, const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= 0 && value < 1e12))
    throw std::runtime_error(std::string(option) + ": '" + text + "' is no number from 0 on");
  return value;
}

// Kernels of constants that are compiled: their names begin like that.
struct KernelFamily {
  const char* name;  // on the command line
  std::vector<std::string> prefixes;
};

const KernelFamily kernelFamilies[] = {
    {"transpose", {"gpuopt.transpose"}},
    {"structs", {"gpuopt.transformStructs", "gpuopt.gatherStructs", "gpuopt.convertStructs", "gpuopt.map"}}};

std::string familyName(const std::string& name) {
  for (const Family& family : families)
    if (name == family.name) return name;
  for (const KernelFamily& family : kernelFamilies)
    if (name == family.name) return name;
  throw std::runtime_error("--only: there is no family '" + name + "'");
}

Options parse(int count, char** words) {
  static const option known[] = {
      {"output", required_argument, nullptr, 'o'}, {"seconds", required_argument, nullptr, 's'},
      {"only", required_argument, nullptr, 'f'},   {"most", required_argument, nullptr, 'm'},
      {"help", no_argument, nullptr, 'h'},         {nullptr, 0, nullptr, 0}};
  Options options;
  opterr = 0;
  for (int which; (which = getopt_long(count, words, "", known, nullptr)) != -1;) {
    if (which == 'o') options.output = optarg;
    if (which == 's') options.seconds = number("--seconds", optarg);
    if (which == 'f') options.only.push_back(familyName(optarg));
    if (which == 'm') options.most = static_cast<std::size_t>(number("--most", optarg));
    if (which == 'h') {
      std::fputs(help, stdout);
      std::exit(0);
    }
    if (which == '?') throw std::runtime_error(std::string(words[optind - 1]) + " is no option; --help lists them");
  }
  if (optind < count) throw std::runtime_error(std::string(words[optind]) + " is no option; --help lists them");
  if (options.most < middleOf(families[0].leastLog))
    throw std::runtime_error("--most: " + std::to_string(options.most) + " bytes are less than the smallest transfer");
  return options;
}

bool isChosen(const Options& options, const std::string& family) {
  return options.only.empty() || std::find(options.only.begin(), options.only.end(), family) != options.only.end();
}

// What was measured, if the device could do it, and what is said about it.
struct Finding {
  std::optional<gpuopt::detail::TuningEntry> entry;
  std::string text;
};

// Measures one constant for one size within some seconds.
struct Task {
  std::string label;
  std::function<Finding(double seconds)> run;
};

void addTransfers(const Options& options, Arrays& arrays, std::vector<Task>& tasks) {
  for (const Family& family : families) {
    if (!isChosen(options, family.name)) continue;
    for (const Job& job : jobsOf(family, arrays))
      tasks.push_back({nameOf(job) + ", " + std::to_string(job.bytes) + " bytes", [job](double seconds) {
                         const auto entry = Tuner().run(job, seconds);
                         return Finding{entry, inWords(entry, job.bytes) + "\n"};
                       }});
  }
}

void addKernels(const Options& options, std::vector<Task>& tasks) {
  constexpr std::size_t LEAST = std::size_t{256} << 10, MOST = std::size_t{128} << 20;
  std::vector<std::string> prefixes;
  for (const KernelFamily& family : kernelFamilies)
    if (isChosen(options, family.name)) prefixes.insert(prefixes.end(), family.prefixes.begin(), family.prefixes.end());
  if (prefixes.empty()) return;
  const auto tuner = std::make_shared<ConstantTuner>(std::clamp(options.most, LEAST, MOST));
  const auto add = [&](const auto& job) {
    const std::size_t size = std::size_t{1} << job.logSize;
    const std::string label = job.name + ", " + std::to_string(size) + " bytes";
    tasks.push_back({label, [=](double seconds) {
                       const ConstantResult result = tuner->run(job, seconds);
                       const std::string found = result.entry ? inWords(*result.entry, size) : label;
                       return Finding{result.entry, found + "\n" + result.leftOut};
                     }});
  };
  for (const ConstantJob& job : constantJobs(prefixes)) add(job);
  for (const LimitJob& job : limitJobs(prefixes)) add(job);
}

std::vector<Task> chosenTasks(const Options& options, Arrays& arrays) {
  std::vector<Task> tasks;
  addKernels(options, tasks);
  addTransfers(options, arrays, tasks);
  if (tasks.empty()) throw std::runtime_error("--most: the transfers of the family are larger");
  return tasks;
}

// A line on a terminal.
void showProgress(std::size_t done, std::size_t all, const std::string& now) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::fprintf(stderr, "\r\033[K  [%-30s] %s", std::string(30 * done / all, '=').c_str(), now.c_str());
  if (done == all) std::fputs("\r\033[K", stderr);
}

void run(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(options.seconds);
  gpuopt::detail::readTuningFile(options.output);  // before the work, as it may be bad
  Arrays arrays(options.most);
  const std::vector<Task> tasks = chosenTasks(options, arrays);
  std::printf("gpuopt-tune on %s\n", gpuopt::detail::deviceName(gpuopt::currentDevice()).c_str());
  std::size_t written = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    showProgress(i, tasks.size(), tasks[i].label);
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    const Finding found = tasks[i].run(left > 0 ? left / static_cast<double>(tasks.size() - i) : 0);
    if (found.entry) gpuopt::detail::mergeIntoFile(options.output, {*found.entry});
    written += found.entry ? 1 : 0;
    if (isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
    std::printf("%s", found.text.c_str());
    std::fflush(stdout);
  }
  showProgress(1, 1, "");
  std::printf("entries written: %zu. Use them with GPUOPT_TUNING=%s\n", written, options.output.c_str());
}

}  // namespace

int main(int count, char** words) {
  try {
    run(parse(count, words));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpuopt-tune: %s\n", error.what());
    return 1;
  }
}
