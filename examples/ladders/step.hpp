/// \file
/// A step of a ladder: what it is called, what it teaches, and how to run it.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>

namespace ladders {

/// Gigabytes a second, by both timing methods; 0: there is none.
struct Speeds {
  double launches = 0;  ///< the kernel launched again and again
  double inside = 0;    ///< the work repeated inside one launch
};

struct Step {
  std::string name;
  std::string changed;  ///< on the step before
  std::string remains;  ///< the problem that is left
  Speeds then;          ///< as published

  /// Queues the work on the default stream, `repeats` times inside one launch where the step can do that.
  std::function<void(int repeats)> run;
  bool repeatsInside = true;  ///< whether it can; otherwise `repeats` is 1
};

}  // namespace ladders
