/// \file
/// gpuopt-tune: measures the constants that the tuning file may have, on the machine at hand, and writes the file. See
/// docs/tuning.md. Options are read by getopt, because users build this program: it needs nothing but gpuopt.
// SPDX-License-Identifier: MIT
#include "jobs.cuh"
#include "register_limits.cuh"

#include <gpuopt/host/tuning/save.cuh>

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
    "  --only FAMILY    upload, download, blocks, staging or transpose; may be given several times\n"
    "  --most BYTES     of the largest transfer (402653184); transpositions have 524288 to 134217728\n"
    "  --help\n"
    "Programs with gpuopt use the file with GPUOPT_TUNING=FILE in the environment, or gpuopt::loadTuning(FILE).\n";

struct Options {
  std::string output = "gpuopt_tuning.json";
  double seconds = 120;
  std::vector<std::string> only;
  std::size_t maxBytes = middleOf(28);
};

double number(const char* option, const char* text) {
  char* end = nullptr;
  const double value = std::strtod(text, &end);
  if (end == text || *end != '\0' || !(value >= 0 && value < 1e12))
    throw std::runtime_error(std::string(option) + ": '" + text + "' is no number from 0 on");
  return value;
}

const char* const transposeFamily = "transpose";

std::string familyName(const std::string& name) {
  for (const Family& family : families)
    if (name == family.name) return name;
  if (name == transposeFamily) return name;
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
    if (which == 'm') options.maxBytes = static_cast<std::size_t>(number("--most", optarg));
    if (which == 'h') {
      std::fputs(help, stdout);
      std::exit(0);
    }
    if (which == '?') throw std::runtime_error(std::string(words[optind - 1]) + " is no option; --help lists them");
  }
  if (optind < count) throw std::runtime_error(std::string(words[optind]) + " is no option; --help lists them");
  if (options.maxBytes < middleOf(families[0].minLog))
    throw std::runtime_error("--most: " + std::to_string(options.maxBytes) +
                             " bytes are less than the smallest transfer");
  return options;
}

bool isChosen(const Options& options, const std::string& family) {
  return options.only.empty() || std::find(options.only.begin(), options.only.end(), family) != options.only.end();
}

// Measures one constant for one size within some seconds.
struct Task {
  std::string label;
  std::size_t bytes;
  std::function<gpuopt::detail::TuningEntry(double seconds)> run;
};

void add(std::vector<Task>& tasks, gpuopt::detail::Tunable constant, std::size_t bytes,
         std::function<gpuopt::detail::TuningEntry(double seconds)> run) {
  const std::string name = gpuopt::detail::formOf(constant).name;
  tasks.push_back({name + ", " + std::to_string(bytes) + " bytes", bytes, std::move(run)});
}

void addTransfers(const Options& options, Arrays& arrays, std::vector<Task>& tasks) {
  for (const Family& family : families) {
    if (!isChosen(options, family.name)) continue;
    for (const Job& job : jobsOf(family, arrays))
      add(tasks, job.constant, job.bytes, [job](double seconds) { return Tuner().run(job, seconds); });
  }
}

void addTranspositions(const Options& options, std::vector<Task>& tasks) {
  constexpr std::size_t MIN_BYTES = std::size_t{512} << 10, MAX_BYTES = std::size_t{128} << 20;
  if (!isChosen(options, transposeFamily)) return;
  const auto tuner = std::make_shared<LimitTuner>(std::clamp(options.maxBytes, MIN_BYTES, MAX_BYTES));
  for (const LimitJob& job : registerJobs())
    add(tasks, job.constant, std::size_t{1} << job.logSize, [=](double seconds) { return tuner->run(job, seconds); });
}

std::vector<Task> chosenTasks(const Options& options, Arrays& arrays) {
  std::vector<Task> tasks;
  addTranspositions(options, tasks);
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
  Arrays arrays(options.maxBytes);
  const std::vector<Task> tasks = chosenTasks(options, arrays);
  std::printf("gpuopt-tune on %s\n", gpuopt::detail::deviceName(gpuopt::currentDevice()).c_str());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    showProgress(i, tasks.size(), tasks[i].label);
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    const auto entry = tasks[i].run(left > 0 ? left / static_cast<double>(tasks.size() - i) : 0);
    gpuopt::detail::mergeIntoFile(options.output, {entry});
    if (isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
    std::printf("%s\n", inWords(entry, tasks[i].bytes).c_str());
    std::fflush(stdout);
  }
  showProgress(1, 1, "");
  std::printf("entries written: %zu. Use them with GPUOPT_TUNING=%s\n", tasks.size(), options.output.c_str());
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
