/// \file
/// gpuopt-tune: measures the constants that the tuning file may have, on the machine at hand, and writes the file. See
/// docs/tuning.md. Options are read by getopt, because users build this program: it needs nothing but gpuopt.
// SPDX-License-Identifier: MIT
#include "jobs.cuh"

#include <gpuopt/host/tuning/file.cuh>

#include <getopt.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace gpuopt::tune;

const char* const help =
    "gpuopt-tune [options]: measures gpuopt on this machine, and writes what it finds to a tuning file.\n"
    "  --output FILE    the file, which may have other entries (gpuopt_tuning.json)\n"
    "  --seconds N      about the time to measure (120)\n"
    "  --only FAMILY    upload, download, blocks or staging; may be given several times\n"
    "  --most BYTES     of the largest transfer (402653184)\n"
    "  --help\n"
    "Programs with gpuopt use the file with GPUOPT_TUNING=FILE in the environment, or gpuopt::loadTuning(FILE).\n";

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

std::string familyName(const std::string& name) {
  for (const Family& family : families)
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

std::vector<Job> chosenJobs(const Options& options, Arrays& arrays) {
  std::vector<Job> jobs;
  for (const Family& family : families) {
    bool isChosen = options.only.empty();
    for (const std::string& name : options.only) isChosen = isChosen || name == family.name;
    if (!isChosen) continue;
    for (Job& job : jobsOf(family, arrays)) jobs.push_back(std::move(job));
  }
  if (jobs.empty()) throw std::runtime_error("--most: the transfers of the family are larger");
  return jobs;
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
  const std::vector<Job> jobs = chosenJobs(options, arrays);
  std::printf("gpuopt-tune on %s\n", gpuopt::detail::deviceName(gpuopt::currentDevice()).c_str());
  const Tuner tuner;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    showProgress(i, jobs.size(), nameOf(jobs[i]) + ", " + std::to_string(jobs[i].bytes) + " bytes");
    const double left = std::chrono::duration<double>(end - Clock::now()).count();
    const auto entry = tuner.run(jobs[i], left > 0 ? left / static_cast<double>(jobs.size() - i) : 0);
    gpuopt::detail::mergeIntoFile(options.output, {entry});
    if (isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
    std::printf("%s\n", inWords(jobs[i], entry).c_str());
    std::fflush(stdout);
  }
  showProgress(1, 1, "");
  std::printf("entries written: %zu. Use them with GPUOPT_TUNING=%s\n", jobs.size(), options.output.c_str());
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
