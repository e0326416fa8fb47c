/// Error codes, their texts, and the calling thread's last error.
// SPDX-License-Identifier: MIT
#pragma once

#include "report.hpp"
#include "runtime_types.hpp"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace gpuopt::emulation::detail {

inline thread_local cudaError_t lastError = cudaSuccess;

/// The error of a launch by <<<...>>>, which returns nothing: the next call that waits gives it, too.
inline thread_local cudaError_t failedLaunch = cudaSuccess;

/// The reports of the latest failures, by their codes: cudaGetErrorString() tells them, so that exceptions do, too.
struct Explanations {
  std::mutex mutex;
  std::map<cudaError_t, const std::string*> latest;
  std::set<std::string> texts;  ///< never freed, like the runtime's own
};

inline Explanations& explanations() {
  static Explanations* const instance = new Explanations;
  return *instance;
}

/// Makes a report the explanation of an error; an empty one takes an older explanation away.
inline void explain(cudaError_t code, const std::string& report) {
  const std::lock_guard<std::mutex> lock(explanations().mutex);
  explanations().latest[code] = &*explanations().texts.insert(report).first;
}

/// The text of an error, and why it happened last time.
inline const char* explained(cudaError_t code, const char* text) {
  Explanations& known = explanations();
  const std::lock_guard<std::mutex> lock(known.mutex);
  const auto found = known.latest.find(code);
  if (found == known.latest.end() || found->second->empty()) return text;
  return known.texts.insert(text + (": " + *found->second)).first->c_str();
}

/// Returns the code of earlier work as that of a runtime call, which also makes a failure the last error.
inline cudaError_t passOn(cudaError_t code) {
  if (code != cudaSuccess) lastError = code;
  return code;
}

/// The same for a code that is this call's own.
inline cudaError_t result(cudaError_t code) {
  if (code != cudaSuccess) explain(code, {});
  return passOn(code);
}

/// Keeps the error of a launch whose kernel failed; that of a launch that was refused is the last error alone.
inline void keepFault(cudaError_t code) {
  if (code == cudaErrorLaunchFailure || code == cudaErrorAssert) failedLaunch = code;
}

/// Returns the code of earlier work as that of a call that waits for it.
inline cudaError_t waited(cudaError_t code) {
  const cudaError_t launch = failedLaunch;
  failedLaunch = cudaSuccess;
  return passOn(code == cudaSuccess ? launch : code);
}

inline cudaError_t resultIf(bool isValid, cudaError_t otherwise = cudaErrorInvalidValue) {
  return result(isValid ? cudaSuccess : otherwise);
}

/// Fails with the latest report.
inline cudaError_t reported(cudaError_t code) {
  explain(code, lastReport());
  return passOn(code);
}

/// Fails with a report of what the caller did wrong.
inline cudaError_t failure(cudaError_t code, const std::string& what) {
  report(what);
  explain(code, what);
  return passOn(code);
}

/// Reports what a call did wrong, with the user's line if it is known or a backtrace finds it. Returns the report.
inline std::string reportCall(const std::string& what, Site call = {}) {
  if (call.line == 0) call = callerOutsideLibraries({});
  const bool isKnown = call.line > 0;
  const std::string whole = isKnown ? what + ", at " + text(call) : what;
  report(whole, {"error", {}, isKnown ? std::vector<Site>{call} : std::vector<Site>{}});
  return whole;
}

inline cudaError_t failureOfCall(cudaError_t code, const std::string& what, Site call = {}) {
  explain(code, reportCall(what, call));
  return passOn(code);
}

}  // namespace gpuopt::emulation::detail

inline cudaError_t cudaPeekAtLastError() { return gpuopt::emulation::detail::lastError; }

inline cudaError_t cudaGetLastError() {
  const cudaError_t code = cudaPeekAtLastError();
  gpuopt::emulation::detail::lastError = gpuopt::emulation::detail::failedLaunch = cudaSuccess;
  return code;
}

inline const char* cudaGetErrorName(cudaError_t code) {
  switch (code) {
#define GPUOPT_EMULATION_CASE(name, value, text) \
  case name:                                     \
    return #name;
    GPUOPT_EMULATION_ERRORS(GPUOPT_EMULATION_CASE)
#undef GPUOPT_EMULATION_CASE
  }
  return "unrecognized error code";
}

inline const char* cudaGetErrorString(cudaError_t code) {
  switch (code) {
#define GPUOPT_EMULATION_CASE(name, value, text) \
  case name:                                     \
    return gpuopt::emulation::detail::explained(name, text);
    GPUOPT_EMULATION_ERRORS(GPUOPT_EMULATION_CASE)
#undef GPUOPT_EMULATION_CASE
  }
  return "unrecognized error code";
}
