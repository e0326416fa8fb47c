/// \file
/// gpuopt-device: lists the properties of a device, each with the choice that it moves. See docs/tuning.md.
// SPDX-License-Identifier: MIT
#include "properties.cuh"

#include <gpuopt/host/tuning/entry.cuh>
#include <gpuopt/host/tuning/save.cuh>

#include <getopt.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace gpuopt::tune;

#ifdef GPUOPT_EMULATION
constexpr bool isEmulated = true;
#else
constexpr bool isEmulated = false;
#endif

const char* const help =
    "gpuopt-device [options]: lists the properties of a device, each with the choice that it moves.\n"
    "  --device N       the device (the current one, 0)\n"
    "  --json           for programs\n"
    "  --help\n";

struct Options {
  int device = -1;  // the current one
  bool isJson = false;
};

int deviceNumber(const char* text) {
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  int devices = 0;
  gpuopt::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (end == text || *end != '\0' || number < 0 || number >= devices)
    throw std::runtime_error("--device: '" + std::string(text) + "' is none of the " + std::to_string(devices) +
                             " devices; the first one is 0");
  return static_cast<int>(number);
}

Options parse(int count, char** words) {
  static const option known[] = {{"device", required_argument, nullptr, 'd'},
                                 {"json", no_argument, nullptr, 'j'},
                                 {"help", no_argument, nullptr, 'h'},
                                 {nullptr, 0, nullptr, 0}};
  Options options;
  opterr = 0;
  for (int which; (which = getopt_long(count, words, "", known, nullptr)) != -1;) {
    if (which == 'd') options.device = deviceNumber(optarg);
    if (which == 'j') options.isJson = true;
    if (which == 'h') {
      std::fputs(help, stdout);
      std::exit(0);
    }
    if (which == '?') throw std::runtime_error(std::string(words[optind - 1]) + " is no option; --help lists them");
  }
  if (optind < count) throw std::runtime_error(std::string(words[optind]) + " is no option; --help lists them");
  return options;
}

// Lines of at most 100 columns, each after `indent`.
void printWrapped(const std::string& text, const char* indent) {
  constexpr std::size_t WIDTH = 96;
  std::size_t first = 0;
  while (text.size() - first > WIDTH) {
    const std::size_t space = text.rfind(' ', first + WIDTH);
    std::printf("%s%s\n", indent, text.substr(first, space - first).c_str());
    first = space + 1;
  }
  std::printf("%s%s\n", indent, text.substr(first).c_str());
}

void printText(const std::vector<Property>& properties, Use use, const char* title) {
  std::printf("\n%s\n", title);
  for (const Property& property : properties) {
    if (property.use != use) continue;
    std::printf("  %s: %s%s%s\n", property.name.c_str(), property.value.c_str(), property.unit.empty() ? "" : " ",
                property.unit.c_str());
    printWrapped(property.choice, "    ");
  }
}

void printText(const std::string& name, const std::vector<Property>& properties) {
  std::printf("%s%s\n", name.c_str(), isEmulated ? ": it has the limits of a GPU, and no speed" : "");
  printText(properties, Use::reads, "gpuopt reads");
  printText(properties, Use::needs, "gpuopt needs");
  printText(properties, Use::yours, "gpuopt does not ask for these; they are for choices of your own");
}

void printJson(int device, const std::string& name, const std::vector<Property>& properties) {
  using gpuopt::detail::asJson;
  std::printf("{\"device\": %d, \"name\": %s, \"emulated\": %s, \"properties\": [", device, asJson(name).c_str(),
              isEmulated ? "true" : "false");
  const char* separator = "\n";
  for (const Property& property : properties) {
    const std::string value = property.isNumber ? property.value : asJson(property.value);
    std::printf("%s  {\"name\": %s, \"value\": %s, \"unit\": %s, \"gpuopt\": \"%s\", \"choice\": %s}", separator,
                asJson(property.name).c_str(), value.c_str(), asJson(property.unit).c_str(), toString(property.use),
                asJson(property.choice).c_str());
    separator = ",\n";
  }
  std::puts("\n]}");
}

void run(const Options& options) {
  if (options.device >= 0) gpuopt::check(cudaSetDevice(options.device), "cudaSetDevice");
  const int device = gpuopt::currentDevice();
  const std::string& name = gpuopt::detail::deviceName(device);
  const std::vector<Property> properties = propertiesOf(device, !isEmulated);
  if (options.isJson)
    printJson(device, name, properties);
  else
    printText(name, properties);
}

}  // namespace

int main(int count, char** words) {
  try {
    run(parse(count, words));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpuopt-device: %s\n", error.what());
    return 1;
  }
}
