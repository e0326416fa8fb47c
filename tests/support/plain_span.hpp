/// \file
/// The plainest span: a pointer and a size.
// SPDX-License-Identifier: MIT
#pragma once

namespace gpuopt::test {

template <class T>
struct PlainSpan {
  T* first;
  unsigned count;
  T* data() const { return first; }
  unsigned size() const { return count; }
};

}  // namespace gpuopt::test
